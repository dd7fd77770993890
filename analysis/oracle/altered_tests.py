"""Tests that must fail: a project's own, with another value in the place of one that they expect.

A right program fails them. One that makes pytest report a pass, gives what equals everything, or reads what is expected out of the test
passes them, too. It can't know the value, which is drawn anew for each run, outside of its process.
"""

from __future__ import annotations

import ast
import math
import os
import secrets
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from glob import escape
from string import ascii_lowercase, digits

from .copying import ProjectCopy
from .scratch_folder import ScratchFolder, replaced
from .sources import NotJudged, encoded, source_of, unwritable

_Path = tuple[str, ...]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_EQUALITIES = frozenset({"assertEqual", "assertListEqual", "assertTupleEqual", "assertDictEqual", "assertSetEqual", "assertMultiLineEqual"})
# What they give equals more than one value.
_LENIENT = frozenset({"approx", "ANY"})
# Python reads and writes no longer number in decimal.
_MAX_BITS = 10_000


@dataclass(frozen=True, slots=True)
class AlteredTests:
    """Test files of a copy by their paths in it, as they are and with other values. tests: those that expect another value."""

    tests: frozenset[str]
    present: Mapping[str, bytes]
    altered: Mapping[str, bytes]


def with_other_values(copied: ProjectCopy, tests: Sequence[str]) -> AlteredTests:
    """Each of the tests with another value that it expects, where there is one.

    The ids are the tests' own word, so only files of the copy are opened.
    """
    changed = frozenset[str]()
    present, other = dict[str, bytes](), dict[str, bytes]()
    for file in copied.files.intersection(test.partition("::")[0] for test in tests):
        try:
            source = source_of(copied.folder, file)
        except NotJudged:
            continue
        text, names = altered(source, [test for test in tests if test.startswith(f"{file}::")])
        if names and not unwritable(text):
            changed |= names
            present[file], other[file] = encoded(source), encoded(text)
    return AlteredTests(changed, present, other)


@contextmanager
def in_place(copied: ProjectCopy, files: Mapping[str, bytes]) -> Iterator[None]:
    """Put test files into a copy while the block runs, as new files without byte code: nothing but the content differs between two runs.

    Those of the copy are kept where the jail does not show them. Raises OSError.
    """
    if not files:
        yield
        return
    with ExitStack() as held:
        aside = held.enter_context(closing(ScratchFolder())).path
        for number, file in enumerate(sorted(files)):
            path = copied.folder / file
            if (cache := path.parent / "__pycache__").is_dir():
                for code in cache.glob(f"{escape(path.stem)}.*.pyc"):
                    code.unlink()  # for good: pytest makes its own
                os.utime(cache)
            (kept := aside / str(number)).mkdir()
            held.enter_context(replaced(path, files[file], kept))
        yield


def altered(source: str, tests: Collection[str]) -> tuple[str, frozenset[str]]:
    """The text of a test file in which some tests expect another value, and which of `tests`, by their ids, these are."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = _expected_in(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source, frozenset()
    changed = frozenset(test for test in tests if _name(test) in expected)
    lines = [line.encode() for line in source.split("\n")]
    # from the end, so that no change moves another one's place
    nodes = sorted({_name(test): expected[_name(test)] for test in changed}.values(), key=lambda node: (-node.lineno, -node.col_offset))
    for node in nodes:
        line = lines[node.lineno - 1]
        lines[node.lineno - 1] = line[: node.col_offset] + _other(node.value).encode() + line[node.end_col_offset :]
    return b"\n".join(lines).decode(), changed


def _name(test: str) -> _Path:
    """A test's classes and function, without its parameters."""
    return tuple(test.partition("[")[0].split("::")[1:])


def _expected_in(tree: ast.Module) -> Mapping[_Path, ast.Constant]:
    """A value that each function compares something with, by the names of its classes and its own, where each is bound once."""
    definitions = list(_definitions(tree, ()))
    times = Counter(name for name, _ in definitions)
    bound = set(_bound(tree))
    found = dict[_Path, ast.Constant]()
    for name, node in definitions:
        is_sure = bound.isdisjoint(name) and all(times[name[:count]] == 1 for count in range(1, len(name) + 1))
        if is_sure and isinstance(node, _FUNCTIONS) and (value := _expected(node)) is not None:
            found[name] = value
    return found


def _definitions(node: ast.AST, around: _Path) -> Iterator[tuple[_Path, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    """The functions and classes of a module, those inside functions left out."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, (*_FUNCTIONS, ast.ClassDef)):
            yield (*around, each.name), each
        if isinstance(each, ast.ClassDef):
            yield from _definitions(each, (*around, each.name))
        elif isinstance(each, ast.stmt | ast.ExceptHandler | ast.match_case) and not isinstance(each, _FUNCTIONS):
            yield from _definitions(each, around)


def _bound(tree: ast.Module) -> Iterator[str]:
    """The names that are bound otherwise than by a definition, wherever."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


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
    """The values of the side that is written out, where the other is not, and does not equal several."""
    written = [_is_written(left), _is_written(right)]
    if written[0] == written[1] or _LENIENT.intersection(map(_named, ast.walk(right if written[0] else left))):
        return []
    inside = ast.walk(left if written[0] else right)
    return [node for node in inside if isinstance(node, ast.Constant) and node.lineno == node.end_lineno and _has_another(node.value)]


def _named(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _has_another(value: object) -> bool:
    """Whether `_other` can write another value."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) or (isinstance(value, int) and value.bit_length() < _MAX_BITS)


def _is_written(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _other(value: object) -> str:
    """Another value of the same type and form, as it is written: an odd one would show that it is not the right one."""
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int | float):
        text = _other_number(repr(value))
        # of the largest floats, which have no larger literal
        return text if isinstance(value, int) or math.isfinite(float(text)) else repr(value / 8)
    text = "".join(map(_other_character, str(value)))
    return ascii(text if text != value else text + "".join(secrets.choice(ascii_lowercase) for _ in range(6)))


def _other_number(text: str) -> str:
    """A number of as many digits, whose first differs by two at least: nothing that is a little lenient takes it for the same."""
    mantissa, sign, exponent = text.partition("e")
    first = next((at for at, each in enumerate(mantissa) if each in "123456789"), 0)
    leading = secrets.choice([each for each in "123456789" if abs(int(each) - int(mantissa[first])) >= 2])
    return mantissa[:first] + leading + "".join(map(_other_character, mantissa[first + 1 :])) + sign + exponent


def _other_character(character: str) -> str:
    """A different letter or digit of the same kind; anything else stays."""
    if character.isdigit():
        return secrets.choice(digits.replace(character, ""))
    other = secrets.choice(ascii_lowercase.replace(character.lower(), ""))
    return other if character.islower() else other.upper() if character.isupper() else character
