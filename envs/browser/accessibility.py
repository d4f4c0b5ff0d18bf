"""Accessibility: what a page tells a screen reader, as text: role, name, value, states and box of each thing on it.

Invariant: what it says is the browser's own tree, frames included; it is bounded, and says so where it was cut. Boxes
are in screen pixels, of what lies on the screen; what does not is marked `offscreen`.
Source: the DevTools protocol's Accessibility domain (roles and states of WAI-ARIA 1.2 and Chromium's own).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from envs.browser.cdp import CdpError, Message
from envs.browser.page import Page
from guiforge.frame import Size

MAX_NODES = 1000
MAX_DEPTH = 250  # of the tree
MAX_TEXT = 200  # characters of a name or value
_SILENT = {"none", "generic", "InlineTextBox", "LineBreak", "ListMarker", "StaticText", "RootWebArea", "MenuListPopup"}
_STATES = (
    "focused", "disabled", "readonly", "required", "checked", "pressed", "selected", "expanded", "modal", "invalid",
    "multiselectable", "level", "valuemin", "valuemax", "hasPopup",
)  # fmt: skip
_FALSE = (False, "false", "")  # not worth a word, but of these
_EITHER = ("expanded", "checked", "pressed")


@dataclass
class _Node:
    """A node of the tree that is said."""

    element: int  # its number in the browser, 0 where it has none
    words: list[str]
    children: list[_Node] = field(default_factory=list)


def read(page: Page, size: Size) -> str:
    """The page's tree as lines, children indented. size: (width, height) of the screen. Raises Late, Gone, CdpError."""
    (outermost, _), *others = trees(page)
    inside = {holder: _tree(nodes) for nodes, holder in others if holder is not None}
    lines = list(_flat(_tree(outermost), inside, 0))
    said = lines[:MAX_NODES]
    boxes = _boxes(page, [node.element for _, node in said], size)
    text = [f"{'  ' * depth}{' '.join([*node.words, boxes.get(node.element, '')]).strip()}" for depth, node in said]
    if len(lines) > MAX_NODES:
        text.append(f"... and {len(lines) - MAX_NODES} more")
    return "\n".join(text)


def trees(page: Page) -> list[tuple[list[Message], int | None]]:
    """The tree of each frame as the browser's nodes, outer frames first, and the node that holds the frame.

    A frame that can't be read has no nodes; the outermost has no holder, nor has one that is gone. Raises Late, Gone,
    CdpError.
    """
    ids = [frame["id"] for frame in _frames(page.call("Page.getFrameTree")["frameTree"])]
    answers = page.call_all([("Accessibility.getFullAXTree", {"frameId": frame}) for frame in ids])
    owners = page.call_all([("DOM.getFrameOwner", {"frameId": frame}) for frame in ids[1:]])
    nodes = [answer["nodes"] if isinstance(answer, dict) else [] for answer in answers]
    holders = [owner["backendNodeId"] if isinstance(owner, dict) else None for owner in owners]
    return list(zip(nodes, [None, *holders], strict=True))


def _frames(tree: Message) -> Iterator[Message]:
    yield tree["frame"]
    for child in tree.get("childFrames", ()):
        yield from _frames(child)


def _tree(nodes: list[Message]) -> list[_Node]:
    """The nodes that are said, as the children of those that are not said stand in their place."""
    by_id = {node["nodeId"]: node for node in nodes}

    def made(node: Message, around: str, depth: int) -> list[_Node]:
        role, name = _value(node.get("role")), str(_value(node.get("name")) or "").strip()
        text = role == "StaticText" and name and name not in around
        properties = {entry["name"]: _value(entry["value"]) for entry in node.get("properties", ())}
        if role == "generic" and properties.get("editable") and properties.get("focusable"):
            role = "editable"
        said = not node.get("ignored") and (text or role not in _SILENT)
        below = [by_id[child] for child in node.get("childIds", ()) if child in by_id and depth < MAX_DEPTH]
        children = [one for child in below for one in made(child, name if said else around, depth + 1)]
        if not said:
            return children
        return [_Node(node.get("backendDOMNodeId", 0), _words(node, str(role), name, properties), children)]

    return made(nodes[0], "", 0) if nodes else []


def _words(node: Message, role: str, name: str, properties: Message) -> list[str]:
    words = ["text" if role == "StaticText" else role, f'"{_cut(name)}"' if name else ""]
    value = _value(node.get("value"))
    if value not in (None, "") and str(value) != name:
        words.append(f'value="{_cut(str(value))}"')
    for state in _STATES:
        told = properties.get(state)
        if told is True or told == "true":
            words.append(state)
        elif told is not None and (told not in _FALSE or state in _EITHER):
            words.append(f"{state}={str(told).lower()}")
    return [word for word in words if word]


def _flat(nodes: list[_Node], inside: dict[int, list[_Node]], depth: int) -> Iterator[tuple[int, _Node]]:
    for node in nodes:
        yield depth, node
        yield from _flat([*node.children, *inside.get(node.element, ())], inside, depth + 1)


def _boxes(page: Page, elements: list[int], size: Size) -> dict[int, str]:
    """For each element what is said of its place."""
    wanted = sorted({element for element in elements if element})
    quads = page.call_all([("DOM.getContentQuads", {"backendNodeId": element}) for element in wanted])
    return {element: _place(answer, size) for element, answer in zip(wanted, quads, strict=True)}


def _place(answer: Message | CdpError, size: Size) -> str:
    if isinstance(answer, CdpError) or not answer["quads"]:
        return ""
    xs = [x for quad in answer["quads"] for x in quad[0::2]]
    ys = [y for quad in answer["quads"] for y in quad[1::2]]
    left, top = max(0, round(min(xs))), max(0, round(min(ys)))
    right, bottom = min(size[0], round(max(xs))), min(size[1], round(max(ys)))
    if right <= left or bottom <= top:
        return "offscreen"
    return f"at ({left}, {top}) {right - left}x{bottom - top}"


def _value(entry: Message | None) -> Any:
    return entry.get("value") if entry else None


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}..."
