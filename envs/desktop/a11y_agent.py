"""The accessibility agent: answers questions about the widgets of one desktop, from inside its session.

Invariant: a question has bounds in widgets and in time, and what shows on the screen is all that is looked at: what
lies in a hidden widget is passed over, and of a large table only the cells in view are asked for. Nothing is cached:
each answer is of its moment. Run by the system's Python (it has gi), as `python3 -c SOURCE`: a question a line on
stdin, an answer a line on stdout, both JSON.

Question: {"role": str|null, "name": regex|null, "app": regex|null, "seconds": float}. Without `app` the application
of the active window is searched, and the others only if it has nothing.
Answer: {"nodes": [[role, name, text, value, [states], x, y, width, height], ...], "complete": bool}, in the order of
the tree, or {"error": str}.
Source: AT-SPI 2, its D-Bus interfaces (at-spi2-core/xml). Many widgets are asked at once, since an application
answers in the turns of its main loop.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402

CALL_MS = 3000  # one question to one application
AT_ONCE = 16
MAX_WIDGETS = 20000
MAX_CHILDREN = 1000  # of one widget; a table with more is asked for the cells in view
MAX_CELLS = 4000
MAX_TEXT = 20000
PROBE_PX, PROBES = 12, 20  # steps from a table's corner to its first cell: past headers and borders
SCREEN = 0  # the coordinates of extents and points
ROOT = "/org/a11y/atspi/accessible/root"
NULL = "/org/a11y/atspi/null"
TABLE_ROLES = ("table", "tree table")
CELL_ROLES = ("table cell", "table row header", "table column header", "table row", "list item", "tree item", "label")

STATES = {int(getattr(Atspi.StateType, name)): name.lower().replace("_", "-")
          for name in dir(Atspi.StateType) if name.isupper() and name != "LAST_DEFINED"}  # fmt: skip
NUMBERS = {name: number for number, name in STATES.items()}


class Widget:
    """One accessible object: the bus name of its application and its path.

    holder: the widget that told of it.  offset: how far (x, y) it and what is in it lie from where they say, unless
    GTK draws them.
    """

    def __init__(self, bus: Gio.DBusConnection, owner: str, path: str, holder: Widget | None = None) -> None:
        self.bus, self.owner, self.path, self.holder = bus, owner, path, holder
        self.offset: tuple[int, int] = holder.offset if holder else (0, 0)

    def call(self, interface: str, method: str, signature: str = "()", *args: Any) -> Any:
        """The reply of a method of an `org.a11y.atspi` interface. Raises GLib.Error."""
        return self._send(f"org.a11y.atspi.{interface}", method, GLib.Variant(signature, args))

    def get(self, interface: str, name: str) -> Any:
        """A property of an `org.a11y.atspi` interface."""
        arguments = GLib.Variant("(ss)", (f"org.a11y.atspi.{interface}", name))
        return self._send("org.freedesktop.DBus.Properties", "Get", arguments)

    def _send(self, interface: str, method: str, arguments: GLib.Variant) -> Any:
        flags = Gio.DBusCallFlags.NONE
        reply = self.bus.call_sync(self.owner, self.path, interface, method, arguments, None, flags, CALL_MS, None)
        return reply.unpack()[0]

    def at(self, reference: tuple[str, str]) -> Widget | None:
        """The widget that a reply refers to."""
        return Widget(self.bus, *reference, self) if reference[1] != NULL else None

    def states(self) -> set[str]:
        """The names of its states."""
        low, high = self.call("Accessible", "GetState")
        bits = high << 32 | low
        return {name for number, name in STATES.items() if bits >> number & 1}

    def role(self) -> str:
        """The name of its role."""
        number = self.call("Accessible", "GetRole")
        known = 0 < number < int(Atspi.Role.LAST_DEFINED) and number != int(Atspi.Role.EXTENDED)
        return str(Atspi.role_get_name(Atspi.Role(number)) if known else self.call("Accessible", "GetRoleName"))

    def name(self) -> str:
        """Its name, without the blanks that GTK puts where a shortcut is shown."""
        return str(self.get("Accessible", "Name")).strip()

    def is_gtk(self) -> bool:
        """Whether GTK draws it."""
        return bool(self.call("Accessible", "GetAttributes").get("toolkit") == "gtk")

    def extents(self) -> tuple[int, int, int, int]:
        """(x, y, width, height) on the screen."""
        x, y, width, height = self.call("Component", "GetExtents", "(u)", SCREEN)
        dx, dy = (0, 0) if self.offset == (0, 0) or self.is_gtk() else self.offset
        return x + dx, y + dy, width, height

    def measure_offset(self) -> None:
        """LibreOffice's root pane fills its parent, which is GTK's, but says that it lies over the menu bar."""
        if self.holder is not None and self.holder.is_gtk() and not self.is_gtk():
            (px, py, _, _), (x, y, _, _) = self.holder.extents(), self.extents()
            self.offset = (px - x, py - y)

    def children(self, role: str, with_cells: bool) -> list[Widget]:
        """What is in it; of a large table the cells in view, and none where they are not asked for.

        A small one is gone through in any case: pages lay links and buttons out in tables.
        """
        count, is_table = self.get("Accessible", "ChildCount"), role in TABLE_ROLES
        if count <= 0 or (is_table and not with_cells and count > MAX_CHILDREN):
            return []
        if count <= MAX_CHILDREN:
            found = [self.at(reference) for reference in self.call("Accessible", "GetChildren")]
        elif is_table:
            return list(self.cells_in_view())
        else:
            found = [self.at(self.call("Accessible", "GetChildAtIndex", "(i)", i)) for i in range(MAX_CHILDREN)]
        return [widget for widget in found if widget is not None]

    def cells_in_view(self) -> Iterator[Widget]:
        """The cells between the corners of what a table shows, row by row."""
        x, y, width, height = self.call("Component", "GetExtents", "(u)", SCREEN)
        top, left = self.place_of_cell(x + 1, y + 1, PROBE_PX) or (0, 0)
        last = self.place_of_cell(x + width - 2, y + height - 2, -PROBE_PX)
        bottom, right = last or (top + height // PROBE_PX, left + width // PROBE_PX)
        places = [(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)]
        for row, column in places[:MAX_CELLS]:
            cell = self.at(self.call("Table", "GetAccessibleAt", "(ii)", row, column))
            if cell is not None:
                yield cell

    def place_of_cell(self, x: int, y: int, step: int) -> tuple[int, int] | None:
        """(row, column) of the first cell met from a point of the screen along the diagonal."""
        for i in range(PROBES):
            cell = self.at(self.call("Component", "GetAccessibleAtPoint", "(iiu)", x + i * step, y + i * step, SCREEN))
            if cell is not None and cell.role() == "table cell":
                index = cell.call("Accessible", "GetIndexInParent")
                return self.call("Table", "GetRowAtIndex", "(i)", index), self.call(
                    "Table", "GetColumnAtIndex", "(i)", index
                )
        return None

    def described(self, role: str, states: set[str]) -> list[Any]:
        """It as the answer's list."""
        interfaces = {name.rpartition(".")[2] for name in self.call("Accessible", "GetInterfaces")}
        text, value, box = "", None, (0, 0, 0, 0)
        if "Text" in interfaces:
            text = self.call("Text", "GetText", "(ii)", 0, min(self.get("Text", "CharacterCount"), MAX_TEXT))
        if "Value" in interfaces:
            value = self.get("Value", "CurrentValue")
        if "Component" in interfaces:
            box = self.extents()
        return [role, self.name(), text, value, sorted(states), *box]


