"""The judge: a process that runs trusted tests against a program in another process, and alone decides.

Names of the program that a test uses are stand-ins: they call over a wire, and give exact builtins made of what comes back. An object of
the program's own class comes as a `Handle`, whose attributes, items and calls go over the wire, and whose equality, order, hash and truth
are refused: they would be the program's word on the verdict. A refusal, or a program that breaks the rules of the wire, makes the verdict
whatever the test catches.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import socket
import symtable
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any, NoReturn

from .forkserver import serve
from .python_server import BEGIN, CONFINED
from .values import MAX_BYTES, MUTABLE, Malformed, Reference, Unencodable, decode, encode, refill
from .wire import Closed, Unasked, Wire

# How many tests are kept compiled, with what their first statements made.
_KEPT = 64
_LONGEST_ITERATION = 1_000_000
# Names of classes are the program's, and as long as it likes.
_LONGEST_REASON = 2_000


# What a test asks of texts, sets and numbers to have a yes or no: an object in their place would say yes.
_YES_OR_NO = {name for kind in (str, bytes, float) for name in dir(kind) if name.startswith(("is", "startswith", "endswith"))}
_YES_OR_NO |= {name for name in dir(frozenset) if name.startswith("is")}


class Breach(BaseException):
    """The program did what no right program does, or the test needs its word: failed, whatever the test catches."""


class Untestable(BaseException):
    """The test itself can't be run."""


