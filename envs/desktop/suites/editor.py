"""Task families of the text editor (mousepad): replacing everywhere, one setting of many, a line in its place."""

from __future__ import annotations

import re

from envs.desktop.suites import materials
from envs.desktop.suites.common import DONE, click, make_task, press, rng, typed
from envs.desktop.suites.gestures import Oracle, editor, wait_changed
from envs.desktop.suites.materials import put
from envs.desktop.view import DesktopView
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.files import check_lines, check_text, put_files


def _first(task: Task) -> str:
    """The text as the task's set-up wrote it."""
    return put_files(task)[task.params["path"]].decode()


def _verify(task: Task, final: Final) -> Verdict:
    return Verdict.of(check_text("text", final.state, task.params["path"], task.params["want"]))


def _save(task: Task, view: DesktopView) -> Oracle:
    yield [press("ctrl+s")]
    wait_changed(view, task.params["path"], _first(task).encode())
    yield [DONE]


def _solved(task: Task) -> Edits:
    return {task.params["path"]: task.params["want"].encode()}


def _other_line_ends(task: Task) -> Edits:
    """The same text as another editor may write it: CRLF, a mark at the start, a newline more."""
    return {task.params["path"]: b"\xef\xbb\xbf" + task.params["want"].replace("\n", "\r\n").encode() + b"\r\n"}


# -- replace everywhere ------------------------------------------------------------------------------------------------


def _make_replace(seed: int) -> Task:
    random_ = rng("editor_replace_all", seed)
    old, new, third = random_.sample(materials.PLACES, 3)
    sentences = [
        "The train from {} leaves at 7:{n}.",
        "Send {n} boxes to {} and keep the rest.",
        "{}: the hall is closed on day {n}.",
        "Ask the office in {} about invoice {n}.",
        "From {} to {o} it is {n} km, back to {} the same.",
        "In {o} nobody ordered the {n} chairs.",
        "{} has {n} members, {o} has fewer.",
        "The map of {} is on page {n}.",
    ]
    lines = [s.format(old, old, o=third, n=random_.randint(10, 59)) for s in random_.choices(sentences, k=18)]
    lines[random_.randrange(6)] = f"{old} and {old} again, {random_.randint(10, 59)} times."
    decoys = (f"Archive code: {old.upper()}-{random_.randint(100, 999)}", f"Mailbox: {old.lower()}@post.example")
    lines[7:7] = [decoys[0]]
    lines.append(decoys[1])
    text = "\n".join(lines) + "\n"
    path = f"~/Documents/{random_.choice(('notes', 'plan', 'letter', 'protocol'))}.txt"
    instruction = random_.choice(
        (
            f'Replace every "{old}" in the open text by "{new}" and save it. Capitals matter: where the word is '
            "written in other capitals, it stays.",
            f'The place is called "{new}" now: change all occurrences of "{old}" (with exactly these capitals) in '
            f"{path.removeprefix('~/')} and save the file. Spellings all in capitals or in small letters must stay.",
        )
    )
    return make_task(
        "editor_replace_all",
        seed,
        instruction,
        tags=("editor",),
        params={"path": path, "old": old, "new": new, "want": text.replace(old, new)},
        setup=(*put({path: text}), editor(path)),
        writable=(path,),
    )


def _play_replace(task: Task, view: DesktopView) -> Oracle:
    yield [press("ctrl+r")]
    view.wait_window("Find and Replace")
    yield [typed(f"{task.params['old']}\t{task.params['new']}")]
    for option in ("Match case", "Replace all in:"):
        yield [click(view.wait_for("check box", option))]
    yield [click(view.wait_for("push button", "Replace( All)?"))]
    yield [press("Escape")]
    view.wait_window("Find and Replace", gone=True)
    yield from _save(task, view)


def _first_only(task: Task) -> Edits:
    """Only the first occurrence is replaced."""
    return {task.params["path"]: _first(task).replace(task.params["old"], task.params["new"], 1).encode()}


def _any_capitals(task: Task) -> Edits:
    """Other capitals are replaced too."""
    return {task.params["path"]: re.sub(task.params["old"], task.params["new"], _first(task), flags=re.I).encode()}


def _new_file(task: Task) -> Edits:
    """The right text under another name, the old file as it was."""
    return {task.params["path"].replace(".txt", "-new.txt"): task.params["want"].encode()}


# -- one setting of many ---------------------------------------------------------------------------------------------

_KEYS = {
    "port": ("port number", 1024, 9999),
    "timeout": ("timeout", 5, 300),
    "retries": ("number of retries", 1, 20),
    "workers": ("number of workers", 2, 64),
}


def _make_config(seed: int) -> Task:
    random_ = rng("editor_set_config", seed)
    sections = random_.sample(("server", "metrics", "backup", "mail", "cache", "search"), 4)
    values = {s: {k: random_.randint(low, high) for k, (_, low, high) in _KEYS.items()} for s in sections}
    section, key = random_.choice(sections[1:]), random_.choice(list(_KEYS))
    label, low, high = _KEYS[key]
    new = random_.choice([n for n in range(low, high) if n not in {v[key] for v in values.values()}])

    def text(values: dict[str, dict[str, int]]) -> str:
        parts = [
            f"[{s}]\n# settings of {s}\n" + "".join(f"{k} = {v}\n" for k, v in values[s].items()) for s in sections
        ]
        return "\n".join(parts)

    path = f"~/Documents/{random_.choice(('service', 'station', 'depot'))}.conf"
    old = values[section][key]
    first = text(values)
    values[section] = {**values[section], key: new}
    instruction = random_.choice(
        (
            f"Set the {label} ({key}) in the section [{section}] in the open file to {new} and save the file. Nothing "
            "else in it may change.",
            f"In Documents/{path.rsplit('/', 1)[1]}, {key} in [{section}] should be {new} and not {old}. Correct that, "
            "change nothing else, and save.",
        )
    )
    return make_task(
        "editor_set_config",
        seed,
        instruction,
        tags=("editor",),
        params={"path": path, "section": section, "key": key, "old": old, "new": new, "want": text(values)},
        setup=(*put({path: first}), editor(path)),
        writable=(path,),
    )


