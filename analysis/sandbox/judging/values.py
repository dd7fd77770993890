"""Encode values as tagged bytes (`decoding` reads them): all that passes between a Python program and its judge.

What arrives is rebuilt from the types below and from nothing else: no pickles, no classes or code of the other side, no `__eq__` but that
of the builtins. A subclass of a builtin travels as its base. Shared references and cycles through lists, dicts, sets and deques are kept.
Objects of other classes stay in their process and travel as references.
"""

from __future__ import annotations

import builtins
import collections
import datetime
import decimal
import fractions
import struct
from collections.abc import Callable, Iterable
from types import EllipsisType, NoneType, NotImplementedType
from typing import Any

# Each level takes two Python frames on either side: well inside the default recursion limit.
MAX_DEPTH = 200
MAX_BYTES = 1 << 24
SIZE = struct.Struct(">I")
INT = struct.Struct(">q")
FLOAT = struct.Struct(">d")
COMPLEX = struct.Struct(">dd")
# Lists shorter than this are not packed: looking at their types would cost more.
_PACKED_FROM = 4
# types of the numbers that are packed, with struct's letters
_NUMBERS: dict[type, str] = {int: "q", float: "d", bool: "?"}


class Unencodable(ValueError):
    """A value that can't be encoded: nested too deep, too large, or inside itself by way of a tuple."""


class Malformed(ValueError):
    """Bytes that encode no value."""


# (owner, number, name): owner b"P" for the program's objects, b"J" for the judge's
Reference = tuple[bytes, int, str]
Refer = Callable[[object], Reference]


def encode(value: object, table: list[Any], refer: Refer) -> bytes:
    """Encode a value.

    Parameters:
        table: the containers that both sides know already, in the same order; those of the value are appended.
        refer: gives the reference for an object that is not data.

    Raises: Unencodable, and what refer raises.
    """
    writer = _Writer(table, refer)
    writer.put(value)
    return b"".join(writer.parts)


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


MUTABLE: tuple[type, ...] = (list, dict, set, bytearray, collections.deque)


class _Writer:
    """The parts of a message so far, and the numbers of the containers in it."""

    __slots__ = ("depth", "numbers", "parts", "refer", "size", "table")

    def __init__(self, table: list[Any], refer: Refer) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.depth = 0
        self.table = table
        self.numbers = {id(known): number for number, known in enumerate(table)}
        self.refer = refer

    def put(self, value: Any) -> None:
        kind = type(value)
        writer = _WRITERS.get(kind)
        if writer is None:
            bases: tuple[type, ...] = kind.__mro__
            writer = next((_WRITERS[base] for base in _BASES if base in bases), _write_reference)
        writer(self, value)

    def raw(self, part: bytes) -> None:
        self.size += len(part)
        if self.size > MAX_BYTES:
            raise Unencodable(f"a value of more than {MAX_BYTES >> 20} MiB")
        self.parts.append(part)

    def sized(self, tag: bytes, payload: bytes) -> None:
        self.raw(tag + SIZE.pack(len(payload)) + payload)

    def known(self, value: object) -> bool:
        """Whether the container was written before; if so, this writes a reference to it."""
        number = self.numbers.get(id(value))
        if number is None:
            return False
        self.raw(b"R" + SIZE.pack(number))
        return True

    def items(self, tag: bytes, value: Any, items: Iterable[object], count: int, *, early: bool) -> None:
        """Write a container. early: its items may refer to it, which works only for containers that are filled after they are made."""
        number = len(self.table)
        self.table.append(value)
        if early:
            self.numbers[id(value)] = number
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unencodable(f"a value nested more than {MAX_DEPTH} deep")
        self.raw(tag + SIZE.pack(count))
        for item in items:
            # as `put`, but one call less for most items
            writer = _WRITERS.get(type(item))
            if writer is None:
                self.put(item)
            else:
                writer(self, item)
        self.depth -= 1
        self.numbers[id(value)] = number


