"""Elements: the page's document and accessibility tree as data, each element known by a number of the episode.

Invariant: a number means one node for as long as the node lives; numbers are given in the order of the document, so
that the same episode has the same ones. Nothing of the page is changed by looking at it.
Source: the DevTools protocol's DOMSnapshot and Accessibility domains.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs.browser import accessibility, marks
from envs.browser.cdp import CdpError, Message
from envs.browser.page import Page
from envs.browser.view import BrowserView
from guiforge.action import Point

_ELEMENTS = Path(__file__).with_name("scripts").joinpath("elements.js").read_text()
_MARKED = f"(() => {{ const nodes = []; ({marks.SCRIPT})({marks.MOST}, nodes); return nodes; }})()"
_FOCUSED = """(() => {
    let node = document.activeElement;
    for (let inner = node; inner; inner = node.shadowRoot?.activeElement ?? node.contentDocument?.activeElement)
        node = inner;
    return node;
})()"""
_GROUP = "guiforge.elements"  # of the objects that the page keeps for us
_ELEMENT = 1  # a nodeType


@dataclass(frozen=True)
class Place:
    """Where an element is: (x, y, width, height) in pixels of the screen, which it may lie outside of; None where it is
    not drawn. visible: the share of it that is on the screen."""

    box: tuple[float, float, float, float] | None
    visible: float
    clickable: bool
    marked: bool


@dataclass(frozen=True)
class Look:
    """A page at one moment.

    snapshot: DOMSnapshot.captureSnapshot's, each element with its number as attribute `bid`, fields with what they hold
    now as `value` and `checked`.  tree: the nodes of
    Accessibility.getFullAXTree of all frames as one tree, those of elements with their number as `browsergym_id`.
    Ids of nodes and frames in both are numbers of the episode.  places: of each element.  focused: which one is.
    """

    snapshot: Message
    tree: list[Message]
    places: dict[str, Place]
    focused: str


class NoElement(ValueError):
    """An element that is not there, or can't be used like this; the text says so."""


