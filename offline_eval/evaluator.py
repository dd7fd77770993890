"""Who answers the questions of a study: a model that is asked in words, or files of recorded answers in its place."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..inference.asking.asker import Form
from ..inference.opening import ModelChoice
from .asked_model import asked_model
from .calibration.recorded.source import AnswerFile, read


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Who answers. id, name: of the model, or of the files of answers. files: of recorded answers; none where a model is asked."""

    id: str
    name: str
    form: Form
    files: Sequence[AnswerFile] = ()


NOBODY = Evaluator("none", "none", "text")


def evaluator_of(choice: ModelChoice, form: Form | None, recorded: Sequence[Path]) -> Evaluator:
    """Open the model, or the files, to see what they are. Raises RecordedError, and what `asked_model` raises."""
    if recorded:
        files = read(recorded)
        digest = hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest()[:16]
        names = ", ".join(dict.fromkeys(file.answers.model or file.answers.name for file in files))
        return Evaluator(digest, names, "text", files)
    model = asked_model(choice, form)
    return Evaluator(model.id, model.name, model.form)
