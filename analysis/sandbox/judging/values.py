"""Values as tagged JSON: all that passes between a Python program and its judge.

What arrives may be anything. It is rebuilt from the types below and from nothing else: no pickles, no classes or code of the other side, no
`__eq__` but that of the builtins. A subclass of a builtin travels as its base. Shared references and cycles through lists, dicts, sets and
deques are kept. Objects of other classes stay in their process and travel as references.

None, bools, floats, texts and most ints are what JSON makes of them. All else is a list that begins with a tag.
"""

from __future__ import annotations

import array
import binascii
import builtins
import collections
import datetime
import decimal
import fractions
import json
import math
import struct
from collections.abc import Callable, Iterable
from types import EllipsisType, NoneType, NotImplementedType
from typing import Any, NoReturn

# Each level takes two Python frames on either side: well inside the default recursion limit.
MAX_DEPTH = 200
MAX_BYTES = 1 << 26
# Of ints that are written in decimal, as Python reads them quickly.
_MAX_PLAIN = 1 << 64
_FLOAT = struct.Struct(">d")


class Unencodable(ValueError):
    """A value that can't be encoded: nested too deep, too large, or inside itself by way of a tuple."""


class Malformed(ValueError):
    """Bytes that encode no value."""


# (owner, number, name): owner "P" for the program's objects, "J" for the judge's
Reference = tuple[str, int, str]
Refer = Callable[[object], Reference]
# gives the object of a reference
Resolve = Callable[[str, int, str], object]

MUTABLE: tuple[type, ...] = (list, dict, set, bytearray, collections.deque)
# types that are encoded by name
TYPES = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and not name.startswith("_")}