class Elements:
    """The elements of the pages of one episode."""

    def __init__(self, view: BrowserView) -> None:
        self._view = view
        self._numbers: dict[tuple[str, int], int] = {}  # (page, the browser's id of a node) -> its number
        self._nodes: list[tuple[str, int]] = []  # by number

    def look(self) -> Look:
        """The page now. Raises CdpError, Late, Gone."""
        page = self._view.page
        options = {"computedStyles": [], "includeDOMRects": True, "includePaintOrder": True}
        snapshot = page.call("DOMSnapshot.captureSnapshot", options)
        for document in snapshot["documents"]:
            nodes = document["nodes"]
            nodes["backendNodeId"] = [self._number(page, node) for node in nodes["backendNodeId"]]
        marked = set(self._found(page, _MARKED))
        places = self._places(snapshot, marked)
        tree = self._tree(page, places)
        focused = self._found(page, f"[{_FOCUSED}]")
        page.post("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})
        return Look(snapshot, tree, places, str(focused[0]) if focused else "")

    def show(self, bid: str) -> Point:
        """Where to click an element, after the page was scrolled until it shows. Raises NoElement, Late, Gone."""
        page, node = self._of(bid)
        try:
            page.call("DOM.scrollIntoViewIfNeeded", {"backendNodeId": node})
            quads = page.call("DOM.getContentQuads", {"backendNodeId": node})["quads"]
        except CdpError as refused:
            raise NoElement(f"element {bid!r} is not drawn: {refused}") from None
        width, height = self._view.size
        for quad in quads:
            left, right = max(0, min(quad[0::2])), min(width, max(quad[0::2]))
            top, bottom = max(0, min(quad[1::2])), min(height, max(quad[1::2]))
            if right - left >= 1 and bottom - top >= 1:
                return int((left + right) / 2), int((top + bottom) / 2)
        raise NoElement(f"element {bid!r} has no place on the screen")

    def focus(self, bid: str) -> None:
        """Give an element the keyboard. Raises NoElement, Late, Gone."""
        page, node = self._of(bid)
        try:
            page.call("DOM.focus", {"backendNodeId": node})
        except CdpError as refused:
            raise NoElement(f"element {bid!r} takes no keys: {refused}") from None

    def ask(self, bid: str, what: str, *arguments: Any) -> Any:
        """What scripts/elements.js says of an element. Raises NoElement, CdpError, Late, Gone."""
        return self._run(bid, what, arguments, by_value=True)["result"].get("value")

    def show_option(self, bid: str, number: int) -> Point:
        """Where to click an option of a list that shows them. Raises NoElement, CdpError, Late, Gone."""
        option = self._run(bid, "option", (number,), by_value=False)["result"]
        page, _ = self._of(bid)
        return self.show(str(self._described(page, [option["objectId"]])[0]))

    def _run(self, bid: str, what: str, arguments: Sequence[Any], *, by_value: bool) -> Message:
        page, node = self._of(bid)
        try:
            element = page.call("DOM.resolveNode", {"backendNodeId": node, "objectGroup": _GROUP})["object"]
        except CdpError as refused:
            raise NoElement(f"element {bid!r} is gone: {refused}") from None
        function = f"function (...given) {{ return ({_ELEMENTS}).{what}.apply(this, given); }}"
        given = [{"value": argument} for argument in arguments]
        params = {"objectId": element["objectId"], "functionDeclaration": function, "arguments": given}
        answer = page.call("Runtime.callFunctionOn", params | {"returnByValue": by_value, "objectGroup": _GROUP})
        if "exceptionDetails" in answer:
            raise NoElement(f"{bid!r} is no element")
        return answer

    def _of(self, bid: str) -> tuple[Page, int]:
        page = self._view.page
        target, node = self._nodes[int(bid)] if bid.isdecimal() and int(bid) < len(self._nodes) else ("", 0)
        if target != page.target:
            raise NoElement(f"no element {bid!r} on this page; valid are the bids of the last observation")
        return page, node

    def _number(self, page: Page, node: int) -> int:
        number = self._numbers.setdefault((page.target, node), len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append((page.target, node))
        return number

    def _found(self, page: Page, expression: str) -> list[int]:
        """The numbers of the elements in the list that an expression gives. Raises CdpError, Late, Gone."""
        answer = page.call("Runtime.evaluate", {"expression": expression, "objectGroup": _GROUP})
        if "exceptionDetails" in answer:
            raise CdpError(answer["exceptionDetails"]["text"])
        result = answer["result"]
        listed = page.call("Runtime.getProperties", {"objectId": result["objectId"], "ownProperties": True})["result"]
        objects = [entry["value"]["objectId"] for entry in listed if entry["value"].get("subtype") == "node"]
        return self._described(page, objects)

    def _described(self, page: Page, objects: Sequence[str]) -> list[int]:
        answers = page.call_all([("DOM.describeNode", {"objectId": one}) for one in objects])
        nodes = [answer["node"]["backendNodeId"] for answer in answers if isinstance(answer, dict)]
        return [self._number(page, node) for node in nodes]

    def _places(self, snapshot: Message, marked: set[int]) -> dict[str, Place]:
        """Each element's place; its number is written into the snapshot."""
        places: dict[str, Place] = {}
        strings: list[str] = snapshot["strings"]
        attribute = len(strings)
        strings.append("bid")
        screen = (0.0, 0.0, float(self._view.size[0]), float(self._view.size[1]))
        views = [screen] * len(snapshot["documents"])  # of each document: where it shows; parents come first
        origins = [(0.0, 0.0)] * len(views)
        for at, document in enumerate(snapshot["documents"]):
            strings[document["frameId"]] = f"frame-{at}"
            nodes, layout = document["nodes"], document["layout"]
            x0, y0 = origins[at][0] - document["scrollOffsetX"], origins[at][1] - document["scrollOffsetY"]
            bounds = zip(layout["bounds"], layout["clientRects"], strict=True)
            drawn = dict(zip(layout["nodeIndex"], bounds, strict=True))
            clickable = set(nodes["isClickable"]["index"])
            _write_values(nodes, strings)
            inner = dict(zip(*nodes["contentDocumentIndex"].values(), strict=True))
            for index, number in enumerate(nodes["backendNodeId"]):
                if nodes["nodeType"][index] != _ELEMENT:
                    continue
                nodes["attributes"][index] += [attribute, len(strings)]
                strings.append(str(number))
                box = None
                if index in drawn and drawn[index][1]:
                    (x, y, width, height), _ = drawn[index]
                    box = (x + x0, y + y0, width, height)
                if index in inner and box is not None:
                    origins[inner[index]], views[inner[index]] = box[:2], _inside(box, views[at])
                places[str(number)] = Place(box, _share(box, views[at]), index in clickable, number in marked)
        return places

    def _tree(self, page: Page, elements: Container[str]) -> list[Message]:
        """All frames' trees as one, a frame's root below the element that holds it."""
        ids: dict[tuple[int, str], str] = {}
        made: list[Message] = []
        by_node: dict[int, Message] = {}

        def renamed(frame: int, id: str) -> str:
            return ids.setdefault((frame, id), str(len(ids)))

        for at, (nodes, holding) in enumerate(accessibility.trees(page)):
            for position, node in enumerate(nodes):
                if node.get("role", {}).get("value") == "InlineTextBox":  # a line of a text, said already
                    continue
                node = {key: value for key, value in node.items() if key not in ("frameId", "parentId")}
                node |= {"nodeId": renamed(at, node["nodeId"]), "role": node.get("role", {"value": "none"})}
                node["childIds"] = [renamed(at, child) for child in node.get("childIds", ())]
                self._renumber(page, node)
                if (number := node.get("backendDOMNodeId")) is not None:
                    if str(number) in elements:
                        node["browsergym_id"] = str(number)
                    by_node.setdefault(number, node)
                made.append(node)
                if position == 0 and holding is not None:
                    holder = by_node.get(self._number(page, holding))
                    if holder is not None:
                        holder["childIds"].append(node["nodeId"])
        return made

    def _renumber(self, page: Page, value: Any) -> None:
        """Numbers of the episode for all of the browser's ids of nodes in an answer."""
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            self._renumber(page, each)
        if isinstance(value, dict) and "backendDOMNodeId" in value:
            value["backendDOMNodeId"] = self._number(page, value["backendDOMNodeId"])


Rect = tuple[float, float, float, float]


def _write_values(nodes: Message, strings: list[str]) -> None:
    """What fields hold now, as their attributes `value` and `checked`, which in a document are what they began with."""
    for name, now in (
        ("value", nodes["inputValue"]),
        ("value", nodes["textValue"]),
        ("checked", nodes["inputChecked"]),
    ):
        number = len(strings)
        strings += [name, ""]
        held = dict(zip(now["index"], now.get("value", [number + 1] * len(now["index"])), strict=True))
        for index in held if name == "value" else range(len(nodes["attributes"])):
            pairs = list(zip(*[iter(nodes["attributes"][index])] * 2, strict=True))
            kept = [pair for pair in pairs if strings[pair[0]] != name]
            kept += [(number, held[index])] if index in held else []
            nodes["attributes"][index] = [one for pair in kept for one in pair]


def _inside(box: Rect, view: Rect) -> Rect:
    """The part of a box that lies in a view."""
    left, top = max(box[0], view[0]), max(box[1], view[1])
    right, bottom = min(box[0] + box[2], view[0] + view[2]), min(box[1] + box[3], view[1] + view[3])
    return left, top, max(0.0, right - left), max(0.0, bottom - top)


def _share(box: Rect | None, view: Rect) -> float:
    if box is None or box[2] <= 0 or box[3] <= 0:
        return 0.0
    _, _, width, height = _inside(box, view)
    return round(width * height / (box[2] * box[3]), 2)
