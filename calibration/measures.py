"""Raw numbers about a generation, and how each enters a linear map.

Everything stays in log space: a product of probabilities is stored as the sum of their logarithms, because p_tot of a long
generation underflows any clip (with a clip at 1e-6 a calibrator loses almost half of its skill score).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..inference.model import Generation

Kind = Literal["intrinsic", "reflective", "baseline"]
Transform = Literal["logit_of_exp", "identity", "log1p"]
Floats = NDArray[np.float64]

# log-probabilities come out of a float64 log-softmax, so 1 - p is not resolved below 2**-53; beyond it a logit would only be leverage
LOGIT_CEILING = 53 * math.log(2)


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: formula, unit, and how it enters a linear map.

    direction: 1 when a higher value speaks for the event, -1 when it speaks against it, 0 when that is not known beforehand.
    """

    name: str
    kind: Kind
    transform: Transform
    direction: Literal[-1, 0, 1]
    unit: str
    formula: str


# mean and min enter as the logit of a probability (exp of them) just as the total does: the logarithm alone is flat near p = 1, where
# most tokens are, though an error there of 1 in 100 or of 1 in 10,000 differs a hundredfold in odds; towards p = 0 the two agree.
# The margin is a log odds already. Counts act by ratio and can be 0, so log1p.
MEASURES: dict[str, Measure] = {
    m.name: m
    for m in (
        Measure(
            "total_logprob", "intrinsic", "logit_of_exp", 1, "nats", "sum of log p over all tokens, the one that ended the text included"
        ),
        Measure("token_count", "baseline", "log1p", 0, "tokens", "number of tokens, the one that ended the text included"),
        Measure(
            "mean_logprob", "intrinsic", "logit_of_exp", 1, "nats per token", "total_logprob / token_count (log of the geometric mean)"
        ),
        Measure("min_logprob", "intrinsic", "logit_of_exp", 1, "nats", "smallest log p of a token"),
        Measure(
            "mean_entropy", "intrinsic", "identity", -1, "nats per token", "mean entropy of the distributions the tokens were taken from"
        ),
        Measure("mean_margin", "intrinsic", "identity", 1, "nats per token", "mean of log p minus log p of the best other token"),
        Measure("length", "baseline", "log1p", 0, "characters", "number of characters of the text"),
    )
}


def measures_of(generation: Generation) -> dict[str, float]:
    """All intrinsic and baseline measures of a generation, by name (formulas and units: `MEASURES`).

    mean_margin is left out when a token had no finite alternative, and what a server did not tell is left out, too: where it tells no
    log-probabilities, only the length is there. Raises ValueError for a generation without tokens: nothing was sampled.
    """
    tokens = generation.tokens
    if not tokens:
        raise ValueError("a generation without tokens has no measures")
    if any(math.isnan(t.logprob) for t in tokens):
        return {"length": float(len(generation.text))}
    total = math.fsum(t.logprob for t in tokens)
    measures = {
        "total_logprob": total,
        "token_count": float(len(tokens)),
        "mean_logprob": total / len(tokens),
        "min_logprob": min(t.logprob for t in tokens),
        "length": float(len(generation.text)),
    }
    entropies = [t.entropy for t in tokens if t.entropy is not None]
    if len(entropies) == len(tokens):
        measures["mean_entropy"] = math.fsum(entropies) / len(tokens)
    margins = [t.logprob - t.best_other_logprob for t in tokens if t.best_other_logprob is not None]
    if len(margins) == len(tokens) and all(map(math.isfinite, margins)):
        measures["mean_margin"] = math.fsum(margins) / len(margins)
    return measures


def enter(name: str, values: ArrayLike) -> Floats:
    """The values of a measure as they enter a linear map: same shape, float64.

    logit_of_exp: log(p / (1 - p)) of p = exp(s), as s - log(-expm1(s)), so that nothing underflows however small p or 1 - p; at most
    LOGIT_CEILING. Raises KeyError for an unknown measure, ValueError for values that the measure can't have.
    """
    v = np.asarray(values, dtype=np.float64)
    if not np.isfinite(v).all():
        raise ValueError(f"{name} holds a value that is not finite")
    match MEASURES[name].transform:
        case "logit_of_exp":
            if (v > 0.0).any():
                raise ValueError(f"{name} holds a positive log-probability")
            s = np.minimum(v, -5e-324)
            logits: Floats = np.minimum(s - np.log(-np.expm1(s)), LOGIT_CEILING)
            return logits
        case "log1p":
            if (v < 0.0).any():
                raise ValueError(f"{name} holds a negative count")
            return np.log1p(v)
        case "identity":
            return v
