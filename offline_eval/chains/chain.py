"""A chain of model steps: code is described, code is written from each description or from none, and each distinct text is judged.

What is asked, and what an answer means, is the business of a study's items and of its plan; what becomes of it is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypedDict, TypeVar

from ...inference.asking.asker import Asker, Message, Said, last_block
from ...inference.model import StopReason
from ..pool.interface import Start
from ..run import Run, Step
from ..study import Making, StudyOptions, all_of


class Description(TypedDict):
    """arm: which question it answers. text: None where none could be read. said: the whole answer."""

    arm: str
    text: str | None
    said: str
    stopped_by: str


class Described(TypedDict):
    """The descriptions of an item."""

    id: str
    descriptions: list[Description]


class Answer(TypedDict):
    """arm: what the model saw of the code. of: by which description of that arm, from 0. text: the code; None where none could be read."""

    arm: str
    of: int
    text: str | None
    said: str
    stopped_by: str


class Answers(TypedDict):
    """The code that was written for an item."""

    id: str
    answers: list[Answer]


DESCRIPTIONS = Step("descriptions", "item", Described)
ANSWERS = Step("answers", "written item", Answers)


class Item(Protocol):
    """What goes through a chain."""

    @property
    def id(self) -> str:
        """Its name."""
        ...

    @property
    def group(self) -> str:
        """What alone is independent of others: its project, or its problem."""
        ...

    def code_in(self, answer: str) -> str | None:
        """The code that an answer holds; None where none can be read."""
        ...

    def is_recited_by(self, arm: str, description: str) -> bool:
        """Whether a description of an arm is the code over again."""
        ...

    def label_id(self, arm: str, text: str) -> str | None:
        """The id of the label of a text, equal for texts that are judged alike; None where it needs none."""
        ...

    def scores(self, text: str | None, label: Mapping[str, Any]) -> Mapping[str, float]:
        """What a text is worth, by name, from 0 to 1; nothing where its label does not tell. text: None where none could be read."""
        ...


AnyItem = TypeVar("AnyItem", bound=Item)
Texts = Mapping[str, Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a chain. arm, of: as of an `Answer`. n: how many answers are drawn."""

    arm: str
    messages: tuple[Message, ...]
    stop: str
    max_tokens: int
    n: int = 1
    temperature: float = 0.0
    seed: int = 0
    of: int = 0

    def asked(self, asker: Asker) -> Sequence[Said]:
        """The answers. Raises as `Asker.say`."""
        return asker.say(
            self.messages, n=self.n, temperature=self.temperature, max_tokens=self.max_tokens, stop=(self.stop,), seed=self.seed
        )


class Plan(Protocol):
    """What is asked about an item, and how often."""

    @property
    def max_description(self) -> int | None:
        """A description is one line of at most so many characters; None: as the model wrote it."""
        ...

    def to_describe(self, item: Any) -> Iterator[Question]:
        """The questions for descriptions."""
        ...

    def to_write(self, item: Any, texts: Texts) -> Iterator[Question]:
        """The questions for code. texts: the descriptions by arm, None for one that could not be read."""
        ...


def description_in(answer: str, *, cut_off: bool, most: int | None = None) -> str | None:
    """The description in an answer; None where there is none. cut_off: the answer ended at its limit, and what is there is enough.

    most: as of `Plan.max_description`.
    """
    words = last_block(f"{answer}[/DESCRIPTION]" if cut_off else answer, "DESCRIPTION") or ""
    return (words if most is None else " ".join(words.split())[:most].rstrip()) or None


def describe(plan: Plan, asker: Asker, item: Item) -> dict[str, Any]:
    """The record of the step. Raises as `Asker.say`."""
    found = list[Description]()
    for question in plan.to_describe(item):
        for said in question.asked(asker):
            text = description_in(said.text, cut_off=said.stopped_by is StopReason.TOKENS, most=plan.max_description)
            found.append(Description(arm=question.arm, text=text, said=said.text, stopped_by=said.stopped_by))
    return {"id": item.id, "descriptions": found}


def write(plan: Plan, described: Mapping[str, Sequence[Description]], asker: Asker, item: Item) -> dict[str, Any]:
    """The record of the step. described: by item. Raises as `Asker.say`."""
    found = list[Answer]()
    for question in plan.to_write(item, texts_by_arm(described.get(item.id, ()))):
        for said in question.asked(asker):
            text = item.code_in(said.text)
            found.append(Answer(arm=question.arm, of=question.of, text=text, said=said.text, stopped_by=said.stopped_by))
    return {"id": item.id, "answers": found}


def ask_all(plan: Plan, item: Item, asker: Asker) -> None:
    """Ask all that is asked about an item, for its time. Raises as `Asker.say`."""
    described = describe(plan, asker, item)
    write(plan, {item.id: described["descriptions"]}, asker, item)


def texts_by_arm(descriptions: Sequence[Description]) -> dict[str, list[str | None]]:
    """The descriptions of an item by arm, in their order."""
    found: dict[str, list[str | None]] = {}
    for each in descriptions:
        found.setdefault(each["arm"], []).append(each["text"])
    return found


# What a worker gets to label a text, from the id of the label, the item, the arm and the text.
Unit = Callable[[str, Any, str, str], Any]


def to_label(items: Sequence[Item], answers: Sequence[Answers], unit: Unit) -> Iterator[Any]:
    """Each distinct text that needs a label."""
    by_id, known = {item.id: item for item in items}, set[str]()
    for record in answers:
        item = by_id[record["id"]]
        for one in record["answers"]:
            name = None if one["text"] is None else item.label_id(one["arm"], one["text"])
            if one["text"] is not None and name is not None and name not in known:
                known.add(name)
                yield unit(name, item, one["arm"], one["text"])


@dataclass(frozen=True, slots=True)
class Judge:
    """How texts are labelled. step: with their records. start: makes the worker's function. max_item_s: as the pool's."""

    step: Step
    unit: Unit
    start: Start[Any, Any]
    max_item_s: float | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """The work of a run.

    asking: makes a worker's function of one that asks in a step. kept: the items that are asked about, known once the steps before are
    done; None: all. describes: whether an item is described before code is written.
    """

    items: Sequence[Any]
    plan: Plan
    asking: Callable[[Step, Callable[[Asker, Any], dict[str, Any]]], Start[Any, Any]]
    judge: Judge
    kept: Callable[[], Sequence[Any]] | None = None
    describes: bool = True

    def works(self, options: StudyOptions, run: Run, writing: str) -> dict[str, Making]:
        """The steps by name. writing: what the step is called that writes code."""

        def asked(step: Step, items: Sequence[Any], ask: Callable[[Asker, Any], dict[str, Any]]) -> Any:
            return all_of(step, items, self.asking(step, ask), options.pool, waits=options.waits)

        def kept() -> Sequence[Any]:
            return self.kept() if self.kept else self.items

        def written() -> Any:
            described = run.by_id(DESCRIPTIONS, "descriptions")
            items = [item for item in kept() if item.id in described or not self.describes]
            return asked(ANSWERS, items, partial(write, self.plan, described))

        def labelled() -> Any:
            units = to_label(self.items, run.records(ANSWERS).read(), self.judge.unit)
            return all_of(self.judge.step, units, self.judge.start, options.pool, max_item_s=self.judge.max_item_s)

        described = {"describe": lambda: asked(DESCRIPTIONS, kept(), partial(describe, self.plan))} if self.describes else {}
        return {**described, writing: written, "labels": labelled}
