"""Print rows of values as a table of plain text, numbers to the right and words to the left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Align = Literal["left", "right", "centre"]


@dataclass(frozen=True, slots=True)
class Column:
    """How one column is printed; a width of None means as wide as its widest cell."""

    title: str
    align: Align = "left"
    width: int | None = None
    precision: int = 2


def format_cell(value: object, column: Column) -> str:
    """Return the text of one value: floats with the column's precision, None as a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{column.precision}f}"
    return str(value)


def shorten(text: str, width: int) -> str:
    """Cut the text to the width, with an ellipsis for what was cut off."""
    if len(text) <= width:
        return text
    return text[: max(width - 1, 0)] + "…"


def pad(text: str, width: int, align: Align) -> str:
    """Fill the text up with spaces to the width."""
    if align == "right":
        return text.rjust(width)
    if align == "centre":
        return text.center(width)
    return text.ljust(width)


def column_widths(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> list[int]:
    """Return the width of each column: the one that was asked for, or that of its widest cell."""
    widths = []
    for index, column in enumerate(columns):
        if column.width is not None:
            widths.append(column.width)
        else:
            widest = max((len(row[index]) for row in cells), default=0)
            widths.append(max(widest, len(column.title)))
    return widths


def format_row(cells: Iterable[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    """Return one line of the table, without spaces at its end."""
    parts = [pad(shorten(cell, width), width, column.align) for cell, column, width in zip(cells, columns, widths, strict=True)]
    return "  ".join(parts).rstrip()


def format_table(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> str:
    """Return the whole table: titles, a rule, and one line for each row.

    Raises ValueError if a row does not have one value for each column.
    """
    cells = []
    for number, row in enumerate(rows, start=1):
        if len(row) != len(columns):
            raise ValueError(f"row {number} has {len(row)} values for {len(columns)} columns")
        cells.append([format_cell(value, column) for value, column in zip(row, columns, strict=True)])
    widths = column_widths(columns, cells)
    lines = [format_row([column.title for column in columns], columns, widths)]
    lines.append("  ".join("-" * width for width in widths))
    lines.extend(format_row(row, columns, widths) for row in cells)
    return "\n".join(lines)


def main() -> None:
    """Print a table of planets."""
    columns = [Column("planet"), Column("radius (km)", "right"), Column("day (h)", "right", precision=1), Column("ring", "centre")]
    rows = [
        ("Mercury", 2440, 4222.6, False),
        ("Earth", 6371, 24.0, False),
        ("Saturn", 58232, 10.7, True),
    ]
    print(format_table(columns, rows))


if __name__ == "__main__":
    main()
