"""The program's side: a warm Python that forks, confines itself, runs the program and answers the judge's requests.

Nothing is decided here. After its first statement the program owns this process, so the judge trusts nothing that comes from it.
"""

from __future__ import annotations

import builtins
import ctypes
import importlib
import operator
import os
import random
import socket
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .forkserver import serve
from .values import MAX_BYTES, MUTABLE, Malformed, Reference, Unencodable, content, decode, encode
from .wire import Wire, WireClosed

# The first frames after the program's text. The program does not run before the second one.
CONFINED = b"confined"
BEGIN = b"begin"
# Modules that small programs import, imported once for all of them.
WARM = (
    *("array", "bisect", "calendar", "cmath", "collections", "collections.abc", "copy", "dataclasses", "datetime", "decimal", "enum"),
    *("fractions", "functools", "hashlib", "heapq", "inspect", "io", "itertools", "json", "math", "operator", "queue", "random", "re"),
    *("statistics", "string", "textwrap", "time", "traceback", "typing", "unicodedata"),
)

_END = object()


def _next(iterator: Any) -> tuple[Any, ...]:
    item = next(iterator, _END)
    return () if item is _END else (item,)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": lambda called, *args, **kwargs: called(*args, **kwargs),
    "getattr": getattr,
    "setattr": setattr,
    "delattr": delattr,
    "len": len,
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "iter": iter,
    "next": _next,
    "str": str,
    "repr": repr,
}


@dataclass(frozen=True, slots=True)
class _Named:
    """A class that the test knows by name. It and its objects stay in this process even where the judge has a class like it."""

    kept: type


class ProgramSide:
    """Answers the judge. Keeps the program's objects that the judge knows by number, and the containers of the current message."""

    def __init__(self, wire: Wire, namespace: dict[str, Any]) -> None:
        self._wire = wire
        self._namespace = namespace
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._table: list[Any] = []

    def answer(self, request: bytes) -> bytes:
        """The answer to one request."""
        outer, self._table = self._table, []
        try:
            operation, kwargs, *args = decode(request, self._table, self._resolve)
            before = [(number, held, content(held)) for number, held in enumerate(self._table) if isinstance(held, MUTABLE)]
            try:
                result: tuple[Any, ...] = ("value", self._perform(operation, args, kwargs or {}))
            except BaseException as error:
                result = ("raise", *_described(error))
            changes = tuple((number, content(held)) for number, held, was in before if not _same(held, was))
            return self._encoded((*result, changes))
        except (Unencodable, Malformed) as error:
            return encode(("refuse", str(error)), [], self._refer)
        finally:
            self._table = outer

    def _perform(self, operation: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if operation == "name":
            named = self._namespace[args[0]]
            return _Named(named) if isinstance(named, type) else named
        if operation == "defined":
            return tuple(name for name in args if name in self._namespace)
        return OPERATIONS[operation](*args, **kwargs)

    def _encoded(self, message: tuple[Any, ...]) -> bytes:
        return encode(message, list(self._table), self._refer)

    def _refer(self, value: object) -> Reference:
        if type(value) is types.FunctionType and (number := getattr(value, "_number_at_the_judge", None)) is not None:
            return "J", number, ""
        if type(value) is _Named:
            value = value.kept
        if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            raise Unencodable(f"a numpy {type(value).__name__}: only values of Python's own types are compared")
        if (known := self._numbers.get(id(value))) is None:
            known = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return "P", known, type(value).__name__

    def _resolve(self, owner: str, number: int, name: str) -> object:
        if owner == "P":
            return self._objects[number]

        def ask(*args: Any, **kwargs: Any) -> Any:
            return self._ask(ask, args, kwargs)

        ask.__name__ = ask.__qualname__ = name
        ask.__dict__["_number_at_the_judge"] = number
        return ask

    def _ask(self, function: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function that the test has passed to the program."""
        self._wire.send(self._encoded(("callback", function, args, kwargs)))
        while True:
            message = self._wire.receive()
            kind, *rest = decode(message, [], self._resolve)
            if kind == "value":
                return rest[0]
            if kind == "error":
                raise _builtin_error(*rest)
            self._wire.send(self.answer(message))


def _builtin_error(names: tuple[str, ...], text: str) -> Exception:
    """The error of a function of the test, of the nearest builtin class. names: of its classes."""
    kind = vars(builtins)[names[0]]
    if kind is StopIteration:  # would end a loop of the program silently
        return RuntimeError(text)
    try:
        error: Exception = kind(text)
    except TypeError:  # a class that takes more than a text
        return RuntimeError(text)
    return error


def _same(container: Any, was: Any) -> bool:
    """Whether a container holds the very same objects, in the same order, as when `content` was called."""
    if isinstance(container, bytearray):
        return bool(container == was)
    if len(container) != len(was):
        return False
    if isinstance(container, dict):
        pairs: Any = zip(content(container), was, strict=True)  # type: ignore[call-overload]
        return all(key is old_key and value is old for (key, value), (old_key, old) in pairs)
    return all(map(operator.is_, container, was))


def _described(error: BaseException) -> tuple[tuple[str, ...], Any, str]:
    """The names of an exception's classes, its arguments where they are plain, and its text with the program's line."""
    names = tuple(kind.__name__ for kind in type(error).__mro__ if issubclass(kind, BaseException))
    plain = all(type(arg) in (str, int, float, bool, type(None)) for arg in error.args)
    try:
        text = str(error)
    except BaseException:
        text = ""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<program>":
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        line, plain = line or error.lineno or 0, False
    return names, error.args if plain else (text,), f"{text[:500]} (line {line} of the program)" if line else text[:500]


def run(_: dict[str, Any], fd: int) -> None:
    """In the forked and confined child: read the program, report that, run it, and answer until the judge closes the wire."""
    wire = Wire(fd, MAX_BYTES)
    program = wire.receive().decode("utf-8", "surrogatepass")
    wire.send(CONFINED + str(_on_one_processor()).encode())
    wire.receive()
    random.seed()
    sys.argv = ["program"]
    module = types.ModuleType("program")
    sys.modules["program"] = module
    conversation = ProgramSide(wire, vars(module))
    try:
        exec(compile(program, "<program>", "exec", dont_inherit=True), vars(module))
        outcome: tuple[Any, ...] = ("value", None, ())
    except BaseException as error:
        outcome = ("raise", *_described(error), ())
    try:
        answer = encode(outcome, [], conversation._refer)
        while True:
            _flush()
            wire.send(answer)
            answer = conversation.answer(wire.receive())
    except WireClosed:
        return


def _on_one_processor() -> int:
    """Stay on the processor that the fork was started on, and return its number; -1 where that is not possible.

    A program and its judge take turns. On one processor a turn passes in 4 us; on two of an idle virtual machine it takes 60, since the
    other one has to be woken each time. The kernel chooses a processor anew for each program.
    """
    try:
        processor = int(ctypes.CDLL(None).sched_getcpu())
        os.sched_setaffinity(0, {processor})
    except (AttributeError, OSError, ValueError):
        return -1
    return processor


def _flush() -> None:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # the program may have replaced the streams
        return


def main(control: int) -> None:
    """Serve requests that come on the socket with this descriptor."""
    for name in WARM:
        importlib.import_module(name)
    serve(socket.socket(fileno=control), lambda _: {}, run)
