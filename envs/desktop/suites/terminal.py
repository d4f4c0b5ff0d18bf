"""Task families of the terminal (xterm): an archive, a count, names changed by pattern, a table made of a log."""

from __future__ import annotations

import io
import random
import re
import tarfile
from collections import Counter
from pathlib import Path

from envs.desktop.suites import materials
from envs.desktop.suites.common import DONE, make_task, rng, typed
from envs.desktop.suites.gestures import Oracle, terminal, wait_solved
from envs.desktop.suites.materials import put
from envs.desktop.view import DesktopView
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.files import check_archive, check_lines, check_tree, put_files
from verifiers.script import script_verifier

# -- an archive -------------------------------------------------------------------------------------------------------


def _make_archive(seed: int) -> Task:
    random_ = rng("terminal_archive", seed)
    name = random_.choice(materials.TOPICS).lower()
    root, archive = f"~/Projects/{name}/", f"~/Backups/{name}-{random_.randint(2020, 2025)}.tar.gz"
    end = random_.choice((".log", ".tmp", ".bak"))
    inside = ["readme.txt", "src/main.txt", "src/parts/one.txt", "src/parts/two.txt", "data/table.csv"]
    files: dict[str, str] = {f"{root}{p}": materials.prose(random_) for p in inside}
    for stem in random_.sample(("run", "src/build", "data/import", "src/parts/old"), 3):
        files[f"{root}{stem}{end}"] = materials.prose(random_)
    files["~/Backups/readme.txt"] = "Backups are kept for a year.\n"
    instruction = random_.choice(
        (
            f"Pack the folder Projects/{name} in your home folder into a gzip-compressed tar archive "
            f"{archive.removeprefix('~/')}, without its {end} files (there are some in subfolders too). The folder "
            "itself stays as it is.",
            f"Make the backup {archive.removeprefix('~/')} (a tar archive compressed by gzip) of everything in "
            f"Projects/{name} and its subfolders except the files ending in {end}. Change nothing in the project.",
        )
    )
    return make_task(
        "terminal_archive",
        seed,
        instruction,
        tags=("terminal",),
        params={"name": name, "root": root, "archive": archive, "end": end},
        setup=(*put(files), terminal()),
        writable=(archive,),
    )


def _project(task: Task, *, all_files: bool = False) -> dict[str, bytes]:
    """What belongs into the archive, by path in the project."""
    root, end = task.params["root"], task.params["end"]
    return {
        path.removeprefix(root): data
        for path, data in put_files(task, root).items()
        if all_files or not path.endswith(end)
    }