class Session:
    """One program, as the judge sees it. breach: why it can't pass any more."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._functions: list[Any] = []
        self._handles: dict[int, Handle] = {}
        self._exceptions: dict[tuple[str, type[Exception]], type[Exception]] = {}
        self.breach = ""
        self.untestable = ""
        self.gone = False

    def refused(self, reason: str) -> Breach:
        """Note that the program can't pass any more; what to raise."""
        self.breach = self.breach or reason
        return Breach(self.breach)

    def do(self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Have the program do one operation, and give what came of it; raises what it raised."""
        if self.breach:
            raise Breach(self.breach)
        table: list[Any] = []
        return self._asked(self._encoded(("do", operation, args, kwargs), table), table)

    def loaded(self) -> None:
        """The outcome of running the program's own statements."""
        self._answered(self._received([]), [])

    def begun(self) -> bool:
        """Let the program begin, once its process is confined; False where that failed, which is not the program's doing."""
        try:
            if self._wire.receive() != CONFINED:
                return False
            self._wire.send(BEGIN)
        except (Closed, Unasked):
            return False
        return True

    def _asked(self, request: bytes, table: list[Any]) -> Any:
        try:
            self._wire.send(request)
        except Closed:
            raise self._lost() from None
        while (message := self._received(table))[0] == "callback":
            self._call_back(message)
        return self._answered(message, table)

    def _received(self, table: list[Any]) -> tuple[Any, ...]:
        try:
            message = decode(self._wire.receive(), list(table), self._resolve)
        except Closed:
            raise self._lost() from None
        except (Malformed, Unasked) as error:
            raise self.refused(f"the program did not answer as it must: {error}") from None
        if type(message) is not tuple or not message or type(message[0]) is not str:
            raise self.refused("the program did not answer as it must")
        return message

    def _lost(self) -> Breach:
        self.gone = True
        return self.refused("the program ended before its tests did")

    def _answered(self, message: tuple[Any, ...], table: list[Any]) -> Any:
        match message:
            case ("refuse", str(reason)):
                raise self.refused(f"the program returned {reason[:500]}")
            case ("value", result, tuple(changes)):
                self._change(changes, table)
                return result
            case ("raise", tuple(names), tuple(args), str(text), tuple(changes)):
                self._change(changes, table)
                raise self._exception(names, args, text)
            case _:
                raise self.refused("the program did not answer as it must")

    def _change(self, changes: tuple[Any, ...], table: list[Any]) -> None:
        """Do to the test's own arguments what the program did to its copies of them."""
        for change in changes:
            match change:
                case (int(number), held) if 0 <= number < len(table) and isinstance(table[number], MUTABLE):
                    try:
                        refill(table[number], held)
                    except Malformed as error:
                        raise self.refused(f"the program did not answer as it must: {error}") from None
                case _:
                    raise self.refused("the program did not answer as it must")

    def _call_back(self, message: tuple[Any, ...]) -> None:
        match message:
            case ("callback", function, tuple(args), dict(kwargs)) if any(function is known for known in self._functions):
                try:
                    answer: tuple[Any, ...] = ("value", function(*args, **kwargs))
                except Exception as error:
                    answer = ("error", f"{type(error).__name__}: {error}")
            case _:
                raise self.refused("the program did not answer as it must")
        try:
            self._wire.send(self._encoded(answer, []))
        except Closed:
            raise self._lost() from None

    def _encoded(self, message: tuple[Any, ...], table: list[Any]) -> bytes:
        try:
            return encode(message, table, self._refer)
        except Unencodable as error:
            raise self.refused(f"the program would get {error}") from None

    def _exception(self, names: tuple[Any, ...], args: tuple[Any, ...], text: str) -> Exception:
        """The exception to raise here: the nearest builtin class, or a stand-in derived from it by the name of the program's own class."""
        names = tuple(name for name in names if type(name) is str)
        if "Exception" not in names:
            raise self.refused(f"the program raised {names[0][:100] if names else 'nothing'}: {text}"[:600])
        found = [kind for name in names if isinstance(kind := getattr(builtins, name, None), type) and issubclass(kind, Exception)]
        base = found[0]
        if issubclass(base, StopIteration | StopAsyncIteration):
            # it would end the test's own loops, silently
            base, text = RuntimeError, f"the program raised {names[0]}"
            names = ("RuntimeError",)
        if issubclass(base, ExceptionGroup):
            base = Exception
        kind = base if base.__name__ == names[0] else self._exceptions.setdefault((names[0], base), type(names[0], (base,), {}))
        try:
            error = kind(*args)
        except Exception:  # one that is made of more than a text
            error = kind.__new__(kind, text)
        error.__dict__["said"] = text
        return error

    def _refer(self, value: object) -> Reference:
        if type(value) is Handle:
            return b"P", object.__getattribute__(value, "_number"), ""
        if not callable(value):
            self.untestable = f"it hands the program an object of the class {type(value).__name__}, which no other process can have"
            raise Untestable
        for number, known in enumerate(self._functions):
            if known is value:
                return b"J", number, ""
        self._functions.append(value)
        return b"J", len(self._functions) - 1, getattr(value, "__name__", "")

    def _resolve(self, owner: bytes, number: int, name: str) -> object:
        if owner == b"J":
            return self._functions[number]
        if number not in self._handles:
            self._handles[number] = Handle(self, number, name)
        return self._handles[number]


def _over_wire(operation: str) -> Callable[..., Any]:
    def operate(self: Handle, /, *args: Any, **kwargs: Any) -> Any:
        session: Session = object.__getattribute__(self, "_session")
        return session.do(operation, (self, *args), kwargs)

    return operate


def _exactly(operation: str, kind: type) -> Callable[..., Any]:
    def operate(self: Handle) -> Any:
        session: Session = object.__getattribute__(self, "_session")
        if type(result := session.do(operation, (self,), {})) is not kind:
            raise session.refused(f"the program's {operation}() is no {kind.__name__}")
        return result

    return operate


def _refused(what: str) -> Callable[..., Any]:
    def operate(self: Handle, *_: object) -> NoReturn:
        session: Session = object.__getattribute__(self, "_session")
        name = object.__getattribute__(self, "_name")
        raise session.refused(
            f"the test needs the {what} of an object of the program's class {name}, on which the program's word does not count"
        )

    return operate


class Handle:
    """An object that stays in the program's process."""

    __slots__ = ("_name", "_number", "_session")

    def __init__(self, session: Session, number: int, name: str) -> None:
        object.__setattr__(self, "_session", session)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_name", name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__name__", "__dict__"):
            raise AttributeError(name)
        session: Session = object.__getattribute__(self, "_session")
        if name in _YES_OR_NO:
            raise session.refused(
                f"the test needs {name}() of an object of the program's own class, on which the program's word does not count"
            )
        return session.do("getattr", (self, name), {})

    def __iter__(self) -> Iterator[Any]:
        session: Session = object.__getattribute__(self, "_session")
        iterator = session.do("iter", (self,), {})
        for _ in range(_LONGEST_ITERATION):
            item = session.do("next", (iterator,), {})
            if type(item) is not tuple or len(item) > 1:
                raise session.refused("the program did not answer as it must")
            if not item:
                return
            yield item[0]
        raise session.refused(f"the program gave more than {_LONGEST_ITERATION:,} items")

    def __next__(self) -> Any:
        session: Session = object.__getattribute__(self, "_session")
        item = session.do("next", (self,), {})
        if type(item) is not tuple or len(item) > 1:
            raise session.refused("the program did not answer as it must")
        if not item:
            raise StopIteration
        return item[0]

    __setattr__ = _over_wire("setattr")
    __delattr__ = _over_wire("delattr")
    __call__ = _over_wire("call")
    __getitem__ = _over_wire("getitem")
    __setitem__ = _over_wire("setitem")
    __delitem__ = _over_wire("delitem")
    __len__ = _exactly("len", int)
    __str__ = _exactly("str", str)
    __repr__ = _exactly("repr", str)
    __eq__ = _refused("equality")
    __ne__ = _refused("equality")
    __lt__ = _refused("order")
    __le__ = _refused("order")
    __gt__ = _refused("order")
    __ge__ = _refused("order")
    __hash__ = _refused("hash")
    __bool__ = _refused("truth")
    __contains__ = _refused("contents")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A test that is ready: the namespace that its first statements made, the rest of it, and the names that it has from the program."""

    namespace: dict[str, Any]
    rest: CodeType
    names: tuple[str, ...]


def prepared(test: str, entry_point: str | None) -> Prepared:
    """Run the leading statements that use nothing of the program (inputs, expected values, definitions), once for all programs.

    Raises Untestable where the test is not Python, or these statements raise.
    """
    try:
        tree = ast.parse(test, "<test>")
        used = free_names(test)
        names = tuple(name for name in sorted(used) if name == entry_point or not _is_the_judges(name))
        first = next((i for i, node in enumerate(tree.body) if _names_in(node).intersection(names)), len(tree.body))
        head, rest = ast.Module(tree.body[:first], []), ast.Module(tree.body[first:], [])
        namespace: dict[str, Any] = {"__name__": "test"}
        for name in used.difference(names):
            if name in sys.stdlib_module_names:
                namespace[name] = __import__(name)
        exec(compile(head, "<test>", "exec"), namespace)
        return Prepared(namespace, compile(rest, "<test>", "exec"), names)
    except Exception as error:
        raise Untestable(_said(error, test)) from None


def free_names(test: str) -> set[str]:
    """The global names that code uses and does not bind."""
    top = symtable.symtable(test, "<test>", "exec")
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
    return found - bound


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
        where = f" (test, line {lines[-1]}: {test.splitlines()[lines[-1] - 1].strip()[:200]})"
    return f"{type(error).__name__}{': ' if text else ''}{text[:600]}{where}"


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
            if len(self._ready) > _KEPT:
                self._ready.popitem(last=False)
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