def _pairs(items: list[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(items[::2], items[1::2], strict=True)


def _flat(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    return [each for pair in pairs for each in pair]


def _bounds(value: Any) -> list[Any]:
    return [value.start, value.stop, value.step]


def _base64(value: bytes) -> str:
    return binascii.b2a_base64(value, newline=False).decode()


_INT, _TEXT = frozenset((int,)), frozenset((str,))
# By type: its tag, its scalars and their types, and what makes it of them.
_ATOMS: dict[type, tuple[str, Callable[[Any], list[Any]], frozenset[type], Callable[..., Any]]] = {
    complex: ("c", lambda value: [complex.__pos__(value).real, complex.__pos__(value).imag], frozenset((float,)), complex),
    bytes: ("b", lambda value: [_base64(value)], _TEXT, binascii.a2b_base64),
    EllipsisType: (".", lambda _: [], _TEXT, lambda: ...),
    NotImplementedType: ("!", lambda _: [], _TEXT, lambda: NotImplemented),
    range: ("g", _bounds, _INT, range),
    slice: ("k", _bounds, frozenset((int, NoneType)), slice),
    decimal.Decimal: ("x", lambda value: [str(value)], _TEXT, decimal.Decimal),
    fractions.Fraction: ("y", lambda value: [value.numerator, value.denominator], _INT, fractions.Fraction),
    datetime.date: ("4", lambda value: [datetime.date.isoformat(value)], _TEXT, datetime.date.fromisoformat),
    datetime.time: ("5", lambda value: [datetime.time.isoformat(value)], _TEXT, datetime.time.fromisoformat),
    datetime.datetime: ("6", lambda value: [datetime.datetime.isoformat(value)], _TEXT, datetime.datetime.fromisoformat),
    datetime.timedelta: ("7", lambda value: [value.days, value.seconds, value.microseconds], _INT, datetime.timedelta),
}
# By type: its tag, its items, and what makes it of them. They are numbered, and a later one of the same message refers to it by number.
_BUILT: dict[type, tuple[str, Callable[[Any], list[Any]], Callable[[list[Any]], Any]]] = {
    tuple: ("u", lambda value: [*tuple.__iter__(value)], tuple),
    frozenset: ("z", lambda value: [*frozenset.__iter__(value)], frozenset),
    type({}.keys()): ("1", list, lambda items: dict.fromkeys(items).keys()),
    type({}.values()): ("2", list, lambda items: dict(enumerate(items)).values()),
    type({}.items()): ("3", list, lambda items: dict(items).items()),
}
# The same of those that are filled after they are made, so that they may be inside themselves.
_FILLED: dict[type, tuple[str, Callable[[Any], list[Any]], Callable[[Any, list[Any]], object]]] = {
    list: ("l", lambda value: [*list.__iter__(value)], list.extend),
    set: ("e", lambda value: [*set.__iter__(value)], set.update),
    collections.deque: ("q", lambda value: [*collections.deque.__iter__(value)], collections.deque.extend),
    dict: ("m", lambda value: _flat(dict.items(value)), lambda made, items: dict.update(made, _pairs(items))),
    collections.OrderedDict: (
        *("O", lambda value: _flat(collections.OrderedDict.items(value)), lambda made, items: made.update(_pairs(items))),
    ),
    collections.Counter: ("C", lambda value: _flat(dict.items(value)), lambda made, items: dict.update(made, _pairs(items))),
}
# An object of a subclass is encoded as the first of these that its class descends from.
_BASES: tuple[type, ...] = (
    *(int, float, complex, str, bytes, bytearray, tuple, list),
    *(collections.OrderedDict, collections.Counter, collections.defaultdict, dict, set, frozenset, collections.deque),
)
_KNOWN = frozenset((*_BASES, *_ATOMS, *_BUILT))
_FACTORY: Any = vars(collections.defaultdict)["default_factory"]


def encode(value: object, table: list[Any], refer: Refer) -> bytes:
    """Encode a value.

    Parameters:
        table: the containers that both sides know already, in the same order; those of the value are appended.
        refer: gives the reference for an object that is not data.

    Raises: Unencodable, and what refer raises.
    """
    said = _Writer(table, refer).said(value)
    data = json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(data) > MAX_BYTES:
        raise Unencodable(f"a value of more than {MAX_BYTES >> 20} MiB")
    return data


def decode(data: bytes, table: list[Any], resolve: Resolve) -> Any:
    """Decode untrusted bytes. table: as in `encode`. resolve: gives the object of a reference. Raises Malformed, nothing else."""
    try:
        said = json.loads(data.decode("utf-8", "surrogatepass"), object_pairs_hook=_no_object)
        return _Reader(table, resolve).value(said)
    except Malformed:
        raise
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, ArithmeticError, RecursionError, struct.error) as error:
        raise Malformed(f"no value: {error}") from None


def _no_object(_: object) -> NoReturn:
    raise Malformed("an object of JSON")


def content(container: Any) -> object:
    """What a mutable container holds, as an immutable value that can be encoded; see `refill`."""
    if isinstance(container, dict):
        items: Any = (collections.OrderedDict if isinstance(container, collections.OrderedDict) else dict).items
        return tuple(items(container))
    return bytes(container) if isinstance(container, bytearray) else tuple(container)


def refill(container: Any, held: Any) -> None:
    """Put into a mutable container, in place, what `content` gave. Raises Malformed where that does not fit."""
    try:
        if type(held) is not (bytes if isinstance(container, bytearray) else tuple):
            raise TypeError("not a container's content")
        if isinstance(container, list | bytearray):
            container[:] = held
        elif isinstance(container, dict):
            if any(type(pair) is not tuple for pair in held):
                raise TypeError("not pairs")
            pairs: Any = held
            new = dict(pairs)
            container.clear()
            container.update(new)
        elif isinstance(container, set | collections.deque):
            container.clear()
            (container.update if isinstance(container, set) else container.extend)(held)
        else:
            raise TypeError("not a mutable container")
    except (TypeError, ValueError) as error:
        raise Malformed(f"no content of a {type(container).__name__}: {error}") from None


class _Writer:
    """Makes what JSON can write of a value. numbers: of the containers so far, by id. size: characters and items so far."""

    __slots__ = ("depth", "numbers", "refer", "size", "table")

    def __init__(self, table: list[Any], refer: Refer) -> None:
        self.size = 0
        self.depth = 0
        self.table = table
        self.numbers = {id(known): number for number, known in enumerate(table)}
        self.refer = refer

    def said(self, value: Any) -> Any:
        kind = type(value)
        if kind is bool or value is None:
            return value
        base = kind if kind in _KNOWN else next((base for base in _BASES if base in kind.__mro__), kind)
        if base is int:
            whole = int.__pos__(value)
            return whole if -_MAX_PLAIN < whole < _MAX_PLAIN else ["I", hex(whole)]
        if base is str:
            self.grow(str.__len__(value))
            return str.__str__(value)
        if base is float:
            real = float.__pos__(value)
            return ["f", _FLOAT.pack(real).hex()] if math.isnan(real) else real
        if base in _ATOMS:
            tag, parts, _, _ = _ATOMS[base]
            return [tag, *map(self.said, parts(value))]
        if base in _BUILT or base in _FILLED or base in (bytearray, collections.defaultdict):
            known = self.numbers.get(id(value))
            return self.container(base, value) if known is None else ["R", known]
        if isinstance(value, type) and TYPES.get(value.__name__) is value:
            return ["t", value.__name__]
        owner, number, name = self.refer(value)
        return [owner, number, name.encode("utf-8", "replace")[:200].decode("utf-8", "replace")]

    def container(self, base: type, value: Any) -> list[Any]:
        number = len(self.table)
        self.table.append(value)
        if base not in _BUILT:
            self.numbers[id(value)] = number
        if base is bytearray:
            return ["B", _base64(value)]
        if base is list and set(map(type, floats := [*list.__iter__(value)])) == {float}:
            # ten times as fast as their digits
            return ["d", _base64(array.array("d", floats).tobytes())]
        said: list[Any] = []
        if base is collections.defaultdict:
            # with its factory only where that is a builtin type
            factory = _FACTORY.__get__(value)
            said = ["A", factory.__name__ if isinstance(factory, type) and TYPES.get(factory.__name__) is factory else None]
            items = _flat(dict.items(value))
        else:
            tag, listed, _ = (_BUILT if base in _BUILT else _FILLED)[base]
            said, items = [tag], listed(value)
        self.grow(len(items))
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unencodable(f"a value nested more than {MAX_DEPTH} deep")
        said += items if self.are_plain(items) else map(self.said, items)
        self.depth -= 1
        self.numbers[id(value)] = number
        return said

    def are_plain(self, items: list[Any]) -> bool:
        """Whether all are texts, or small ints, which JSON writes as they are: looking at each would take long."""
        kinds = set(map(type, items))
        if kinds == {str}:
            self.grow(sum(map(len, items)))
        return kinds == {str} or (kinds == {int} and min(items) > -_MAX_PLAIN and max(items) < _MAX_PLAIN)

    def grow(self, size: int) -> None:
        self.size += size
        if self.size > MAX_BYTES:
            raise Unencodable(f"a value of more than {MAX_BYTES >> 20} MiB")


_UNFINISHED = object()
_MADE_OF_SCALARS = {tag: (kinds, make) for tag, _, kinds, make in _ATOMS.values()}
_MADE_OF_ITEMS = {tag: make for tag, _, make in _BUILT.values()}
_MADE_AND_FILLED = {tag: (kind, fill) for kind, (tag, _, fill) in _FILLED.items()}


class _Reader:
    """Makes a value of what JSON read. A container that is not complete yet is _UNFINISHED in the table.

    height: how deep the current container is nested so far, references followed. Without a bound on it, tuples that refer to one another
    could be as deep as there are bytes, and the interpreter crashes when it hashes them. heights: those of the complete containers, by
    number.
    """

    __slots__ = ("depth", "height", "heights", "resolve", "table")

    def __init__(self, table: list[Any], resolve: Resolve) -> None:
        self.depth = 0
        self.height = 0
        self.heights: dict[int, int] = {}
        self.table = table
        self.resolve = resolve

    def value(self, said: Any) -> Any:
        if type(said) is not list:
            return said
        tag, *parts = said
        if type(tag) is not str:
            raise Malformed("a list without a tag")
        if tag in _MADE_AND_FILLED or tag == "A":
            factory, *parts = parts if tag == "A" else (None, *parts)
            kind, fill = _MADE_AND_FILLED["m" if tag == "A" else tag]
            made = kind() if tag != "A" else collections.defaultdict(None if factory is None else TYPES[_only([factory], str)])
            self.table.append(made)
            fill(made, self.items(len(self.table) - 1, parts))
            return made
        if tag in _MADE_OF_ITEMS:
            number = len(self.table)
            self.table.append(_UNFINISHED)
            made = self.table[number] = _MADE_OF_ITEMS[tag](self.items(number, parts))
            return made
        if tag in _MADE_OF_SCALARS:
            kinds, make = _MADE_OF_SCALARS[tag]
            parts = [*map(self.value, parts)]
            if not kinds.issuperset(map(type, parts)):
                raise Malformed(f"no parts of {make}")
            return make(*parts)
        return self.other(tag, parts)

    def other(self, tag: str, parts: list[Any]) -> Any:
        match tag:
            case "I":
                return int(_only(parts, str), 16)
            case "f":
                return _FLOAT.unpack(bytes.fromhex(_only(parts, str)))[0]
            case "R":
                return self.known(_only(parts, int))
            case "t":
                return TYPES[_only(parts, str)]
            case "B" | "d":
                data = binascii.a2b_base64(_only(parts, str))
                self.table.append(bytearray(data) if tag == "B" else [*array.array("d", data)])
                return self.table[-1]
            case "P" | "J":
                number, name = parts
                return self.resolve(tag, _only([number], int), _only([name], str))
        raise Malformed(f"unknown tag {tag[:9]!r}")

    def known(self, number: int) -> Any:
        if number < 0:
            raise Malformed("a number below 0")
        found = self.table[number]
        if found is _UNFINISHED:
            raise Malformed("a tuple inside itself")
        self.height = max(self.height, self.heights.get(number, 0))
        return found

    def items(self, number: int, parts: list[Any]) -> list[Any]:
        """Make the items of the container with this number."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Malformed(f"nested more than {MAX_DEPTH} deep")
        outer, self.height = self.height, 0
        items = [*map(self.value, parts)] if list in set(map(type, parts)) else parts
        height = self.height + 1
        if height > MAX_DEPTH:
            raise Malformed(f"nested more than {MAX_DEPTH} deep")
        self.heights[number], self.height = height, max(outer, height)
        self.depth -= 1
        return items


def _only(parts: list[Any], kind: type) -> Any:
    """The one part, which is of a type."""
    (part,) = parts
    if type(part) is not kind:
        raise Malformed(f"not a {kind.__name__}")
    return part
