"""Task families of VLC: preferences, as its vlcrc keeps them, and playlists."""

from __future__ import annotations

import io
import re
import wave
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import numpy as np

from envs.desktop.suites import materials
from envs.desktop.suites.common import DONE, click, make_task, press, rng, typed
from envs.desktop.suites.gestures import Oracle, absolute, name_of, wait_file, wait_solved
from envs.desktop.suites.materials import put
from envs.desktop.view import DesktopView
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Launch, MakeDir, Task
from verifiers.files import checked
from verifiers.package import judge
from verifiers.vlc import VLCRC, folder, read_playlist, read_vlcrc

_PLAYER = Launch(app="vlc", window="VLC media player")
# settings that these families ask for or that lie beside them, with VLC's defaults; folders as `~/` paths
_DEFAULTS: Mapping[str, str] = {
    "snapshot-path": "", "snapshot-prefix": "vlcsnap-", "snapshot-format": "png", "snapshot-sequential": "0",
    "input-record-path": "", "one-instance": "0", "playlist-tree": "0", "play-and-pause": "0",
    "qt-pause-minimized": "0", "sub-language": "", "audio-language": "",
}  # fmt: skip


def _verify(task: Task, final: Final) -> Verdict:
    """Every setting is as wanted, or as it was."""
    wanted = {**_DEFAULTS, **task.params["wanted"]}

    def value(settings: Mapping[str, str], name: str) -> str:
        found = settings.get(name, _DEFAULTS[name])
        return folder(found) if name.endswith("-path") else found.lower() if name.endswith("-language") else found

    return judge(
        final,
        VLCRC,
        read_vlcrc,
        lambda settings: [
            (name, found == expected, f"it is {found!r}, wanted {expected!r}")
            for name, expected in wanted.items()
            for found in [value(settings, name)]
        ],
    )


def _vlcrc(settings: Mapping[str, str]) -> Edits:
    """VLC's settings file with these settings; folders as `~/` paths."""
    lines = ["\ufeff###", "###  vlc 3.0", "###", "", "[core] # core program", ""]
    for name, default in _DEFAULTS.items():
        value = settings.get(name, default)
        lines += [f"# {name}", f"{'' if value != default else '#'}{name}={absolute(value)}", ""]
    return {VLCRC: "\n".join(lines).encode()}


def _saved(task: Task, **changes: str) -> Edits:
    """The wanted settings with changes; `_` stands for `-`."""
    return _vlcrc({**task.params["wanted"], **{name.replace("_", "-"): value for name, value in changes.items()}})


def _preferences(view: DesktopView, page: str) -> Oracle:
    """Open the preferences, if they are not, and turn to a page."""
    if not any(window.title == "Simple Preferences" for window in view.windows()):
        yield [press("ctrl+p")]
        view.wait_window("^Simple Preferences$")
    yield [click(view.wait_for("check box", re.escape(page)))]


def _save(task: Task, view: DesktopView) -> Oracle:
    yield [press("alt+s")]
    view.wait_window("^Simple Preferences$", gone=True)
    wait_solved(view, task, _verify)
    yield [DONE]


def _fill(view: DesktopView, name: str, text: str) -> Oracle:
    """Replace what is in a text field."""
    yield [click(view.wait_for("text", re.escape(name))), press("ctrl+a"), typed(text)]


def _preference_task(family: str, seed: int, instruction: str, wanted: Mapping[str, str], **fields: Any) -> Task:
    setup = (*fields.pop("setup", ()), _PLAYER)
    params = {"wanted": dict(wanted), **fields}
    return make_task(
        family, seed, instruction, tags=("vlc",), params=params, setup=setup, writable=(f"{VLCRC}*",), flush=("vlc",)
    )


# -- where recordings go -----------------------------------------------------------------------------------------------

_BOXES = {
    "one-instance": "Allow only one instance",
    "play-and-pause": "Pause on the last frame of a video",
    "qt-pause-minimized": "Pause playback when minimized",
    "playlist-tree": "Display playlist tree",
}


def _make_recordings(seed: int) -> Task:
    family = "vlc_recordings"
    random_ = rng(family, seed)
    place = random_.choice(materials.PLACES)
    path = f"~/Videos/{place} {random_.choice(('takes', 'recordings', 'tapes'))}"
    box = random_.choice(list(_BOXES))
    instruction = random_.choice(
        (
            f'In VLC\'s preferences, let recordings go to the folder {absolute(path)} and tick "{_BOXES[box]}". Save.',
            f"Change two of VLC's settings for good: the record directory should be {absolute(path)} (it exists), and "
            f'the box "{_BOXES[box]}" should be ticked.',
        )
    )
    wanted = {"input-record-path": path, box: "1"}
    return _preference_task(family, seed, instruction, wanted, box=box, setup=(MakeDir(path=path),))


