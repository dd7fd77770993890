"""Files of recorded answers in a run: what its question says of them, and what the page tells of where they are from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...calibration.report.study_report import Source
from ..run import SCHEMA, AskedQuestion, Question
from ..study import StudyOptions
from .answers import Recorded, Step
from .formats import recorded

# In the place of a prompt's fingerprint: how the model was asked is not known.
PROMPT = "0" * 16
SOURCES = ("recorded", "models", "sources", "licences")


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """A file of recorded answers. sha256: of its bytes."""

    path: Path
    sha256: str
    answers: Recorded

    def has(self, step: Step) -> bool:
        """Whether it has answers of a step."""
        return any(asked == step for _, asked, _ in self.answers.answers)


def read(paths: Sequence[Path]) -> list[AnswerFile]:
    """The files. Raises RecordedError."""
    return [AnswerFile(path, sha256_of(path), answers) for path, answers in ((path, recorded(path)) for path in paths)]


def sha256_of(path: Path) -> str:
    """Of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def question_of(study: str, name: str, files: Sequence[AnswerFile], options: StudyOptions) -> dict[str, Any]:
    """A run's question about the answers of files, but for its items. name: of the set."""
    answers = [file.answers for file in files]
    question: Question = {
        "schema": SCHEMA,
        "study": study,
        "model": hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest()[:16],
        "model_name": ", ".join(dict.fromkeys(each.model or each.name for each in answers)),
        "prompt": PROMPT,
        "seed": options.seed,
        "set": name,
    }
    lacks = {"failed": sum(each.failed for each in answers), "unusable": sum(each.unusable for each in answers)}
    return {**question, **recorded_in(files), **{name: count for name, count in lacks.items() if count}, **options.limited}


def recorded_in(files: Sequence[AnswerFile]) -> dict[str, list[str]]:
    """What a question says of files of answers; nothing where there are none."""
    answers = [file.answers for file in files]
    found = {
        "recorded": [each.name for each in answers],
        "recorded_sha256": [file.sha256 for file in files],
        "models": [each.model for each in answers],
        "sources": [each.source for each in answers],
        "licences": [each.licence for each in answers],
    }
    return found if files else {}


def sources_of(question: AskedQuestion) -> tuple[Source, ...]:
    """The sources of the answers of a run, each once, that of the first file first. Raises RunError where run.toml does not say."""
    return tuple(dict.fromkeys(Source(*told) for told in zip(*question.lists(SOURCES), strict=True)))
