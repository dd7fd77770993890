"""How often the dial is wrong, and how much it shows, in synthetic worlds whose precision at every threshold is known.

    python benchmarks/dial.py [--worlds N]

Prints a table in Markdown, which docs/dial.md explains: of the dial, of the dial with `each`, and of two naive rules, how often the true
precision at the threshold is below the target, and how much is shown of what the best threshold would show. Nothing is read and no file is
written. N worlds (default 1,000) are drawn a row.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat

import harness
import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import expit, logit  # type: ignore[import-untyped]

from assay.calibration.arrays import Floats
from assay.calibration.fitting.dial import LEVELS, MIN_SHOWN, RISK, TARGETS, DialRow, dial
from assay.calibration.maps.platt import fit_platt

FOLDS = 10

Draw = tuple[Floats, NDArray[np.bool_], NDArray[np.intp]]


@dataclass(frozen=True)
class World:
    """Projects of unequal size whose samples have a measure z, a confidence p(z) and a label.

    P(y = 1) has the log odds bent(z) + the project's offset, which is normal with standard deviation `between`, or -2 in a share `bad` of
    the projects and 0 in the others. z is normal around `centre`, with standard deviation `spread` within projects and `mix` between their
    means. p is calibrated over all projects where the world is not `bent` or `tempered`: its log odds are then times `tempered`; where z is
    above `bent`, y has log odds of 0, and p knows nothing of it. With `fitted` p is Platt's map, fitted to the drawn samples: held out in
    10 folds of whole projects for the dial, which is judged by what the map of all of them shows.
    """

    name: str
    n: int
    projects: int
    between: float
    mix: float = 0.4
    centre: float = -0.6
    spread: float = 1.8
    bad: float = 0.0
    tempered: float = 1.0
    bent: float = np.inf
    fitted: bool = False

    @cached_property
    def grid(self) -> Floats:
        """z from far below to far above what is drawn."""
        return np.linspace(self.centre - 14, self.centre + 14, 28_001)

    @cached_property
    def density(self) -> Floats:
        """Of z over all projects, on the grid; it sums to 1."""
        density = np.exp(-0.5 * (self.grid - self.centre) ** 2 / (self.spread**2 + self.mix**2))
        return np.asarray(density / density.sum())

    @cached_property
    def truth(self) -> Floats:
        """P(y = 1 | z) over all projects, on the grid."""
        return self._over_projects(np.where(self.grid > self.bent, 0.0, self.grid))

    @cached_property
    def confidence(self) -> Floats:
        """p(z) on the grid."""
        return np.asarray(expit(self.tempered * logit(self._over_projects(self.grid))))

    def _over_projects(self, log_odds: Floats) -> Floats:
        nodes, weights = hermegauss(41)
        offsets, weights = (np.array([0.0, -2.0]), np.array([1 - self.bad, self.bad])) if self.bad else (self.between * nodes, weights)
        return np.asarray(expit(log_odds[:, None] + offsets) @ weights / weights.sum())

    def at_levels(self, confidence: Floats) -> tuple[Floats, Floats]:
        """The true precision and the share shown at each level of a confidence on the grid; a precision of 1 where nothing is shown."""
        level = np.searchsorted(LEVELS, confidence, side="right") - 1
        share, right = (np.bincount(level, w, len(LEVELS))[::-1].cumsum()[::-1] for w in (self.density, self.density * self.truth))
        return np.where(share > 1e-9, right / np.maximum(share, 1e-9), 1.0), share

    def measured(self, rng: np.random.Generator) -> Draw:
        """n samples: z, y and the project."""
        size = rng.gamma(2, size=self.projects)
        more = rng.choice(self.projects, self.n - self.projects, p=size / size.sum())
        project = np.concatenate([np.arange(self.projects), more])
        offset = np.where(rng.random(self.projects) < self.bad, -2.0, 0.0) if self.bad else rng.normal(0, self.between, self.projects)
        z = rng.normal(self.centre, self.spread, self.n) + rng.normal(0, self.mix, self.projects)[project]
        return z, rng.random(self.n) < expit(np.where(z > self.bent, 0.0, z) + offset[project]), project

    def draw(self, rng: np.random.Generator) -> tuple[Draw, Floats]:
        """n samples, p, y and the project, and the confidence on the grid that the threshold will be put to."""
        z, y, project = self.measured(rng)
        if not self.fitted:
            return (np.interp(z, self.grid, self.confidence), y, project), self.confidence
        fold, x, p = rng.permutation(self.projects)[project] % FOLDS, z[:, None], np.empty(self.n)
        for f in range(FOLDS):
            out = fold == f
            p[out] = expit(fit_platt(x[~out], y[~out]).log_odds(x[out]))
        return (p, y, project), np.asarray(expit(fit_platt(x, y).log_odds(self.grid[:, None])))


BASE = World("30 projects", 3000, 30, 0.4)
WORLDS = (
    replace(BASE, name="few samples", n=150, projects=15),
    replace(BASE, name="500 samples", n=500),
    replace(BASE, name="15 projects, unlike", projects=15, between=0.8),
    BASE,
    replace(BASE, name="100 projects, unlike", projects=100, between=0.8),
    replace(BASE, name="20,000 samples", n=20_000),
    replace(BASE, name="rarely right (7 %)", n=3700, centre=-4.2, spread=2.2),
    replace(BASE, name="overconfident", tempered=1.8),
    replace(BASE, name="the surest are guesses", bent=3.0),
    replace(BASE, name="1 project in 10 is bad", projects=15, between=0.0, bad=0.1),
    replace(BASE, name="the same, 100 projects", projects=100, between=0.0, bad=0.1),
    replace(BASE, name="p held out, map refitted", fitted=True),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one rule in one world, by target: how often its precision was below the target, and the mean share shown. any_wrong: how often
    that of any target was. covered: how often the dial's intervals of precision and share held the truth, of all that it gave."""

    wrong: Floats
    share: Floats
    any_wrong: float
    covered: tuple[float, float]


