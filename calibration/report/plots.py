"""The reliability plot. matplotlib is an extra, loaded only when a plot is drawn."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..bands import EVENT_WORDS, LIKELY, NO_EVIDENCE
from ..calibrator import Calibrator
from ..files import write_atomically
from ..measures import Floats
from ..metrics.bins import Bin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INK, _GRID = "#222222", "#DDDDDD"


class PlotError(RuntimeError):
    """No plot can be drawn; the message says what to install."""


def reliability_plot(calibrator: Calibrator, probabilities: Floats | None, stem: Path) -> list[Path]:
    """Draw the calibrator's held-out reliability to stem.svg and stem.png: each bin's observed rate with its Wilson interval.

    probabilities: the held-out probabilities (n,), for a histogram below; without them (they are not in a calibrator file) there is none.
    Returns the files. Raises PlotError where matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise PlotError(f"plots need matplotlib: {sys.executable} -m pip install matplotlib") from None
    if probabilities is None:
        figure = Figure(figsize=(5.6, 5.6), layout="constrained", facecolor="white")
        above = figure.subplots()
    else:
        figure = Figure(figsize=(5.6, 6.8), layout="constrained", facecolor="white")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[4.6, 1])
        _histogram(below, probabilities)
    FigureCanvasAgg(figure)
    _diagram(above, calibrator, calibrator.evidence.reliability)
    figure.axes[-1].set_xlabel(f"predicted P({EVENT_WORDS[calibrator.event]}), held out by {calibrator.fitted_on.grouped_by}", color=_INK)
    written = []
    for suffix in ("svg", "png"):
        path = stem.with_name(f"{stem.name}.{suffix}")
        # a fixed salt: the same samples give the same file
        with write_atomically(path) as out, rc_context({"svg.hashsalt": "assay"}):
            figure.savefig(out, format=suffix, dpi=150, metadata={"Date": None} if suffix == "svg" else None)
        written.append(path)
    return written


def _diagram(axes: Axes, calibrator: Calibrator, bins: Sequence[Bin]) -> None:
    evidence = calibrator.evidence
    mean, rate = np.array([b.mean for b in bins]), np.array([b.rate for b in bins])
    whiskers = np.array([[b.rate - b.rate_low for b in bins], [b.rate_high - b.rate for b in bins]])
    axes.plot([0, 1], [0, 1], color=NO_EVIDENCE.colour, linewidth=1, linestyle=(0, (4, 3)), label="perfect")
    axes.axhline(evidence.base_rate, color=NO_EVIDENCE.colour, linewidth=0.8, linestyle=":", label=f"base rate {evidence.base_rate:.2f}")
    axes.errorbar(
        mean,
        rate,
        yerr=whiskers.clip(min=0),
        fmt="o",
        markersize=6,
        color=LIKELY.colour,
        ecolor=LIKELY.colour,
        elinewidth=1.4,
        capsize=3,
        label=f"observed, {len(bins)} bin{'s' if len(bins) > 1 else ''} of about {evidence.n // len(bins)}, 95 % Wilson",
    )
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.02, 1.02), ylabel=f"observed rate of {EVENT_WORDS[calibrator.event]}")
    _plain(axes)
    axes.grid(color=_GRID, linewidth=0.6)
    axes.legend(loc="upper left", frameon=False, fontsize=8.5, labelcolor=_INK)
    skill = f"skill {evidence.skill.value:.3f} [{evidence.skill.low:.3f}, {evidence.skill.high:.3f}]   " if evidence.skill else ""
    area = f"AUC {evidence.auc.value:.3f}   " if evidence.auc else ""
    named = calibrator.fitted_on.model_name or calibrator.fitted_on.model
    axes.set_title(
        f"{named}, {calibrator.task}: {EVENT_WORDS[calibrator.event]}, n = {evidence.n}\n"
        f"{skill}{area}ECE {evidence.ece.value:.3f} (noise floor {evidence.ece.noise_floor:.3f})",
        fontsize=9,
        loc="left",
        color=_INK,
        parse_math=False,
    )


def _histogram(axes: Axes, probabilities: Floats) -> None:
    axes.hist(probabilities, bins=[k / 40 for k in range(41)], color=LIKELY.colour, alpha=0.75)
    axes.set_ylabel("samples", color=_INK)
    _plain(axes)
    axes.grid(axis="y", color=_GRID, linewidth=0.6)


def _plain(axes: Axes) -> None:
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(_INK)
    axes.tick_params(colors=_INK, labelsize=9)
