"""The report of a study's run: one page as HTML, Markdown and JSON, with every printed number in figures.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..validation.figures import Figure
from ..validation.words import number_of, size_of
from .blocks import Block, Bullets, Heading, Paragraph, Table
from .cells import Cell, CellTable, blocks_of, json_of
from .page import write_report_files
from .paper_claims import PaperClaim
from .plots import Picture

SCHEMA, FIGURES_SCHEMA = "assay/study-report/1", "assay/figures/1"
FOLDER = "report"


@dataclass(frozen=True, slots=True)
class Source:
    """Recorded answers that a study used: whose model made them, where they are from, and their licence."""

    name: str
    model: str
    source: str
    licence: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page under its heading."""

    heading: str
    parts: tuple[Block | CellTable, ...]


@dataclass(frozen=True, slots=True)
class StudyContent:
    """What a study tells of a run.

    summary: the first three sentences, for somebody who has not read the paper. facts: what was asked of which model. sections: tables and
    pictures. claims: of the paper. figures: of the validation table. left_out: what is in no number, and why. sources: of recorded answers.
    command: makes the report again.
    """

    title: str
    summary: tuple[str, str, str]
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    claims: tuple[PaperClaim, ...] = ()
    figures: Sequence[Figure] = ()
    left_out: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    command: str = ""

    def tables(self) -> Iterator[CellTable]:
        """All tables of cells, in order."""
        return (part for section in self.sections for part in section.parts if isinstance(part, CellTable))

    def pictures(self) -> Iterator[Picture]:
        """All pictures, in order."""
        return (part for section in self.sections for part in section.parts if isinstance(part, Picture))


def write_study_report(folder: Path, content: StudyContent) -> tuple[Path, ...]:
    """Write report.html, report.md, report.json, figures.json and the pictures into the folder report/ of a run; gives the files.

    The same content gives the same files. Raises ValueError where two cells have one id.
    """
    cells = [cell for table in content.tables() for cell in table.cells()]
    _check_ids(cells)
    blocks = list(blocks_of_study(content))
    documents = {
        "figures.json": _json({"schema": FIGURES_SCHEMA, "figures": [*map(json_of, cells), *map(asdict, content.figures)]}),
        "report.json": _json(_document(content)),
    }
    return write_report_files(folder / FOLDER, content.title, blocks, content.pictures(), documents)


def blocks_of_study(content: StudyContent) -> Iterator[Block]:
    """The page: the summary, claims and validation, the tables, and at the end what was left out and how to make it again."""
    yield Heading(1, content.title)
    yield Paragraph(" ".join(content.summary))
    if content.facts:
        yield Bullets(content.facts)
    if content.claims:
        yield Heading(2, "The paper's claims")
        yield Paragraph(counted_claims(content.claims))
        yield _claims(content.claims)
    if content.figures:
        yield Heading(2, "Validation")
        yield Paragraph("What these data say of the calibrators that an editor on this machine would use for such suggestions.")
        yield _validation(content.figures)
    for section in content.sections:
        yield Heading(2, section.heading)
        for part in section.parts:
            if isinstance(part, CellTable):
                yield from blocks_of(part)
            else:
                yield part
    yield Heading(2, "What was left out")
    yield Bullets(content.left_out) if content.left_out else Paragraph("Nothing.")
    if content.sources:
        yield Heading(2, "Recorded answers")
        rows = tuple((each.name, each.model, each.source, each.licence) for each in content.sources)
        yield Table("Sources and licences", ("answers", "model", "source", "licence"), "llll", rows)
    if content.command:
        yield Heading(2, "Again")
        yield Paragraph(content.command, "This report is made again by")


def counted_claims(claims: Sequence[PaperClaim]) -> str:
    """How the claims came out, as a sentence."""
    count = Counter(each.verdict for each in claims)
    return (
        f"Of {len(claims)} claims of the paper these data confirm {count['confirmed']} and refute {count['refuted']}; "
        f"undecided: {count['undecided']}, not tested: {count['not run']}."
    )


def _claims(claims: Sequence[PaperClaim]) -> Table:
    rows: list[tuple[str, ...]] = [(each.claim, each.verdict, each.paper, each.ours or "–", each.rule) for each in claims]
    return Table("What our data say of each claim", ("claim", "verdict", "paper", "ours", "rule"), "lllll", tuple(rows))


def _validation(figures: Sequence[Figure]) -> Table:
    rows = [(each.id, number_of(each), each.claim, each.reading, size_of(each), each.note) for each in figures]
    return Table("Figures with their readings", ("figure", "value", "claim", "reading", "n", "note"), "lrllll", tuple(rows))


def _check_ids(cells: Sequence[Cell]) -> None:
    twice = [name for name, count in Counter(cell.id for cell in cells).items() if count > 1]
    if twice:
        raise ValueError(f"two cells of the report have the id {twice[0]}")


def _document(content: StudyContent) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "title": content.title,
        "summary": list(content.summary),
        "facts": list(content.facts),
        "claims": [asdict(each) for each in content.claims],
        "validation": [asdict(each) for each in content.figures],
        "tables": [
            {
                "id": table.id,
                "title": table.title,
                "heads": list(table.heads),
                "columns": list(table.columns),
                "rows": [{"names": list(row.names), "figures": [cell.id for cell in row.cells]} for row in table.rows],
                "notes": list(table.notes),
            }
            for table in content.tables()
        ],
        "pictures": [
            {"file": f"{picture.name}.svg", "title": picture.title, "alt": picture.alt} for picture in content.pictures() if picture.svg
        ],
        "left_out": list(content.left_out),
        "sources": [asdict(each) for each in content.sources],
        "command": content.command,
    }


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, allow_nan=False) + "\n"