def thresholds_of(rows: tuple[DialRow, ...]) -> list[float | None]:
    return [row.threshold for row in rows]


def as_seen(draw: Draw) -> list[float | None]:
    """Naive: the lowest level at which the measured precision is at least the target."""
    p, y, _ = draw
    level = np.searchsorted(LEVELS, p, side="right") - 1
    shown, right = (np.bincount(level, w, len(LEVELS))[::-1].cumsum()[::-1] for w in (np.ones(len(p)), y))
    return [float(LEVELS[found[0]]) if len(found := np.flatnonzero((shown > 0) & (right >= x * shown))) else None for x in TARGETS]


def outcomes(world: World, worlds: int, seed: int = 0) -> tuple[dict[str, Outcome], Floats]:
    """What becomes of the dial and of the naive rules in draws from a world, and the largest share that has each target's precision."""
    rng = np.random.default_rng(seed)
    names = ("dial", "each", "said", "seen")
    wrong, share = ({name: np.zeros((worlds, len(TARGETS))) for name in names} for _ in range(2))
    covered: list[tuple[bool, bool]] = []
    best = np.zeros(len(TARGETS))
    for w in range(worlds):
        draw, confidence = world.draw(rng)
        precision, shown = world.at_levels(confidence)
        best += [shown[precision >= x].max() / worlds for x in TARGETS]
        rows = dial(*draw)
        chosen = {"dial": thresholds_of(rows), "each": thresholds_of(dial(*draw, each=True)), "said": TARGETS, "seen": as_seen(draw)}
        for name, thresholds in chosen.items():
            for i, (x, threshold) in enumerate(zip(TARGETS, thresholds, strict=True)):
                if threshold is not None:
                    level = round(threshold * (len(LEVELS) - 1))
                    wrong[name][w, i] = precision[level] < x - 1e-12
                    share[name][w, i] = shown[level]
        covered += list(_held(rows, precision, shown))
    held = np.mean(covered, axis=0) if covered else np.full(2, np.nan)
    return {
        name: Outcome(wrong[name].mean(0), share[name].mean(0), float(wrong[name].any(1).mean()), (float(held[0]), float(held[1])))
        for name in names
    }, best


def _held(rows: tuple[DialRow, ...], precision: Floats, shown: Floats) -> Iterator[tuple[bool, bool]]:
    for row in rows:
        if row.threshold is not None and row.precision is not None:
            level = round(row.threshold * (len(LEVELS) - 1))
            yield (
                row.precision.low <= precision[level] <= row.precision.high,
                row.share.low - 1e-12 <= shown[level] <= row.share.high + 1e-12,
            )


def main() -> None:
    parser = harness.parser_of(__doc__)
    parser.add_argument("--worlds", type=int, default=1000, help="worlds a row (default: %(default)s)")
    worlds = parser.parse_args().worlds
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(f"{worlds} worlds a row; risk {RISK}, tolerance 0, at least {MIN_SHOWN} shown.\n")
    head = ["world", "n", "projects", "offsets' sd", "worst row", "mean row", "any row", "shown at .5, .8, .9", "intervals"]
    head += [f"{rule}: {what}" for rule in ("each", "p ≥ x", "measured ≥ x") for what in ("worst row", "shown")]
    print(harness.table(head, map(cells, WORLDS, repeat(worlds))))


def cells(world: World, worlds: int) -> list[object]:
    """The row of one world."""
    found_of, best = outcomes(world, worlds)
    of = found_of["dial"]
    others = [
        cell for rule in ("each", "said", "seen") for cell in (f"{found_of[rule].wrong.max():.3f}", _of_the_best(found_of[rule], best))
    ]
    worst = f"{of.wrong.max():.3f} ({TARGETS[of.wrong.argmax()]:.2f})"
    sizes = (world.name, world.n, world.projects, "" if world.bad else world.between)
    held = f"{of.covered[0]:.3f}, {of.covered[1]:.3f}"
    return [*sizes, worst, f"{of.wrong.mean():.3f}", f"{of.any_wrong:.2f}", _of_the_best(of, best), held, *others]


def _of_the_best(outcome: Outcome, best: Floats) -> str:
    at = [TARGETS.index(x) for x in (0.5, 0.8, 0.9)]
    return ", ".join(f"{outcome.share[i] / best[i]:.2f}" if best[i] > 1e-6 else "none" for i in at)


if __name__ == "__main__":
    main()
