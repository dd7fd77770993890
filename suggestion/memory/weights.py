"""Which weights a model's project memory has: those that the user fitted to it, else those that Assay brings."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path

from ...calibration.data_folder import data_folder
from ...inference.project_memory.weights import UnreadableWeights, Weights, read_weights, shipped_for

_log = logging.getLogger(__name__)


def own_weights(model: str) -> Path:
    """The file of the weights that the user fitted to a model, by its id. It may not be there."""
    return data_folder() / "memory" / f"{model}.json"


def weights_for(model: str) -> Weights:
    """The weights that a model is used with in this process, by its id; damped where they were fitted to another (`Weights.for_model`).

    A file of the user's that can't be read is left out, with a warning in the log.
    """
    own = _read(own_weights(model))
    return shipped_for(model) if own is None else own.for_model(model)


@cache
def _read(path: Path) -> Weights | None:
    """Read once, so that all suggestions of a process are made with the same."""
    try:
        return read_weights(path)
    except FileNotFoundError:
        return None
    except (UnreadableWeights, OSError) as error:
        _log.warning("The weights of the project memory that Assay brings are used instead: %s", error)
        return None
