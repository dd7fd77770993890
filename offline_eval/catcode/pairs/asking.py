"""The step "answers": whether two programs are the same function, asked in both orders, several answers to each question."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ....inference.asking.asker import Asker
from ...asked_model import AskedModel, Asking, prompt_beside
from ...counterfeit.problems.asking import Answered, Manner, Question, from_files, record_of
from ...errors import UsageError
from ...evaluator import Evaluator
from ...study import Step, Work
from .asked import Asked
from .pair import GLOBAL, CodePair, Kind

PROMPTS = ("local", "global")
prompt = partial(prompt_beside, __file__)
# The paper's programming interface had a temperature of 0 for local pairs; several answers need one above.
T_ANSWER = 0.2
MAX_TOKENS = 32

ANSWERS = Step("answers", "question", Answered)


@dataclass(frozen=True, slots=True)
class PairQuestion(Question):
    """A question about a pair in one order. prompt: its name."""

    prompt: str


def prompt_of(kind: Kind) -> str:
    """The name of the prompt for a kind of pair: the paper asks about global pairs in other words."""
    return "global" if kind in GLOBAL else "local"


def questions_of(pairs: Sequence[CodePair]) -> list[PairQuestion]:
    """The questions about pairs, the two orders of one behind each other."""
    return [
        PairQuestion(f"{pair.id}:{order}", {"first": first.strip("\n"), "second": second.strip("\n")}, prompt_of(pair.kind))
        for pair in pairs
        for order in pair.orders
        for first, second in [pair.programs(order)]
    ]


def manner(votes: int, name: str = "local") -> Manner:
    """How a question is asked. name: of its prompt."""
    return Manner(name, votes, T_ANSWER, MAX_TOKENS, ("[/ANSWER]",), top=True)


def answered(votes: int, seed: int, asker: Asker, question: PairQuestion) -> dict[str, Any]:
    """The record of a question. Raises what `Asker.say` raises."""
    return record_of(question.id, prompt(question.prompt).render(**question.slots), manner(votes, question.prompt), seed, asker)


def asking(asked: Asked, evaluator: Evaluator, questions: Sequence[PairQuestion]) -> Work[Any]:
    """The work of asking, or of looking answers up. Raises UsageError where none of these was recorded."""
    if evaluator.files:
        there = [each for each in questions if any(file.answers.of(each.id, "pair") for file in evaluator.files)]
        if questions and not there:
            files = ", ".join(str(file.path) for file in evaluator.files)
            raise UsageError(f"{files}: no answer to any of these pairs (step pair; an item is named as {questions[0].id})")
        return Work(ANSWERS, there, partial(from_files, asked.recorded, "pair"), asked.pool, wanted=len(there))
    model = AskedModel(asked.choice, evaluator.id, evaluator.name, evaluator.form)
    start = Asking(model, partial(answered, asked.votes, asked.seed))
    return Work(ANSWERS, questions, start, asked.pool, wanted=len(questions), waits=bool(asked.choice.servers))


def prompts_fingerprint() -> str:
    """Of all prompts: one that changes makes another question."""
    return hashlib.sha256("".join(prompt(name).fingerprint for name in PROMPTS).encode()).hexdigest()[:16]
