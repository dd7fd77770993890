"""How likely repairs are to be right, as the laboratory says it, and their order by it."""

from __future__ import annotations

from pathlib import Path

from ...calibration.registry import Purpose, Registry
from ...calibration.samples import Event
from ...suggestion.repair.confidence import TASK, prompt_of, with_confidence
from ...suggestion.repair.request import Repairs
from ...suggestion.repair.sources.registry import SOURCES
from ..settings.settings import LiveSettings

# A repair is for code that is wrong, and what is right is what its tests say.
EVENT: Event = "tests_pass"


def judged(
    repairs: Repairs,
    registry: Registry,
    *,
    model: str,
    line_prompt: str,
    language: str,
    file: Path | None,
    project: Path | None,
    settings: LiveSettings,
) -> Repairs:
    """With their confidence, the likeliest first, but behind what mends a file that does not parse.

    model, line_prompt: the ids of the model and of how it is asked for a line. file: the document's. project: that of the calibrators.
    """
    asked = [source.name for source in SOURCES if source.name not in repairs.not_asked]
    own = project is not None and (file is None or file.is_relative_to(project))
    return with_confidence(
        repairs,
        Purpose(model, prompt_of(line_prompt, asked), EVENT, TASK, language, file),
        registry,
        project=project.name if project is not None and own else None,
        boundaries=settings.bands,
        show_refuted=settings.show_refuted,
    )
