"""The steps that ask a model: one question an item, several answers to it. Recorded answers take the place of a model's."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from ....inference.asking.asker import Asker, Form
from ....inference.asking.prompts import PromptFile, load_prompt
from ....inference.asking.reading import alternatives_behind
from ....inference.opening import ModelChoice, open_asker
from ...model import Changed
from ...recorded.answers import Step as RecordedStep
from ...recorded.formats import recorded
from ...servers import OnServers

PROMPTS = ("draw", "judge", "judge_reasoning", "execute", "repair")
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


@dataclass(frozen=True, slots=True)
class Asking:
    """Makes a worker's function that asks; travels to the worker. model: the id of the model that the run began with."""

    choice: ModelChoice
    form: Form
    model: str
    manner: Manner
    seed: int

    def __call__(self) -> Callable[[Question], dict[str, Any]]:
        """The function, with the model open. Raises Changed, and what `open_asker` raises."""
        return OnServers(self.choice, self.at)()

    def at(self, choice: ModelChoice) -> Questioner:
        """The function, with the model of a choice."""
        asker = open_asker(choice if choice.servers else choice.on_one_thread(), self.form)
        if asker.fingerprint.id != self.model:
            asker.close()
            raise Changed(
                f"{choice.where or 'the embedded model'} is the model {asker.fingerprint.id}, and was {self.model} when the run began: "
                "have the same one in its place"
            )
        return Questioner(replace(self, choice=choice), asker)


@dataclass(frozen=True, slots=True)
class Questioner:
    """Asks; holds a model."""

    asked: Asking
    asker: Asker

    def __call__(self, question: Question) -> dict[str, Any]:
        """The answers. Raises what `Asker.say` raises."""
        how = self.asked.manner
        messages = prompt(how.prompt).render(**question.slots)
        record: dict[str, Any] = {"id": question.id}
        if how.top:
            (first,) = self.asker.say(messages, max_tokens=how.max_tokens, stop=how.stop, top_logprobs=_TOP)
            if top := alternatives_behind(first, how.stop[0].replace("/", "")):
                record["top"] = [(each.text, each.logprob) for each in top]
        said = self.asker.say(
            messages, n=how.n, temperature=how.temperature, max_tokens=how.max_tokens, stop=how.stop, seed=self.asked.seed
        )
        record["given"] = [
            {"text": each.text, "stopped_by": each.stopped_by, "logprob": None if each.logprobs is None else sum(each.logprobs)}
            for each in said
        ]
        return record

    def close(self) -> None:
        """Put the model away."""
        self.asker.close()


def from_files(paths: Sequence[Path], step: RecordedStep) -> Callable[[Question], dict[str, Any]]:
    """A worker's function that gives what was recorded."""
    found = [recorded(path) for path in paths]

    def record(question: Question) -> dict[str, Any]:
        answers = next(answers for each in found if (answers := each.of(question.id, step)))
        given = [
            {"text": each.text, "stopped_by": each.stopped_by, "logprob": None if each.logprobs is None else sum(each.logprobs)}
            for each in answers
        ]
        return {"id": question.id, "given": given}

    return record


@cache
def prompt(name: str) -> PromptFile:
    """A prompt of this study."""
    with ExitStack() as stack:
        return load_prompt(stack.enter_context(as_file(files(__package__) / "prompts" / f"{name}.txt")))


def prompts_fingerprint() -> str:
    """Of all prompts: one that changes makes another question."""
    return hashlib.sha256("".join(prompt(name).fingerprint for name in PROMPTS).encode()).hexdigest()[:16]