class Search:
    """One question's walk, level by level."""

    def __init__(self, question: dict[str, Any], pool: ThreadPoolExecutor) -> None:
        self.role, self.pool = question["role"], pool
        self.name = None if question["name"] is None else re.compile(question["name"], re.DOTALL)
        self.with_cells = self.role is None or self.role in CELL_ROLES
        self.deadline = time.monotonic() + question["seconds"]
        self.visited = 0

    def spent(self) -> bool:
        """Whether a bound is reached."""
        return self.visited >= MAX_WIDGETS or time.monotonic() > self.deadline

    def walk(self, app: Widget) -> list[list[Any]]:
        """The wanted widgets of an application, in the order of its tree."""
        found: list[tuple[tuple[int, ...], list[Any]]] = []
        level: list[tuple[tuple[int, ...], Widget]] = [((), app)]
        while level and not self.spent():
            self.visited += len(level)
            below: list[tuple[tuple[int, ...], Widget]] = []
            for (path, _), (wanted, children) in zip(level, self.pool.map(self.look, level), strict=True):
                if wanted is not None:
                    found.append((path, wanted))
                below += [((*path, i), child) for i, child in enumerate(children)]
            level = below
        return [wanted for _, wanted in sorted(found, key=lambda pair: pair[0])]

    def look(self, at: tuple[tuple[int, ...], Widget]) -> tuple[list[Any] | None, list[Widget]]:
        """A widget as the answer's list if it is wanted, and what is in it."""
        path, widget = at
        try:
            if self.spent():
                return None, []
            states = widget.states()
            shows = "showing" in states
            if len(path) > 1 and not shows:
                return None, []
            role = widget.role()
            if role == "root pane":
                widget.measure_offset()
            wanted = path and shows and self.wants(widget, role)
            return widget.described(role, states) if wanted else None, widget.children(role, self.with_cells)
        except GLib.Error:
            return None, []  # it went while we looked

    def wants(self, widget: Widget, role: str) -> bool:
        """Whether a widget is asked for."""
        return self.role in (None, role) and (self.name is None or bool(self.name.fullmatch(widget.name())))


def is_active(app: Widget) -> bool:
    """Whether one of an application's windows has the keyboard."""
    try:
        windows = (app.at(reference) for reference in app.call("Accessible", "GetChildren"))
        return any(window is not None and "active" in window.states() for window in windows)
    except GLib.Error:
        return False


def answer(question: dict[str, Any], registry: Widget, pool: ThreadPoolExecutor) -> dict[str, Any]:
    """The answer to one question."""
    apps = [app for app in map(registry.at, registry.call("Accessible", "GetChildren")) if app is not None]
    search, found = Search(question, pool), []
    if question["app"]:
        for app in apps:
            if re.search(question["app"], app.name()):
                found += search.walk(app)
    else:
        actives = list(pool.map(is_active, apps))
        for _, app in sorted(zip(actives, apps, strict=True), key=lambda pair: not pair[0]):
            found = search.walk(app)
            if found:
                break
    return {"nodes": found, "complete": not search.spent()}


def main() -> None:
    """Answer until stdin ends."""
    session = Gio.bus_get_sync(Gio.BusType.SESSION, None)
    address = session.call_sync(
        "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, Gio.DBusCallFlags.NONE, -1, None
    ).unpack()[0]
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
    registry = Widget(bus, "org.a11y.atspi.Registry", ROOT)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for line in sys.stdin:
            try:
                reply = answer(json.loads(line), registry, pool)
            except GLib.Error as error:
                reply = {"error": error.message}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
