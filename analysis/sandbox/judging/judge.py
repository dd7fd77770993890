"""The judge of Python programs: a process that runs a trusted test against a program in another process, and alone decides.

The names that a test takes from the program are stand-ins (`session`). Each call goes over a wire to the program's process. Its answer is
rebuilt from exact builtin types.
"""

from __future__ import annotations

import ast
import builtins
import dis
import gc
import json
import os
import socket
import sys
import traceback
from collections import OrderedDict
from dataclasses import dataclass
from types import CodeType
from typing import Any

from .forkserver import serve
from .handing import TEST_MODULE
from .session import TEST_FILE, Session, Untestable
from .values import MAX_BYTES
from .wire import Wire

# Instructions that read a global name, or one that is global where a class does not bind it.
_LOADS = frozenset(("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"))
# Prepared tests that are kept, and their total length: each fork pays for their memory.
_MAX_TESTS, _MAX_TESTS_LENGTH = 64, 1 << 25


@dataclass(frozen=True, slots=True)
class PreparedTest:
    """A test ready to run.

    namespace: what its leading statements made. rest: the code after them. names: those that it takes from the program.
    """

    namespace: dict[str, Any]
    rest: CodeType
    names: tuple[str, ...]


def prepare_test(test: str, entry_point: str | None) -> PreparedTest:
    """Run a test's leading statements, those that use nothing of the program (inputs, expected values, definitions), once for all programs.

    A test in HumanEval's form defines a function `check` that nothing calls: it is then called with the entry point.

    Raises: Untestable where the test is not Python, its leading statements raise, or it uses nothing of the program.
    """
    try:
        tree = ast.parse(test, TEST_FILE)
        used, bound = global_names(tree)
        if entry_point is not None and _leaves_check_to_others(tree, used):
            tree.body += ast.parse(f"check({entry_point})", TEST_FILE).body
            used.add(entry_point)
        used -= bound
        names = tuple(name for name in sorted(used) if name == entry_point or not _is_the_judges_own(name))
        if not names:
            raise ValueError("it uses nothing of the program")
        first = next((i for i, node in enumerate(tree.body) if _names_in(node).intersection(names)), len(tree.body))
        head, rest = ast.Module(tree.body[:first], []), ast.Module(tree.body[first:], [])
        namespace: dict[str, Any] = {"__name__": TEST_MODULE}
        for name in used.difference(names):
            if name in sys.stdlib_module_names:
                namespace[name] = __import__(name)
        # dont_inherit: the `from __future__` of this file is not the test's
        exec(compile(head, TEST_FILE, "exec", dont_inherit=True), namespace)
        # what the compiler does not see bound may be so all the same, by `from math import *`
        names = tuple(name for name in names if name == entry_point or name not in namespace)
        return PreparedTest(namespace, compile(rest, TEST_FILE, "exec", dont_inherit=True), names)
    except Exception as error:
        raise Untestable(_describe(error, test)) from None


def _leaves_check_to_others(tree: ast.Module, used: set[str]) -> bool:
    """Whether it defines a function `check` and uses it nowhere."""
    defines = any(isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == "check" for node in tree.body)
    return defines and "check" not in used


def global_names(tree: ast.Module) -> tuple[set[str], set[str]]:
    """The global names that code uses, and those that it binds.

    By what the compiler makes of a tree that is parsed already: a test may be a hundred megabytes of text.
    """
    used: set[str] = set()
    bound: set[str] = set()
    todo = [compile(tree, TEST_FILE, "exec", dont_inherit=True)]
    while todo:
        code = todo.pop()
        todo += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        for instruction in dis.get_instructions(code):
            if instruction.opname in _LOADS:
                used.add(instruction.argval)
            elif instruction.opname == "STORE_GLOBAL" or (instruction.opname == "STORE_NAME" and code.co_name == "<module>"):
                bound.add(instruction.argval)
    return used, bound


def _is_the_judges_own(name: str) -> bool:
    return hasattr(builtins, name) or name in sys.stdlib_module_names or name in ("__name__", "__file__")


