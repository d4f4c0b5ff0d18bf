"""Task family of GIMP's preferences, as its gimprc keeps them."""

from __future__ import annotations

from typing import Any

from envs.desktop.suites.common import DONE, make_task, press, rng, typed
from envs.desktop.suites.gestures import Oracle, wait_solved
from envs.desktop.suites.gimp.pictures import encoded, opened, scene
from envs.desktop.suites.materials import put
from envs.desktop.view import DesktopView
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Task
from verifiers.compare import Check
from verifiers.files import checked
from verifiers.gimp import GIMPRC, read_rc, setting

_THEMES = ("Dark", "Gray", "Light", "System")  # in the order of the preferences' list
_DEFAULTS = {"undo-levels": "5", "theme": "Dark", "width": "1920", "height": "1080"}


def _make_preferences(seed: int) -> Task:
    random_ = rng("gimp_preferences", seed)
    undo, size = str(random_.randrange(12, 95)), [str(random_.randrange(320, 1800, 10)) for _ in range(2)]
    theme = random_.choice(_THEMES[1:3])
    other = random_.choice(("size", "theme"))
    wanted = {**_DEFAULTS, "undo-levels": undo}
    wanted |= {"width": size[0], "height": size[1]} if other == "size" else {"theme": theme}
    second = (
        f"make {size[0]} x {size[1]} pixels (width x height) the default size of new images"
        if other == "size"
        else f"switch its theme to {theme}"
    )
    instruction = random_.choice(
        (
            f"Change two of GIMP's preferences: keep at least {undo} undo levels, and {second}.",
            f"In GIMP's preferences, set the minimal number of undo levels to {undo} and {second}. Leave the rest.",
        )
    )
    picture = "~/Pictures/sample.png"
    return make_task(
        "gimp_preferences",
        seed,
        instruction,
        tags=("gimp",),
        params={"wanted": wanted, "other": other},
        setup=(*put({picture: encoded(scene(random_, (480, 320)))}), opened(picture)),
        writable=("~/.config/GIMP/2.10/gimprc*",),
    )


def _verify_preferences(task: Task, final: Final) -> Verdict:
    def difference(name: str, *inner: str) -> Check:
        key, wanted = (inner or (name,))[-1], task.params["wanted"]

        def fault() -> str | None:
            found = setting(read_rc(final.state.read(GIMPRC)), name, *inner) or _DEFAULTS[key]
            return None if found == wanted[key] else f"{key} is {found}, wanted {wanted[key]}"

        return checked(key, fault)

    return Verdict.of(
        difference("undo-levels"),
        difference("theme"),
        difference("default-image", "width"),
        difference("default-image", "height"),
    )


def _play_preferences(task: Task, view: DesktopView) -> Oracle:
    wanted = task.params["wanted"]
    yield [press("alt+e")]
    yield [*[press("Up")] * 5, press("Return")]  # Preferences, the fifth from the end
    view.wait_window("^Preferences$")
    yield [press("Home"), press("Tab"), press("ctrl+a"), typed(wanted["undo-levels"])]
    if task.params["other"] == "size":
        yield [press("shift+Tab"), press("Home"), *[press("Down")] * 5]  # Default Image
        yield [press("Tab"), press("Tab"), press("ctrl+a"), typed(wanted["width"])]
        yield [press("Tab"), press("ctrl+a"), typed(wanted["height"]), press("Tab")]
    else:
        yield [press("shift+Tab"), press("Home"), *[press("Down")] * 8]  # Theme
        yield [press("Tab"), *[press("Down")] * _THEMES.index(wanted["theme"])]
    yield [press("alt+o")]
    view.wait_window("^Preferences$", gone=True)
    wait_solved(view, task, _verify_preferences)
    yield [DONE]


def gimprc(**changes: str) -> bytes:
    """A gimprc as GIMP writes it, with these settings (`undo_levels`, `theme`, `width`, `height`)."""
    lines = ["# GIMP gimprc", "", "(check-updates no)"]
    if "width" in changes or "height" in changes:
        size = {**_DEFAULTS, **changes}
        lines.append(
            f"(default-image\n    (width {size['width']})\n    (height {size['height']})\n    (unit pixels)\n"
            '    (image-type rgb)\n    (comment "Created with GIMP"))'
        )
    if "undo_levels" in changes:
        lines.append(f"(undo-levels {changes['undo_levels']})")
    if "theme" in changes:
        lines.append(f'(theme "{changes["theme"]}")')
    return "\n".join([*lines, "", "# end of gimprc", ""]).encode()


def _saved(task: Task, **changes: Any) -> Edits:
    wanted = {k.replace("-", "_"): v for k, v in task.params["wanted"].items() if v != _DEFAULTS[k]}
    return {GIMPRC: gimprc(**{k: v for k, v in {**wanted, **changes}.items() if v is not None})}


def _half_saved(task: Task) -> Edits:
    return _saved(task, theme=None) if task.params["other"] == "theme" else _saved(task, height=None)


FAMILIES = (
    Family(
        "gimp_preferences", _make_preferences, _verify_preferences, _play_preferences,
        solutions={"saved": _saved},
        near_misses={
            "one_alone": lambda task: _saved(task, undo_levels=None),
            "half": _half_saved,
            "another_changed": lambda task: _saved(task, theme="System"),
        },
    ),
)  # fmt: skip
