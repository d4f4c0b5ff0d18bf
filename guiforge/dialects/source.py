"""Python source text as a list of calls on literals, read with `ast` and never run.

Invariant: only calls by name from a given table, on literals and + - * / of literals, mean anything; everything else is
a DialectError. The cost of reading is bounded by MAX_SOURCE and MAX_DEPTH.
"""

from __future__ import annotations

import ast
import operator
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from guiforge.action import Action, Point
from guiforge.dialects.base import MAX_SOURCE, DialectError, Fields, number, one_of
from guiforge.frame import Size

MAX_DEPTH = 20  # of nested arithmetic and lists

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


class Screen:
    """Where a source's coordinates lie: the screen, whether numbers up to 1 are fractions, and the pointer so far."""

    def __init__(self, size: Size, *, fractions: bool, cursor: Point | None) -> None:
        self.size, self.fractions, self.cursor = size, fractions, cursor

    def place(self, x: float | None, y: float | None) -> dict[str, int]:
        """{x, y} in pixels, {} for the pointer's place; a missing one of the two is the pointer's."""
        if x is None and y is None:
            return {}
        at = self._pointer("a place with x or y alone") if x is None or y is None else (0, 0)
        self.cursor = (
            at[0] if x is None else self._pixel(x, self.size[0]),
            at[1] if y is None else self._pixel(y, self.size[1]),
        )
        return {"x": self.cursor[0], "y": self.cursor[1]}

    def offset(self, dx: float | None, dy: float | None) -> dict[str, int]:
        """{x, y} in pixels, this far from the pointer."""
        at = self._pointer("a relative move")
        self.cursor = (at[0] + self._length(dx or 0, self.size[0]), at[1] + self._length(dy or 0, self.size[1]))
        return {"x": self.cursor[0], "y": self.cursor[1]}

    def _pointer(self, what: str) -> Point:
        if self.cursor is None:
            raise DialectError(f"{what} needs the pointer's position, which is unknown; give both x and y")
        return self.cursor

    def _pixel(self, value: float, size: int) -> int:
        if self.fractions and 0 <= value <= 1:
            return min(round(value * size), size - 1)
        return self._length(value, size)

    def _length(self, value: float, size: int) -> int:
        return round(value * size if self.fractions and -1 <= value <= 1 else value)


T = TypeVar("T")
Handler = Callable[[Fields, Screen], Sequence[Action]]
CallsOf = Mapping[str, tuple[tuple[str, ...], Callable[[Fields, Screen], Sequence[T]]]]
Calls = CallsOf[Action]
"""What may be called: name -> (names of its arguments in order, what a call means). A first name with a star, `*keys`,
takes all positional arguments, or one list."""


def read_source(source: str, screen: Screen, calls: CallsOf[T]) -> list[T]:
    """What source text means whose statements are calls of `calls`: name -> (argument names, handler).

    Raises DialectError. The cost is bounded by MAX_SOURCE and MAX_DEPTH.
    """
    if len(source) > MAX_SOURCE:
        raise DialectError(f"code of {len(source)} characters; at most {MAX_SOURCE} are read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown escapes in a policy's texts
            body = ast.parse(textwrap.dedent(source).strip()).body
    except SyntaxError as error:
        raise DialectError(f"the code is not valid Python: {error.msg} (line {error.lineno})") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise DialectError(f"the code can't be read: {str(error) or type(error).__name__}") from None
    meant: list[T] = []
    for statement in body:
        if isinstance(statement, ast.Import) and all(a.name in ("pyautogui", "time") for a in statement.names):
            continue
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            raise DialectError(f"line {statement.lineno}: only calls are read; valid are: {', '.join(calls)}")
        meant += _read_call(statement.value, screen, calls)
    return meant


def _read_call(call: ast.Call, screen: Screen, calls: CallsOf[T]) -> Sequence[T]:
    target = call.func
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        name = f"{target.value.id}.{target.attr}"
    else:
        name = target.id if isinstance(target, ast.Name) else type(target).__name__
    names, handler = calls[one_of("call", name, list(calls))]
    arguments = [_literal(node) for node in call.args]
    if names and names[0].startswith("*"):
        names = (names[0][1:], *names[1:])
        if not (len(arguments) == 1 and isinstance(arguments[0], list)):
            arguments = [arguments]
    if len(arguments) > len(names):
        raise DialectError(f"{name} takes at most {len(names)} arguments: {', '.join(names)}")
    values = dict(zip(names, arguments, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in values:
            raise DialectError(f"{name}: argument {keyword.arg or '**'} is given twice, or not by name")
        values[keyword.arg] = _literal(keyword.value)
    return handler(Fields(name, values, names), screen)


def _literal(node: ast.expr, depth: int = 0) -> Any:
    """A literal's value: number, text, None, a list of those; + - * / of numbers, + of texts. Raises DialectError."""
    if depth > MAX_DEPTH:
        raise DialectError(f"an argument is nested more than {MAX_DEPTH} deep")
    if isinstance(node, ast.Constant) and (node.value is None or type(node.value) in (int, float, str, bool)):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_literal(item, depth + 1) for item in node.elts]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
        value = number("an operand", _literal(node.operand, depth + 1))
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _literal(node.left, depth + 1), _literal(node.right, depth + 1)
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str):
            return left + right
        number("an operand", left)
        if number("an operand", right) == 0 and isinstance(node.op, ast.Div):
            raise DialectError("a division by zero")
        return number("a result", _ARITHMETIC[type(node.op)](left, right))
    raise DialectError(
        f"an argument may be numbers, texts, lists of them, and + - * / of literals; not {type(node).__name__}"
    )
