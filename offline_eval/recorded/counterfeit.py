"""Programs of Code Llama 34B for HumanEval, half of them counterfeits: github.com/counterfeit-code/counterfeit-code.github.io, test.jsonl.

Gu et al. 2024 (arXiv 2402.19475). 85 problems with 10 programs each. A text is a whole program, docstring included.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .answers import Recorded, RecordedAnswer, RecordedError
from .records import by_key, licence_of, records, source_of, wanted

KEYS = frozenset(("solution", "task_id", "sample_id", "verdict", "pass_rate_base", "pass_rate_plus", "problem_pass_rate"))
_FACTS = ("pass_rate_base", "pass_rate_plus", "problem_pass_rate")


def read(path: Path) -> Recorded:
    """The programs as step `draw`, their index the number of the sample. Raises RecordedError."""
    return Recorded("counterfeit-cl34b-humaneval", "CodeLlama-34B", source_of(path), licence_of(path), by_key(path, _answers(path)))


def _answers(path: Path) -> Iterator[tuple[int, RecordedAnswer]]:
    for number, record in records(path):
        item = wanted(path, number, record, "task_id", str)
        sample = wanted(path, number, record, "sample_id", str)
        of, _, index = sample.rpartition("_")
        if of != item or not index.isdecimal():
            raise RecordedError(path, number, f"sample_id is {sample!r}, which is no number of a sample of {item}")
        facts = {name: wanted(path, number, record, name, (int, float)) for name in _FACTS}
        labels = {"tests_pass": wanted(path, number, record, "verdict", bool)}
        text = wanted(path, number, record, "solution", str)
        yield number, RecordedAnswer(item, "draw", int(index), text, labels=labels, facts=facts)  # type: ignore[arg-type]
