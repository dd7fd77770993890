"""The classes of texts that a model wrote: right, counterfeit, other. Pure functions.

A counterfeit is wrong and looks right. What looks right is said by one of three rules: the main one, and two beside it that say how much
hangs on it.

References: Gu et al. (2024), section 2. Their rules differ from set to set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

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


def buckets_of(rates: Mapping[str, float]) -> Iterator[tuple[str, str, list[str]]]:
    """(how it is cut, bucket, its problems): each bucket by pass@1, cut in both ways."""
    for cut, found in {"cut at 1/3 and 2/3": by_rate(rates), "thirds by number": by_count(rates)}.items():
        for bucket, problems in found.items():
            yield cut, bucket, problems


Class = Literal["right", "counterfeit", "other"]
Rule = Literal["kept", "wrong", "parses"]
CLASSES: tuple[Class, ...] = ("right", "counterfeit", "other")
MAIN: Rule = "kept"
MIN_KEPT_SHARE = 0.1
RULES: Mapping[Rule, str] = {
    "kept": f"wrong, and at least {MIN_KEPT_SHARE:.0%} of the tests that touch it, and one at least, keep their outcome",
    "wrong": "wrong, and only assertions of tests fail: the paper's rule for LeetCode",
    "parses": "wrong, and it parses: the paper's rule for ODEX",
}


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What the tests that touch a text said of it.

    passes: None where that is unknown. error: as `analysis.oracle.profile.Profile.error`. kept, known: how many tests have their outcome
    still, and of how many that is known.
    """

    passes: bool | None
    error: str | None = None
    kept: int = 0
    known: int = 0

    @property
    def parses(self) -> bool | None:
        """Whether it compiles; None where that is unknown."""
        return None if self.passes is None else self.error != "unparsed"

    @property
    def share(self) -> float | None:
        """The share of tests that it keeps. None where none is known."""
        return self.kept / self.known if self.known else None


def class_of(outcomes: Outcomes, rule: Rule = MAIN) -> Class | None:
    """The class of a text by a rule. None where the tests did not tell: the machine's failure makes no counterfeit."""
    if outcomes.passes is None:
        return None
    if outcomes.passes:
        return "right"
    looks_right = {
        "kept": outcomes.kept >= 1 and (outcomes.share or 0.0) >= MIN_KEPT_SHARE,
        "wrong": outcomes.error == "wrong",
        "parses": outcomes.error != "unparsed",
    }
    return "counterfeit" if looks_right[rule] and outcomes.error != "unparsed" else "other"
