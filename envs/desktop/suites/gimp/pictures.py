"""Task families of GIMP: scaling, turning, trimming and exporting a picture."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Mapping

from PIL import Image, ImageDraw, ImageOps

from envs.desktop.suites.common import DONE, make_task, press, rng, typed
from envs.desktop.suites.gestures import Oracle, absolute, name_of, wait_solved
from envs.desktop.suites.materials import COLOURS, PLACES, TOPICS, put
from envs.desktop.view import DesktopView
from guiforge.env import Final
from guiforge.outcome import Verdict
from guiforge.task import Edits, Family, Launch, Task
from verifiers.compare import check
from verifiers.files import put_files
from verifiers.images import grey_difference, picture_difference, read_picture
from verifiers.package import judge

_FORMATS = {"jpg": "JPEG", "bmp": "BMP", "tiff": "TIFF", "webp": "WEBP", "png": "PNG"}


# -- what the families share -------------------------------------------------------------------------------------------


def scene(random_: random.Random, size: tuple[int, int]) -> Image.Image:
    """A landscape of plain shapes that looks different in each of its turns and mirrorings, and in every colour."""
    width, height = size
    sky, sun, *hills = random_.sample(["#bfe3f5", "#f7d9c4", "#d5f0d0", "#e4d7f5"], 1) + random_.sample(
        list(COLOURS.values()), 4
    )
    image = Image.new("RGB", size, sky)
    draw = ImageDraw.Draw(image)
    x, y, r = width // 5, height // 4, height // 9 + random_.randrange(height // 12)
    draw.ellipse((x - r, y - r, x + r, y + r), fill=sun)
    for number, colour in enumerate(hills):
        top = (random_.randrange(width // 3, width), height * (3 + number) // 8)
        draw.polygon(((top[0] - width // 2, height), top, (top[0] + width // 3, height)), fill=colour)
    draw.rectangle((width * 3 // 4, height * 3 // 4, width * 3 // 4 + height // 8, height), fill="#202020")
    return image


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    """The bytes of a picture in a format that Pillow writes: PNG, JPEG (quality 90), WEBP, ..."""
    buffer = io.BytesIO()
    image.save(buffer, kind, **({"quality": 90} if kind in ("JPEG", "WEBP") else {}))
    return buffer.getvalue()


def opened(path: str) -> Launch:
    """Set-up: GIMP with a `~/` picture."""
    stem = name_of(path).rpartition(".")[0]
    return Launch(app="gimp", args=(path,), window=rf"\[{re.escape(stem)}\] \(imported\)")


def _original(task: Task) -> Image.Image:
    return Image.open(io.BytesIO(put_files(task)[task.params["picture"]])).convert("RGB")


def _menu(*keys: str) -> Oracle:
    """Go through menus by their keys, one a step."""
    for key in keys:
        yield [press(key)]


def _export(view: DesktopView, path: str) -> Oracle:
    """Export the picture under a `~/` path with the format's own defaults."""
    yield [press("ctrl+shift+e")]
    view.wait_window("^Export Image$")
    yield [press("ctrl+a"), typed(absolute(path))]
    yield [press("Return")]
    view.wait_window("^Export Image as ")
    yield [press("Return")]
    view.wait_window(r"\(exported\)")


# -- scale and export --------------------------------------------------------------------------------------------------

_SIZES = ((900, 600), (960, 640), (800, 600), (1000, 750), (1200, 800))
_SCALES = (0.4, 0.5, 0.6, 0.75, 0.3)


def _make_scale(seed: int) -> Task:
    random_ = rng("gimp_scale_export", seed)
    place, (width, height), factor = random_.choice(PLACES), random_.choice(_SIZES), random_.choice(_SCALES)
    ending = random_.choice(("jpg", "bmp", "tiff", "webp"))
    picture = f"~/Pictures/{place.lower()}.png"
    target = f"~/Pictures/{place.lower()}-{random_.choice(('small', 'web', 'preview', 'mail'))}.{ending}"
    size = (round(width * factor), round(height * factor))
    instruction = random_.choice(
        (
            f"Scale the open picture to a width of {size[0]} pixels, keeping its proportions, and export it as "
            f"{name_of(target)} in the Pictures folder. The original stays as it is.",
            f"I need a smaller copy of this picture: {size[0]} pixels wide, the height in proportion. "
            f"Save the copy as Pictures/{name_of(target)} and leave {name_of(picture)} alone.",
        )
    )
    return make_task(
        "gimp_scale_export",
        seed,
        instruction,
        tags=("gimp",),
        params={"picture": picture, "target": target, "size": list(size), "format": _FORMATS[ending]},
        setup=(*put({picture: encoded(scene(random_, (width, height)))}), opened(picture)),
        writable=(target,),
    )


