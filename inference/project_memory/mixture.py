"""Mixes what was seen into a model's distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .evidence import Evidence, ModelState
from .spelling import Spelling

Row = NDArray[np.float32]

# A candidate that the model finds less likely counts as this likely, in nats, so that what was seen can outweigh it.
MIN_LOGPROB = -14.0
# In place of -inf, which times 0 is no number.
_LOWEST = np.float32(-100.0)


def normalised(row: Row, out: Row) -> ModelState:
    """Write the log-probabilities of a row of logits into `out`, and return what else the mixture needs. -inf stays."""
    top = float(row.max())
    if not math.isfinite(top):
        np.copyto(out, row)
        return ModelState(top, math.nan)
    np.subtract(row, top, out=out)
    weights = np.exp(out)
    total = float(weights.sum())
    logtotal = math.log(total)
    out -= np.float32(logtotal)
    weights *= np.maximum(out, _LOWEST)
    return ModelState(-logtotal, max(0.0, -float(weights.sum()) / total))


def logprobs_of(events: Sequence[int], logprobs: Row, spelling: Spelling) -> Row:
    """The log-probability of each event."""
    found = logprobs[np.array(events, dtype=np.int64)]
    for number, event in enumerate(events):
        tokens = spelling.tokens_of.get(event)
        if tokens is not None:
            total = float(np.exp(logprobs[tokens]).sum())
            found[number] = math.log(total) if total > 0 else -math.inf
    return found


def mix(logprobs: Row, evidence: Evidence, gains: Row, spelling: Spelling) -> None:
    """Add to the log-probability of each candidate its gain, and normalise. Changes `logprobs`.

    The tokens of one event keep their proportions.
    """
    likely = np.maximum(evidence.logprobs, np.float32(MIN_LOGPROB)) + gains
    rest = max(0.0, 1.0 - float(np.exp(evidence.logprobs, dtype=np.float64).sum()))
    logtotal = np.float32(math.log(rest + float(np.exp(likely, dtype=np.float64).sum())))
    logprobs -= logtotal
    likely -= logtotal
    for event, new, old in zip(evidence.events.tolist(), likely.tolist(), evidence.logprobs.tolist(), strict=True):
        tokens = spelling.tokens_of.get(event)
        if tokens is None:
            logprobs[event] = new
        else:
            logprobs[tokens] += new - old + float(logtotal)
