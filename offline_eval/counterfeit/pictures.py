"""The pictures of the study on problems. No name that a user chose is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...calibration.bands import LIKELY, NO_EVIDENCE, POSSIBLE
from ...calibration.report.cells import Cell, CellTable, text_of
from ...calibration.report.plots import INK, PAPER, Picture, panel, svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _BAR = 7.4, 0.27
_COLOURS = (LIKELY.colour, POSSIBLE.colour, NO_EVIDENCE.colour)


def bars(name: str, title: str, labels: Sequence[str], cells: Sequence[Cell], reference: float | None = None) -> Picture:
    """Shares with their intervals, one below the other, and the paper's numbers as hollow marks. reference: a share to compare with."""
    shown = [(label, cell) for label, cell in zip(labels, cells, strict=True) if cell.value is not None]
    height = max(0.3, _BAR * len(shown))

    def draw(figure: Figure) -> None:
        axes = panel(figure, 3.2, 0.35, 3.9, height)
        for place, (_, cell) in enumerate(shown):
            if cell.low is not None and cell.high is not None:
                axes.plot([cell.low, cell.high], [place, place], color=LIKELY.colour, linewidth=1.4)
            axes.plot([cell.value or 0.0], [place], "o", color=LIKELY.colour, markersize=5)
            printed = [each.value for each in cell.paper]
            axes.plot(printed, [place] * len(printed), "D", color=INK, markerfacecolor=PAPER, markersize=3.5)
        if reference is not None:
            axes.axvline(reference, color=NO_EVIDENCE.colour, linewidth=1, linestyle="dotted")
        axes.set_yticks(np.arange(len(shown)), [label for label, _ in shown])
        axes.set(ylim=(len(shown) - 0.5, -0.5), xlabel="ours with 95 % interval; the paper's models as hollow marks")

    alt = "; ".join(f"{label} {text_of(cell)}" for label, cell in shown)
    return Picture(name, title, f"{title}: {alt}.", svg(draw, (_WIDTH, height + 0.95)))


def stacked(name: str, title: str, table: CellTable) -> Picture:
    """The shares of each row of a table, as parts of one bar."""
    rows = [row for row in table.rows if all(cell.value is not None for cell in row.cells)]
    height = max(0.3, 1.2 * _BAR * len(rows))

    def draw(figure: Figure) -> None:
        axes = panel(figure, 2.9, 0.35, 4.2, height)
        for place, row in enumerate(rows):
            left = 0.0
            for cell, colour in zip(row.cells, _COLOURS, strict=False):
                axes.barh(place, cell.value or 0.0, left=left, height=0.6, color=colour)
                left += cell.value or 0.0
        for column, colour in zip(table.columns, _COLOURS, strict=False):
            axes.plot([], [], "s", color=colour, label=column)
        axes.set_yticks(np.arange(len(rows)), [", ".join(part.partition(":")[0] for part in row.names) for row in rows])
        axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, 1))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25 / height), ncols=3)

    alt = "; ".join(
        f"{', '.join(row.names)}: " + ", ".join(f"{column} {text_of(cell)}" for column, cell in zip(table.columns, row.cells, strict=True))
        for row in rows
    )
    return Picture(name, title, f"{title}: {alt}.", svg(draw, (_WIDTH, height + 1.05)))


def scatter(name: str, title: str, points: Sequence[tuple[float, float]], x: str, y: str) -> Picture:
    """One point a problem, with the line on which both are equal."""

    def draw(figure: Figure) -> None:
        axes = panel(figure, 0.6, 0.35, 3.4, 3.4)
        axes.plot([0, 1], [0, 1], color=NO_EVIDENCE.colour, linewidth=1, linestyle="dotted")
        if points:
            axes.plot(*zip(*points, strict=True), "o", color=LIKELY.colour, markersize=4, alpha=0.6)
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel=x, ylabel=y)

    above = sum(b > a for a, b in points)
    return Picture(name, title, f"{title}: {above} of {len(points)} points lie above the line.", svg(draw, (4.3, 4.4)))


def heatmap(name: str, title: str, rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float | None]]) -> Picture:
    """Shares by generator (row) and evaluator (column), which are named by letters that the table explains."""
    height, width = max(0.5, 0.45 * len(rows)), max(0.8, 0.8 * len(columns))

    def draw(figure: Figure) -> None:
        axes = panel(figure, 0.8, 0.35, width, height)
        shown = np.array([[np.nan if value is None else value for value in row] for row in values])
        axes.imshow(shown, vmin=0, vmax=1, cmap="Greys", aspect="auto")
        for (line, column), value in np.ndenumerate(shown):
            if np.isfinite(value):
                axes.text(column, line, f"{100 * value:.0f}", ha="center", va="center", color=PAPER if value > 0.6 else INK)
        axes.set_yticks(np.arange(len(rows)), list(rows))
        axes.set_xticks(np.arange(len(columns)), list(columns))
        axes.grid(visible=False)
        axes.set(xlabel="evaluator", ylabel="generator")

    alt = "; ".join(
        f"{row} by {column}: {'–' if value is None else f'{100 * value:.0f} %'}"
        for row, line in zip(rows, values, strict=True)
        for column, value in zip(columns, line, strict=True)
    )
    return Picture(name, title, f"{title}: {alt}.", svg(draw, (width + 1.1, height + 1.0)))