def _verify_scale(task: Task, final: Final) -> Verdict:
    p = task.params
    wanted = _original(task).resize(tuple(p["size"]), Image.Resampling.LANCZOS)
    return judge(
        final,
        p["target"],
        read_picture,
        lambda found: (
            ("format", found.format == p["format"], f"it is {found.format}, wanted {p['format']}"),
            # resampling methods and lossy formats differ along edges
            check("picture", picture_difference(found.image, wanted, mean=4, outliers=0.03)),
        ),
    )


def _play_scale(task: Task, view: DesktopView) -> Oracle:
    width, height = task.params["size"]
    yield from _menu("alt+i", "s")
    view.wait_window("^Scale Image$")
    yield [typed(str(width)), press("Tab")]
    yield [press("alt+s")]
    view.wait_window(f"{width}x{height}")
    yield from _export(view, task.params["target"])
    wait_solved(view, task, _verify_scale)
    yield [DONE]


def _scaled(task: Task, method: Image.Resampling = Image.Resampling.BICUBIC) -> Image.Image:
    return _original(task).resize(tuple(task.params["size"]), method)


def _as_target(task: Task, image: Image.Image) -> Edits:
    return {task.params["target"]: encoded(image, task.params["format"])}


def _stretched(task: Task) -> Edits:
    width, _ = task.params["size"]
    return _as_target(task, _original(task).resize((width, _original(task).height)))


def _cut_to_size(task: Task) -> Edits:
    return _as_target(task, _original(task).crop((0, 0, *task.params["size"])))


def _misnamed_format(task: Task) -> Edits:
    """A PNG that only bears the other ending."""
    return {task.params["target"]: encoded(_scaled(task))}


# -- turn or mirror, change the colours, overwrite ---------------------------------------------------------------------

_TURNS: Mapping[str, tuple[str, Image.Transpose, str]] = {
    # the words for it, how Pillow does it, its key in Image > Transform
    "mirrored": ("Mirror the picture left to right", Image.Transpose.FLIP_LEFT_RIGHT, "h"),
    "upside": ("Flip the picture top to bottom", Image.Transpose.FLIP_TOP_BOTTOM, "v"),
    "clockwise": ("Turn the picture by 90° clockwise", Image.Transpose.ROTATE_270, "c"),
    "counter": ("Turn the picture by 90° counter-clockwise", Image.Transpose.ROTATE_90, "w"),
    "half": ("Turn the picture by 180°", Image.Transpose.ROTATE_180, "1"),
}
_COLOURINGS = {
    "negative": "invert its colours (make it a negative)",
    "grey": "make it black and white (shades of grey)",
}


def _make_turn(seed: int) -> Task:
    random_ = rng("gimp_turn_overwrite", seed)
    topic, turn, colouring = random_.choice(TOPICS), random_.choice(list(_TURNS)), random_.choice(list(_COLOURINGS))
    picture = f"~/Pictures/{topic.lower()}-{random_.randint(10, 99)}.png"
    instruction = f"{_TURNS[turn][0]}, {_COLOURINGS[colouring]}, and " + random_.choice(
        (f"overwrite {name_of(picture)} with the result.", "save the result over the same file, still as a PNG.")
    )
    return make_task(
        "gimp_turn_overwrite",
        seed,
        instruction,
        tags=("gimp",),
        params={"picture": picture, "turn": turn, "colouring": colouring},
        setup=(*put({picture: encoded(scene(random_, random_.choice(((720, 480), (640, 400)))))}), opened(picture)),
        writable=(picture,),
    )


def _turned(task: Task) -> Image.Image:
    return _original(task).transpose(_TURNS[task.params["turn"]][1])


def _colouring_difference(task: Task, found: Image.Image) -> str | None:
    if task.params["colouring"] == "grey":
        return grey_difference(found, _turned(task))
    return picture_difference(found, ImageOps.invert(_turned(task)))


def _verify_turn(task: Task, final: Final) -> Verdict:
    return judge(
        final,
        task.params["picture"],
        read_picture,
        lambda found: (
            ("format", found.format == "PNG", f"it is {found.format}, wanted PNG"),
            check("picture", _colouring_difference(task, found.image)),
        ),
    )


def _play_turn(task: Task, view: DesktopView) -> Oracle:
    yield from _menu("alt+i", "t", _TURNS[task.params["turn"]][2])
    view.wait_window(r"^\*\[")
    # three entries have the key `v`: it goes to the first, and Return takes it
    yield from _menu("alt+c", "v", "Return") if task.params["colouring"] == "negative" else _menu("alt+i", "m", "g")
    yield from _menu("alt+f", "w")
    view.wait_window(r"\(overwritten\)")
    wait_solved(view, task, _verify_turn)
    yield [DONE]


def _coloured(task: Task, image: Image.Image) -> Edits:
    coloured = ImageOps.invert(image) if task.params["colouring"] == "negative" else ImageOps.grayscale(image)
    return {task.params["picture"]: encoded(coloured)}


