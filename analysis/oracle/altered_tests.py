"""Tests that must fail: a project's own, with another value in the place of one that they expect.

A right program fails them. One that makes pytest report a pass, gives what equals everything, or reads what is expected out of the test
passes them, too. It can't tell them from the real ones: the value is drawn anew for each run, outside of its process.
"""

from __future__ import annotations

import ast
import secrets
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .sources import NotJudged, encoded, source_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_EQUALITIES = frozenset({"assertEqual", "assertListEqual", "assertTupleEqual", "assertDictEqual", "assertSetEqual", "assertMultiLineEqual"})


@contextmanager
def other_values(folder: Path, tests: Sequence[str]) -> Iterator[frozenset[str]]:
    """Put another value into tests of one file of a copy while the block runs; which tests these are. Raises OSError.

    The file's own text is kept in memory: beside the copy the tests could read it.
    """
    for file in dict.fromkeys(test.partition("::")[0] for test in tests):
        path = folder / file
        try:
            text, changed = altered(source_of(folder, file), [test for test in tests if test.startswith(f"{file}::")])
        except NotJudged:
            continue
        if changed and not path.is_symlink() and path.resolve().is_relative_to(folder.resolve()):
            kept = path.read_bytes()
            path.write_bytes(encoded(text))
            try:
                yield changed
            finally:
                path.write_bytes(kept)
            return
    yield frozenset()


def altered(source: str, tests: Collection[str]) -> tuple[str, frozenset[str]]:
    """The text of a test file in which some tests expect another value, and which of `tests`, by their ids, these are."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source, frozenset()
    expected = {name: node for name, function in _functions(tree, ()) if (node := _expected(function)) is not None}
    changed = frozenset(test for test in tests if _name(test) in expected)
    lines = [line.encode() for line in source.split("\n")]
    # from the end, so that no change moves another one's place
    nodes = sorted({_name(test): expected[_name(test)] for test in changed}.values(), key=lambda node: (-node.lineno, -node.col_offset))
    for node in nodes:
        line = lines[node.lineno - 1]
        lines[node.lineno - 1] = line[: node.col_offset] + _other(node.value).encode() + line[node.end_col_offset :]
    return b"\n".join(lines).decode(), changed


def _name(test: str) -> tuple[str, ...]:
    """A test's classes and function, without its parameters."""
    return tuple(test.partition("[")[0].split("::")[1:])


def _functions(
    node: ast.Module | ast.ClassDef, around: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], ast.FunctionDef | ast.AsyncFunctionDef]]:
    for each in node.body:
        if isinstance(each, _FUNCTIONS):
            yield (*around, each.name), each
        elif isinstance(each, ast.ClassDef):
            yield from _functions(each, (*around, each.name))


def _expected(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.Constant | None:
    """A value, on one line, that the function compares something with in each run that comes to its end."""
    found: list[ast.Constant] = []
    for statement in function.body:
        if any(isinstance(inside, ast.Return) for inside in ast.walk(statement)):
            break
        match statement:
            case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])):
                found += _constants(left, right)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[left, right, *_])) if name in _EQUALITIES:
                found += _constants(left, right)
    return secrets.choice(found) if found else None


def _constants(left: ast.expr, right: ast.expr) -> list[ast.Constant]:
    """The values of the side that is written out, where the other is not."""
    written = [_is_written(left), _is_written(right)]
    if written[0] == written[1]:
        return []
    inside = ast.walk(left if written[0] else right)
    return [
        node
        for node in inside
        if isinstance(node, ast.Constant) and node.lineno == node.end_lineno and isinstance(node.value, int | float | str)
    ]


def _is_written(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _other(value: object) -> str:
    """Another value of the same type, as it is written."""
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int | float):
        other = value + secrets.randbelow(9) + 2
        # to a large float little can be added
        return repr(other if other != value else value / 2)
    return repr(f"{value}{secrets.token_hex(4)}")
