"""The step repair: the model is shown its counterfeits and asked for the right line. Only one that was trained to mend lines can be."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from ....suggestion.repair.sources.fix_task import mended_lines
from ...asked_line import OpenModel
from ...run import Run
from ...sets.lines import Place
from ...sets.suites import Items, Judged
from ...sets.suites import Label as Verdict
from ...study import Step
from ...suggested import FileWithGap
from ..classes import class_of
from .draw import DRAWS, EVENT, code_of, gap_id, seed_of, text_id
from .label import LABELS, outcomes_of

# Of each gap so many counterfeits are repaired, as in the paper; each once greedily and so many times at the temperature.
MAX_REPAIRED = 5
DRAWS_EACH = 5


class RepairedLine(TypedDict):
    """A line's code in the place of a counterfeit. text_id: of the file with it. exact: whether it is what stood there."""

    line: str
    text_id: str
    exact: bool


class Repair(TypedDict):
    """What a model wrote in the place of a counterfeit text of a task; None where the editor would show nothing."""

    task: str
    text: str
    lines: list[RepairedLine | None]


class Repairs(TypedDict):
    """The repairs at one place."""

    id: str
    repairs: list[Repair]


REPAIRS = Step("repairs", "place", Repairs)
REPAIR_LABELS = Step("repair_labels", "repaired text", Verdict)


@dataclass(frozen=True, slots=True)
class Counterfeits:
    """A place with counterfeits to repair: task and text of each."""

    place: Place
    texts: tuple[tuple[str, str], ...]

    @property
    def id(self) -> str:
        """The place's."""
        return self.place.id


def counterfeits(run: Run, items: Items, seed: int) -> Iterator[Counterfeits]:
    """The places with counterfeits, and of each gap at most `MAX_REPAIRED`, drawn by the seed."""
    places = items.by_id
    labels = {label["id"]: label for label in run.records(LABELS).read()}
    for answer in run.records(DRAWS).read():
        place, found = places[answer["id"]], dict[str, dict[str, None]]()
        for one in answer["generations"]:
            wrong = one["text_id"] is not None and not one["labels"][EVENT]
            if wrong and class_of(outcomes_of(labels.get(one["text_id"]))) == "counterfeit":
                found.setdefault(one["task"], {})[one["inserted"]] = None
        chosen = tuple((task, text) for task, texts in found.items() for text in _chosen(list(texts), f"{seed}:{gap_id(place.id, task)}"))
        if chosen:
            yield Counterfeits(place, chosen)


def _chosen(texts: list[str], seed: str) -> list[str]:
    if len(texts) <= MAX_REPAIRED:
        return texts
    return [texts[index] for index in sorted(random.Random(f"{seed}:repair").sample(range(len(texts)), MAX_REPAIRED))]


@dataclass(frozen=True, slots=True)
class Mending:
    """How repairs are drawn."""

    temperature: float
    seed: int


def mend(asked: OpenModel[Mending], found: Counterfeits) -> dict[str, Any]:
    """The repairs at one place. Raises what `Model.generate` raises."""
    return {"repairs": [_repair(asked, found.place, task, text) for task, text in found.texts]}


def _repair(asked: OpenModel[Mending], place: Place, task: str, text: str) -> Repair:
    gap = place.gap(task)
    code = code_of(place, gap)
    shown = FileWithGap(place.text, code, "line", asked.settings)
    lines = mended_lines(
        asked.model,
        shown.cursor,
        place.text[code.start : gap.start] + text,
        asked.settings,
        draws=DRAWS_EACH,
        temperature=asked.wanted.temperature,
        seed=seed_of(asked.wanted.seed, f"{place.id}:{task}:{text}"),
    )
    return {"task": task, "text": text, "lines": [None if line is None else _repaired(place, shown, line) for line in lines]}


def _repaired(place: Place, shown: FileWithGap, line: str) -> RepairedLine:
    return {"line": line, "text_id": text_id(place.id, shown.accepted(line)), "exact": shown.is_exact(line)}


def repaired_texts(run: Run, items: Items) -> Iterator[Judged]:
    """Each distinct repaired text that no label tells of yet, unless it is what stood there."""
    places = items.by_id
    known = {label["id"] for label in run.records(LABELS).read()}
    for record in run.records(REPAIRS).read():
        place = places[record["id"]]
        for repair in record["repairs"]:
            code = code_of(place, place.gap(repair["task"]))
            for line in repair["lines"]:
                if line is not None and not line["exact"] and line["text_id"] not in known:
                    known.add(line["text_id"])
                    yield items.judged(line["text_id"], place, place.with_text(code, line["line"]))


def passing(repair: Repair, passes: Mapping[str, bool | None]) -> float | None:
    """The share of a counterfeit's repairs that pass; what would not be shown fails. None where one of them has no label.

    passes: what the tests said, by `text_id`.
    """
    said = [True if line["exact"] else passes.get(line["text_id"]) for line in repair["lines"] if line is not None]
    return None if None in said else sum(map(bool, said)) / len(repair["lines"])
