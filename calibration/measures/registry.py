"""Raw numbers about a generation, how each enters a linear map, and what it says when it is taken for a probability as it is.

Six are those of Spiess et al. (arXiv 2402.02047, p_tot, p_avg, the verbalised one, p_B, p_NB and length), the others ours. Everything
stays in log space: a product of probabilities is stored as the sum of their logarithms, because p_tot of a long generation underflows any
clip (with a clip at 1e-6 a calibrator loses almost half of its skill score).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...inference.model import Generation
from ..arrays import Floats, sigmoid

Kind = Literal["intrinsic", "consistency", "reflective", "baseline"]
Transform = Literal["logit_of_exp", "logit", "logit_of_percent", "identity", "log1p"]
Raw = Literal["exp", "itself", "sigmoid", "scaled"]

# log-probabilities come out of a float64 log-softmax, so 1 - p is not resolved below 2**-53; beyond it a logit would only be leverage
LOGIT_CEILING = 53 * math.log(2)
# who is asked for a percentage says whole numbers: 100 % is at least 99.5 %
HALF_A_PERCENT = 0.005
# the least p alone is one draw of noise; half of the lines that the embedded model writes have at most 6 tokens, so that more than these
# would be the mean over again for most of them
LOWEST_COUNT = 3


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: formula, unit, what it costs, and how it enters a linear map. All tokens: the one that ended the text included.

    cost: further calls of the model, at most; one question serves both of ask_true, and agreement is there only where alternatives were
    drawn anyhow (`agreement.distinct`). direction: 1 when a higher value speaks for the
    event, -1 when it speaks against it, 0 when that is not known beforehand. raw: what makes a probability of it without a calibrator,
    None where it is none.
    """

    name: str
    kind: Kind
    cost: int
    transform: Transform
    direction: Literal[-1, 0, 1]
    raw: Raw | None
    unit: str
    formula: str

    @property
    def is_log_odds(self) -> bool:
        """Whether it enters a map as the log odds of a probability, which beta and temperature scaling need."""
        return self.transform.startswith("logit")


