"""Answers to CRUXEval, what a function gives for an input: github.com/crux-eval/crux-eval.github.io, evaluation_results/*_output.json.

Gu et al. 2024 (arXiv 2401.03065). One JSON document: for each of 800 functions several answers, and for each whether it passes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .answers import Recorded, RecordedAnswer, RecordedError
from .records import UNREADABLE, by_key, licence_of, opened, source_of, wanted

KEYS = frozenset(("raw_generations", "raw_scored_generations"))
_ENDING = "_output.json"


def read(path: Path) -> Recorded:
    """The answers as step `execute`. The model is the one that the file's name tells, without its temperature. Raises RecordedError."""
    with opened(path) as file:
        try:
            document = json.load(file)
        except ValueError as error:
            raise RecordedError(path, None, f"not JSON: {error}") from None
        except UNREADABLE as error:
            raise RecordedError(path, None, f"can't be read: {error}") from None
    name = path.name.removesuffix(".gz").removesuffix(_ENDING)
    return Recorded(name, name.partition("_temp")[0], source_of(path), licence_of(path), by_key(path, _answers(path, document)))


def _answers(path: Path, document: dict[str, Any]) -> Iterator[tuple[None, RecordedAnswer]]:
    texts = wanted(path, None, document, "raw_generations", dict)
    scored = wanted(path, None, document, "raw_scored_generations", dict)
    for item, drawn in texts.items():
        passed = scored.get(item)
        if not isinstance(drawn, list) or not isinstance(passed, list) or len(drawn) != len(passed):
            raise RecordedError(path, None, f"{item} has not one label for each of its answers")
        for index, (text, passes) in enumerate(zip(drawn, passed, strict=True)):
            if not isinstance(text, str) or not isinstance(passes, bool):
                raise RecordedError(path, None, f"answer {index} to {item} is no text with true or false")
            yield None, RecordedAnswer(item, "execute", index, text, labels={"tests_pass": passes})
