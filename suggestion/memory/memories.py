"""The memory at a cursor, the same for editor and laboratory: of the open file, and of the other files of its project."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import cast

from ...calibration.data_folder import data_folder
from ...inference.hub.catalogue import models_of_kin
from ...inference.model import Model
from ...inference.project_memory.memory import Memory, ProjectMemory
from ...inference.project_memory.project import Project, ProjectTooLarge, project_of
from ...inference.project_memory.spelling import Spelling, Vocabulary
from ...inference.project_memory.weights import UnreadableWeights, Weights, read_weights, shipped_for
from ..cursor import Window
from .folder import files_in
from .scope import Scope

_log = logging.getLogger(__name__)


def own_weights(model: str) -> Path:
    """The file of the weights that the user fitted to a model, by its id. It may not be there."""
    return data_folder() / "memory" / f"{model}.json"


def weights_for(model: str, kin: str = "") -> Weights:
    """The weights that a model is used with in this process: fitted to it, to another quantisation of it, or else to some other model.

    model, kin: of its fingerprint.

    The last are damped (`Weights.for_model`). A file of the user's that can't be read is left out, with a warning in the log.
    """
    models = (model, *models_of_kin(kin))
    for each in models:
        if (own := _read(own_weights(each))) is not None:
            return own.for_model(each)
    return next((shipped for each in models if not (shipped := shipped_for(each)).is_damped), shipped_for(model))


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


# How much of the open file is read. Two thirds of what its memory gains come from beyond what the model is shown.
REACH = Window(before=256_000, after=256_000, step=1 << 14)


class Memories:
    """Makes the memories of the requests to one model. For one thread."""

    def __init__(self, model: Model) -> None:
        # A model that can be mixed with a memory is in this process, and so are its tokens.
        weights = weights_for(model.fingerprint.id, model.fingerprint.kin)
        self._made = ProjectMemory(cast(Vocabulary, model), weights) if model.capabilities.memory else None

    @property
    def spelling(self) -> Spelling | None:
        """Of the model's vocabulary; None where the model can't be mixed with a memory."""
        return None if self._made is None else self._made.spelling

    def at(self, before: str, after: str, path: str = "", scope: Scope = "file", project: Project | None = None) -> Memory | None:
        """The memory at a cursor; None where the scope is "off" or the model can't be mixed with one.

        Parameters
            before, after: the whole text before and behind the cursor, or as much of it as `REACH` shows.
            path: of the file, as the project names it.
            project: of the other files; without one, the scope is "file".
        """
        if self._made is None or scope == "off":
            return None
        self._made.project = project
        return self._made.at(_newlines(before[REACH.start(len(before)) :]), _newlines(after[: REACH.after]), path, scope)

    def forget(self) -> None:
        """As `ProjectMemory.forget`."""
        if self._made is not None:
            self._made.forget()


def project_in(root: Path) -> Project | None:
    """The index of a folder's files; None where they are too many."""
    try:
        return project_of(files_in(root))
    except ProjectTooLarge:
        return None


def memory_fingerprint(model: Model, scope: Scope) -> str:
    """The fingerprint of a model's memory, as `Memory.fingerprint`; empty where there is none."""
    if scope == "off" or not model.capabilities.memory:
        return ""
    return weights_for(model.fingerprint.id, model.fingerprint.kin).version


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