# Means, the lowest and the least of log-probabilities enter as the logit of a probability (exp of them) just as the total does: the
# logarithm alone is flat near p = 1, where most tokens are, though an error there of 1 in 100 or of 1 in 10,000 differs a hundredfold in
# odds; towards p = 0 the two agree. So does agreement, which is a share. The margin is a log odds already. Counts act by ratio and can be
# 0, so log1p.
MEASURES: dict[str, Measure] = {
    m.name: m
    for m in (
        Measure("total_logprob", "intrinsic", 0, "logit_of_exp", 1, "exp", "nats", "s = sum of log p of all tokens; p_tot = exp(s)"),
        Measure("token_count", "baseline", 0, "log1p", 0, None, "tokens", "n = number of tokens, the one that ended the text included"),
        Measure("mean_logprob", "intrinsic", 0, "logit_of_exp", 1, "exp", "nats per token", "s / n, log of the geometric mean of p"),
        Measure("mean_probability", "intrinsic", 0, "logit", 1, "itself", "probability", "p_avg = sum of p / n, the arithmetic mean"),
        Measure("min_logprob", "intrinsic", 0, "logit_of_exp", 1, "exp", "nats", "smallest log p of a token"),
        Measure("lowest_logprob", "intrinsic", 0, "logit_of_exp", 1, "exp", "nats per token", f"mean of the {LOWEST_COUNT} smallest log p"),
        Measure("mean_entropy", "intrinsic", 0, "identity", -1, None, "nats per token", "mean entropy of what tokens were drawn from"),
        Measure("mean_margin", "intrinsic", 0, "identity", 1, None, "nats per token", "mean of log p - log p of the best other token"),
        Measure("length", "baseline", 0, "log1p", 0, "scaled", "characters", "number of characters of the text"),
        Measure("agreement", "consistency", 0, "logit_of_exp", 1, "exp", "nats", "log of this text's share in all alternatives' exp(s)"),
        Measure("verbalised", "reflective", 4, "logit_of_percent", 1, "itself", "probability", "what it answers, asked for a percentage"),
        Measure("ask_true", "reflective", 1, "logit_of_exp", 1, "exp", "nats", "log p_B, p_B = P(True), summed over its spellings"),
        Measure("ask_true_normalised", "reflective", 1, "identity", 1, "sigmoid", "nats", "log odds of p_NB, log P(True) - log P(False)"),
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
    ascending = sorted([t.logprob for t in tokens])
    if any(map(math.isnan, ascending)):
        return {"length": float(len(generation.text))}
    total, lowest = math.fsum(ascending), ascending[:LOWEST_COUNT]
    measures = {
        "total_logprob": total,
        "token_count": float(len(tokens)),
        "mean_logprob": total / len(tokens),
        "mean_probability": math.fsum(map(math.exp, ascending)) / len(tokens),
        "min_logprob": ascending[0],
        "lowest_logprob": math.fsum(lowest) / len(lowest),
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
    LOGIT_CEILING. logit: of p itself, between -LOGIT_CEILING and that; logit_of_percent: the same between 0.5 % and 99.5 %. Raises
    KeyError for an unknown measure, ValueError for values that the measure can't have.
    """
    v = _checked(name, values)
    match MEASURES[name].transform:
        case "logit_of_exp":
            s = np.minimum(v, -5e-324)
            logits: Floats = np.minimum(s - np.log(-np.expm1(s)), LOGIT_CEILING)
            return logits
        case "logit":
            return _logit(v)
        case "logit_of_percent":
            return _logit(np.clip(v, HALF_A_PERCENT, 1 - HALF_A_PERCENT))
        case "log1p":
            return np.log1p(v)
        case "identity":
            return v


def enter_one(name: str, value: float) -> float:
    """`enter` of one value, without numpy's cost for each call: a suggestion has as many values as its calibrator has features.

    Raises what `enter` raises.
    """
    match MEASURES[name].transform:
        case "logit_of_exp" if value <= 0.0 and math.isfinite(value):
            s = min(value, -5e-324)
            return min(s - math.log(-math.expm1(s)), LOGIT_CEILING)
        case "logit" if 0.0 < value < 1.0:
            return min(max(math.log(value) - math.log1p(-value), -LOGIT_CEILING), LOGIT_CEILING)
        case "log1p" if 0.0 <= value < math.inf:
            return math.log1p(value)
        case "identity" if math.isfinite(value):
            return value
    return float(enter(name, value))


def raw_probability(name: str, values: ArrayLike) -> Floats | None:
    """The probabilities that a measure's values are, before any calibration: same shape; None for a measure that is no probability.

    p_tot of a long generation may be 0 here. length is scaled to the shortest and the longest of the values, since samples do not hold
    the references that Spiess et al. scale it to. Raises what `enter` raises.
    """
    v = _checked(name, values)
    match MEASURES[name].raw:
        case "exp":
            return np.exp(v)
        case "itself":
            return v
        case "sigmoid":
            return sigmoid(v)
        case "scaled":
            return scaled_length(v, float(v.min(initial=math.inf)), float(v.max(initial=-math.inf)))
        case None:
            return None


def raw_formula(measure: str) -> str:
    """The raw probability of a measure as a formula, for people."""
    match MEASURES[measure].raw:
        case "exp":
            return f"exp({measure})"
        case "sigmoid":
            return f"1 / (1 + exp(-{measure}))"
        case "scaled":
            return f"{measure}, scaled to the shortest and the longest"
        case _:
            return measure


def scaled_length(length: ArrayLike, shortest: float, longest: float) -> Floats:
    """Spiess et al.'s baseline: (length - shortest) / (longest - shortest) of texts whose references are so long, kept within 0 and 1.

    It says that a longer text is the likelier to be right; a calibrator may turn that around. All lengths in characters. 0.5 where all
    references are equally long: then it says nothing.
    """
    v = np.asarray(length, dtype=np.float64)
    if longest <= shortest:
        return np.full_like(v, 0.5)
    scaled: Floats = np.clip((v - shortest) / (longest - shortest), 0.0, 1.0)
    return scaled


def _checked(name: str, values: ArrayLike) -> Floats:
    v = np.asarray(values, dtype=np.float64)
    if not np.isfinite(v).all():
        raise ValueError(f"{name} holds a value that is not finite")
    match MEASURES[name].transform:
        case "logit_of_exp" if (v > 0.0).any():
            raise ValueError(f"{name} holds a positive log-probability")
        case "logit" | "logit_of_percent" if ((v < 0.0) | (v > 1.0)).any():
            raise ValueError(f"{name} holds a value that is not between 0 and 1")
        case "log1p" if (v < 0.0).any():
            raise ValueError(f"{name} holds a negative count")
    return v


def _logit(p: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        logits: Floats = np.clip(np.log(p) - np.log1p(-p), -LOGIT_CEILING, LOGIT_CEILING)
    return logits
