"""Plots of round trips: RTC against pass@1, over models and over projects. No name that a user chose is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....calibration.bands import LIKELY, NO_EVIDENCE, POSSIBLE
from ....calibration.report.plots import PAPER, Picture, legend, panel, svg
from ..paper import column

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = Sequence[tuple[float, float]]
_BENCHMARK = "HumanEval"


def over_models(ours: Points) -> Picture:
    """The paper's models on HumanEval, and ours."""
    theirs = list(zip(column(_BENCHMARK, "pass_at_1"), column(_BENCHMARK, "rtc"), strict=True))
    title = f"RTC and pass@1 on HumanEval, {len(theirs)} models of the paper and {len(ours)} of ours"
    return _scatter("rtc-models", title, (("of the paper", theirs), ("ours", ours)), "pass@1")


def over_groups(points: Points, what: str) -> Picture:
    """The groups of a run: RTC against what is got without a description. what: they are, in the plural."""
    return _scatter("rtc-groups", f"RTC by project (figures 2 and 5): {len(points)} {what}", (("a project", points),), "baseline = pass@1")


def _scatter(name: str, title: str, series: Sequence[tuple[str, Points]], x: str) -> Picture:
    def draw(figure: Figure) -> None:
        axes = panel(figure, 0.7, 0.35, 4.2, 3.2)
        axes.plot([0, 1], [0, 1], color=NO_EVIDENCE.colour, linewidth=1, linestyle="dotted", label="RTC = pass@1")
        for (label, points), (colour, marker) in zip(series, ((LIKELY.colour, "o"), (POSSIBLE.colour, "D")), strict=False):
            if points:
                face = colour if marker == "o" else PAPER
                axes.plot(
                    *zip(*points, strict=True), marker, markersize=5.5, color=colour, markerfacecolor=face, linestyle="none", label=label
                )
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=x, ylabel="RTC")
        legend(axes)

    alt = "; ".join(f"{label} {', '.join(f'{a:.3f} and {b:.3f}' for a, b in points)}" for label, points in series if points)
    return Picture(name, title, f"{title}: {alt}.", svg(draw, (5.3, 4.35)))
