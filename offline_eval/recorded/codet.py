"""100 answers of CodeGen-16B to each problem of HumanEval, programs or tests: github.com/microsoft/CodeT, CodeT/data/generated_data/.

Chen et al. 2022 (arXiv 2207.10397). Its prompts are those of HumanEval without the examples in their docstrings, in the order of the task
numbers as texts (0, 1, 10, 100, …). A file holds either the bodies of the function (step `draw`), or texts with assertions (step `test`),
whose prompt ends in `assert `.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .answers import Recorded, RecordedAnswer, RecordedError, Step
from .records import by_key, licence_of, records, source_of, wanted

KEYS = frozenset(("prompt", "samples"))
PROBLEMS = 164


def read(path: Path) -> Recorded:
    """The answers. The model is the one that the file's name tells. Raises RecordedError."""
    told = re.match(r"HumanEval_([^_]+)_temp([\d.]+)", path.name)
    model = told[1] if told else ""
    answers = by_key(path, _answers(path))
    return Recorded(f"codet-{model}" if model else "codet", model, source_of(path), licence_of(path), answers)


def _answers(path: Path) -> Iterator[tuple[int, RecordedAnswer]]:
    tasks = sorted(range(PROBLEMS), key=str)
    row = 0
    for number, record in records(path):
        if row == PROBLEMS:
            raise RecordedError(path, number, f"more than the {PROBLEMS} problems of HumanEval")
        step: Step = "test" if wanted(path, number, record, "prompt", str).endswith("assert ") else "draw"
        for index, text in enumerate(wanted(path, number, record, "samples", list)):
            if not isinstance(text, str):
                raise RecordedError(path, number, f"sample {index} is no text")
            yield number, RecordedAnswer(f"HumanEval/{tasks[row]}", step, index, text)
        row += 1
    if row != PROBLEMS:
        raise RecordedError(path, None, f"{row} problems of HumanEval's {PROBLEMS}: which ones they are is told by their place alone")