def _grey_or_negative_rgb(task: Task) -> Edits:
    """The same kept in RGB; the grey one as the mean of the channels."""
    image = _turned(task)
    if task.params["colouring"] == "negative":
        return _coloured(task, image)
    return {task.params["picture"]: encoded(image.convert("L", matrix=(1 / 3, 1 / 3, 1 / 3, 0)).convert("RGB"))}


def _other_turn(task: Task) -> Edits:
    others = [turn[1] for name, turn in _TURNS.items() if name != task.params["turn"]]
    return _coloured(task, _original(task).transpose(others[0]))


# -- trim a border -----------------------------------------------------------------------------------------------------


def _make_trim(seed: int) -> Task:
    random_ = rng("gimp_trim_border", seed)
    place, border = random_.choice(PLACES), random_.choice(("#ffffff", "#f2eedf", "#101010"))
    left, top, right, bottom = (random_.randrange(25, 140) for _ in range(4))
    content = scene(random_, (random_.randrange(420, 640), random_.randrange(300, 420)))
    ImageDraw.Draw(content).rectangle((0, 0, content.width - 1, content.height - 1), outline="#5a3e28", width=6)
    scan = Image.new("RGB", (left + content.width + right, top + content.height + bottom), border)
    scan.paste(content, (left, top))
    picture = f"~/Pictures/scan-{place.lower()}.png"
    target = f"~/Documents/{place.lower()}-{random_.choice(('trimmed', 'clean', 'final'))}.png"
    instruction = random_.choice(
        (
            f"The open scan has a plain margin around the framed picture. Crop it so that exactly the margin is gone "
            f"(the brown frame stays) and export it as {target.removeprefix('~/')}. Keep the scan itself.",
            f"Cut the empty border off this scan, up to the brown frame and no further, and save the result as "
            f"{name_of(target)} in Documents; {name_of(picture)} must not change.",
        )
    )
    return make_task(
        "gimp_trim_border",
        seed,
        instruction,
        tags=("gimp",),
        params={"picture": picture, "target": target, "box": [left, top, left + content.width, top + content.height]},
        setup=(*put({picture: encoded(scan)}), opened(picture)),
        writable=(target,),
    )


def _verify_trim(task: Task, final: Final) -> Verdict:
    wanted = _original(task).crop(tuple(task.params["box"]))
    return judge(
        final,
        task.params["target"],
        read_picture,
        lambda found: (
            ("format", found.format == "PNG", f"it is {found.format}, wanted PNG"),
            check("picture", picture_difference(found.image, wanted)),
        ),
    )


def _play_trim(task: Task, view: DesktopView) -> Oracle:
    left, top, right, bottom = task.params["box"]
    yield [press("/")]
    view.wait_window("Search Actions")
    yield [typed("crop to content")]
    yield [press("Return")]
    view.wait_window(f"{right - left}x{bottom - top}")
    yield from _export(view, task.params["target"])
    wait_solved(view, task, _verify_trim)
    yield [DONE]


def _cropped(task: Task, grow: int = 0) -> Edits:
    left, top, right, bottom = task.params["box"]
    image = _original(task).crop((left - grow, top - grow, right + grow, bottom + grow))
    return {task.params["target"]: encoded(image)}


FAMILIES = (
    Family(
        "gimp_scale_export",
        _make_scale,
        _verify_scale,
        _play_scale,
        solutions={
            "cubic": lambda task: _as_target(task, _scaled(task)),
            "linear": lambda task: _as_target(task, _scaled(task, Image.Resampling.BILINEAR)),
        },
        near_misses={
            "not_scaled": lambda task: _as_target(task, _original(task)),
            "stretched": _stretched,
            "cut_to_size": _cut_to_size,
            "misnamed_format": _misnamed_format,
            "damaged": lambda task: {task.params["target"]: encoded(_scaled(task), task.params["format"])[:300]},
        },
    ),
    Family(
        "gimp_turn_overwrite",
        _make_turn,
        _verify_turn,
        _play_turn,
        solutions={"done": lambda task: _coloured(task, _turned(task)), "in_rgb": _grey_or_negative_rgb},
        near_misses={
            "colours_alone": lambda task: _coloured(task, _original(task)),
            "turn_alone": lambda task: {task.params["picture"]: encoded(_turned(task))},
            "other_turn": _other_turn,
        },
    ),
    Family(
        "gimp_trim_border",
        _make_trim,
        _verify_trim,
        _play_trim,
        solutions={"cropped": _cropped},
        near_misses={
            "too_wide": lambda task: _cropped(task, 4),
            "too_narrow": lambda task: _cropped(task, -6),
            "copied": lambda task: {task.params["target"]: put_files(task)[task.params["picture"]]},
        },
    ),
)
