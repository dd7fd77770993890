"""CRUXEval: the share of ten answers that the most frequent one has, as a measure of whether that one is right.

Nothing that a model wrote is executed. An answer is right if it is a Python literal equal to the recorded output.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ...recorded.answers import Recorded
from ...sets.literals import literal
from ...sets.problem import Problem
from .scaling import Measured, of_shares


@dataclass(frozen=True, slots=True)
class Ballot:
    """The answers to one problem.

    votes: of the most frequent answer, of `drawn`. right: whether the first recorded of the most frequent is; right_answers: of all.
    tied: how many answers have as many votes, itself included; right_among_tied: whether the right one is among them.
    unparsed, relabelled: as in `Votes`.
    """

    problem: str
    drawn: int
    votes: int
    right: bool
    right_answers: int
    tied: int
    right_among_tied: bool
    unparsed: int
    relabelled: int


@dataclass(frozen=True, slots=True)
class Votes:
    """The recorded answers of one model at one temperature, a row per function.

    drawn: answers per function. share: the majority's share of them, and whether its answer is right. right_answers: (n,), how many of all
    are. tied: functions where another answer had as many votes; right_by_lot: share of functions that would be right if such
    ties were drawn by lot. unparsed: answers that are no literal. relabelled: answers that the recorded evaluation, which executed them,
    labels otherwise.
    """

    name: str
    drawn: int
    share: Measured
    right_answers: NDArray[np.intp]
    tied: int
    right_by_lot: float
    unparsed: int
    relabelled: int

    def pass_at(self, k: int) -> float:
        """Share of functions that one of k answers gets right, unbiased (Chen et al. 2021, eq. 1)."""
        return float(np.mean([1 - math.comb(self.drawn - c, k) / math.comb(self.drawn, k) for c in self.right_answers.tolist()]))


def votes_of(recorded: Recorded, problems: Sequence[Problem]) -> Votes:
    """The votes on each problem, in their order. Raises UsageError where one has no answers or another number of them."""
    return counted_votes(recorded.name, list(ballots_of(recorded, problems)))


def ballots_of(recorded: Recorded, problems: Sequence[Problem]) -> Iterator[Ballot]:
    """The ballot of each problem, in their order. Raises UsageError as `votes_of`."""
    drawn = len(recorded.of(problems[0].id, "execute")) if problems else 0
    if not drawn:
        raise UsageError(f"{recorded.name} has no answers to {problems[0].id if problems else 'anything'}")
    for problem in problems:
        answers = recorded.of(problem.id, "execute")
        if len(answers) != drawn:
            raise UsageError(f"{recorded.name} has {len(answers)} answers to {problem.id} and {drawn} to others")
        wanted = literal(problem.truth)
        if wanted is None:
            raise UsageError(f"the recorded output of {problem.id} is no literal: {problem.truth}")
        values = [literal(answer.text) for answer in answers]
        happened = [value == wanted for value in values]
        # what can't be parsed is an answer of its own, by its text, and never right; of a tie the earliest recorded answer wins
        given = Counter(("text", answer.text.strip()) if value is None else value for value, answer in zip(values, answers, strict=True))
        most = max(given.values())
        foremost = [value for value, number in given.items() if number == most]
        yield Ballot(
            problem=problem.id,
            drawn=drawn,
            votes=most,
            right=foremost[0] == wanted,
            right_answers=sum(happened),
            tied=len(foremost),
            right_among_tied=wanted in foremost,
            unparsed=values.count(None),
            relabelled=sum(answer.labels.get("tests_pass") is (not told) for answer, told in zip(answers, happened, strict=True)),
        )


def counted_votes(name: str, ballots: Sequence[Ballot]) -> Votes:
    """The votes of a file's ballots, of which there are some."""
    n, drawn = len(ballots), ballots[0].drawn
    share = of_shares(
        "vote share",
        np.array([ballot.votes for ballot in ballots]),
        np.full(n, drawn),
        np.array([ballot.right for ballot in ballots]),
        np.arange(n),
    )
    return Votes(
        name,
        drawn,
        share,
        right_answers=np.array([ballot.right_answers for ballot in ballots]),
        tied=sum(ballot.tied > 1 for ballot in ballots),
        right_by_lot=fmean(ballot.right_among_tied / ballot.tied for ballot in ballots),
        unparsed=sum(ballot.unparsed for ballot in ballots),
        relabelled=sum(ballot.relabelled for ballot in ballots),
    )
