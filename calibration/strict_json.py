"""JSON to dataclasses by msgspec, with nothing guessed: what does not fit is refused with its place in the document and the reason.

What msgspec lets through is refused here: numbers beyond any in a file of Assay, and unknown fields of a dataclass. It takes no union of
dataclasses either.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

T = TypeVar("T")

# By type of a field, a protocol that can be checked: the dataclasses that it may hold, each by the value of its field `kind`.
Variants = Mapping[type, Mapping[str, type]]

_MAX_WHOLE = 2**63
# Where msgspec says that a value is wrong.
_PLACE = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name[:40]} is not a number that a file of Assay may hold")


def _finite(text: str) -> float:
    return number if math.isfinite(number := float(text)) else _refuse(text)


def _whole(text: str) -> int:
    return number if len(text.lstrip("-")) < 20 and abs(number := int(text)) <= _MAX_WHOLE else _refuse(text)


DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, parse_int=_whole)


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


def build(cls: type[T], value: object, variants: Variants | None = None) -> T:
    """An instance of the dataclass `cls` from JSON that `DECODER` has decoded.

    Every field must be there unless it has a default, and no other field may be. A field has a type that msgspec knows, a dataclass, or a
    type that `variants` has.

    Raises ValueError, "place: reason".
    """

    def variant(kind: type, inner: Any) -> object:
        classes = variants[kind] if variants else {}
        name = inner.get("kind") if isinstance(inner, dict) else None
        if not isinstance(name, str) or name not in classes:
            raise ValueError(f"kind is none of {', '.join(classes)}")
        return build(classes[name], inner, variants)

    try:
        made = msgspec.convert(value, cls, dec_hook=variant)
    except msgspec.ValidationError as error:
        said = in_words(str(error))
        found = _PLACE.fullmatch(said)
        raise ValueError(f"{found[2]}: {found[1]}" if found else said) from None
    if unknown := next(_unknown_fields(value, made), ""):
        raise ValueError(f"{unknown}: unknown field")
    return made


def in_words(reason: str) -> str:
    """What msgspec says of a value, with the digits of a fingerprint or hash in place of their pattern."""
    return re.sub(r"`str` matching regex '\S*\{(\d+)\}\S*'", r"\1 lower-case hex digits", reason)


def _unknown_fields(value: Any, made: object, place: str = "") -> Iterator[str]:
    """The places of what a document holds and the dataclass that was made of it does not."""
    if isinstance(made, tuple):
        for number, (inner, item) in enumerate(zip(value, made, strict=True)):
            if dataclasses.is_dataclass(item):
                yield from _unknown_fields(inner, item, f"{place}[{number}]")
    elif dataclasses.is_dataclass(made):
        names = {field.name for field in dataclasses.fields(made)}
        for name, inner in value.items():
            where = f"{place}.{name}".lstrip(".")
            if name not in names:
                yield where
            else:
                yield from _unknown_fields(inner, getattr(made, name), where)
