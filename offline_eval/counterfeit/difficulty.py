"""Easy, medium and difficult problems: by a model's own pass@1, and in thirds by number. Pure functions.

Gu et al. 2024 give no cut points (their Fig. 6).
"""

from __future__ import annotations

from collections.abc import Mapping

BUCKETS = ("difficult", "medium", "easy")
EDGES = (1 / 3, 2 / 3)


def by_rate(rates: Mapping[str, float]) -> dict[str, list[str]]:
    """Problems by bucket: pass@1 below 1/3, below 2/3, and from there on."""
    found: dict[str, list[str]] = {bucket: [] for bucket in BUCKETS}
    for problem, rate in rates.items():
        found[BUCKETS[sum(rate >= edge for edge in EDGES)]].append(problem)
    return found


def by_count(rates: Mapping[str, float]) -> dict[str, list[str]]:
    """Problems by bucket, a third of them in each; of equal rates the first named come first."""
    ordered = sorted(rates, key=lambda problem: rates[problem])
    cuts = [0, round(len(ordered) / 3), round(2 * len(ordered) / 3), len(ordered)]
    return {bucket: ordered[begin:end] for bucket, begin, end in zip(BUCKETS, cuts, cuts[1:], strict=False)}


CUTS = {"cut at 1/3 and 2/3": by_rate, "thirds by number": by_count}
