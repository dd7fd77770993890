"""A program as its judge sees it: a wire, and handles for the objects that stay on the other side.

A handle's attributes, items and calls go over the wire; its equality, order, hash and truth are refused: they would be the program's word
on the verdict. A refusal, or a program that breaks the rules of the wire, makes the verdict whatever the test catches.
"""

from __future__ import annotations

import builtins
import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from .decoding import decode
from .python_server import BEGIN, CONFINED
from .values import MUTABLE, Malformed, Reference, Unencodable, encode, refill
from .wire import Closed, Unasked, Wire

_LONGEST_ITERATION = 1_000_000
# What a test asks of texts, sets and numbers to have a yes or no: an object in their place would say yes.
_YES_OR_NO = {name for kind in (str, bytes, float) for name in dir(kind) if name.startswith(("is", "startswith", "endswith"))}
_YES_OR_NO |= {name for name in dir(frozenset) if name.startswith("is")}


# Of a handle, under names that no program gives its own attributes: a test that asks for one of those asks the program.
_SLOTS = _SESSION, _NUMBER, _NAME = "_assay_handle_session", "_assay_handle_number", "_assay_handle_name"
_UNARY = ("neg", "pos", "abs", "invert", "int", "float", "complex", "index", "round", "trunc", "floor", "ceil")
_BINARY = (*("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"), *("lshift", "rshift", "and", "xor", "or"))


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
        return self._asked(self._encoded((operation, kwargs or None, *args), table), table)

    def loaded(self) -> None:
        """The outcome of running the program's own statements."""
        self._answered(self._received([]), [])

    def begun(self) -> bool:
        """Let the program begin, once its process is confined; False where that failed, which is not the program's doing."""
        try:
            said = self._wire.receive()
            if not said.startswith(CONFINED):
                return False
            with contextlib.suppress(AttributeError, OSError, ValueError):
                os.sched_setaffinity(0, {int(said.removeprefix(CONFINED))})  # where the program is
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
            return b"P", object.__getattribute__(value, _NUMBER), ""
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
        session: Session = object.__getattribute__(self, _SESSION)
        return session.do(operation, (self, *args), kwargs)

    return operate


def _exactly(operation: str, kind: type) -> Callable[..., Any]:
    def operate(self: Handle) -> Any:
        session: Session = object.__getattribute__(self, _SESSION)
        if type(result := session.do(operation, (self,), {})) is not kind:
            raise session.refused(f"the program's {operation}() is no {kind.__name__}")
        return result

    return operate


def _refused(what: str) -> Callable[..., Any]:
    def operate(self: Handle, *_: object) -> NoReturn:
        session: Session = object.__getattribute__(self, _SESSION)
        name = object.__getattribute__(self, _NAME)
        raise session.refused(
            f"the test needs the {what} of an object of the program's class {name}, on which the program's word does not count"
        )

    return operate


class Handle:
    """An object that stays in the program's process."""

    __slots__ = _SLOTS

    def __init__(self, session: Session, number: int, name: str) -> None:
        for slot, value in zip(_SLOTS, (session, number, name), strict=True):
            object.__setattr__(self, slot, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__name__", "__dict__"):
            raise AttributeError(name)
        session: Session = object.__getattribute__(self, _SESSION)
        if name in _YES_OR_NO:
            raise session.refused(
                f"the test needs {name}() of an object of the program's own class, on which the program's word does not count"
            )
        return session.do("getattr", (self, name), {})

    def __iter__(self) -> Iterator[Any]:
        session: Session = object.__getattribute__(self, _SESSION)
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
        session: Session = object.__getattribute__(self, _SESSION)
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
    __enter__ = __exit__ = _refused("context")


# The other side is often an expected value, which is not to be seen by the program: what it made of it would be compared with itself.
for _operator in (*_UNARY, *(side + name for name in _BINARY for side in ("", "r", "i"))):
    setattr(Handle, f"__{_operator}__", _refused(f"arithmetic ({_operator})"))
