"""A program as its judge sees it: a wire, and handles for the objects that stay in the program's process.

A handle's attributes, items and calls go over the wire. Its equality, order, hash and truth are refused: with them the program itself would
decide the verdict. A refusal fails the program, whatever the test catches, and so does a program that breaks the wire's protocol.
"""

from __future__ import annotations

import builtins
import contextlib
import os
from collections.abc import Callable, Iterator
from types import GenericAlias, ModuleType, UnionType
from typing import Any, NoReturn

from .handing import refusal
from .python_server import BEGIN, CONFINED
from .values import MUTABLE, Malformed, Reference, Unencodable, decode, encode, refill
from .wire import UnexpectedData, Wire, WireClosed

_MAX_ITEMS = 1_000_000
# The name that a test's code is compiled under.
TEST_FILE = "<test>"
# Nothing that can't travel is made of one of these but by its size.
_SCALARS = frozenset((type(None), bool, int, float, complex, str, bytes))
# Methods of texts, sets and numbers that answer yes or no: an object of the program in their place could always say yes.
_YES_OR_NO = {name for kind in (str, bytes, float) for name in dir(kind) if name.startswith(("is", "startswith", "endswith"))}
_YES_OR_NO |= {name for name in dir(frozenset) if name.startswith("is")}


# Names that no program gives its own attributes, so that a test can ask a handle for any of those.
_SLOTS = _SESSION, _NUMBER, _NAME = "_assay_handle_session", "_assay_handle_number", "_assay_handle_name"
_UNARY = ("neg", "pos", "abs", "invert", "int", "float", "complex", "index", "round", "trunc", "floor", "ceil")
_BINARY = (*("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"), *("lshift", "rshift", "and", "xor", "or"))


class Breach(BaseException):
    """The program broke the protocol, or the test would have to trust its word. It has failed, whatever the test catches."""


class Untestable(BaseException):
    """The test itself can't be run."""


def _is_of_a_value(function: object) -> bool:
    """Whether a function is a method of some value, such as one that came from the program."""
    of = getattr(function, "__self__", None)
    return of is not None and not isinstance(of, type | ModuleType)


