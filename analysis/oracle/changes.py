"""Which lines of a file a new text changes, which to look up in the coverage for them, and which others the change affects: a name that is
bound in one place is local in the whole function.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from ..python.source_text import tree_or_none, without_warnings


def changed_lines(old: str, new: str) -> range:
    """The lines of the old text (from 1) of the smallest single region in which the texts differ.

    Where lines were only inserted, the lines on both sides of the place. Empty where the texts are the same.
    """
    a, b = old.split("\n"), new.split("\n")
    if a == b:
        return range(0)
    before, after = _in_common(a, b)
    first, last = before + 1, len(a) - after
    return range(first, last + 1) if first <= last else range(max(1, last), min(len(a), first) + 1)


def lines_behind(old: str, new: str, lines: range) -> range:
    """The lines of the old text (from 1) that some lines of the new one stem from; where these were inserted, those on both sides."""
    a, b = old.split("\n"), new.split("\n")
    before, after = _in_common(a, b)
    between = SequenceMatcher(None, a[before : len(a) - after], b[before : len(b) - after], autojunk=False)
    runs = [("equal", 0, before, 0, before)]
    runs += [(same, before + i, before + j, before + k, before + m) for same, i, j, k, m in between.get_opcodes()]
    runs += [("equal", len(a) - after, len(a), len(b) - after, len(b))]
    found: list[int] = []
    for same, first, last, begin, end in runs:
        inside = range(max(begin, lines.start - 1), min(end, lines.stop - 1))
        if inside and same == "equal":
            found += [first + inside.start - begin, first + inside.stop - 1 - begin]
        elif inside:
            found += [first, last - 1] if first < last else [max(first - 1, 0), min(first, len(a) - 1)]
    return range(min(found) + 1, max(found) + 2) if found else range(0)


def _in_common(a: list[str], b: list[str]) -> tuple[int, int]:
    """How many lines are the same at the beginning, and how many of the others at the end."""
    before = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    most = min(len(a), len(b)) - before
    return before, next((i for i in range(most) if a[-1 - i] != b[-1 - i]), most)


def with_statements(source: str, lines: range) -> range:
    """Extend lines by the statements that they are part of; of a compound statement only its header counts.

    Python reports a statement of several lines as run on some of them only. For a source that does not parse here, the lines as given.
    """
    tree = tree_or_none(source)
    if tree is None:
        return lines
    first, last = lines.start, lines.stop - 1
    wide_first, wide_last = first, last
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        start, end = node.lineno, node.end_lineno or node.lineno
        if inner := _first_inside(node):
            end = max(start, inner - 1)
        if start <= last and end >= first:
            wide_first, wide_last = min(wide_first, start), max(wide_last, end)
    return range(wide_first, wide_last + 1)


def _first_inside(node: ast.stmt) -> int | None:
    body = getattr(node, "cases", None) or getattr(node, "body", None)
    if not isinstance(body, list) or not body:
        return None
    first = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    decorators: list[ast.expr] = getattr(first, "decorator_list", [])
    return min([int(first.lineno), *(decorator.lineno for decorator in decorators)])


def only_within(old: str, new: str, lines: range) -> bool:
    """Whether the texts differ only within `lines` (numbers from 1, of the old text)."""
    a, b = old.split("\n"), new.split("\n")
    before, after = a[: lines.start - 1], a[lines.stop - 1 :]
    return len(b) >= len(before) + len(after) and b[: len(before)] == before and b[len(b) - len(after) :] == after


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def affected_lines(old: str, new: str, lines: range) -> range:
    """The unchanged lines of the old text whose meaning is another one in the new text. lines: the region that may differ.

    Returns:
        The body of the outermost function around the region, where a name in it (or in a function inside it) is local in one text and
        global or from an outer function in the other, or where such a function becomes a generator.
        All lines, where that can't be found out because a text does not parse here, and where the function was a generator and is none any
        more: a test that only called it had run none of its lines.
        Else none.
    """
    everything = range(1, old.count("\n") + 2)
    try:
        with without_warnings():
            trees = ast.parse(old), ast.parse(new)
            tables = symtable.symtable(old, "old", "exec"), symtable.symtable(new, "new", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return everything
    region = _Region(lines, new.count("\n") - old.count("\n"))
    around = [function for function in _outermost(trees[0]) if region.is_within(function)]
    if not around:
        return range(0)
    was = around[0]
    becomes = [function for function in _outermost(trees[1]) if (function.name, function.lineno) == (was.name, was.lineno)]
    scopes = [[table for table in _functions(top) if (table.get_name(), table.get_lineno()) == (was.name, was.lineno)] for top in tables]
    if len(becomes) != 1 or [len(found) for found in scopes] != [1, 1]:
        return everything
    now = becomes[0]
    if _yields(was) and not _yields(now):
        return everything
    if _yields(now) == _yields(was) and _generators(was, region.old) == _generators(now, region.new):
        (before,), (after,) = scopes
        if not _differ(before, after, region):
            return range(0)
    return range(was.body[0].lineno, (was.end_lineno or was.lineno) + 1)


class _Region:
    """The lines that may differ, in the old and in the new text."""

    def __init__(self, lines: range, longer: int) -> None:
        self.old = lines
        self.new = range(lines.start, lines.stop + longer)

    def is_within(self, function: _Function) -> bool:
        return function.lineno < self.old.start <= (function.end_lineno or function.lineno)


def _place(line: int, region: range) -> int | None:
    """A number that a line outside of the region has in both texts: lines behind the region are counted from its end, negative."""
    if line < region.start:
        return line
    return region.stop - 1 - line if line >= region.stop else None


def _outermost(node: ast.AST) -> Iterator[_Function]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function):
            yield child
        else:
            yield from _outermost(child)


def _functions(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        if _kind(child) == "function":
            yield child
        else:
            yield from _functions(child)


def _kind(table: symtable.SymbolTable) -> str:
    return str(table.get_type())


def _differ(old: symtable.SymbolTable, new: symtable.SymbolTable, region: _Region) -> bool:
    """Whether some name has another kind of scope in the two tables, or in the functions inside them that begin outside of the region."""
    before, after = _names(old), _names(new)
    if any(before[name] != after[name] for name in before.keys() & after.keys()):
        return True
    inside, now = _outside(old.get_children(), region.old), _outside(new.get_children(), region.new)
    if [key for key, _ in inside] != [key for key, _ in now]:
        return True
    return any(_differ(a, b, region) for (_, a), (_, b) in zip(inside, now, strict=True))


def _outside(tables: Iterable[symtable.SymbolTable], region: range) -> list[tuple[tuple[int, str, str], symtable.SymbolTable]]:
    placed = ((_place(table.get_lineno(), region), table) for table in tables)
    return [((place, _kind(table), table.get_name()), table) for place, table in placed if place is not None]


def _names(table: symtable.SymbolTable) -> dict[str, str]:
    return {symbol.get_name(): _scope(symbol) for symbol in table.get_symbols()}


def _scope(symbol: symtable.Symbol) -> str:
    if symbol.is_global():
        return "global"
    return "from outside" if symbol.is_free() else "local"


def _generators(function: _Function, region: range) -> list[tuple[int, bool]]:
    """The functions inside that do not begin in the region: the place of each, and whether it is a generator."""
    inside = [node for node in ast.walk(function) if isinstance(node, _Function | ast.Lambda) and node is not function]
    places = ((_place(node.lineno, region), node) for node in inside)
    return sorted((place, _yields(node)) for place, node in places if place is not None)


def _yields(function: _Function | ast.Lambda) -> bool:
    left: list[ast.AST] = list(_body(function))
    while left:
        node = left.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, _Function | ast.Lambda | ast.ClassDef):
            left += ast.iter_child_nodes(node)
    return False


def _body(function: _Function | ast.Lambda) -> Sequence[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else function.body
