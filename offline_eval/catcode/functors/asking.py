"""The steps that need a model: describe programs, and write them, from a program of another language or from a description."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from ....inference.asking.asker import Asker, Message
from ....inference.model import StopReason
from ...asked_model import AskedModel
from ...recorded.answers import RecordedAnswer
from ...recorded.answers import Step as RecordedStep
from ...recorded.formats import recorded
from ...run import SCHEMA
from ...study import Step
from .items import NO_WORDS, PROMPTS, Arm, Item, Kind, Told, code_of, description_of, prompt, recorded_code, told_of
from .worked_example import EXAMPLES, UNNAMED

# One answer is greedy, as the paper's code is where it says how it asks: so that the run can be made again. Several are drawn.
DRAWN_AT = 0.2
# As the paper cuts a description. Its answers are cut there, too, which ends long programs of Java.
DESCRIBE_TOKENS, CODE_TOKENS = 500, 1024
STEP_OF: Mapping[Kind, RecordedStep] = {"translate": "translate", "explain": "rebuild", "complete": "draw"}


class Description(TypedDict):
    """told: which question it answers. text: None where none could be read. said: the whole answer."""

    told: Told
    text: str | None
    said: str
    stopped_by: str


class Described(TypedDict):
    """The descriptions of an item."""

    id: str
    descriptions: list[Description]


class Answer(TypedDict):
    """arm: how it was asked for. of: which description of that arm, from 0. text: the code; None where none could be read."""

    arm: Arm
    of: int
    text: str | None
    said: str
    stopped_by: str


class Answers(TypedDict):
    """The code that was written for an item."""

    id: str
    answers: list[Answer]


DESCRIPTIONS = Step("descriptions", "described program", Described)
ANSWERS = Step("answers", "program", Answers)


def question_of(model: AskedModel, study: str, draws: int) -> dict[str, Any]:
    """The first part of a run's question."""
    examples = [text for example in EXAMPLES.values() for text in (example.prompt, example.code, example.named)]
    numbers = map(str, (DRAWN_AT, DESCRIBE_TOKENS, CODE_TOKENS))
    told = [model.form, *numbers, NO_WORDS, UNNAMED, *examples, *(prompt(name).fingerprint for name in PROMPTS)]
    asked = {"prompt": hashlib.sha256("\0".join(told).encode()).hexdigest()[:16], "form": model.form, "draws": draws}
    return {"schema": SCHEMA, "study": study, "model": model.id, "model_name": model.name, **asked}


@dataclass(frozen=True, slots=True)
class Asks:
    """How a model is asked. draws: answers to each question; one is greedy."""

    draws: int = 1
    seed: int = 0

    @property
    def temperature(self) -> float:
        """Of all answers."""
        return 0.0 if self.draws == 1 else DRAWN_AT

    def describe(self, asker: Asker, item: Item) -> dict[str, Any]:
        """The record of the step. Raises as `Asker.say`."""
        found = list[Description]()
        for told in told_of(item.kind):
            for said in asker.say(
                item.to_describe(told),
                n=self.draws,
                temperature=self.temperature,
                max_tokens=DESCRIBE_TOKENS,
                stop=("[/DESCRIPTION]",),
                seed=self.seed,
            ):
                text = description_of(said.text, cut_off=said.stopped_by is StopReason.TOKENS)
                found.append(Description(told=told, text=text, said=said.text, stopped_by=said.stopped_by))
        return {"id": item.id, "descriptions": found}

    def write(self, described: Mapping[str, Sequence[Description]], asker: Asker, item: Item) -> dict[str, Any]:
        """The record of the step. described: by item. Raises as `Asker.say`."""
        return {"id": item.id, "answers": list(self._written(asker, item, described.get(item.id, ())))}

    def _written(self, asker: Asker, item: Item, described: Sequence[Description]) -> Iterator[Answer]:
        for arm, of, messages, n in self._questions(item, described):
            for number, said in enumerate(
                asker.say(messages, n=n, temperature=self.temperature, max_tokens=CODE_TOKENS, stop=("[/CODE]",), seed=self.seed + of)
            ):
                yield Answer(arm=arm, of=of + number, text=code_of(said.text), said=said.text, stopped_by=said.stopped_by)

    def _questions(self, item: Item, described: Sequence[Description]) -> Iterator[tuple[Arm, int, tuple[Message, ...], int]]:
        """Each question for code, of which description, and how often it is asked."""
        if item.kind == "translate":
            yield "translation", 0, item.to_translate(), self.draws
            return
        for told in told_of(item.kind):
            texts = [each["text"] for each in described if each["told"] == told]
            yield from ((told, of, item.to_rebuild(told, text), 1) for of, text in enumerate(texts) if text is not None)
        yield "header", 0, item.to_rebuild("header", ""), self.draws


def described_in(paths: Sequence[Path]) -> Callable[[Item], dict[str, Any]]:
    """A worker's function that gives the descriptions that were recorded."""
    files = [recorded(path) for path in paths]

    def describe(item: Item) -> dict[str, Any]:
        found = next((answers for file in files if (answers := file.of(item.id, "describe"))), [])
        descriptions: list[Description] = [
            {"told": "named", "text": each.text.strip() or None, "said": each.text, "stopped_by": each.stopped_by} for each in found
        ]
        return {"id": item.id, "descriptions": descriptions}

    return describe


def written_in(paths: Sequence[Path]) -> Callable[[Item], dict[str, Any]]:
    """A worker's function that gives the code that was recorded."""
    files = [recorded(path) for path in paths]
    arms: Mapping[Kind, Arm] = {"translate": "translation", "explain": "named", "complete": "completion"}

    def write(item: Item) -> dict[str, Any]:
        found = next(answers for file in files if (answers := file.of(item.id, STEP_OF[item.kind])))
        return {"id": item.id, "answers": [_recorded(arms[item.kind], number, each) for number, each in enumerate(found)]}

    return write


def _recorded(arm: Arm, number: int, answer: RecordedAnswer) -> Answer:
    return Answer(arm=arm, of=number, text=recorded_code(answer.text), said=answer.text, stopped_by=answer.stopped_by)
