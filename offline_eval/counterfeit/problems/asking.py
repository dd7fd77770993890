"""The steps that ask a model: one question an item, several answers to it. Recorded answers take the place of a model's."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from ....inference.asking.asker import Asker, Message, Said
from ....inference.asking.reading import alternatives_behind
from ...asked_model import prompt_beside
from ...recorded.answers import RecordedAnswer
from ...recorded.answers import Step as RecordedStep
from ...recorded.formats import recorded

PROMPTS = ("draw", "judge", "judge_reasoning", "execute", "repair")
prompt = partial(prompt_beside, __file__)
# As many as servers tell.
_TOP = 20


class Given(TypedDict):
    """An answer as it came. logprob: of all its tokens, in nats; null where it is not told."""

    text: str
    stopped_by: str
    logprob: float | None


class Answered(TypedDict):
    """The answers to an item. top: the likeliest tokens (text, log p) at the answer's first word, where they are asked for and told."""

    id: str
    given: list[Given]
    top: NotRequired[list[tuple[str, float]]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about an item. slots: of the prompt."""

    id: str
    slots: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Manner:
    """How a step asks. prompt: its name. top: whether the first word's likeliest tokens are asked for, at temperature 0."""

    prompt: str
    n: int
    temperature: float
    max_tokens: int
    stop: tuple[str, ...]
    top: bool = False

    @property
    def answers(self) -> int:
        """To each question."""
        return self.n + self.top


def answered(how: Manner, seed: int, asker: Asker, question: Question) -> dict[str, Any]:
    """The record of a question. Raises what `Asker.say` raises."""
    return record_of(question.id, prompt(how.prompt).render(**question.slots), how, seed, asker)


def record_of(name: str, messages: Sequence[Message], how: Manner, seed: int, asker: Asker) -> dict[str, Any]:
    """The record of what is asked in these messages. name: the question's. Raises what `Asker.say` raises."""
    record: dict[str, Any] = {"id": name}
    if how.top:
        (first,) = asker.say(messages, max_tokens=how.max_tokens, stop=how.stop, top_logprobs=_TOP)
        if top := alternatives_behind(first, how.stop[0].replace("/", "")):
            record["top"] = [(each.text, each.logprob) for each in top]
    said = asker.say(messages, n=how.n, temperature=how.temperature, max_tokens=how.max_tokens, stop=how.stop, seed=seed)
    return {**record, "given": [_given(each) for each in said]}


def _given(answer: Said | RecordedAnswer) -> Given:
    return {
        "text": answer.text,
        "stopped_by": answer.stopped_by,
        "logprob": None if answer.logprobs is None else sum(answer.logprobs),
    }


def from_files(paths: Sequence[Path], step: RecordedStep) -> Callable[[Question], dict[str, Any]]:
    """A worker's function that gives what was recorded."""
    found = [recorded(path) for path in paths]

    def record(question: Question) -> dict[str, Any]:
        answers = next(answers for each in found if (answers := each.of(question.id, step)))
        return {"id": question.id, "given": [_given(each) for each in answers]}

    return record


def prompts_fingerprint() -> str:
    """Of all prompts: one that changes makes another question."""
    return hashlib.sha256("".join(prompt(name).fingerprint for name in PROMPTS).encode()).hexdigest()[:16]
