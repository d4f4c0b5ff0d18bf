"""Task families of the file manager (pcmanfm): moving, renaming, copying into new folders, deleting."""

from __future__ import annotations

from collections.abc import Mapping

from envs.desktop.suites import materials
from envs.desktop.suites.common import DONE, make_task, press, rng, typed
from envs.desktop.suites.gestures import Oracle, absolute, manager, name_of, rename_selected, select_icons, wait_solved
from envs.desktop.suites.materials import put
from envs.desktop.view import DesktopView
from guiforge.action import Action
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.files import check_tree, put_files

_DOCS = "~/Documents/"


def _go(folder: str) -> list[Action]:
    """Show a folder by typing its path into the location bar."""
    return [press("ctrl+l"), typed(absolute(folder) + "\n")]


def _wanted(task: Task) -> dict[str, bytes]:
    """The files of Documents as they must be in the end: with `moves` (old -> new or None) and `copies` applied."""
    files = put_files(task, _DOCS)
    copies = {new: files[old] for new, old in task.params.get("copies", {}).items()}
    moved = {new: files[old] for old, new in task.params.get("moves", {}).items() if new is not None}
    kept = {path: data for path, data in files.items() if path not in task.params.get("moves", {})}
    return {**kept, **moved, **copies}


def _verify(task: Task, final: Final) -> Verdict:
    return Verdict.of(check_tree("files", final.state, _DOCS, _wanted(task)))


def _edits(task: Task, want: Mapping[str, bytes]) -> Edits:
    """What turns the first state's Documents into `want`."""
    return {**{p: None for p in put_files(task, _DOCS) if p not in want}, **want}


def _solve(task: Task) -> Edits:
    return _edits(task, _wanted(task))


def _one_left_undone(task: Task) -> Edits:
    """All but the last of the moves (or deletions)."""
    moves = dict(task.params["moves"])
    moves.popitem()
    return _edits(task, _wanted(task.model_copy(update={"params": {**task.params, "moves": moves}})))


# -- move the files that match ---------------------------------------------------------------------------------------


def _make_move(seed: int) -> Task:
    random_ = rng("files_move_matching", seed)
    folder = f"{_DOCS}{random_.choice(materials.TOPICS)}/"
    years = random_.sample(range(2015, 2025), 2)
    places = random_.sample(materials.PLACES, 9)
    kind = random_.choice(("ending", "year", "start"))
    ends = random_.sample((".csv", ".txt", ".md", ".log"), 2)
    starts = random_.sample(("draft", "final", "minutes", "quote"), 2)
    names = [
        f"{starts[n % 3 % 2]}-{place.lower()}-{years[n // 2 % 2]}{ends[n * 5 // 3 % 2]}"
        for n, place in enumerate(places)
    ]
    decoy = {
        "ending": f"{ends[0][1:]}-list{ends[1]}",
        "year": f"room-{years[0]}0.txt",
        "start": f"about-{starts[0]}.txt",
    }
    names.append(decoy[kind])

    def matches(name: str) -> bool:
        if kind == "ending":
            return name.endswith(ends[0])
        return f"-{years[0]}." in name if kind == "year" else name.startswith(f"{starts[0]}-")

    target = random_.choice(("Sorted", "Archive", "For review", "Old"))
    what = {
        "ending": f"every file whose name ends in {ends[0]}",
        "year": f"every file of the year {years[0]} (the year stands just before the ending of the name)",
        "start": f'every file whose name starts with "{starts[0]}-"',
    }[kind]
    shown = folder.removeprefix("~/").rstrip("/")
    instruction = random_.choice(
        (
            f'In the folder {shown}, move {what} into its subfolder "{target}". Leave all other files where they are.',
            f'Please tidy up {shown}: {what} belongs in the subfolder "{target}" there. Nothing else may move.',
        )
    )
    files: dict[str, str] = {f"{folder}{n}": materials.prose(random_) for n in sorted(names)}
    files[f"{folder}{target}/index.txt"] = "Sorted by hand.\n"
    moves = {f"{folder}{n}": f"{folder}{target}/{n}" for n in sorted(names) if matches(n)}
    return make_task(
        "files_move_matching",
        seed,
        instruction,
        tags=("files",),
        params={"folder": folder, "target": f"{folder}{target}/", "moves": moves},
        setup=(*put(files), manager(folder)),
        writable=(*moves, *moves.values()),
    )


def _play_move(task: Task, view: DesktopView) -> Oracle:
    yield from select_icons(view, [name_of(p) for p in task.params["moves"]])
    yield [press("ctrl+x")]
    yield _go(task.params["target"])
    yield [press("ctrl+v")]
    wait_solved(view, task, _verify)
    yield [DONE]