def _play_recordings(task: Task, view: DesktopView) -> Oracle:
    yield from _preferences(view, "Interface")
    yield [click(view.wait_for("check box", re.escape(_BOXES[task.params["box"]])))]
    yield from _preferences(view, "Input / Codecs")
    yield from _fill(view, "Record directory or filename", absolute(task.params["wanted"]["input-record-path"]))
    yield from _save(task, view)


# -- snapshots ---------------------------------------------------------------------------------------------------------


def _make_snapshots(seed: int) -> Task:
    family = "vlc_snapshots"
    random_ = rng(family, seed)
    topic, kind = random_.choice(materials.TOPICS), random_.choice(("jpg", "tiff"))
    path, prefix = f"~/Pictures/{topic}", f"{topic.lower()}{random_.randint(10, 99)}-"
    numbered = random_.random() < 0.5
    instruction = random_.choice(
        (
            f'VLC should save video snapshots as {kind} files in {absolute(path)}, named "{prefix}" and so on.',
            f'Set VLC\'s video snapshots up: directory {absolute(path)}, prefix "{prefix}" and format {kind}.',
        )
    )
    instruction += " Number them one after the other, too." if numbered else " Change no other setting."
    wanted = {"snapshot-path": path, "snapshot-prefix": prefix, "snapshot-format": kind}
    wanted |= {"snapshot-sequential": "1"} if numbered else {}
    return _preference_task(family, seed, instruction, wanted, setup=(MakeDir(path=path),))


def _play_snapshots(task: Task, view: DesktopView) -> Oracle:
    wanted = task.params["wanted"]
    yield from _preferences(view, "Video")
    yield from _fill(view, "Directory", absolute(wanted["snapshot-path"]))
    yield from _fill(view, "Prefix", wanted["snapshot-prefix"])
    if "snapshot-sequential" in wanted:
        yield [click(view.wait_for("check box", "Sequential numbering"))]
    yield [click(view.wait_for("combo box", "png"))]
    yield [typed(wanted["snapshot-format"][0]), press("Return")]
    yield from _save(task, view)


# -- languages ---------------------------------------------------------------------------------------------------------


def _make_languages(seed: int) -> Task:
    family = "vlc_languages"
    random_ = rng(family, seed)
    names = {"Czech": "cs", "Danish": "da", "Finnish": "fi", "Italian": "it", "Polish": "pl", "Portuguese": "pt"}
    audio, subtitles = random_.sample(list(names), 2)
    instruction = random_.choice(
        (
            f"Set VLC's preferred audio language to {audio} (code {names[audio]}) and its preferred subtitle language "
            f"to {subtitles} (code {names[subtitles]}), for good.",
            f"I want VLC to choose {audio} sound and {subtitles} subtitles where there are any. Enter the codes "
            f"{names[audio]} and {names[subtitles]} in its preferences and save.",
        )
    )
    wanted = {"audio-language": names[audio], "sub-language": names[subtitles]}
    return _preference_task(family, seed, instruction, wanted)


def _play_languages(task: Task, view: DesktopView) -> Oracle:
    wanted = task.params["wanted"]
    yield from _preferences(view, "Audio")
    yield from _fill(view, "Preferred audio language:", wanted["audio-language"])
    yield from _preferences(view, "Subtitles / OSD")
    yield from _fill(view, "Preferred subtitle language", wanted["sub-language"])
    yield from _save(task, view)


def _swapped(task: Task) -> Edits:
    wanted = task.params["wanted"]
    return _saved(task, audio_language=wanted["sub-language"], sub_language=wanted["audio-language"])


# -- a playlist --------------------------------------------------------------------------------------------------------