def _names_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _describe(error: BaseException, test: str) -> str:
    """One line on an exception, with the line of the test that it comes from."""
    said = getattr(error, "__dict__", {}).get("said")
    try:
        text = said or str(error)
    except BaseException:
        text = "without a text"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == TEST_FILE]
    where = ""
    if lines and lines[-1]:
        where = f" (test, line {lines[-1]}: {_line(test, lines[-1])})"
    return f"{type(error).__name__}{': ' if text else ''}{text[:600]}{where}"


def _described_at_any_cost(error: BaseException, test: str) -> str:
    """As `_describe`, also for an error that the program has made so that it can't be described."""
    try:
        return _describe(error, test)
    except BaseException:
        return type(error).__name__


# The program chooses the names of its classes, of any length.
_MAX_REASON = 2_000
# What a test binds to this name is told with its result: how far it came, and what it counted. The verdict has to fit into a pipe.
REPORT, MAX_REPORT = "test_report", 16_000


def _line(test: str, number: int) -> str:
    lines = test.splitlines()
    return lines[number - 1].strip()[:200] if number <= len(lines) else ""


def verdict(session: Session, test: str, entry_point: str | None, ready: PreparedTest) -> dict[str, Any]:
    """Run a prepared test against a program.

    Returns: passed; where it did not pass, also kind ("sandbox", "test", "gone", "memory", "program": what is to blame) and reason; and
    report, the text that the test bound to that name, as far as it came.
    """
    kind, reason, passed = "program", "", False
    if not session.begin():
        return {"passed": False, "kind": "sandbox", "reason": "the program's process ended before it was confined"}
    try:
        session.await_load()
        defined = session.do("defined", ready.names, {})
        missing = [name for name in ready.names if type(defined) is not tuple or name not in defined]
        if entry_point in missing:
            raise session.refuse(f"the program does not define {entry_point}")
        for name in ready.names:
            if name not in missing:
                ready.namespace[name] = session.do("name", (name,), {})
        exec(ready.rest, ready.namespace)
        passed = not session.breach and not session.untestable
    except MemoryError:
        ready.namespace.clear()  # room for telling so
        kind, reason = "memory", "the test had no memory left for what the program returned"
    except BaseException as error:
        reason = _described_at_any_cost(error, test)
    if session.breach:
        kind, reason = "gone" if session.gone else "program", session.breach
    elif session.untestable:
        kind, reason = "test", session.untestable
    report = ready.namespace.get(REPORT, "")
    told = report[:MAX_REPORT] if type(report) is str else ""
    return {"passed": passed, "kind": kind, "reason": reason[:_MAX_REASON], "report": told}


class PreparedTests:
    """A cache of prepared tests by the keys that the owner of this server chose; the least recently used one is dropped first."""

    def __init__(self) -> None:
        self._ready: OrderedDict[str, tuple[str, str | None, PreparedTest]] = OrderedDict()

    def prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        """Prepare a test unless it is in the cache.

        Returns: known, False where the test has to be sent first; broken, why it can't be run, or nothing.
        """
        key, entry_point = request["key"], request.get("entry_point")
        if key not in self._ready:
            if "data" not in request:
                return {"known": False, "broken": ""}
            # as one text, since it may be as long as memory allows
            test = str(request.pop("data"), "utf-8", "surrogatepass")
            try:
                self._ready[key] = (test, entry_point, prepare_test(test, entry_point))
            except Untestable as error:
                return {"known": True, "broken": str(error)}
            while len(self._ready) > 1 and (
                len(self._ready) > _MAX_TESTS or sum(len(kept[0]) for kept in self._ready.values()) > _MAX_TESTS_LENGTH
            ):
                self._ready.popitem(last=False)
            gc.collect()
            gc.freeze()  # a garbage collection in a fork would touch, and so copy, all of this memory
        self._ready.move_to_end(key)
        return {"known": True, "broken": ""}

    def run(self, request: dict[str, Any], fd: int) -> None:
        """Run a test in the forked child, which writes nothing but the verdict."""
        output = os.dup(1)
        os.dup2(0, 1, inheritable=False)
        os.dup2(0, 2, inheritable=False)
        decided = verdict(Session(Wire(fd, MAX_BYTES)), *self._ready[request["key"]])
        os.write(output, json.dumps(decided).encode())


def main(control: int) -> None:
    """Serve requests that come on the socket with this descriptor."""
    bench = PreparedTests()
    serve(socket.socket(fileno=control), bench.prepare, bench.run)
