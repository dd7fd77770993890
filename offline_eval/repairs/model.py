"""What the studies of repairs ask of a model."""

from __future__ import annotations

from ...suggestion.repair.sources.registry import SOURCES
from ..errors import UsageError
from ..model import StudyModel


def require_scores(model: StudyModel) -> StudyModel:
    """The model. Raises UsageError for one that can't score repairs."""
    if not model.replays:
        raise UsageError(f"{model.name} does not say how likely a given text is, by which repairs are ordered: name a model's file")
    return model


def sources_of(model: StudyModel) -> list[str]:
    """The sources that are asked for repairs of Python: all but an instruct model, and what this model was not trained for."""
    return [source.name for source in SOURCES if source.name != "instruct" and (model.mends or source.name != "fix_task")]