def _tar(members: dict[str, bytes], prefix: str = "", mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(prefix + name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _verify_archive(task: Task, final: Final) -> Verdict:
    return Verdict.of(check_archive("archive", final.state, task.params["archive"], "tar.gz", _project(task)))


def _play_archive(task: Task, view: DesktopView) -> Oracle:
    p = task.params
    yield [typed(f"ls -R {p['root']}\n")]
    yield [typed(f"tar -C ~/Projects --exclude='*{p['end']}' -czf {p['archive']} {p['name']}\n")]
    wait_solved(view, task, _verify_archive)
    yield [typed(f"tar tzf {p['archive']}\n")]
    yield [DONE]


def _packed(task: Task) -> Edits:
    return {task.params["archive"]: _tar(_project(task), f"{task.params['name']}/")}


def _packed_flat(task: Task) -> Edits:
    """Packed from inside the folder, in another order."""
    return {task.params["archive"]: _tar(dict(reversed(_project(task).items())), "./")}


def _packed_from_root(task: Task) -> Edits:
    """Packed by absolute path."""
    return {task.params["archive"]: _tar(_project(task), f"home/user/Projects/{task.params['name']}/")}


def _packed_all(task: Task) -> Edits:
    """The unwanted files are in it."""
    return {task.params["archive"]: _tar(_project(task, all_files=True), f"{task.params['name']}/")}


def _packed_top(task: Task) -> Edits:
    """The subfolders are missing."""
    top = {name: data for name, data in _project(task).items() if "/" not in name}
    return {task.params["archive"]: _tar(top, f"{task.params['name']}/")}


def _not_compressed(task: Task) -> Edits:
    """A tar archive that only is named like a compressed one."""
    return {task.params["archive"]: _tar(_project(task), f"{task.params['name']}/", "w:")}


# -- a count ----------------------------------------------------------------------------------------------------------


def _log(random_: random.Random, words: tuple[str, ...], lines: int) -> str:
    """Log lines `time machine WORD text`."""
    machines = [p.lower() for p in materials.PLACES[:6]]
    return "".join(
        f"{8 + n // 20:02}:{n * 7 % 60:02} {random_.choice(machines)} {random_.choice(words)} "
        f"{random_.choice(materials.NOTES)}\n"
        for n in range(lines)
    )


def _make_count(seed: int) -> Task:
    random_ = rng("terminal_count", seed)
    word = random_.choice(("ERROR", "WARNING", "DENIED"))
    words = (word, "INFO", "NOTICE", word.lower())
    root = "~/Logs/"
    files = {
        f"{root}{p}": _log(random_, words, random_.randint(60, 140)) for p in ("north.log", "south.log", "old/east.log")
    }
    files[f"{root}notes.txt"] = f"12:00 lists every {word} of the week\n"
    answer = f"~/Documents/{random_.choice(('count', 'answer', 'number'))}.txt"
    count = sum(
        line.count(f" {word} ") for p, text in files.items() if p.endswith(".log") for line in text.splitlines()
    )
    instruction = random_.choice(
        (
            f"How many lines in the .log files under Logs in your home folder (subfolders included) contain the word "
            f"{word}, in capitals? Write just that number into {answer.removeprefix('~/')}.",
            f"Count the lines with {word} (exactly so, in capitals) in all .log files in Logs and below, and save the "
            f"total, a single number and nothing else, as {answer.removeprefix('~/')}.",
        )
    )
    return make_task(
        "terminal_count",
        seed,
        instruction,
        tags=("terminal",),
        params={"word": word, "answer": answer, "count": count},
        setup=(*put({**files, "~/Documents/readme.txt": "Answers go here.\n"}), terminal()),
        writable=(answer,),
    )


def _verify_count(task: Task, final: Final) -> Verdict:
    return Verdict.of(check_lines("number", final.state, task.params["answer"], [str(task.params["count"])]))


def _play_count(task: Task, view: DesktopView) -> Oracle:
    yield [typed("ls -R ~/Logs\n")]
    yield [typed(f"grep -rh --include='*.log' {task.params['word']} ~/Logs | wc -l > {task.params['answer']}\n")]
    wait_solved(view, task, _verify_count)
    yield [typed(f"cat {task.params['answer']}\n")]
    yield [DONE]


def _count_of(task: Task, pattern: str, paths: str) -> Edits:
    files = [data.decode() for p, data in put_files(task, "~/Logs/").items() if re.search(paths, p)]
    count = sum(bool(re.search(pattern, line)) for text in files for line in text.splitlines())
    return {task.params["answer"]: f"{count}\n".encode()}


def _counted(task: Task) -> Edits:
    return _count_of(task, task.params["word"], r"\.log$")


def _counted_bare(task: Task) -> Edits:
    """No newline at the end, blanks before the number (as wc writes it)."""
    return {task.params["answer"]: f"   {task.params['count']}".encode()}


def _counted_any_case(task: Task) -> Edits:
    return _count_of(task, f"(?i){task.params['word']}", r"\.log$")


def _counted_top(task: Task) -> Edits:
    """The subfolder is left out."""
    return _count_of(task, task.params["word"], r"Logs/\w+\.log$")


def _counted_all(task: Task) -> Edits:
    """The file that is no log counts too."""
    return _count_of(task, task.params["word"], ".")


# -- names changed by pattern -----------------------------------------------------------------------------------------


def _make_rename(seed: int) -> Task:
    random_ = rng("terminal_rename_many", seed)
    root = f"~/Documents/{random_.choice(materials.TOPICS)}/"
    old, new = random_.choice(("REC", "SCAN", "NOTE")), random_.choice(materials.PLACES).lower()
    numbers = sorted(random_.sample(range(1, 400), 12))
    files = {f"{root}{old}_{n:04}.TXT": materials.prose(random_) for n in numbers}
    files[f"{root}{old}_list.md"] = materials.prose(random_)
    files[f"{root}readme.TXT"] = materials.prose(random_)
    example = f"{old}_{numbers[0]:04}.TXT"
    instruction = random_.choice(
        (
            f"In {root.removeprefix('~/').rstrip('/')} there are a dozen files named like {example}. Rename each of "
            f"them by the pattern {example} -> {new}-{numbers[0]:04}.txt (its own number kept). Other files keep their "
            "names.",
            f"The files {old}_NNNN.TXT in {root.removeprefix('~/').rstrip('/')} should be called {new}-NNNN.txt, where "
            "NNNN is the number of each. Rename them all; leave the rest of the folder alone.",
        )
    )
    moves = {f"{root}{old}_{n:04}.TXT": f"{root}{new}-{n:04}.txt" for n in numbers}
    return make_task(
        "terminal_rename_many",
        seed,
        instruction,
        tags=("terminal",),
        params={"root": root, "old": old, "new": new, "moves": moves},
        setup=(*put(files), terminal()),
        writable=(*moves, *moves.values()),
    )


def _renamed_files(task: Task) -> dict[str, bytes]:
    return {task.params["moves"].get(path, path): data for path, data in put_files(task, task.params["root"]).items()}


def _verify_rename(task: Task, final: Final) -> Verdict:
    return Verdict.of(check_tree("files", final.state, task.params["root"], _renamed_files(task)))


def _play_rename(task: Task, view: DesktopView) -> Oracle:
    p = task.params
    yield [typed(f"cd {p['root']}; ls\n")]
    yield [
        typed(f"for f in {p['old']}_[0-9]*.TXT; do n=${{f#{p['old']}_}}; mv $f {p['new']}-${{n%.TXT}}.txt; done; ls\n")
    ]
    wait_solved(view, task, _verify_rename)
    yield [DONE]


def _renamed(task: Task, skip: int = 0) -> Edits:
    files = put_files(task)
    moves = dict(list(task.params["moves"].items())[skip:])
    return {**dict.fromkeys(moves), **{new: files[old] for old, new in moves.items()}}


def _renamed_but_one(task: Task) -> Edits:
    return _renamed(task, 1)


def _capital_endings(task: Task) -> Edits:
    """The endings stay in capitals."""
    return {p if d is None else p.replace(".txt", ".TXT"): d for p, d in _renamed(task).items()}


def _renumbered(task: Task) -> Edits:
    """The files are numbered anew from 1."""
    edits, files = _renamed(task), put_files(task)
    gone = {p: None for p, d in edits.items() if d is None}
    return {
        **gone,
        **{
            f"{task.params['root']}{task.params['new']}-{n:04}.txt": files[p]
            for n, p in enumerate(task.params["moves"], 1)
        },
    }


# -- a table made of a log, graded by a script -----------------------------------------------------------------------


def _make_report(seed: int) -> Task:
    random_ = rng("terminal_report", seed)
    word = random_.choice(("ERROR", "TIMEOUT", "RETRY"))
    log, report = f"~/Logs/{random_.choice(('station', 'gateway', 'relay'))}.log", "~/Documents/report.csv"
    text = _log(random_, (word, "INFO", "NOTICE"), random_.randint(150, 260))
    instruction = (
        f"{log.removeprefix('~/')} has lines of time, machine, kind and a text. Write {report.removeprefix('~/')}: one "
        f"line for each machine that has lines of the kind {word}, as machine,count (the count of its {word} lines). "
        "Highest count first, equal counts by machine name from a to z, and no heading line."
    )
    return make_task(
        "terminal_report",
        seed,
        instruction,
        tags=("terminal",),
        params={"log": log, "report": report, "word": word},
        setup=(*put({log: text, "~/Documents/readme.txt": "Reports go here.\n"}), terminal()),
        writable=(report,),
    )


_verify_report = script_verifier(
    Path(__file__).with_name("terminal_report_check.py"), include=("~/Logs/*", "~/Documents/*")
)


def _rows(task: Task) -> list[tuple[str, int]]:
    lines = put_files(task)[task.params["log"]].decode().splitlines()
    counts = Counter(line.split()[1] for line in lines if line.split()[2] == task.params["word"])
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _report(task: Task, rows: list[tuple[str, int]], separator: str = ",", end: str = "\n") -> Edits:
    return {task.params["report"]: "".join(f"{name}{separator}{count}{end}" for name, count in rows).encode()}


def _play_report(task: Task, view: DesktopView) -> Oracle:
    p = task.params
    yield [typed(f"head {p['log']}\n")]
    command = f'awk \'$3 == "{p["word"]}" {{n[$2]++}} END {{for (m in n) print m "," n[m]}}\' {p["log"]}'
    yield [typed(f"{command} | LC_ALL=C sort -t, -k2,2nr -k1,1 > {p['report']}\n")]
    wait_solved(view, task, _verify_report)
    yield [typed(f"cat {p['report']}\n")]
    yield [DONE]


def _reported(task: Task) -> Edits:
    return _report(task, _rows(task))


def _reported_loosely(task: Task) -> Edits:
    """Blanks after the commas, line ends of another system."""
    return _report(task, _rows(task), ", ", "\r\n")


def _lowest_first(task: Task) -> Edits:
    """The order is the wrong way round."""
    return _report(task, _rows(task)[::-1])


def _without_last(task: Task) -> Edits:
    """One machine is missing."""
    return _report(task, _rows(task)[:-1])


def _with_heading(task: Task) -> Edits:
    """A heading line, which was not wanted."""
    return {task.params["report"]: b"machine,count\n" + (_reported(task)[task.params["report"]] or b"")}


FAMILIES = (
    Family(
        "terminal_archive",
        _make_archive,
        _verify_archive,
        _play_archive,
        solutions={"packed": _packed, "packed inside": _packed_flat, "packed from /": _packed_from_root},
        near_misses={"everything": _packed_all, "no subfolders": _packed_top, "not compressed": _not_compressed},
    ),
    Family(
        "terminal_count",
        _make_count,
        _verify_count,
        _play_count,
        solutions={"counted": _counted, "bare number": _counted_bare},
        near_misses={"any capitals": _counted_any_case, "top folder": _counted_top, "all files": _counted_all},
    ),
    Family(
        "terminal_rename_many",
        _make_rename,
        _verify_rename,
        _play_rename,
        solutions={"renamed": _renamed},
        near_misses={"one left": _renamed_but_one, "capitals": _capital_endings, "numbered anew": _renumbered},
    ),
    Family(
        "terminal_report",
        _make_report,
        _verify_report,
        _play_report,
        solutions={"reported": _reported, "blanks and CRLF": _reported_loosely},
        near_misses={"lowest first": _lowest_first, "one missing": _without_last, "heading": _with_heading},
    ),
)
