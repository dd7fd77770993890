"""JSON to dataclasses, with nothing guessed: what does not fit is refused with its place in the document and the reason.

msgspec could do this, but not as clearly. It ignores unknown fields of a dataclass and refuses a union of dataclasses. It reads NaN as
malformed JSON, does not say which values a field may have, and does not name the key of a mapping that holds a bad value.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

# By type of a field, usually a protocol: the dataclasses that it may hold, each by the value of its field `kind`.
Variants = Mapping[Any, Mapping[str, type]]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that a file of Assay may hold")


DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


@contextmanager
def reading(path: Path, error: Callable[[str], Exception], what: str) -> Iterator[None]:
    """Raise what is wrong with a file as an `error` that says file, line or field, and reason. what: the file shall be: "a calibrator"."""
    try:
        yield
    except OSError as fault:
        raise error(f"{path}: can't be read: {fault.strerror}") from None
    except UnicodeDecodeError:
        raise error(f"{path}: not UTF-8") from None
    except json.JSONDecodeError as fault:
        several = fault.msg == "Extra data" and fault.lineno > 1
        found = f"more than one JSON document, as in a file of samples; {what} is one" if several else f"not JSON: {fault.msg}"
        raise error(f"{path}:{fault.lineno}: {found}") from None
    except RecursionError:
        raise error(f"{path}: not {what}: nested too deep") from None
    except ValueError as fault:
        raise error(f"{path}: {fault}") from None


def without_schema(document: object, schema: str, what: str, advice: str) -> dict[str, Any]:
    """The fields of a document besides its schema. advice: what to do about one of another version. Raises ValueError."""
    if not isinstance(document, dict):
        raise ValueError(f"{what} is a JSON object")
    if (found := document.pop("schema", None)) != schema:
        of_ours = str(found).startswith(schema.rpartition("/")[0] + "/")
        hint = f"; another version wrote it: {advice}" if of_ours else ""
        raise ValueError(f"schema: {found!r}, this version of Assay reads {schema!r}{hint}")
    return document


# Beyond it a float does not hold each whole number, and far beyond it none.
_MAX_WHOLE = 2**53
# Of a list of anything but numbers. No file of Assay's has nearly so many, and they are read in a moment.
_MAX_ITEMS = 10_000
_NAMES: dict[object, str] = {str: "string", bool: "boolean", int: "whole number", float: "number"}


def build(cls: type[T], value: object, variants: Variants | None = None) -> T:
    """An instance of the dataclass `cls` from decoded JSON.

    Every field must be there unless it has a default, and no other field may be. A field may be a str, bool, int up to 2^53, finite float,
    Literal, dataclass, tuple[X, ...], tuple[X, Y], X | None, or a type that `variants` has. A list of anything but numbers has at most
    10,000 items.

    Raises ValueError, "place: reason".
    """
    made = _build(cls, value, "", variants or {})
    assert isinstance(made, cls)
    return made


def _build(kind: Any, value: object, place: str, variants: Variants) -> object:
    if kind in variants:
        return _build_variant(variants[kind], value, place, variants)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _build_dataclass(kind, value, place, variants)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        if value not in arguments:
            _refuse(place, f"must be {' or '.join(map(repr, arguments))}", value)
        return value
    if origin is types.UnionType:
        return None if value is None else _build(next(a for a in arguments if a is not type(None)), value, place, variants)
    if origin is tuple:
        return _build_tuple(arguments, value, place, variants)
    if kind is float and type(value) in (int, float):
        try:
            number = float(value)  # type: ignore[arg-type]
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            _refuse(place, "must be a finite number", value)
        return number
    if type(value) is not kind:
        _refuse(place, f"must be a {_NAMES.get(kind, kind)}", value)
    if type(value) is int and abs(value) > _MAX_WHOLE:
        _refuse(place, f"must be a whole number up to {_MAX_WHOLE:,}", value)
    return value


def _build_dataclass(kind: type, value: object, place: str, variants: Variants) -> object:
    if not isinstance(value, dict):
        _refuse(place, "must be an object", value)
    types_of, required = _fields_of(kind)
    for problem, found in (("missing", required - value.keys()), ("unknown field", value.keys() - types_of.keys())):
        if found:
            raise ValueError(f"{problem}: {', '.join(sorted(_join(place, name) for name in found))}")
    return kind(**{name: _build(of, value[name], _join(place, name), variants) for name, of in types_of.items() if name in value})


@cache
def _fields_of(kind: type) -> tuple[dict[str, Any], frozenset[str]]:
    """The types of a dataclass's fields, and the fields that have no default. To look them up takes longer than to read an object."""
    fields, hints = dataclasses.fields(kind), get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields}, frozenset(f.name for f in fields if f.default is dataclasses.MISSING)


def _build_variant(classes: Mapping[str, type], value: object, place: str, variants: Variants) -> object:
    if not isinstance(value, dict):
        _refuse(place, "must be an object", value)
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in classes:
        _refuse(_join(place, "kind"), f"must be {' or '.join(map(repr, classes))}", kind)
    return _build_dataclass(classes[kind], value, place, variants)


def _build_tuple(arguments: tuple[object, ...], value: object, place: str, variants: Variants) -> tuple[object, ...]:
    if not isinstance(value, list):
        _refuse(place, "must be a list", value)
    if len(value) > _MAX_ITEMS and arguments[0] not in (int, float):
        raise ValueError(f"{place or 'the document'}: a list of {len(value):,}, and at most {_MAX_ITEMS:,} are read")
    kinds = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else list(arguments)
    if len(kinds) != len(value):
        _refuse(place, f"must be a list of {len(kinds)}", value)
    return tuple(_build(kind, item, f"{place}[{i}]", variants) for i, (kind, item) in enumerate(zip(kinds, value, strict=True)))


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _refuse(place: str, reason: str, value: object) -> NoReturn:
    shown = repr(value)
    raise ValueError(f"{place or 'the document'}: {reason}, not {shown if len(shown) <= 60 else shown[:57] + '...'}")
