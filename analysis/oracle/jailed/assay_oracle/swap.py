"""Change code that a process has already imported: replace the functions' `__code__`, or refuse with the reason."""

from __future__ import annotations

import ast
import gc
import inspect
import os
import warnings
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType, CoroutineType, FunctionType, GeneratorType
from typing import Any

_KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
_SIGNATURE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class CannotSwap(Exception):
    """The change needs a fresh process; the message says why."""


class Live:
    """The functions and suspended generators of a project, by file, found once."""

    def __init__(self) -> None:
        self.functions: defaultdict[str, list[FunctionType]] = defaultdict(list)
        self.suspended: defaultdict[str, list[CodeType]] = defaultdict(list)

    @classmethod
    def found(cls, root: str) -> Live:
        """All that the collector knows of whose code is in files under `root`."""
        live, prefix = cls(), f"{root}{os.sep}"
        for thing in gc.get_objects():
            kind = type(thing)
            if kind is FunctionType:
                if thing.__code__.co_filename.startswith(prefix):
                    live.functions[thing.__code__.co_filename].append(thing)
            elif kind is GeneratorType:
                live.suspended[thing.gi_code.co_filename].append(thing.gi_code)
            elif kind is CoroutineType:
                live.suspended[thing.cr_code.co_filename].append(thing.cr_code)
        return live


def swap(live: Live, file: str, old: str, new: str) -> int:
    """Give the live functions of `file` the code that they have in the new text; how many got it.

    Raises CannotSwap where anything but bodies of functions changed, or where a function can't take its new code.
    """
    before, after = _functions(old), _functions(new)
    if before.rest != after.rest:
        raise CannotSwap("something outside the bodies of functions changed")
    changed = [i for i, (a, b) in enumerate(zip(before.bodies, after.bodies, strict=True)) if a != b]
    if not changed:
        raise CannotSwap("no function's code changed")
    by_code: defaultdict[CodeType, list[FunctionType]] = defaultdict(list)
    for function in live.functions[file]:
        by_code[function.__code__].append(function)
    olds, news = _outermost(_compiled(old, file)), _outermost(_compiled(new, file))
    plan: list[tuple[FunctionType, CodeType]] = []
    for i in changed:
        a, b = _only(olds, before.starts[i]), _only(news, after.starts[i])
        if not by_code[a]:
            raise CannotSwap(f"{a.co_name} has no live function with the code of its file")
        for was, becomes in _pairs(a, b, by_code):
            if was in live.suspended[file]:
                raise CannotSwap(f"{was.co_name} is suspended")
            plan += [(function, becomes) for function in by_code[was]]
    for function, code in plan:
        _check(function.__code__, code)
    for function, code in plan:
        function.__code__ = code
    return len(plan)


class _Functions:
    """The outermost functions of a file: their bodies without docstrings, the lines that they start at, and all the rest of the file."""

    def __init__(self, tree: ast.Module) -> None:
        self.bodies: list[str] = []
        self.starts: list[tuple[str, int]] = []
        self._take(tree)
        self.rest = ast.dump(tree)

    def _take(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                self._take(child)
                continue
            documented = ast.get_docstring(child, clean=False) is not None
            self.bodies.append("\n".join(ast.dump(statement) for statement in child.body[documented:]))
            self.starts.append((child.name, min([child.lineno, *(d.lineno for d in child.decorator_list)])))
            child.body = child.body[:documented]


def _functions(text: str) -> _Functions:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _Functions(ast.parse(text))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise CannotSwap(f"does not parse: {error}") from None


def _compiled(text: str, file: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compile(text, file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise CannotSwap(f"does not compile: {error}") from None


def _nested(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _outermost(module: CodeType) -> dict[tuple[str, int], list[CodeType]]:
    """Codes by name and first line (that of a first decorator), through classes but not into functions."""
    found: defaultdict[tuple[str, int], list[CodeType]] = defaultdict(list)

    def walk(code: CodeType) -> None:
        for inner in _nested(code):
            found[inner.co_name, inner.co_firstlineno].append(inner)
            # "<": the type parameters of a generic function or class
            if not inner.co_flags & inspect.CO_OPTIMIZED or inner.co_name.startswith("<"):
                walk(inner)

    walk(module)
    return found


def _only(codes: dict[tuple[str, int], list[CodeType]], start: tuple[str, int]) -> CodeType:
    found = codes.get(start, [])
    if len(found) != 1:
        raise CannotSwap(f"{len(found)} functions {start[0]} begin at line {start[1]}")
    return found[0]


def _pairs(old: CodeType, new: CodeType, live: dict[CodeType, list[FunctionType]]) -> Iterator[tuple[CodeType, CodeType]]:
    """A function's code and, of the functions inside it, those that live already, each with what it becomes."""
    if live.get(old):
        yield old, new
    inside, becomes = _by_name(_nested(old)), _by_name(_nested(new))
    for name, codes in inside.items():
        others = becomes.get(name, [])
        if len(codes) == len(others):
            for a, b in zip(codes, others, strict=True):
                yield from _pairs(a, b, live)
        elif any(live.get(code) for outer in codes for code in _all(outer)):
            raise CannotSwap(f"{name} inside {old.co_name} lives already, and there are now {len(others)} of it, not {len(codes)}")


def _by_name(codes: list[CodeType]) -> dict[str, list[CodeType]]:
    named: dict[str, list[CodeType]] = {}
    for code in codes:
        named.setdefault(code.co_name, []).append(code)
    return named


def _all(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in _nested(code):
        yield from _all(inner)


def _check(old: CodeType, new: CodeType) -> None:
    """What a function object keeps from its creation must fit the new code, and so must what decorators have seen of it."""

    def kept(code: CodeType) -> dict[str, Any]:
        count = (
            code.co_argcount
            + code.co_kwonlyargcount
            + bool(code.co_flags & inspect.CO_VARARGS)
            + bool(code.co_flags & inspect.CO_VARKEYWORDS)
        )
        return {
            "variables from outside": code.co_freevars,
            "kind": code.co_flags & _KINDS,
            "parameters": (code.co_varnames[:count], code.co_argcount, code.co_posonlyargcount, code.co_flags & _SIGNATURE),
        }

    before, after = kept(old), kept(new)
    if different := [what for what in before if before[what] != after[what]]:
        raise CannotSwap(f"{old.co_name} changes its {' and '.join(different)}")
