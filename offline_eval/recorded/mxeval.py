"""One completion of a model to each task of mxeval: github.com/amazon-science/mxeval, data/*/examples/*_samples.jsonl.

Athiwaratkun et al. 2022 (arXiv 2210.14868). Nothing tells the model. A text continues the task's prompt, and has no label.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from ...analysis.corpora.benchmarks import Language
from ..sets.programs import id_of_task
from .answers import Recorded, RecordedAnswer, RecordedError
from .records import by_key, licence_of, records, source_of, wanted

KEYS = frozenset(("task_id", "completion", "language"))


def read(path: Path) -> Recorded:
    """The completions as step `draw`, by the ids of the tasks' programs, such as mbxp-java/2. Raises RecordedError."""
    name = f"mxeval-{path.name.partition('.')[0]}"
    return Recorded(name, "", source_of(path), licence_of(path), by_key(path, _answers(path)))


def _answers(path: Path) -> Iterator[tuple[int, RecordedAnswer]]:
    for number, record in records(path):
        task, language = wanted(path, number, record, "task_id", str), wanted(path, number, record, "language", str)
        if language not in get_args(Language):
            raise RecordedError(path, number, f"the language {language!r}: only {', '.join(get_args(Language))} can be tested here")
        try:
            item = id_of_task(task, language)
        except ValueError as error:
            raise RecordedError(path, number, str(error)) from None
        yield number, RecordedAnswer(item, "draw", 0, wanted(path, number, record, "completion", str))
