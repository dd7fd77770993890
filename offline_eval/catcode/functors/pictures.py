"""Figure 5: pass@1 of each data set, the paper's models and ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....calibration.bands import LIKELY, NO_EVIDENCE, POSSIBLE, UNLIKELY
from ....calibration.report.cells import Cell
from ....calibration.report.plots import Picture, legend, panel, svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_5(title: str, rows: Sequence[tuple[str, Cell]]) -> Picture | None:
    """The cells by their names, from top to bottom; None where nothing is known."""
    known = [(name, cell) for name, cell in rows if cell.value is not None]
    if not known:
        return None
    height = max(1.6, 0.42 * len(known) + 0.2)
    models = list(dict.fromkeys(each.of for _, cell in known for each in cell.paper))

    def draw(figure: Figure) -> None:
        axes = panel(figure, 1.9, 0.35, 3.6, height)
        for y, (_, cell) in enumerate(known):
            value = cell.value or 0.0
            low, high = (value if end is None else end for end in (cell.low, cell.high))
            axes.plot([low, high], [y, y], color=LIKELY.colour, linewidth=1.5)
            axes.plot([value], [y], "o", markersize=5.5, color=LIKELY.colour, label="ours" if y == 0 else None)
        for model, marker, colour in zip(models, "Ds^", (POSSIBLE.colour, UNLIKELY.colour, NO_EVIDENCE.colour), strict=False):
            points = [(each.value, y) for y, (_, cell) in enumerate(known) for each in cell.paper if each.of == model]
            axes.plot(*zip(*points, strict=True), marker, markersize=4.5, color=colour, linestyle="none", label=f"{model} (paper)")
        axes.set(xlim=(-0.02, 1.02), ylim=(len(known) - 0.5, -0.5), xlabel="pass@1")
        axes.set_yticks(range(len(known)), [name for name, _ in known])
        legend(axes)

    told = "; ".join(
        f"{name}: ours {cell.value:.3f}" + "".join(f", {each.of} {each.value:.3f}" for each in cell.paper)
        for name, cell in known
        if cell.value is not None
    )
    return Picture("functors-figure-5", title, f"{title}: {told}.", svg(draw, (5.8, height + 1.3)))
