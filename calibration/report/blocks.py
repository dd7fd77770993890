"""The blocks of a report, before it is Markdown or a page. All texts are plain; markdown.py and page.py escape them."""

from __future__ import annotations

from dataclasses import dataclass

from .plots import Picture


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading. level: 1 for the report, 2 for an event, 3 for a part of that."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph. lead: its first words, which stand out."""

    text: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of lines."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table. The first cell of a row says what the row is about. align: "l" or "r" for each column."""

    title: str
    columns: tuple[str, ...]
    align: str
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | Bullets | Table | Picture
