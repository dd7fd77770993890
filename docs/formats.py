"""Writes the fields of the formats into docs/formats.md, from the classes that hold them and from their docstrings.

`make formats`. Between `<!-- fields MODULE:CLASS,CLASS … -->` and `<!-- end -->` it lists the fields of the classes, and of further classes
in them the names of the fields, once on the page. What a docstring says behind `name: ` or `name, other: `, up to the next such names or an
empty line, is said of these fields.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
import types
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from assay.calibration.field_types import Fingerprint, Sha256, Share
from assay.calibration.measures.registry import MEASURES

PAGE = Path(__file__).with_suffix(".md")
_BLOCK = re.compile(r"<!-- (?P<what>fields|measures)(?P<of>[^>]*?) -->\n.*?<!-- end -->", re.DOTALL)
_WORDS = {str: "text", int: "int", float: "number", bool: "bool", type(None): "null", Any: "any"}
_TYPES = {Fingerprint: "id", Sha256: "hash", Share: "share"}


def is_format(hint: Any) -> bool:
    """Whether it is a class whose fields are listed."""
    return isinstance(hint, type) and (issubclass(hint, (msgspec.Struct, Enum)) or dataclasses.is_dataclass(hint))


def fields_of(kind: Any) -> Iterator[tuple[str, Any, bool]]:
    """The fields of a struct or dataclass, or the values of an enumeration: name in a file, type, has a default."""
    hints = get_type_hints(kind, include_extras=True)
    if issubclass(kind, Enum):
        yield from ((each.value, str, False) for each in kind)
    elif issubclass(kind, msgspec.Struct):
        if kind.__struct_config__.tag_field == "schema":
            yield "schema", Literal[kind.__struct_config__.tag], False
        yield from ((each.encode_name, hints[each.name], not each.required) for each in msgspec.structs.fields(kind))
    else:
        for one in dataclasses.fields(kind):
            yield one.name, hints[one.name], (one.default, one.default_factory) != (dataclasses.MISSING, dataclasses.MISSING)


def said_in(doc: str, names: Sequence[str]) -> tuple[str, dict[tuple[str, ...], str]]:
    """What a docstring says of the whole, and of the fields with these names."""
    text, name = inspect.cleandoc(doc), f"(?:{'|'.join(sorted(names, key=len, reverse=True))})"
    starts = list(re.finditer(rf"(?:^ *|(?<=[.?!] ))({name}(?:, {name})*): ", text, re.MULTILINE))
    ends = [*(start.start() for start in starts), len(text)]
    found = {tuple(start[1].split(", ")): in_a_line(text[start.end() : end]) for start, end in zip(starts, ends[1:], strict=True)}
    return in_a_line(text[: ends[0]]), found


def in_a_line(text: str) -> str:
    """The first paragraph, without its full stop, and as JSON has it."""
    return re.sub(r"\bNone\b", "null", " ".join(text.partition("\n\n")[0].split()).removesuffix("."))


def type_in_words(hint: Any, shown: set[Any]) -> str:
    """A type for readers of a file. shown: the classes whose fields the page lists; takes those whose names stand here."""
    inner, origin, args = partial(type_in_words, shown=shown), get_origin(hint), get_args(hint)
    if hint in _TYPES:
        return _TYPES[hint]
    if origin is Annotated:
        return inner(args[0])
    if origin in (Union, types.UnionType):
        return " or ".join(map(inner, sorted(args, key=lambda arg: arg is not type(None))))
    if origin is Literal:
        return ", ".join(f"`{value}`" if value else "empty" for value in args)
    if origin is dict:
        return f"{{{inner(args[1])}}}"
    if origin in (tuple, list):
        return f"[{', '.join(inner(each) for each in args if each is not Ellipsis)}]"
    if is_format(hint) and hint not in shown:
        shown.add(hint)
        return f"{name_of(hint)}: {', '.join(f'`{name}`' for name, _, _ in fields_of(hint))}"
    return _WORDS[hint] if hint in _WORDS else name_of(hint)


def name_of(kind: Any) -> str:
    """A class for readers: its name, or what an event is called in the log."""
    config = getattr(kind, "__struct_config__", None)
    return f"`{config.tag}`" if config and config.tag_field == "event" else str(kind.__name__).strip("_")


def described(kind: Any, shown: set[Any]) -> tuple[str, list[str]]:
    """What a class is, and a line for each of its fields, those of which one thing is said together."""
    fields, said, whole = list(fields_of(kind)), dict[str, tuple[tuple[str, ...], str]](), ""
    for each in filter(is_format, reversed(kind.__mro__)):
        whole, parts = said_in(each.__doc__ or "", [name for name, _, _ in fields])
        said |= {name: (names, text) for names, text in parts.items() for name in names}
    lines: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name, hint, has_default in fields:
        by_type = lines.setdefault(said.get(name, ((), ""))[0], {})
        by_type.setdefault(type_in_words(hint, shown), []).append(f"`{name}`{'?' if has_default else ''}")
    return whole, [f"* {_named(by_type)}{f': {said[names[0]][1]}' if names else ''}" for names, by_type in lines.items()]


def _named(by_type: dict[str, list[str]]) -> str:
    return ", ".join(f"{', '.join(names)}{'' if hint == 'text' else f' ({hint})'}" for hint, names in by_type.items())


def classes(of: str) -> list[Any]:
    """The classes that a marker names."""
    named = (each.partition(":") for each in of.split())
    return [getattr(import_module(f"assay.{module}"), name) for module, _, names in named for name in names.split(",")]


def block(of: str, shown: set[Any]) -> list[str]:
    """The lists of some classes, under their names where they are several, and the files that have them."""
    kinds, lines = classes(of), list[str]()
    for kind in kinds:
        whole, fields = described(kind, shown)
        lines += [*([f"**{name_of(kind)}**: {whole}", ""] if len(kinds) > 1 else []), *fields, ""]
    files = (f"`{each.partition(':')[0].replace('.', '/')}.py`" for each in of.split())
    return [*lines, f"Code: {', '.join(dict.fromkeys(files))}."]


def measures() -> list[str]:
    """A line for each kind of measure."""
    kinds = dict.fromkeys(measure.kind for measure in MEASURES.values())
    units = {m.name: f"`{m.name}` ({m.unit}{f', calls: {m.cost}' if m.cost else ''})" for m in MEASURES.values()}
    return [f"* {kind}: {', '.join(units[m.name] for m in MEASURES.values() if m.kind == kind)}" for kind in kinds]


def written(page: str) -> str:
    """The page with the lists as they are now."""
    shown = {kind for found in _BLOCK.finditer(page) for kind in classes(found["of"])}
    wrap = partial(textwrap.fill, width=120, break_long_words=False, break_on_hyphens=False)

    def lists(found: re.Match[str]) -> str:
        lines = measures() if found["what"] == "measures" else block(found["of"], shown)
        wrapped = (wrap(line, subsequent_indent="  " if line.startswith("* ") else "") for line in lines)
        return "\n".join([f"<!-- {found['what']}{found['of']} -->", "", *wrapped, "", "<!-- end -->"])

    return _BLOCK.sub(lists, page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
