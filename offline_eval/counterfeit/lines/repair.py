"""The step repair: the model is shown its counterfeits and asked for the right line. Only one that was trained to mend lines can be."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from ....analysis.python.lines import Gap
from ....inference.model import Model
from ....inference.opening import ModelChoice
from ....suggestion.repair.sources.fix_task import mended_lines
from ...model import StudyModel, begin_anew
from ...run import Run
from ...servers import OnServers
from ...sets.lines import Place
from ...sets.suites import Items, Judged
from ...sets.suites import Label as Verdict
from ...study import Step
from ...suggested import FileWithGap
from ..classes import class_of
from .draw import DRAWS, EVENT, code_of, gap_id, seed_of, text_id
from .label import LABELS, judged_text, outcomes_of

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
    places = {place.id: place for place in items.places}
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
    """Makes the worker's function; travels to the worker."""

    model: StudyModel
    temperature: float
    seed: int

    def __call__(self) -> Callable[[Counterfeits], dict[str, Any]]:
        """The function, with the model open. Raises Changed, and what `ModelChoice.open` raises."""
        return OnServers(self.model.choice, self.at)()

    def at(self, choice: ModelChoice) -> Mender:
        """The function, with the model of a choice. Raises as above."""
        return Mender(self, replace(self.model, choice=choice).open_in_worker())


@dataclass(frozen=True, slots=True)
class Mender:
    """Repairs counterfeits; holds a model."""

    asked: Mending
    model: Model

    def __call__(self, found: Counterfeits) -> dict[str, Any]:
        """The repairs at one place. Raises what `Model.generate` raises."""
        begun = time.perf_counter()
        begin_anew(self.model)
        repairs = [self._repair(found.place, task, text) for task, text in found.texts]
        return {"id": found.id, "repairs": repairs, "timings": {"model_ms": (time.perf_counter() - begun) * 1e3}}

    def close(self) -> None:
        """Put the model away."""
        self.model.close()

    def _repair(self, place: Place, task: str, text: str) -> Repair:
        gap, settings = dict[str, Gap](place.gaps)[task], self.asked.model.settings
        code = code_of(place, gap)
        shown = FileWithGap(place.text, code, "line", settings)
        lines = mended_lines(
            self.model,
            shown.cursor,
            place.text[code.start : gap.start] + text,
            settings,
            draws=DRAWS_EACH,
            temperature=self.asked.temperature,
            seed=seed_of(self.asked.seed, f"{place.id}:{task}:{text}"),
        )
        return {"task": task, "text": text, "lines": [None if line is None else _repaired(place, shown, line) for line in lines]}


def _repaired(place: Place, shown: FileWithGap, line: str) -> RepairedLine:
    return {"line": line, "text_id": text_id(place.id, shown.accepted(line)), "exact": shown.is_exact(line)}


def repaired_texts(run: Run, items: Items) -> Iterator[Judged]:
    """Each distinct repaired text that no label tells of yet, unless it is what stood there."""
    places = {place.id: place for place in items.places}
    known = {label["id"] for label in run.records(LABELS).read()}
    for record in run.records(REPAIRS).read():
        place = places[record["id"]]
        gaps = dict[str, Gap](place.gaps)
        for repair in record["repairs"]:
            code = code_of(place, gaps[repair["task"]])
            for line in repair["lines"]:
                if line is not None and not line["exact"] and line["text_id"] not in known:
                    known.add(line["text_id"])
                    yield judged_text(line["text_id"], items, place, place.text[: code.start] + line["line"] + place.text[code.end :])


def passing(repair: Repair, passes: Mapping[str, bool | None]) -> float | None:
    """The share of a counterfeit's repairs that pass; what would not be shown fails. None where one of them has no label.

    passes: what the tests said, by `text_id`.
    """
    said = [True if line["exact"] else passes.get(line["text_id"]) for line in repair["lines"] if line is not None]
    return None if None in said else sum(map(bool, said)) / len(repair["lines"])
