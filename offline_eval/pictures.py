"""The pictures of the studies on counterfeits and pairs. No name that a user chose is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..calibration.bands import LIKELY, NO_EVIDENCE
from ..calibration.report.cells import Cell, text_of
from ..calibration.report.plots import INK, PAPER, Picture, panel, svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _BAR = 7.4, 0.27


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