def _moved_all(task: Task) -> Edits:
    """Every file of the folder moved, wanted or not."""
    folder, target = task.params["folder"], task.params["target"]
    direct = [p for p in put_files(task, folder) if "/" not in p.removeprefix(folder)]
    want = {p: d for p, d in put_files(task, _DOCS).items() if p not in direct}
    files = put_files(task)
    return _edits(task, {**want, **{f"{target}{p.removeprefix(folder)}": files[p] for p in direct}})


def _copied(task: Task) -> Edits:
    """The new files are there, and the old ones too."""
    return {new: put_files(task)[old] for old, new in task.params["moves"].items()}


# -- rename -----------------------------------------------------------------------------------------------------------


def _make_rename(seed: int) -> Task:
    random_ = rng("files_rename", seed)
    topic, place = random_.choice(materials.TOPICS), random_.choice(materials.PLACES)
    folder = f"{_DOCS}{topic}/"
    good = sorted(random_.sample(range(2010, 2024), 4))
    kind = random_.choice(("ending", "number", "exact"))
    names = [f"{place} report {year}.txt" for year in good]
    if kind == "ending":
        old = f"{place} plan"
        new = f"{old}.txt"
        task_text = (
            "One file there has no ending in its name, though it is a plain text. Rename it so that it ends in .txt"
        )
    elif kind == "number":
        wrong = random_.randint(1, 5)
        names = [f"sheet-{n:02}.txt" for n in range(1, 6) if n != wrong]
        old, new = f"sheet{wrong}.txt", f"sheet-{wrong:02}.txt"
        task_text = (
            "The sheets there are numbered like sheet-06.txt, but one name does not follow that pattern. "
            "Rename that file so that it does, with its own number"
        )
    else:
        old, new = names.pop(random_.randrange(4)), f"{topic} report ({random_.choice(materials.NAMES)}).txt"
        task_text = f'Rename the file "{old}" there to "{new}"'
    files: dict[str, str] = {f"{folder}{n}": materials.prose(random_) for n in sorted([*names, old])}
    return make_task(
        "files_rename",
        seed,
        f"Look into the folder {folder.removeprefix('~/').rstrip('/')}. {task_text}, and leave the other files alone.",
        tags=("files",),
        params={"folder": folder, "moves": {f"{folder}{old}": f"{folder}{new}"}},
        setup=(*put(files), manager(folder)),
        writable=(f"{folder}{old}", f"{folder}{new}"),
    )


def _play_rename(task: Task, view: DesktopView) -> Oracle:
    ((old, new),) = task.params["moves"].items()
    yield from select_icons(view, [name_of(old)])
    yield from rename_selected(view, name_of(new))
    wait_solved(view, task, _verify)
    yield [DONE]


def _renamed_another(task: Task) -> Edits:
    """Another file of the folder got the new name."""
    ((old, new),) = task.params["moves"].items()
    other = next(p for p in put_files(task, task.params["folder"]) if p != old)
    return {other: None, new: put_files(task)[other]}


def _misspelt(task: Task) -> Edits:
    """The new name has a capital ending."""
    ((old, new),) = task.params["moves"].items()
    return {old: None, new.removesuffix(".txt") + ".TXT": put_files(task)[old]}


# -- copy into new nested folders ------------------------------------------------------------------------------------


def _make_nested(seed: int) -> Task:
    random_ = rng("files_copy_nested", seed)
    topic, year = random_.choice(materials.TOPICS), random_.randint(2019, 2024)
    places = random_.sample(materials.PLACES, 5)
    names = [f"{p.lower()}.txt" for p in places]
    outer, inner = random_.choice(("Backup", "Copies", "Handover")), f"{topic} {year}"
    chosen = names[random_.randrange(5)]
    files: dict[str, str] = {f"{_DOCS}{n}": materials.prose(random_) for n in sorted(names)}
    instruction = random_.choice(
        (
            f'In Documents, make a new folder "{outer}" and inside it a folder "{inner}". Put a copy of {chosen} '
            "there; the original stays where it is.",
            f"Put a copy of Documents/{chosen} at Documents/{outer}/{inner}/{chosen}. Neither of the two folders "
            "exists yet. Keep the original.",
        )
    )
    copy = f"{_DOCS}{outer}/{inner}/{chosen}"
    return make_task(
        "files_copy_nested",
        seed,
        instruction,
        tags=("files",),
        params={"outer": outer, "inner": inner, "copies": {copy: f"{_DOCS}{chosen}"}},
        setup=(*put(files), manager(_DOCS)),
        writable=(copy,),
    )