def _lenient_config(task: Task) -> Edits:
    """The value without blanks around the equals sign, as some like it."""
    p = task.params
    return {p["path"]: p["want"].replace(f"{p['key']} = {p['new']}\n", f"{p['key']}={p['new']}\n").encode()}


def _verify_config(task: Task, final: Final) -> Verdict:
    path, p = task.params["path"], task.params
    exact = check_text("text", final.state, path, p["want"])
    tight = check_text("text", final.state, path, _lenient_config(task)[path].decode())  # type: ignore[union-attr]
    return Verdict.of(tight if tight[1] else exact)


def _play_config(task: Task, view: DesktopView) -> Oracle:
    lines = _first(task).split("\n")
    start = lines.index(f"[{task.params['section']}]")
    number = next(n for n in range(start, len(lines)) if lines[n].startswith(f"{task.params['key']} ="))
    yield [press("ctrl+Home")]
    yield [press("Down")] * number + [press("End")]
    yield [press("shift+Home"), typed(f"{task.params['key']} = {task.params['new']}")]
    yield from _save(task, view)


def _other_section(task: Task) -> Edits:
    """The same key of the first section has the new value instead."""
    return {
        task.params["path"]: re.sub(
            rf"(?m)^{task.params['key']} = \d+", f"{task.params['key']} = {task.params['new']}", _first(task), count=1
        ).encode()
    }


def _every_section(task: Task) -> Edits:
    """The key has the new value in every section."""
    return {
        task.params["path"]: re.sub(
            rf"(?m)^{task.params['key']} = \d+", f"{task.params['key']} = {task.params['new']}", _first(task)
        ).encode()
    }


def _appended(task: Task) -> Edits:
    """A second line with the key at the end of the file."""
    return {task.params["path"]: f"{_first(task)}{task.params['key']} = {task.params['new']}\n".encode()}


# -- a line in its place -----------------------------------------------------------------------------------------------


def _make_insert(seed: int) -> Task:
    random_ = rng("editor_insert_sorted", seed)
    names = random_.sample(materials.NAMES, 14)
    extra = sorted(names)[random_.randint(3, 10)]
    gone = random_.choice([n for n in names if n != extra])
    entry = {n: f"{n}, {random_.choice(materials.PLACES)}" for n in names}
    lines = [entry[n] for n in sorted(names)]
    path = f"~/Documents/{random_.choice(('members', 'guests', 'helpers'))}.txt"
    first = "".join(f"{line}\n" for line in lines if line != entry[extra])
    want = [line for line in lines if line != entry[gone]]
    instruction = random_.choice(
        (
            f'The list in the open file is sorted by name. Add the line "{entry[extra]}" where it belongs, take '
            f"{gone} off the list, and save.",
            f'{gone} has left, and "{entry[extra]}" is new: change the open list accordingly, one entry a line as '
            "before, keep it in alphabetical order, and save it.",
        )
    )
    return make_task(
        "editor_insert_sorted",
        seed,
        instruction,
        tags=("editor",),
        params={"path": path, "line": entry[extra], "gone": entry[gone], "want": "".join(f"{w}\n" for w in want)},
        setup=(*put({path: first}), editor(path)),
        writable=(path,),
    )


def _verify_insert(task: Task, final: Final) -> Verdict:
    return Verdict.of(check_lines("lines", final.state, task.params["path"], task.params["want"].splitlines()))


def _play_insert(task: Task, view: DesktopView) -> Oracle:
    lines = _first(task).splitlines()
    at = sorted([*lines, task.params["line"]]).index(task.params["line"])
    yield [press("ctrl+Home"), *[press("Down")] * at, typed(f"{task.params['line']}\n")]
    lines.insert(at, task.params["line"])
    yield [press("ctrl+Home"), *[press("Down")] * lines.index(task.params["gone"])]
    yield [press("shift+Down"), press("Delete")]
    yield from _save(task, view)


def _at_the_end(task: Task) -> Edits:
    """The new line stands last."""
    want = [w for w in task.params["want"].splitlines() if w != task.params["line"]]
    return {task.params["path"]: "\n".join([*want, task.params["line"], ""]).encode()}


def _not_removed(task: Task) -> Edits:
    """The old line is still there."""
    return {task.params["path"]: "\n".join([*sorted([*_first(task).splitlines(), task.params["line"]]), ""]).encode()}


FAMILIES = (
    Family(
        "editor_replace_all",
        _make_replace,
        _verify,
        _play_replace,
        solutions={"replaced": _solved, "other line ends": _other_line_ends},
        near_misses={"first only": _first_only, "any capitals": _any_capitals, "another file": _new_file},
    ),
    Family(
        "editor_set_config",
        _make_config,
        _verify_config,
        _play_config,
        solutions={"set": _solved, "no blanks": _lenient_config, "other line ends": _other_line_ends},
        near_misses={"first section": _other_section, "every section": _every_section, "appended": _appended},
    ),
    Family(
        "editor_insert_sorted",
        _make_insert,
        _verify_insert,
        _play_insert,
        solutions={"inserted": _solved, "other line ends": _other_line_ends},
        near_misses={"at the end": _at_the_end, "not removed": _not_removed},
    ),
)
