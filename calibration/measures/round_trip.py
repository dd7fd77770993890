"""Round trips of a suggestion: does the model write it again from its own description of it?

The model describes the suggestion several times, and rebuilds it below each description. Both cost calls, so these measures are known only
where a study asked for them.

References: Allamanis et al. (2024), round-trip correctness. They judge models by it; its use as a measure of one suggestion is ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

NAMES = ("round_trip", "round_trip_logprob", "round_trip_lift")


def measures_of_round_trips(equal: Sequence[bool], described: Sequence[float | None], uninformed: float | None) -> dict[str, float]:
    """The measures of a suggestion by name; those that can't be known are left out.

    equal: of each rebuild whether it is the suggestion again.
    described: the log-probability of the suggestion below each description, None where unknown.
    uninformed: the same below a comment that says nothing of it.
    """
    measures = {}
    if equal:
        measures["round_trip"] = math.log((sum(equal) + 0.5) / (len(equal) + 1))
    known = [logprob for logprob in described if logprob is not None]
    if known and len(known) == len(described):
        measures["round_trip_logprob"] = log_mean(known)
        if uninformed is not None:
            measures["round_trip_lift"] = measures["round_trip_logprob"] - uninformed
    return measures


def log_mean(logprobs: Sequence[float]) -> float:
    """The logarithm of the mean probability, without underflow; at most 0."""
    most = max(logprobs)
    return min(0.0, most + math.log(math.fsum(math.exp(each - most) for each in logprobs) / len(logprobs)))
