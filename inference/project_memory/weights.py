"""The weights of the mixture: a small network from what is known of a candidate to what is added to its log-probability."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..regular_file import read_regular_file
from .evidence import Evidence, Floats, feature_counts

# What a memory is of: the open file alone, or the project with it.
Extent = Literal["file", "project"]
SOURCES: dict[Extent, int] = {"file": 1, "project": 2}
SCHEMA = "assay/memory-weights/1"
SHIPPED = Path(__file__).parent / "weights.json"
# Those of other models, by their id.
FITTED = Path(__file__).parent / "fitted"
_MAX_BYTES = 1 << 24
# For a model that they were not fitted to, gains count by this part: a better model needs less of what was seen (docs/engine.md).
DAMPED = 0.9


class UnreadableWeights(ValueError):
    """A file of weights is not what it should be; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Gains:
    """One hidden layer: outer · max(0, of_candidate · features + of_state · state + inner_bias) + bias."""

    of_candidate: Floats
    of_state: Floats
    inner_bias: Floats
    outer: Floats
    bias: float

    def of(self, evidence: Evidence) -> Floats:
        """What is added to the log-probability of each candidate, in nats."""
        hidden: Floats = self.of_candidate @ evidence.features
        hidden += (self.of_state @ evidence.state + self.inner_bias)[:, None]
        np.maximum(hidden, 0, out=hidden)
        found: Floats = self.outer @ hidden
        found += np.float32(self.bias)
        return found

    def damped(self, by: float) -> Gains:
        """The same network with smaller gains."""
        return replace(self, outer=self.outer * np.float32(by), bias=self.bias * by)


@dataclass(frozen=True, slots=True)
class Weights:
    """Fitted weights.

    Attributes
        gains: by what is asked: the open file alone, or the project with it.
        model: the id of the model that they are for.
        fitted_on: how: the projects, the number of places and so on.
        is_damped: whether they were fitted to another model.
    """

    gains: Mapping[Extent, Gains]
    model: str
    fitted_on: Mapping[str, Any]
    is_damped: bool = False

    @property
    def version(self) -> str:
        """8 hex digits over all numbers."""
        return hashlib.sha256(json.dumps({scope: _to_json(gains) for scope, gains in self.gains.items()}).encode()).hexdigest()[:8]

    def for_model(self, model: str) -> Weights:
        """The weights as they are used with a model: damped where they were fitted to another."""
        if model == self.model:
            return self
        return Weights({scope: gains.damped(DAMPED) for scope, gains in self.gains.items()}, model, self.fitted_on, is_damped=True)

    def as_json(self) -> str:
        """What a file of them has."""
        document = {"schema": SCHEMA, "model": self.model, "fitted_on": dict(self.fitted_on)}
        return json.dumps(document | {scope: _to_json(gains) for scope, gains in self.gains.items()}) + "\n"


def read_weights(path: Path) -> Weights:
    """Weights from a file. Raises UnreadableWeights, OSError."""
    try:
        document = json.loads(read_regular_file(path, _MAX_BYTES).decode("utf-8"))
        if document["schema"] != SCHEMA:
            raise UnreadableWeights(f"{path}: the schema is {document['schema']!r}, this version of Assay reads {SCHEMA!r}")
        if unknown := sorted(document.keys() - {"schema", "model", "fitted_on", *SOURCES}):
            raise UnreadableWeights(f"{path}: unknown fields: {', '.join(unknown)}")
        gains = {scope: _from_json(document[scope], feature_counts(sources)) for scope, sources in SOURCES.items()}
        return Weights(gains, str(document["model"]), dict(document["fitted_on"]))
    except UnreadableWeights:
        raise
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise UnreadableWeights(
            f"{path}: these are no weights of a project memory ({error!r}); without the file Assay uses its own"
        ) from error


@cache
def shipped_weights() -> Weights:
    """The weights that were fitted to the embedded model."""
    return read_weights(SHIPPED)


@cache
def shipped_for(model: str) -> Weights:
    """The weights that Assay brings for a model, by its id: fitted to it, or else the embedded model's, damped."""
    path = FITTED / f"{model}.json"
    return read_weights(path) if path.is_file() else shipped_weights().for_model(model)


def _to_json(gains: Gains) -> dict[str, Any]:
    def rounded(numbers: Floats) -> Any:
        return np.vectorize(lambda number: float(f"{number:.5g}"))(numbers).tolist()

    return {
        "of_candidate": rounded(gains.of_candidate),
        "of_state": rounded(gains.of_state),
        "inner_bias": rounded(gains.inner_bias),
        "outer": rounded(gains.outer),
        "bias": float(f"{gains.bias:.5g}"),
    }


def _from_json(document: Mapping[str, Any], features: tuple[int, int]) -> Gains:
    names = ("of_candidate", "of_state", "inner_bias", "outer")
    of_candidate, of_state, inner_bias, outer = (np.array(document[name], dtype=np.float32) for name in names)
    hidden = len(outer)
    shapes = tuple(part.shape for part in (of_candidate, of_state, inner_bias, outer))
    if shapes != ((hidden, features[0]), (hidden, features[1]), (hidden,), (hidden,)):
        raise ValueError(f"the network has shapes {shapes}; it needs {features[0]} and {features[1]} inputs")
    gains = Gains(of_candidate, of_state, inner_bias, outer, float(document["bias"]))
    if not all(np.isfinite(part).all() for part in (of_candidate, of_state, inner_bias, outer, np.float64(gains.bias))):
        raise ValueError("a number is not finite")
    return gains
