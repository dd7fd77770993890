"""The pictures of the page: how far log p falls, by what was rewritten, and what is taken for what it is, rule by rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....calibration.bands import LIKELY, NO_EVIDENCE, POSSIBLE
from ....calibration.report.cells import CellTable, text_of
from ....calibration.report.plots import Picture, panel, svg
from .identification import Falls

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Further falls are few, and drawn at the edge.
_EDGES = (-5.0, 20.0)
_ROW = 0.27


def falls_picture(falls: Falls) -> Picture | None:
    """The share of rewrites whose line falls no further, for each kind. None without a rewrite."""
    kinds = (
        ("code around the line", falls.arm == "context", LIKELY.colour, "solid"),
        ("equivalent", falls.arm == "equivalent", LIKELY.colour, "dashed"),
        ("wrong, looks right", falls.kind == "counterfeit", POSSIBLE.colour, "solid"),
        ("wrong, other", falls.kind == "other", NO_EVIDENCE.colour, "dashed"),
    )
    shown = [(name, np.sort(falls.fall[rows]), colour, dashes) for name, rows, colour, dashes in kinds if rows.any()]
    if not shown:
        return None

    def draw(figure: Figure) -> None:
        axes = panel(figure, 0.7, 0.35, 5.4, 3.0)
        for name, values, colour, dashes in shown:
            at = np.concatenate([[_EDGES[0]], np.clip(values, *_EDGES), [_EDGES[1]]])
            shares = np.concatenate([[0.0], np.arange(1, len(values) + 1) / len(values), [1.0]])
            axes.step(at, shares, where="post", color=colour, linestyle=dashes, linewidth=1.5, label=f"{name} ({len(values):,})")
        axes.axvline(0, color=NO_EVIDENCE.colour, linewidth=0.8, linestyle="dotted")
        axes.set(xlim=_EDGES, ylim=(0, 1), xlabel="fall of log p, nats", ylabel="share that falls no further")
        axes.legend(loc="lower right")

    title = f"How far the log-probability of a line falls, of {len(falls.fall):,} rewrites"
    medians = ", ".join(f"{name} {np.median(values):z.2f}" for name, values, *_ in shown)
    return Picture("falls", title, f"{title}. Medians in nats: {medians}.", svg(draw, (6.4, 3.95)))


def rules_picture(table: CellTable) -> Picture | None:
    """Recall of each rule with its interval. None without a rule."""
    shown = [(row.names, row.cells[0]) for row in table.rows if row.cells[0].value is not None]
    if not shown:
        return None
    height, wrong = _ROW * len(shown), [names[0].endswith("fail") for names, _ in shown]

    def draw(figure: Figure) -> None:
        axes = panel(figure, 2.6, 0.35, 3.6, height)
        for place, (_, cell) in enumerate(shown):
            colour = POSSIBLE.colour if wrong[place] else LIKELY.colour
            if cell.low is not None and cell.high is not None:
                axes.plot([cell.low, cell.high], [place, place], color=colour, linewidth=1.4)
            axes.plot([cell.value or 0.0], [place], "s" if wrong[place] else "o", color=colour, markersize=5)
        axes.set_yticks(range(len(shown)), [_label(names) for names, _ in shown])
        axes.set(xlim=(-0.02, 1.02), ylim=(len(shown) - 0.5, -0.5), xlabel="share taken for what it is, with 95 % interval")

    title = "Rewrites taken for what they are, by rule"
    told = "; ".join(f"{_label(names)} {text_of(cell)}" for names, cell in shown)
    return Picture("rules", title, f"{title}: {told}.", svg(draw, (6.6, height + 0.95)))


def _label(names: Sequence[str]) -> str:
    """Such as "rename_variable, around"."""
    where = "around" if names[0].startswith("the code") else "wrong" if names[0].endswith("fail") else "line"
    return f"{names[1]}, {where}"
