"""The judge: a process that runs trusted tests against a program in another process, and alone decides.

Names of the program that a test uses are stand-ins (`session`): they call over a wire, and give exact builtins made of what comes back.
"""

from __future__ import annotations

import ast
import builtins
import gc
import json
import os
import socket
import symtable
import sys
import traceback
from collections import OrderedDict
from dataclasses import dataclass
from types import CodeType
from typing import Any

from .forkserver import serve
from .session import Session, Untestable
from .values import MAX_BYTES
from .wire import Wire

# How many tests are kept compiled, with what their first statements made, and how long they may be together: each fork pays for them.
_KEPT, _KEPT_LENGTH = 64, 1 << 25


@dataclass(frozen=True, slots=True)
class Prepared:
    """A test that is ready: the namespace that its first statements made, the rest of it, and the names that it has from the program."""

    namespace: dict[str, Any]
    rest: CodeType
    names: tuple[str, ...]


def prepared(test: str, entry_point: str | None) -> Prepared:
    """Run the leading statements that use nothing of the program (inputs, expected values, definitions), once for all programs.

    HumanEval's own form, a function `check` that nothing calls, is called with the entry point. Raises Untestable where the test is not
    Python, its leading statements raise, or it uses nothing of the program.
    """
    try:
        top = symtable.symtable(test, "<test>", "exec")
        used, bound = free_names(top)
        if entry_point is not None and _leaves_check_to_others(top):
            test += f"\ncheck({entry_point})\n"
            used |= {entry_point} - bound
        tree = ast.parse(test, "<test>")
        names = tuple(name for name in sorted(used) if name == entry_point or not _is_the_judges(name))
        if not names:
            raise ValueError("it uses nothing of the program")
        first = next((i for i, node in enumerate(tree.body) if _names_in(node).intersection(names)), len(tree.body))
        head, rest = ast.Module(tree.body[:first], []), ast.Module(tree.body[first:], [])
        namespace: dict[str, Any] = {"__name__": "test"}
        for name in used.difference(names):
            if name in sys.stdlib_module_names:
                namespace[name] = __import__(name)
        # not this file's own `from __future__`
        exec(compile(head, "<test>", "exec", dont_inherit=True), namespace)
        return Prepared(namespace, compile(rest, "<test>", "exec", dont_inherit=True), names)
    except Exception as error:
        raise Untestable(_said(error, test)) from None


def _leaves_check_to_others(top: symtable.SymbolTable) -> bool:
    names = {symbol.get_name(): symbol for symbol in top.get_symbols()}
    return "check" in names and names["check"].is_namespace() and not names["check"].is_referenced()


def free_names(top: symtable.SymbolTable) -> tuple[set[str], set[str]]:
    """The global names that code uses and does not bind, and those that it binds."""
    bound = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    found: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or table is top):
                found.add(symbol.get_name())
            if symbol.is_declared_global() and symbol.is_assigned():
                bound.add(symbol.get_name())
    return found - bound, bound


def _is_the_judges(name: str) -> bool:
    return hasattr(builtins, name) or name in sys.stdlib_module_names or name in ("__name__", "__file__")


def _names_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _said(error: BaseException, test: str) -> str:
    """An exception in one line, with the line of the test that it comes from."""
    said = getattr(error, "__dict__", {}).get("said")
    try:
        text = said or str(error)
    except BaseException:
        text = "without a text"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<test>"]
    where = ""
    if lines and lines[-1]:
        where = f" (test, line {lines[-1]}: {_line(test, lines[-1])})"
    return f"{type(error).__name__}{': ' if text else ''}{text[:600]}{where}"


# Names of classes are the program's, and as long as it likes.
_LONGEST_REASON = 2_000


def _line(test: str, number: int) -> str:
    lines = test.splitlines()
    return lines[number - 1].strip()[:200] if number <= len(lines) else ""


def verdict(session: Session, test: str, entry_point: str | None, ready: Prepared) -> dict[str, Any]:
    """passed, and if not: kind ("sandbox", "test", "gone", "memory", "program") and reason."""
    kind, reason, passed = "program", "", False
    if not session.begun():
        return {"passed": False, "kind": "sandbox", "reason": "the program's process ended before it was confined"}
    try:
        session.loaded()
        defined = session.do("defined", ready.names, {})
        missing = [name for name in ready.names if type(defined) is not tuple or name not in defined]
        if entry_point in missing:
            raise session.refused(f"the program does not define {entry_point}")
        for name in ready.names:
            if name not in missing:
                ready.namespace[name] = session.do("name", (name,), {})
        exec(ready.rest, ready.namespace)
        passed = not session.breach and not session.untestable
    except MemoryError as error:
        kind, reason = "memory", _said(error, test)
    except BaseException as error:
        reason = _said(error, test)
    if session.breach:
        kind, reason = "gone" if session.gone else "program", session.breach
    elif session.untestable:
        kind, reason = "test", session.untestable
    return {"passed": passed, "kind": kind, "reason": reason[:_LONGEST_REASON]}


class Bench:
    """The tests that are ready, the last used last, by the keys that their owner gave them."""

    def __init__(self) -> None:
        self._ready: OrderedDict[str, tuple[str, str | None, Prepared]] = OrderedDict()

    def prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        """Make a test ready. Answers known: False where it has not been sent yet, and broken: the reason why it can't be run."""
        key, test, entry_point = request["key"], request.get("test"), request.get("entry_point")
        if key not in self._ready:
            if test is None:
                return {"known": False, "broken": ""}
            try:
                self._ready[key] = (test, entry_point, prepared(test, entry_point))
            except Untestable as error:
                return {"known": True, "broken": str(error)}
            while len(self._ready) > 1 and (len(self._ready) > _KEPT or sum(len(kept[0]) for kept in self._ready.values()) > _KEPT_LENGTH):
                self._ready.popitem(last=False)
            gc.collect()
            gc.freeze()  # a fork's own collections would touch, and so copy, all of it
        self._ready.move_to_end(key)
        return {"known": True, "broken": ""}

    def run(self, request: dict[str, Any], fd: int) -> None:
        """In the forked child: the verdict is all that it writes."""
        output = os.dup(1)
        os.dup2(0, 1, inheritable=False)
        os.dup2(0, 2, inheritable=False)
        decided = verdict(Session(Wire(fd, MAX_BYTES)), *self._ready[request["key"]])
        os.write(output, json.dumps(decided).encode())


def main(control: int) -> None:
    """The server: its orders come on the socket with this descriptor."""
    bench = Bench()
    serve(socket.socket(fileno=control), bench.prepare, bench.run)