def _play_nested(task: Task, view: DesktopView) -> Oracle:
    ((copy, original),) = task.params["copies"].items()
    yield from select_icons(view, [name_of(original)])
    yield [press("ctrl+c")]
    for parent, name in ((_DOCS, task.params["outer"]), (f"{_DOCS}{task.params['outer']}/", task.params["inner"])):
        yield _go(parent)
        yield [press("ctrl+shift+n")]
        view.wait_window("Creat")
        yield [press("ctrl+a"), typed(name + "\n")]
    yield _go(copy.rsplit("/", 1)[0])
    yield [press("ctrl+v")]
    wait_solved(view, task, _verify)
    yield [DONE]


def _nested_moved(task: Task) -> Edits:
    """The original went there instead of a copy."""
    ((copy, original),) = task.params["copies"].items()
    return {copy: put_files(task)[original], original: None}


def _not_nested(task: Task) -> Edits:
    """The copy lies in the outer folder."""
    ((copy, original),) = task.params["copies"].items()
    return {copy.replace(f"/{task.params['inner']}/", "/"): put_files(task)[original]}


# -- delete certain files --------------------------------------------------------------------------------------------


def _make_delete(seed: int) -> Task:
    random_ = rng("files_delete_matching", seed)
    folder = f"{_DOCS}{random_.choice(materials.TOPICS)}/"
    kind = random_.choice(("ending", "empty"))
    places = [p.lower() for p in random_.sample(materials.PLACES, 8)]
    gone = sorted(random_.sample(places, random_.randint(2, 4)))
    end = random_.choice((".tmp", ".bak", ".old"))
    files: dict[str, str] = {}
    for place in sorted(places):
        name = f"{place}{end}" if kind == "ending" and place in gone else f"{place}.txt"
        files[f"{folder}{name}"] = "" if kind == "empty" and place in gone else materials.prose(random_)
    if kind == "ending":
        files[f"{folder}about {end[1:]} files.txt"] = materials.prose(random_)
    what = f"files whose name ends in {end}" if kind == "ending" else "files that are empty (0 bytes)"
    shown = folder.removeprefix("~/").rstrip("/")
    instruction = random_.choice(
        (
            f"Delete all {what} in the folder {shown}, and only those. The trash will do.",
            f"Clean up {shown}: the {what} are of no use, get rid of them. Every other file must stay.",
        )
    )
    moves = {p: None for p, text in files.items() if (p.endswith(end) if kind == "ending" else not text)}
    return make_task(
        "files_delete_matching",
        seed,
        instruction,
        tags=("files",),
        params={"folder": folder, "moves": moves},
        setup=(*put(files), manager(folder)),
        writable=(*moves, "~/.local/share/Trash/*"),
    )


def _play_delete(task: Task, view: DesktopView) -> Oracle:
    yield from select_icons(view, [name_of(p) for p in task.params["moves"]])
    yield [press("Delete")]
    view.wait_window("Confirm")
    yield [press("Return")]
    wait_solved(view, task, _verify)
    yield [DONE]


def _trashed(task: Task) -> Edits:
    """The files went to the trash."""
    trash = {f"~/.local/share/Trash/files/{name_of(p)}": put_files(task)[p] for p in task.params["moves"]}
    return {**_solve(task), **trash}


def _deleted_too_many(task: Task) -> Edits:
    """One more file is gone."""
    want = _wanted(task)
    want.pop(next(p for p in want if p.startswith(task.params["folder"])))
    return _edits(task, want)


FAMILIES = (
    Family(
        "files_move_matching",
        _make_move,
        _verify,
        _play_move,
        solutions={"moved": _solve},
        near_misses={"one left": _one_left_undone, "all moved": _moved_all, "copied": _copied},
    ),
    Family(
        "files_rename",
        _make_rename,
        _verify,
        _play_rename,
        solutions={"renamed": _solve},
        near_misses={"another file renamed": _renamed_another, "capital ending": _misspelt},
    ),
    Family(
        "files_copy_nested",
        _make_nested,
        _verify,
        _play_nested,
        solutions={"copied": _solve},
        near_misses={"moved": _nested_moved, "not nested": _not_nested},
    ),
    Family(
        "files_delete_matching",
        _make_delete,
        _verify,
        _play_delete,
        solutions={"deleted": _solve, "trashed": _trashed},
        near_misses={"one left": _one_left_undone, "one too many": _deleted_too_many},
    ),
)
