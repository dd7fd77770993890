"""Which lines of a file a new text changes, and which lines to look up in the coverage for them."""

from __future__ import annotations

import ast
import warnings
from difflib import SequenceMatcher


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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
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
