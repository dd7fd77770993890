"""JSON to dataclasses, with nothing guessed: what does not fit is refused with the place in the document and the reason."""

from __future__ import annotations

import dataclasses
import json
import math
import types
from typing import Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that a file of Assay may hold")


DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


_NAMES: dict[object, str] = {str: "string", bool: "boolean", int: "whole number", float: "number"}


def build(cls: type[T], value: object, place: str = "") -> T:
    """An instance of the dataclass cls from decoded JSON.

    Fields may be str, bool, int, float (finite), Literal, dataclass, a union of dataclasses (told apart by their field `kind`, a Literal),
    tuple[X, ...], tuple[X, Y] and X | None. Every field must be
    there but those that have a default, and no other. Raises ValueError, "place: reason".
    """
    made = _build(cls, value, place)
    assert isinstance(made, cls)
    return made


def _build(kind: object, value: object, place: str) -> object:
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _build_dataclass(kind, value, place)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        if value not in arguments:
            _refuse(place, f"must be {' or '.join(map(repr, arguments))}", value)
        return value
    if origin is types.UnionType:
        if type(None) in arguments:
            return None if value is None else _build(next(a for a in arguments if a is not type(None)), value, place)
        return _build_one_of(arguments, value, place)
    if origin is tuple:
        return _build_tuple(arguments, value, place)
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
    return value


def _build_dataclass(kind: type, value: object, place: str) -> object:
    if not isinstance(value, dict):
        _refuse(place, "must be an object", value)
    fields = dataclasses.fields(kind)
    required = {f.name for f in fields if f.default is dataclasses.MISSING}
    for problem, found in (("missing", required - value.keys()), ("unknown field", value.keys() - {f.name for f in fields})):
        if found:
            raise ValueError(f"{problem}: {', '.join(sorted(_join(place, name) for name in found))}")
    hints = get_type_hints(kind)
    return kind(**{f.name: _build(hints[f.name], value[f.name], _join(place, f.name)) for f in fields if f.name in value})


def _build_one_of(classes: tuple[type, ...], value: object, place: str) -> object:
    """An instance of the dataclass whose field `kind`, a Literal, may be the value's."""
    if not isinstance(value, dict):
        _refuse(place, "must be an object", value)
    kinds = {kind: cls for cls in classes for kind in get_args(get_type_hints(cls)["kind"])}
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        _refuse(_join(place, "kind"), f"must be {' or '.join(map(repr, kinds))}", kind)
    return _build_dataclass(kinds[kind], value, place)


def _build_tuple(arguments: tuple[object, ...], value: object, place: str) -> tuple[object, ...]:
    if not isinstance(value, list):
        _refuse(place, "must be a list", value)
    kinds = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else list(arguments)
    if len(kinds) != len(value):
        _refuse(place, f"must be a list of {len(kinds)}", value)
    return tuple(_build(kind, item, f"{place}[{i}]") for i, (kind, item) in enumerate(zip(kinds, value, strict=True)))


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _refuse(place: str, reason: str, value: object) -> NoReturn:
    shown = repr(value)
    raise ValueError(f"{place or 'the document'}: {reason}, not {shown if len(shown) <= 60 else shown[:57] + '...'}")
