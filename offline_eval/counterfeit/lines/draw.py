"""The step draw: the suggestion that the editor shows at a gap, and texts that the model draws there at a temperature."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ....analysis.python.lines import Gap
from ....calibration.samples import Event
from ....inference.completion.sampling import Sampling
from ....inference.completion.task import Task
from ...answers import AnsweredItem, Generated
from ...asked_line import OpenModel
from ...sets.lines import Place
from ...study import Step
from ...suggested import FileWithGap, Suggested

TASKS: tuple[Task, ...] = ("line", "line_rest")
EVENT: Event = "exact_match"


class DrawnText(Generated):
    """A generation. head: what stands before it of its line's code. text_id: of the file with it, None where it would not be shown."""

    head: str
    text_id: str | None


class Draws(AnsweredItem):
    """What was drawn at a place."""

    generations: list[DrawnText]


def _has_gap(answer: Any) -> bool:
    return bool(answer["generations"])


DRAWS = Step("draws", "place", Draws, _has_gap)


def stream_of(temperature: float) -> str:
    """What the texts of a temperature are called: "t0.6"."""
    return f"t{temperature:g}"


def gap_id(place: str, task: str) -> str:
    """The id of a gap, which is that of the suggestion shown there."""
    return f"{place}:{task}"


def text_id(place: str, text: str) -> str:
    """The id of a file with a text in a place: the same for each task, draw and repair that makes it so."""
    return f"{place}:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:16]}"


def seed_of(seed: int, gap: str) -> int:
    """The seed of the first text drawn at a gap, so that no two gaps have the same draws."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{gap}".encode()).digest()[:4])


@dataclass(frozen=True, slots=True)
class Drawing:
    """How texts are drawn at each gap. draws: how many."""

    draws: int
    temperature: float
    seed: int


def draw(asked: OpenModel[Drawing], place: Place) -> dict[str, Any]:
    """The answer of one place. Raises what `Model.generate` raises."""
    return {**place.about, "generations": [one for task, gap in place.gaps for one in _at(asked, place, task, gap)]}


def _at(asked: OpenModel[Drawing], place: Place, task: Task, gap: Gap) -> Iterator[dict[str, Any]]:
    shown, name, how = FileWithGap(place.text, gap, task, asked.settings), gap_id(place.id, task), asked.wanted
    memory = asked.memory_at(shown, place)
    (first,) = shown.suggestions(asked.model, 1, memory)
    yield _record(name, place, shown, first)
    stream, sampling = stream_of(how.temperature), Sampling(how.temperature, seed=seed_of(how.seed, name))
    for number, one in enumerate(shown.draws(asked.model, how.draws, sampling, memory), 1):
        yield _record(f"{name}:{stream}:{number}", place, shown, one) | {"stream": stream}


def code_of(place: Place, gap: Gap) -> Gap:
    """Where the code of the line of a gap is, from its first character to its last."""
    start = place.text.rfind("\n", 0, gap.start) + 1
    line = place.text[start : gap.end]
    return Gap(gap.end - len(line.lstrip()), gap.end)


def _record(name: str, place: Place, shown: FileWithGap, one: Suggested) -> dict[str, Any]:
    exact = shown.is_exact(one.inserted)
    return {
        "id": name,
        "task": shown.task,
        "truth": shown.truth,
        "head": place.text[code_of(place, shown.gap).start : shown.gap.start],
        "text_id": None if one.inserted is None else text_id(place.id, shown.accepted(one.inserted)),
        "labels": {EVENT: exact, "tests_pass": True if exact else None},
        **one.record,
    }
