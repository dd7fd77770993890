"""The registry of measures: one entry for each, with its formula, its cost and how it enters a map.

To add a measure that costs no call of the model, add an entry to `MEASURES` and compute it in `measures_of`. Fitting, calibrators and
reports follow.

A product of probabilities is stored as the sum of their logarithms, because p_tot of a long generation underflows any clip. With a clip at
1e-6 a calibrator loses almost half of its skill score.

References: Spiess et al. (arXiv 2402.02047) for p_tot, p_avg, the verbalised probability, p_B, p_NB and length. The others are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...inference.model import Generation
from ..arrays import Floats, sigmoid

Kind = Literal["intrinsic", "consistency", "reflective", "baseline", "repair", "fault"]
Transform = Literal["logit_of_exp", "logit", "logit_of_percent", "identity", "log1p"]
Raw = Literal["exp", "itself", "sigmoid", "scaled"]

# Log-probabilities come from a float64 log-softmax, so 1 - p is not resolved below 2**-53. A larger logit would only be leverage.
LOGIT_CEILING = 53 * math.log(2)
# A model that is asked for a percentage gives whole numbers: 100 % is at least 99.5 %.
HALF_A_PERCENT = 0.005
# The smallest p alone is noisy. Half of the lines of the embedded model have at most 6 tokens, so with more than 3 the measure would be
# nearly the mean for most of them.
LOWEST_COUNT = 3


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure.

    cost: further calls of the model, at most. One question serves both of ask_true. Agreement is known only where alternatives were drawn
        anyhow (`agreement.distinct`).
    transform: how it enters a map (`enter`).
    direction: 1 if a higher value speaks for the event, -1 if against it, 0 if that is not known beforehand.
    raw: how it is a probability without a calibrator. None if it is none.
    unit, formula: for people. "All tokens" includes the one that ended the text.
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


# A log-probability, mean or smallest, enters as the logit of its exponential, as the total does. The logarithm alone is flat near p = 1,
# where most tokens are, though errors of 1 in 100 and of 1 in 10,000 differ a hundredfold in odds. Towards p = 0 the two agree. Agreement,
# a share, enters in the same way. The margin is a log odds already. Counts act by ratio and can be 0, hence log1p.
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
        Measure("parses", "baseline", 0, "identity", 1, None, "0 or 1", "0 where the text leaves a file broken that is whole without it"),
        Measure("agreement", "consistency", 0, "logit_of_exp", 1, "exp", "nats", "log of this text's share in all alternatives' exp(s)"),
        Measure("logprob_gain", "repair", 0, "identity", 1, None, "nats", "s of the new lines - s of those that stand there"),
        Measure("old_logprob", "repair", 0, "logit_of_exp", -1, None, "nats", "s of the lines that stand there"),
        Measure("edit_size", "repair", 0, "log1p", -1, None, "characters", "number of characters that go and that come"),
        Measure("source_agreement", "repair", 0, "identity", 1, None, "share", "share of the sources with an answer that gave it"),
        Measure("draw_agreement", "repair", 0, "identity", 1, None, "share", "share of all drawn texts that are it"),
        Measure("stay_agreement", "repair", 0, "identity", -1, None, "share", "share of the sources that left the lines as they are"),
        Measure("stay_draws", "repair", 0, "identity", -1, None, "share", "share of all drawn texts that did"),
        Measure("by_rule", "repair", 0, "identity", 0, None, "0 or 1", "1 where a rule of analysis.repairs gave it"),
        Measure("by_chat", "repair", 0, "identity", 0, None, "0 or 1", "1 where an answer in chat gave it"),
        Measure(
            "edit_logprob", "repair", 0, "logit_of_exp", 1, None, "nats", "s of the tokens that are not the old text, given all before"
        ),
        Measure("edit_min_logprob", "repair", 0, "logit_of_exp", 1, None, "nats", "smallest log p of these tokens"),
        Measure("surprise", "repair", 0, "identity", 1, None, "nats", "largest log p of the best other token - log p of those it changes"),
        Measure("line_surprise", "repair", 0, "log1p", 1, None, "nats", "sum of those above 0 of the most surprising line it changes"),
        Measure("rank", "repair", 0, "log1p", -1, None, "rank", "its number, from 1, by gain, size and sources (suggestion.repair)"),
        Measure("ochiai", "fault", 0, "identity", 1, None, "cosine", "between the tests that fail and those that run a line"),
        Measure("spectrum_rank", "fault", 0, "log1p", -1, None, "rank", "of a line by ochiai, the mean of those alike"),
        Measure("surprise_rank", "fault", 0, "log1p", -1, None, "rank", "of a line by line_surprise, the mean of those alike"),
        Measure("verbalised", "reflective", 4, "logit_of_percent", 1, "itself", "probability", "what it answers, asked for a percentage"),
        Measure("ask_true", "reflective", 1, "logit_of_exp", 1, "exp", "nats", "log p_B, p_B = P(True), summed over its spellings"),
        Measure("ask_true_normalised", "reflective", 1, "identity", 1, "sigmoid", "nats", "log odds of p_NB, log P(True) - log P(False)"),
        Measure("ask_chat", "reflective", 1, "logit", 1, "itself", "probability", "P(True) / (P(True) + P(False)), asked in words"),
        Measure("ask_shots", "reflective", 1, "logit", 1, "itself", "probability", "the same, behind the nearest other answers and theirs"),
    )
}


def measures_of(generation: Generation) -> dict[str, float]:
    """All intrinsic and baseline measures of a generation, by name.

    mean_margin is left out if a token had no finite alternative. Measures of what a server did not tell are left out too: without
    log-probabilities only the length is there.

    Raises ValueError for a generation without tokens.
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
    if generation.parses is not None:
        measures["parses"] = float(generation.parses)
    entropies = [t.entropy for t in tokens if t.entropy is not None]
    if len(entropies) == len(tokens):
        measures["mean_entropy"] = math.fsum(entropies) / len(tokens)
    margins = [t.logprob - t.best_other_logprob for t in tokens if t.best_other_logprob is not None]
    if len(margins) == len(tokens) and all(map(math.isfinite, margins)):
        measures["mean_margin"] = math.fsum(margins) / len(margins)
    return measures


def enter(name: str, values: ArrayLike) -> Floats:
    """The values of a measure as they enter a map: same shape, float64.

    logit_of_exp: log(p / (1 - p)) of p = exp(s), at most LOGIT_CEILING. Computed as s - log(-expm1(s)), so nothing underflows.
    logit: of p itself, from -LOGIT_CEILING to LOGIT_CEILING. logit_of_percent: the same of p between 0.5 % and 99.5 %.

    Raises KeyError for an unknown measure, ValueError for values that the measure can't have.
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
    """`enter` for one value, without the cost of numpy's calls: it is computed for every suggestion. Raises what `enter` raises."""
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
    """The values of a measure as uncalibrated probabilities: same shape. None for a measure that is no probability.

    p_tot of a long generation may be 0 here. length is scaled to the shortest and longest of the values, because samples do not hold the
    references that Spiess et al. scale it to. Raises what `enter` raises.
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
    """The baseline of Spiess et al.: (length - shortest) / (longest - shortest), clipped to [0, 1].

    shortest, longest: of the references. All lengths are in characters. It takes a longer text for more likely to be right; a calibrator
    may reverse that. 0.5 if all references are equally long.
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
