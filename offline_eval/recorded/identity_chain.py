"""Round trips of GPT-3.5 on HumanEval: github.com/marcusm117/IdentityChain, data/experiments/IDChain_*.jsonl.gz.

Min et al. 2023 (arXiv 2310.14053). A program is written from a description, described, and written again from the new description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .answers import Fact, Recorded, RecordedAnswer, Step
from .records import by_key, licence_of, records, source_of, wanted

KEYS = frozenset(("task_id", "PL_0", "PL_0_results", "NL_1", "PL_1", "PL_1_results"))


def read(path: Path) -> Recorded:
    """Of each problem the steps `draw`, `describe` and `rebuild`. The model is the one that the file's name tells. Raises RecordedError."""
    told = re.match(r"IDChain_(.+?)_tmp", path.name)
    model = told[1] if told else ""
    answers = by_key(path, _answers(path))
    return Recorded(f"identitychain-{model}" if model else "identitychain", model, source_of(path), licence_of(path), answers)


def _answers(path: Path) -> Iterator[tuple[int, RecordedAnswer]]:
    for number, record in records(path):
        item = wanted(path, number, record, "task_id", str)
        first = wanted(path, number, record, "PL_0_results", list)
        second = wanted(path, number, record, "PL_1_results", list)
        yield number, _program(item, "draw", wanted(path, number, record, "PL_0", str), first)
        yield number, RecordedAnswer(item, "describe", 0, wanted(path, number, record, "NL_1", str))
        # that both gave the same for every input, wrong values included
        yield number, _program(item, "rebuild", wanted(path, number, record, "PL_1", str), second, same_outcomes=first == second)


def _program(item: str, step: Step, text: str, results: list[Any], **facts: Fact) -> RecordedAnswer:
    passed = results.count("Passed")
    labels = {"tests_pass": passed == len(results) if results else None}
    return RecordedAnswer(item, step, 0, text, labels=labels, facts={"passed": passed, "tests": len(results), **facts})  # type: ignore[arg-type]
