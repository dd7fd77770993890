"""What a report is made of, before it is Markdown or a page. All texts are plain: whoever writes them out escapes them."""

from __future__ import annotations

from dataclasses import dataclass

from .plots import Picture


@dataclass(frozen=True, slots=True)
class Heading:
    """level: 1 for the report's, 2 for an event's, 3 for a part of that."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """lead: its first word, which stands out."""

    text: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of lines."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """rows of as many cells as there are columns; the first cell says what the row is about. align: "l" or "r" for each column."""

    title: str
    columns: tuple[str, ...]
    align: str
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | Bullets | Table | Picture
