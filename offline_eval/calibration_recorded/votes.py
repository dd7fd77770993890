"""CRUXEval: the share of ten answers that the most frequent one has, as a measure of whether that one is right.

Nothing that a model wrote is executed. An answer is right if it is a Python literal equal to the recorded output.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..recorded.answers import Recorded
from ..sets.literals import literal
from ..sets.problem import Problem
from .scaling import Measured, of_shares


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
    drawn = len(recorded.of(problems[0].id, "execute")) if problems else 0
    if not drawn:
        raise UsageError(f"{recorded.name} has no answers to {problems[0].id if problems else 'anything'}")
    votes, right, right_answers, right_by_lot = [], [], [], []
    tied = unparsed = relabelled = 0
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
        ballots = Counter(("text", answer.text.strip()) if value is None else value for value, answer in zip(values, answers, strict=True))
        most = max(ballots.values())
        foremost = [value for value, number in ballots.items() if number == most]
        votes.append(most)
        right.append(foremost[0] == wanted)
        right_answers.append(sum(happened))
        right_by_lot.append((wanted in foremost) / len(foremost))
        tied += len(foremost) > 1
        unparsed += values.count(None)
        relabelled += sum(answer.labels.get("tests_pass", is_right) != is_right for answer, is_right in zip(answers, happened, strict=True))
    n = len(votes)
    share = of_shares("vote share", np.array(votes), np.full(n, drawn), np.array(right), np.arange(n))
    return Votes(recorded.name, drawn, share, np.array(right_answers), tied, float(np.mean(right_by_lot)), unparsed, relabelled)
