"""A run's question, and what it lacks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from ...evaluator import Evaluator
from ...progress import counted
from ...run import SCHEMA, Run
from ...study import Step
from .asked import Asked
from .asking import prompts_fingerprint


def question_of(study: str, asked: Asked, evaluator: Evaluator, name: str, lines: Sequence[bytes]) -> dict[str, Any]:
    """A run's question. name: of the set. lines: of items.jsonl."""
    question: dict[str, Any] = {
        "schema": SCHEMA,
        "study": study,
        "model": evaluator.id,
        "model_name": evaluator.name,
        "prompt": "recorded" if evaluator.files else prompts_fingerprint(),
        "seed": asked.seed,
        "set": name,
        "items": hashlib.sha256(b"".join(lines)).hexdigest(),
        "form": evaluator.form,
    }
    if not evaluator.files:
        question |= {"votes": asked.votes, "repairs": asked.repairs}
    return question | ({"limit": asked.limit} if asked.limit else {}) | ({"reasoning": asked.reasoning} if asked.reasoning else {})


def lost_in(run: Run, steps: Sequence[Step]) -> list[str]:
    """What has no record, for people."""
    lost = ((step, len(run.lost(step))) for step in steps)
    return [f"{counted(n, step.unit)} without an answer: the server or the machine failed." for step, n in lost if n]


def without_p(run: Run, step: Step) -> list[str]:
    """For how many judged programs p(Correct) is not known, for people. step: that of judging without reasoning."""
    records = run.records(step).read()
    missing = sum("top" not in record for record in records)
    if not missing or "recorded" in run.question():
        return []
    why = "the model tells no log-probabilities, or its answer has no word between the tags"
    return [f"p(Correct) of {missing:,} of {counted(len(records), step.unit)}: {why}."]