def _write_int(writer: _Writer, value: int) -> None:
    if -(1 << 63) <= int.__pos__(value) < 1 << 63:
        writer.raw(b"i" + INT.pack(value))
    else:
        writer.sized(b"I", int.to_bytes(value, int.bit_length(value) // 8 + 1, "big", signed=True))


def _packed(items: list[Any]) -> bytes | None:
    """A list of texts only, or of numbers of up to 64 bits only, in a few pieces; None for any other list."""
    kinds = set(map(type, items))
    if kinds == {str}:
        text = "".join(items).encode("utf-8", "surrogatepass")
        return b"S" + SIZE.pack(len(items)) + struct.pack(f">{len(items)}I", *map(len, items)) + SIZE.pack(len(text)) + text
    if not kinds <= _NUMBERS.keys():
        return None
    letters = [_NUMBERS[kind] for kind in kinds]
    form = f"{len(items)}{letters[0]}" if len(letters) == 1 else "".join([_NUMBERS[type(item)] for item in items])
    try:
        # not struct.pack, which would cache a format as long as the list
        packed = struct.Struct(">" + form).pack(*items)
    except struct.error:  # an int of more than 64 bits
        return None
    return b"V" + SIZE.pack(len(form)) + form.encode() + SIZE.pack(len(packed)) + packed


def _write_list(writer: _Writer, value: list[Any]) -> None:
    if writer.known(value):
        return
    count = list.__len__(value)
    if count >= _PACKED_FROM:
        packed = _packed(list(list.__iter__(value)))
        if packed is not None:
            writer.numbers[id(value)] = len(writer.table)
            writer.table.append(value)
            writer.raw(packed)
            return
    writer.items(b"l", value, list.__iter__(value), count, early=True)


def _flat(pairs: Iterable[tuple[object, object]]) -> Iterable[object]:
    for key, value in pairs:
        yield key
        yield value


def _mapping(tag: bytes) -> Callable[[_Writer, Any], None]:
    def write(writer: _Writer, value: Any) -> None:
        if not writer.known(value):
            writer.items(tag, value, _flat(dict.items(value)), dict.__len__(value), early=True)

    return write


def _collection(tag: bytes, kind: Any, *, early: bool) -> Callable[[_Writer, Any], None]:
    def write(writer: _Writer, value: Any) -> None:
        if not writer.known(value):
            writer.items(tag, value, kind.__iter__(value), kind.__len__(value), early=early)

    return write


def _write_ordered(writer: _Writer, value: Any) -> None:
    if not writer.known(value):
        pairs = collections.OrderedDict.items(value)
        writer.items(b"O", value, _flat(pairs), dict.__len__(value), early=True)


_FACTORY: Any = vars(collections.defaultdict)["default_factory"]


def _write_defaultdict(writer: _Writer, value: Any) -> None:
    """Write a defaultdict, with its factory only where that is a builtin type."""
    if writer.known(value):
        return
    factory = _FACTORY.__get__(value)
    writer.raw(b"A")
    writer.put(factory if isinstance(factory, type) and TYPES.get(factory.__name__) is factory else None)
    writer.items(b"", value, _flat(dict.items(value)), dict.__len__(value), early=True)


def _write_reference(writer: _Writer, value: object) -> None:
    if isinstance(value, type) and TYPES.get(value.__name__) is value:
        writer.sized(b"t", value.__name__.encode())
        return
    owner, number, name = writer.refer(value)
    writer.raw(owner + SIZE.pack(number))
    writer.sized(b"", name.encode("utf-8", "replace")[:200])


def _write_text(tag: bytes, text: Callable[[Any], str]) -> Callable[[_Writer, Any], None]:
    return lambda writer, value: writer.sized(tag, text(value).encode("utf-8", "surrogatepass"))


def _tupled(tag: bytes, parts: Callable[[Any], tuple[Any, ...]]) -> Callable[[_Writer, Any], None]:
    def write(writer: _Writer, value: Any) -> None:
        writer.raw(tag)
        writer.put(parts(value))

    return write


_WRITERS: dict[type, Callable[[_Writer, Any], None]] = {
    NoneType: lambda writer, _: writer.raw(b"N"),
    bool: lambda writer, value: writer.raw(b"T" if value else b"F"),
    int: _write_int,
    float: lambda writer, value: writer.raw(b"f" + FLOAT.pack(value)),
    complex: lambda writer, value: writer.raw(b"c" + COMPLEX.pack(complex.__pos__(value).real, complex.__pos__(value).imag)),
    str: _write_text(b"s", str.__str__),
    bytes: lambda writer, value: writer.sized(b"b", bytes.__getitem__(value, slice(None))),
    list: _write_list,
    tuple: _collection(b"u", tuple, early=False),
    dict: _mapping(b"m"),
    set: _collection(b"e", set, early=True),
    frozenset: _collection(b"z", frozenset, early=False),
    EllipsisType: lambda writer, _: writer.raw(b"."),
    NotImplementedType: lambda writer, _: writer.raw(b"!"),
    range: _tupled(b"g", lambda value: (value.start, value.stop, value.step)),
    slice: _tupled(b"k", lambda value: (value.start, value.stop, value.step)),
    collections.OrderedDict: _write_ordered,
    collections.Counter: _mapping(b"C"),
    collections.defaultdict: _write_defaultdict,
    collections.deque: _collection(b"q", collections.deque, early=True),
    type({}.keys()): _tupled(b"1", tuple),
    type({}.values()): _tupled(b"2", tuple),
    type({}.items()): _tupled(b"3", tuple),
    decimal.Decimal: _write_text(b"x", str),
    fractions.Fraction: _tupled(b"y", lambda value: (value.numerator, value.denominator)),
    datetime.date: _write_text(b"4", datetime.date.isoformat),
    datetime.time: _write_text(b"5", datetime.time.isoformat),
    datetime.datetime: _write_text(b"6", datetime.datetime.isoformat),
    datetime.timedelta: _tupled(b"7", lambda value: (value.days, value.seconds, value.microseconds)),
}


def _write_bytearray(writer: _Writer, value: bytearray) -> None:
    if not writer.known(value):
        writer.numbers[id(value)] = len(writer.table)
        writer.table.append(value)
        writer.sized(b"B", bytes(value))


_WRITERS[bytearray] = _write_bytearray
# an object of a subclass is encoded as the first of these that its class descends from
_BASES: tuple[type, ...] = (
    *(int, float, complex, str, bytes, bytearray, tuple, list),
    *(collections.OrderedDict, collections.Counter, collections.defaultdict, dict, set, frozenset, collections.deque),
)
# types that are encoded by name
TYPES = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type) and not name.startswith("_")}
