"""Decode bytes that may be anything into exact builtins: the other half of `values`."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import itertools
import struct
from collections.abc import Callable, Iterable
from types import NoneType
from typing import Any

from .values import COMPLEX, FLOAT, INT, MAX_DEPTH, SIZE, TYPES, Malformed

# gives the object of a reference (owner, number, name)
Resolve = Callable[[bytes, int, str], object]


def decode(data: bytes, table: list[Any], resolve: Resolve) -> Any:
    """Decode untrusted bytes. table: as in `encode`. resolve: gives the object of a reference. Raises Malformed, nothing else."""
    reader = _Reader(data, table, resolve)
    try:
        value = reader.value()
    except Malformed:
        raise
    except (ValueError, TypeError, IndexError, KeyError, OverflowError, ArithmeticError, RecursionError, struct.error) as error:
        raise Malformed(f"no value: {error}") from None
    if reader.at != len(data):
        raise Malformed("bytes after the value")
    return value


class _Reader:
    """The position in the bytes, and the containers so far. A container that is not complete yet is _UNFINISHED in the table.

    height: how deep the current container is nested so far, references followed. Without a bound on it, tuples that refer to one another
    could be as deep as there are bytes, and the interpreter crashes when it hashes them. heights: those of the complete containers, by
    number.
    """

    __slots__ = ("at", "data", "depth", "height", "heights", "resolve", "table")

    def __init__(self, data: bytes, table: list[Any], resolve: Resolve) -> None:
        self.data = data
        self.at = 0
        self.depth = 0
        self.height = 0
        self.heights: dict[int, int] = {}
        self.table = table
        self.resolve = resolve

    def value(self) -> Any:
        tag = self.data[self.at]
        self.at += 1
        reader = _READERS.get(tag)
        if reader is None:
            raise Malformed(f"unknown tag {tag}")
        return reader(self)

    def take(self, size: int) -> bytes:
        part = self.data[self.at : self.at + size]
        if len(part) != size:
            raise Malformed("cut short")
        self.at += size
        return part

    def sized(self) -> bytes:
        return self.take(self.number())

    def number(self) -> int:
        number: int = SIZE.unpack_from(self.data, self.at)[0]
        self.at += 4
        return number

    def items(self, number: int, each: int = 1) -> list[Any]:
        """Read the items of the container with this number."""
        count = self.number() * each
        if count > len(self.data) - self.at:  # an item takes a byte at least
            raise Malformed("cut short")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Malformed(f"nested more than {MAX_DEPTH} deep")
        outer, self.height = self.height, 0
        data, items = self.data, []
        for _ in range(count):
            # as `value`, but one call less
            tag = data[self.at]
            self.at += 1
            items.append(_READERS[tag](self))
        height = self.height + 1
        if height > MAX_DEPTH:
            raise Malformed(f"nested more than {MAX_DEPTH} deep")
        self.heights[number], self.height = height, max(outer, height)
        self.depth -= 1
        return items

    def parts(self, kind: type, count: int, kinds: tuple[type, ...] = (int,)) -> Any:
        parts = self.value()
        if type(parts) is not tuple or len(parts) != count or any(type(part) not in kinds for part in parts):
            raise Malformed(f"no parts of a {kind.__name__}")
        return kind(*parts)


_UNFINISHED = object()


def _read_int(reader: _Reader) -> int:
    value: int = INT.unpack_from(reader.data, reader.at)[0]
    reader.at += 8
    return value


def _read_float(reader: _Reader) -> float:
    value: float = FLOAT.unpack_from(reader.data, reader.at)[0]
    reader.at += 8
    return value


def _read_known(reader: _Reader) -> Any:
    number = reader.number()
    found = reader.table[number]
    if found is _UNFINISHED:
        raise Malformed("a tuple inside itself")
    reader.height = max(reader.height, reader.heights.get(number, 0))
    return found


def _filled(make: Callable[[], Any], fill: Callable[[Any, list[Any]], None], each: int = 1) -> Callable[[_Reader], Any]:
    """Make a reader for a container that is made first and filled then."""

    def read(reader: _Reader) -> Any:
        made = make()
        reader.table.append(made)
        fill(made, reader.items(len(reader.table) - 1, each))
        return made

    return read


def _read_defaultdict(reader: _Reader) -> Any:
    factory = reader.value()
    if factory is not None and not isinstance(factory, type):
        raise Malformed("no factory of a defaultdict")
    return _filled(lambda: collections.defaultdict(factory), lambda made, items: made.update(_pairs(items)), 2)(reader)


def _built(make: Callable[[list[Any]], Any]) -> Callable[[_Reader], Any]:
    """Make a reader for a container that is made of its items."""

    def read(reader: _Reader) -> Any:
        number = len(reader.table)
        reader.table.append(_UNFINISHED)
        made = reader.table[number] = make(reader.items(number))
        return made

    return read


def _noted(make: Callable[[_Reader], Any]) -> Callable[[_Reader], Any]:
    def read(reader: _Reader) -> Any:
        made = make(reader)
        reader.table.append(made)
        return made

    return read


def _pairs(items: list[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(items[::2], items[1::2], strict=True)


def _texts(reader: _Reader) -> list[str]:
    count = reader.number()
    lengths = struct.unpack(f">{count}I", reader.take(4 * count))
    text = _text(reader)
    if sum(lengths) != len(text):
        raise Malformed("texts of other lengths")
    ends = itertools.accumulate(lengths)
    return [text[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def _numbers(reader: _Reader) -> list[Any]:
    form, part = reader.sized(), reader.sized()
    if (form[:-1].isdigit() and int(form[:-1]) > len(part)) or not form.strip(b"0123456789") or form.strip(b"0123456789qd?"):
        raise Malformed("no numbers")
    return list(struct.Struct(b">" + form).unpack(part))


def _read_view(method: str) -> Callable[[_Reader], Any]:
    """Make a reader for a view of a dict, from a dict with the same content."""

    def read(reader: _Reader) -> Any:
        parts = reader.value()
        if type(parts) is not tuple:
            raise Malformed("no view of a dict")
        held = dict.fromkeys(parts) if method == "keys" else dict(enumerate(parts)) if method == "values" else dict(parts)
        return getattr(held, method)()

    return read


def _read_object(owner: bytes) -> Callable[[_Reader], Any]:
    def read(reader: _Reader) -> Any:
        number = reader.number()
        return reader.resolve(owner, number, reader.sized().decode("utf-8", "replace"))

    return read


def _text(reader: _Reader) -> str:
    return reader.sized().decode("utf-8", "surrogatepass")


_INDICES = (int, NoneType)
_READERS: dict[int, Callable[[_Reader], Any]] = {
    ord(tag): read
    for tag, read in {
        "N": lambda _: None,
        "T": lambda _: True,
        "F": lambda _: False,
        ".": lambda _: ...,
        "!": lambda _: NotImplemented,
        "i": _read_int,
        "I": lambda reader: int.from_bytes(reader.sized(), "big", signed=True),
        "f": _read_float,
        "c": lambda reader: complex(*COMPLEX.unpack(reader.take(16))),
        "s": _text,
        "b": lambda reader: reader.sized(),
        "B": _noted(lambda reader: bytearray(reader.sized())),
        "S": _noted(_texts),
        "V": _noted(_numbers),
        "R": _read_known,
        "l": _filled(list, list.extend),
        "m": _filled(dict, lambda made, items: made.update(_pairs(items)), 2),
        "e": _filled(set, set.update),
        "q": _filled(collections.deque, collections.deque.extend),
        "O": _filled(collections.OrderedDict, lambda made, items: made.update(_pairs(items)), 2),
        "C": _filled(collections.Counter, lambda made, items: dict.update(made, _pairs(items)), 2),
        "A": _read_defaultdict,
        "u": _built(tuple),
        "z": _built(frozenset),
        "g": lambda reader: reader.parts(range, 3),
        "k": lambda reader: reader.parts(slice, 3, _INDICES),
        "1": _read_view("keys"),
        "2": _read_view("values"),
        "3": _read_view("items"),
        "x": lambda reader: decimal.Decimal(_text(reader)),
        "y": lambda reader: reader.parts(fractions.Fraction, 2),
        "4": lambda reader: datetime.date.fromisoformat(_text(reader)),
        "5": lambda reader: datetime.time.fromisoformat(_text(reader)),
        "6": lambda reader: datetime.datetime.fromisoformat(_text(reader)),
        "7": lambda reader: reader.parts(datetime.timedelta, 3),
        "t": lambda reader: TYPES[_text(reader)],
        "P": _read_object(b"P"),
        "J": _read_object(b"J"),
    }.items()
}
