"""How often `rate_interval` holds the true share, in synthetic worlds whose groups differ, also where some samples are shown by chance.

    python benchmarks/rates.py [--worlds N]

Prints a table in Markdown, which docs/intervals.md explains. Nothing is read and no file is written. N worlds (default 2,000, a minute on
one core) are drawn a cell.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from scipy.special import expit, logit  # type: ignore[import-untyped]

from assay.calibration.metrics.intervals import rate_interval

SIZES = ((5, 30), (5, 200), (10, 100), (30, 100), (30, 1000))
OFFSETS = (0.0, 0.4, 0.8)
RATES = (0.3, 0.7, 0.95)
PROPENSITY = 0.1
# Of the samples that are there by chance, so many times as many are right.
_LESS_RIGHT = 0.5


def covered(groups: int, n: int, rate: float, sd: float, *, explored: bool, worlds: int, rng: np.random.Generator) -> float:
    """The share of worlds whose interval holds the truth: log odds of `rate`, off by a normal `sd` in each group; sizes of groups from a
    flat Dirichlet. explored: half of the samples are half as often right, and each of these is there with the probability PROPENSITY."""
    truth = float(expit(logit(rate) + sd * np.random.default_rng(0).normal(size=1_000_000)).mean())
    truth *= (1 + _LESS_RIGHT) / 2 if explored else 1
    held = said = 0
    for _ in range(worlds):
        group = np.repeat(np.arange(groups), rng.multinomial(n, rng.dirichlet(np.ones(groups))))
        p = expit(logit(rate) + rng.normal(0, sd, groups)[group])
        low = rng.random(n) < 0.5 if explored else np.zeros(n, dtype=np.bool_)
        y = rng.random(n) < np.where(low, _LESS_RIGHT * p, p)
        there = ~low | (rng.random(n) < PROPENSITY)
        _, index = np.unique(group[there], return_inverse=True)
        found = rate_interval(y[there], index, np.where(low, 1 / PROPENSITY, 1.0)[there])
        if found is not None:
            said += 1
            held += found.low <= truth <= found.high
    return held / said


def rows(worlds: int) -> Iterator[str]:
    """The lines of the table."""
    rng = np.random.default_rng(0)
    yield (
        "| groups | n | offsets' sd | " + " | ".join(f"{rate:.2f}" for rate in RATES) + " | " + " | ".join(f"{r:.2f}" for r in RATES) + " |"
    )
    yield "|---:|---:|---:|" + ":---:|" * (2 * len(RATES))
    for groups, n in SIZES:
        for sd in OFFSETS:
            cells = [
                covered(groups, n, rate, sd, explored=explored, worlds=worlds, rng=rng) for explored in (False, True) for rate in RATES
            ]
            yield f"| {groups} | {n} | {sd} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=2_000)
    for line in rows(parser.parse_args().worlds):
        print(line, flush=True)