def tone(hertz: float, seconds: int) -> bytes:
    """A WAV file of a plain tone: mono, 8 kHz, 16 bits."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        second = 9000 * np.sin(2 * np.pi * round(hertz) / 8000 * np.arange(8000))
        file.writeframes(second.astype("<i2").tobytes() * seconds)
    return out.getvalue()


def _make_playlist(seed: int) -> Task:
    random_ = rng("vlc_playlist", seed)
    places = random_.sample(materials.PLACES, 6)
    tracks = [f"~/Music/{number:02} {place}.wav" for number, place in enumerate(places, 1)]
    chosen = sorted(random_.sample(tracks, 3))
    ending = random_.choice(("xspf", "m3u"))
    target = f"~/Music/{random_.choice(materials.TOPICS).lower()}.{ending}"
    listed = ", ".join(name_of(track) for track in chosen)
    instruction = random_.choice(
        (
            f"Make a playlist in VLC of these three tracks from the Music folder, in this order: {listed}. Save it as "
            f"{name_of(target)} ({ending.upper()}) in the same folder.",
            f"With VLC, save a playlist Music/{name_of(target)} that holds exactly {listed}, in this order.",
        )
    )
    music = {track: tone(220 * 2 ** (n / 6), 20 + 5 * n) for n, track in enumerate(tracks)}
    return make_task(
        "vlc_playlist",
        seed,
        instruction,
        tags=("vlc",),
        params={"target": target, "chosen": chosen, "tracks": tracks},
        setup=(*put(music), _PLAYER),
        writable=(target,),
    )


def _verify_playlist(task: Task, final: Final) -> Verdict:
    target, chosen = task.params["target"], task.params["chosen"]

    def fault() -> str | None:
        found = read_playlist(final.state.read(target), target)
        return None if found == chosen else f"it holds {found[:8]}, wanted {chosen}"

    return Verdict.of(checked("tracks", fault))


def _play_playlist(task: Task, view: DesktopView) -> Oracle:
    target, chosen = task.params["target"], task.params["chosen"]
    yield [press("ctrl+shift+o")]
    view.wait_window("^Open Media$")
    yield [click(view.wait_for("push button", r"Add\.\.\."))]
    view.wait_window("^Select one or multiple files$")
    # the dialog takes a folder first, then several names of it
    yield [typed(absolute("~/Music")), press("Return")]
    yield [typed(" ".join(f'"{name_of(track)}"' for track in chosen)), press("Return")]
    view.wait_window("^Select one or multiple files$", gone=True)
    yield [press("alt+e")]
    view.wait_window("^Open Media$", gone=True)
    yield [press("ctrl+y")]
    view.wait_window("^Save playlist as")
    yield [press("ctrl+a"), typed(absolute(target)), press("Return")]
    wait_file(view, target)
    wait_solved(view, task, _verify_playlist)
    yield [DONE]


def _playlist(task: Task, tracks: list[str] | None = None) -> Edits:
    tracks, target = tracks or task.params["chosen"], task.params["target"]
    if target.endswith(".xspf"):
        urls = (f"file://{quote(absolute(track))}" for track in tracks)
        places = "".join(f"<track><location>{url}</location></track>" for url in urls)
        text = f'<playlist xmlns="http://xspf.org/ns/0/" version="1"><trackList>{places}</trackList></playlist>'
    else:
        text = "#EXTM3U\n" + "".join(f"#EXTINF:40,{name_of(track)}\n{quote(name_of(track))}\n" for track in tracks)
    return {target: text.encode()}


def _absolute_playlist(task: Task) -> Edits:
    """The same with full paths, and as other programs write it."""
    if task.params["target"].endswith(".xspf"):
        return _playlist(task)
    return {task.params["target"]: "".join(f"{absolute(track)}\r\n" for track in task.params["chosen"]).encode()}


def _playlist_of_other_kind(task: Task) -> Edits:
    target = task.params["target"]
    stem, _, ending = target.rpartition(".")
    other = f"{stem}.{'m3u' if ending == 'xspf' else 'xspf'}"
    (data,) = _playlist(task.model_copy(update={"params": {**task.params, "target": other}})).values()
    return {target: data}


FAMILIES = (
    Family(
        "vlc_recordings", _make_recordings, _verify, _play_recordings,
        solutions={"saved": _saved},
        near_misses={
            "folder_alone": lambda task: _saved(task, **{task.params["box"].replace("-", "_"): "0"}),
            "other_folder": lambda task: _saved(task, input_record_path="~/Videos"),
            "snapshots_too": lambda task: _saved(task, snapshot_path=task.params["wanted"]["input-record-path"]),
        },
    ),
    Family(
        "vlc_snapshots", _make_snapshots, _verify, _play_snapshots,
        solutions={"saved": _saved},
        near_misses={
            "png": lambda task: _saved(task, snapshot_format="png"),
            "prefix_cut": lambda task: _saved(task, snapshot_prefix=task.params["wanted"]["snapshot-prefix"][:-1]),
            "recordings_instead": lambda task: _saved(
                task, snapshot_path="", input_record_path=task.params["wanted"]["snapshot-path"]
            ),
        },
    ),
    Family(
        "vlc_languages", _make_languages, _verify, _play_languages,
        solutions={"saved": _saved},
        near_misses={
            "swapped": _swapped,
            "subtitles_alone": lambda task: _saved(task, audio_language=""),
        },
    ),
    Family(
        "vlc_playlist", _make_playlist, _verify_playlist, _play_playlist,
        solutions={"saved": _playlist, "absolute": _absolute_playlist},
        near_misses={
            "all_tracks": lambda task: _playlist(task, task.params["tracks"]),
            "other_order": lambda task: _playlist(task, task.params["chosen"][::-1]),
            "one_missing": lambda task: _playlist(task, task.params["chosen"][:2]),
            "other_kind": _playlist_of_other_kind,
        },
    ),
)  # fmt: skip