class Session:
    """One program, as the judge sees it.

    breach: why it can't pass any more. untestable: why the test can't be run. gone: whether the program's process has ended.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._functions: list[Any] = []
        self._handles: dict[int, Handle] = {}
        self._exceptions: dict[tuple[str, type[Exception]], type[Exception]] = {}
        self._gave = False
        self._gave_parts = False
        self._answers = False
        self.breach = ""
        self.untestable = ""
        self.gone = False

    def refuse(self, reason: str) -> Breach:
        """Record that the program can't pass any more. Returns the exception to raise."""
        self.breach = self.breach or reason
        return Breach(self.breach)

    def blame(self, reason: str, *, of_size: bool = False) -> BaseException:
        """Record that the test has something to hand over that no program can get. Returns the exception to raise.

        The test is at fault, unless the program may have made it: it then would choose that its label is unknown. of_size: it is too large
        or too deep, as any number from the program can have made it.
        """
        if self._answers or self._gave_parts or (of_size and self._gave):
            return self.refuse(f"the program would get {reason}")
        self.untestable = self.untestable or f"it hands the program {reason}"
        return Untestable(self.untestable)

    def do(self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Have the program do one operation. Returns its result, or raises what it raised."""
        if self.breach:
            raise Breach(self.breach)
        table: list[Any] = []
        request = self._encoded((operation, kwargs or None, *args), table)
        # also where it raises, or changes an argument
        self._gave |= operation not in ("defined", "name")
        result = self._request(request, table)
        self._gave |= operation == "name" and type(result) is not Handle
        self._gave_parts |= operation not in ("defined", "name") and type(result) not in _SCALARS
        return result

    def await_load(self) -> None:
        """Wait until the program's own statements have run; raises what they raised."""
        self._take_answer(self._receive([]), [])

    def begin(self) -> bool:
        """Let the program begin once its process is confined. False where confining failed, for which the program is not to blame."""
        try:
            said = self._wire.receive()
            if not said.startswith(CONFINED):
                return False
            with contextlib.suppress(AttributeError, OSError, ValueError):
                os.sched_setaffinity(0, {int(said.removeprefix(CONFINED))})  # the program's processor
            self._wire.send(BEGIN)
        except (WireClosed, UnexpectedData):
            return False
        return True

    def _request(self, request: bytes, table: list[Any]) -> Any:
        try:
            self._wire.send(request)
        except WireClosed:
            raise self._program_ended() from None
        while (message := self._receive(table))[0] == "callback":
            self._call_back(message)
        return self._take_answer(message, table)

    def _receive(self, table: list[Any]) -> tuple[Any, ...]:
        try:
            message = decode(self._wire.receive(), list(table), self._resolve)
        except WireClosed:
            raise self._program_ended() from None
        except (Malformed, UnexpectedData) as error:
            raise self.refuse(f"the program broke the protocol: {error}") from None
        if type(message) is not tuple or not message or type(message[0]) is not str:
            raise self.refuse("the program broke the protocol")
        return message

    def _program_ended(self) -> Breach:
        self.gone = True
        return self.refuse("the program ended before its tests did")

    def _take_answer(self, message: tuple[Any, ...], table: list[Any]) -> Any:
        match message:
            case ("refuse", str(reason)):
                raise self.refuse(f"the program returned {reason[:500]}")
            case ("value", result, tuple(changes)):
                self._change(changes, table)
                return result
            case ("raise", tuple(names), tuple(args), str(text), tuple(changes)):
                self._change(changes, table)
                raise self._exception(names, args, text)
            case _:
                raise self.refuse("the program broke the protocol")

    def _change(self, changes: tuple[Any, ...], table: list[Any]) -> None:
        """Make the changes in the test's own arguments that the program made in its copies of them."""
        for change in changes:
            match change:
                case (int(number), held) if 0 <= number < len(table) and isinstance(table[number], MUTABLE):
                    try:
                        refill(table[number], held)
                    except Malformed as error:
                        raise self.refuse(f"the program broke the protocol: {error}") from None
                case _:
                    raise self.refuse("the program broke the protocol")

    def _call_back(self, message: tuple[Any, ...]) -> None:
        match message:
            case ("callback", function, tuple(args), dict(kwargs)) if any(function is known for known in self._functions):
                self._gave = self._gave_parts = True
                try:
                    answer: tuple[Any, ...] = ("value", function(*args, **kwargs))
                except Exception as error:
                    names = tuple(kind.__name__ for kind in type(error).__mro__ if vars(builtins).get(kind.__name__) is kind)
                    answer = ("error", names, f"{type(error).__name__}: {error}")
            case _:
                raise self.refuse("the program broke the protocol")
        self._answers = True
        try:
            self._wire.send(self._encoded(answer, []))
        except WireClosed:
            raise self._program_ended() from None
        finally:
            self._answers = False

    def _encoded(self, message: tuple[Any, ...], table: list[Any]) -> bytes:
        try:
            return encode(message, table, self._refer)
        except Unencodable as error:
            raise self.blame(str(error), of_size=True) from None

    def _exception(self, names: tuple[Any, ...], args: tuple[Any, ...], text: str) -> Exception:
        """The exception to raise here: of the nearest builtin class, or of a class derived from it with the name of the program's own."""
        names = tuple(name for name in names if type(name) is str)
        if "Exception" not in names:
            raise self.refuse(f"the program raised {names[0][:100] if names else 'nothing'}: {text}"[:600])
        found = [kind for name in names if isinstance(kind := getattr(builtins, name, None), type) and issubclass(kind, Exception)]
        base = found[0]
        if issubclass(base, StopIteration | StopAsyncIteration):
            # in the test it would silently end a loop
            base, text = RuntimeError, f"the program raised {names[0]}"
            names = ("RuntimeError",)
        if issubclass(base, ExceptionGroup):
            base = Exception
        kind = base if base.__name__ == names[0] else self._exceptions.setdefault((names[0], base), type(names[0], (base,), {}))
        try:
            error = kind(*args)
        except Exception:  # its class wants other arguments
            error = kind.__new__(kind, text)
        error.__dict__["said"] = text
        return error

    def _refer(self, value: object) -> Reference:
        if type(value) is Handle:
            return "P", object.__getattribute__(value, _NUMBER), ""
        if not callable(value) or isinstance(value, type | UnionType | GenericAlias):
            raise self.blame(f"an object of the class {type(value).__name__}, which no other process can have")
        for number, known in enumerate(self._functions):
            if known is value:
                return "J", number, ""
        why = refusal(value, TEST_FILE)
        if why and (self._answers or (self._gave_parts and _is_of_a_value(value))):
            raise self.refuse(f"the program had the test give it {why}")
        if why:
            self.untestable = self.untestable or f"it hands the program a function that reads what it should not, {why}"
            raise Untestable(self.untestable)
        self._functions.append(value)
        return "J", len(self._functions) - 1, getattr(value, "__name__", "")

    def _resolve(self, owner: str, number: int, name: str) -> object:
        if owner == "J":
            return self._functions[number]
        if number not in self._handles:
            self._handles[number] = Handle(self, number, name)
        return self._handles[number]


def _over_wire(operation: str) -> Callable[..., Any]:
    def operate(self: Handle, /, *args: Any, **kwargs: Any) -> Any:
        session: Session = object.__getattribute__(self, _SESSION)
        return session.do(operation, (self, *args), kwargs)

    return operate


def _over_wire_as(operation: str, kind: type) -> Callable[..., Any]:
    def operate(self: Handle) -> Any:
        session: Session = object.__getattribute__(self, _SESSION)
        if type(result := session.do(operation, (self,), {})) is not kind:
            raise session.refuse(f"the program's {operation}() is no {kind.__name__}")
        return result

    return operate


def _refusing(what: str) -> Callable[..., Any]:
    def operate(self: Handle, *_: object) -> NoReturn:
        session: Session = object.__getattribute__(self, _SESSION)
        name = object.__getattribute__(self, _NAME)
        raise session.refuse(
            f"the test needs the {what} of an object of the program's class {name}, on which the program's word does not count"
        )

    return operate


class Handle:
    """Stands in for an object that stays in the program's process."""

    __slots__ = _SLOTS

    def __init__(self, session: Session, number: int, name: str) -> None:
        for slot, value in zip(_SLOTS, (session, number, name), strict=True):
            object.__setattr__(self, slot, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__name__", "__dict__"):
            raise AttributeError(name)
        session: Session = object.__getattribute__(self, _SESSION)
        if name in _YES_OR_NO:
            raise session.refuse(
                f"the test needs {name}() of an object of the program's own class, on which the program's word does not count"
            )
        return session.do("getattr", (self, name), {})

    def __iter__(self) -> Iterator[Any]:
        session: Session = object.__getattribute__(self, _SESSION)
        iterator = session.do("iter", (self,), {})
        for _ in range(_MAX_ITEMS):
            item = session.do("next", (iterator,), {})
            if type(item) is not tuple or len(item) > 1:
                raise session.refuse("the program broke the protocol")
            if not item:
                return
            yield item[0]
        raise session.refuse(f"the program gave more than {_MAX_ITEMS:,} items")

    def __next__(self) -> Any:
        session: Session = object.__getattribute__(self, _SESSION)
        item = session.do("next", (self,), {})
        if type(item) is not tuple or len(item) > 1:
            raise session.refuse("the program broke the protocol")
        if not item:
            raise StopIteration
        return item[0]

    __setattr__ = _over_wire("setattr")
    __delattr__ = _over_wire("delattr")
    __call__ = _over_wire("call")
    __getitem__ = _over_wire("getitem")
    __setitem__ = _over_wire("setitem")
    __delitem__ = _over_wire("delitem")
    __len__ = _over_wire_as("len", int)
    __str__ = _over_wire_as("str", str)
    __repr__ = _over_wire_as("repr", str)
    __eq__ = _refusing("equality")
    __ne__ = _refusing("equality")
    __lt__ = _refusing("order")
    __le__ = _refusing("order")
    __gt__ = _refusing("order")
    __ge__ = _refusing("order")
    __hash__ = _refusing("hash")
    __bool__ = _refusing("truth")
    __contains__ = _refusing("contents")
    __enter__ = __exit__ = _refusing("context")


# Arithmetic is refused too: it would show the program an expected value, and the test would compare the program's own answer with itself.
for _operator in (*_UNARY, *(side + name for name in _BINARY for side in ("", "r", "i"))):
    setattr(Handle, f"__{_operator}__", _refusing(f"arithmetic ({_operator})"))
