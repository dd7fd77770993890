"""The steps that ask a model: what it suggests at a place, what it says of a line and its rewrites, what it suggests in rewritten code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from ....calibration.measures.registry import measures_of
from ....inference.completion.sampling import GREEDY
from ...answers import Answer
from ...asked_line import OpenModel
from ...calibration.draw import EVENT, drawn_at
from ...sets.lines import Place
from ...study import Step
from ...suggested import FileWithGap
from .confirm import Line
from .rewrites import Variant, view_of
from .view import View, as_shown, shown_around


class ShownAnswer(Answer):
    """What is suggested at a place. shown: where the part of the file begins and ends that the model sees."""

    shown: list[int]


Measures = dict[str, float]


class Scored(TypedDict):
    """What a model says of a line (plain), of the same once more, last (identity), and of each variant. None where it can't tell.

    Each is what a sample of that text would have as its measures.
    """

    id: str
    plain: Measures | None
    identity: Measures | None
    variants: list[Measures | None]


class Regenerated(TypedDict):
    """What is suggested where the code around a place is rewritten. line, variant: the id of the line, and which of its variants it is.

    text, inserted, measures, stopped_by: as of an answer. equal: whether it is the line. None, all of them, where there was no room.
    """

    id: str
    line: str
    variant: int
    text: str | None
    inserted: str | None
    measures: Measures | None
    equal: bool


ANSWERS = Step("answers", "place", ShownAnswer)
SCORES = Step("scores", "line", Scored)
REGENERATED = Step("regenerated", "place", Regenerated)


@dataclass(frozen=True, slots=True)
class Variants:
    """A line with its variants, to be scored."""

    line: Line
    variants: tuple[Variant, ...]

    @property
    def id(self) -> str:
        """The line's."""
        return self.line.id


@dataclass(frozen=True, slots=True)
class RewrittenPlace:
    """A place in rewritten code. number: of the variant."""

    line: Line
    number: int
    variant: Variant

    @property
    def id(self) -> str:
        """The place's."""
        return self.line.place.id

    @property
    def view(self) -> View:
        """The rewritten file."""
        return view_of(self.line.view, self.variant["steps"])


def answer(asked: OpenModel[None], place: Place) -> dict[str, Any]:
    """What the editor would suggest at a place."""
    ((task, gap),) = place.gaps
    shown = FileWithGap(place.text, gap, task, asked.settings)
    ((one, record),) = drawn_at(shown, asked.model, 1, asked.memory_at(shown, place), {}, {})
    name = {"id": f"{place.id}:{task}", "task": task, "truth": shown.truth, "labels": {EVENT: shown.is_exact(one.inserted)}}
    return {
        **place.about,
        "shown": list(shown_around(asked.model, shown)),
        "generations": [{**name, **record}],
    }


def score(asked: OpenModel[None], item: Variants) -> dict[str, Any]:
    """What the model says of a line and of its rewrites. The same line again comes last: in between it has read other texts."""
    view = item.line.view

    def said(of: View) -> Measures | None:
        shown = as_shown(asked.model, of, asked.settings)
        given = shown and asked.given(shown, asked.memory_at(_whole(asked, of), item.line.place))
        return measures_of(given) if given else None

    plain = said(view)
    return {"plain": plain, "variants": [said(view_of(view, one["steps"])) for one in item.variants], "identity": said(view)}


def regenerate(asked: OpenModel[None], item: RewrittenPlace) -> dict[str, Any]:
    """What the editor would suggest where the code around the place is rewritten."""
    view = item.view
    found: Mapping[str, Any] = {"text": None, "inserted": None, "measures": None, "equal": False}
    if shown := as_shown(asked.model, view, asked.settings):
        (made,) = shown.draws(asked.model, 1, GREEDY, asked.memory_at(_whole(asked, view), item.line.place))
        written, inserted = made.generation, made.inserted
        found = {"text": written.text, "inserted": inserted, "measures": measures_of(written), "equal": shown.is_exact(inserted)}
    return {"line": item.line.id, "variant": item.number, **found}


def _whole(asked: OpenModel[None], view: View) -> FileWithGap:
    return FileWithGap(view.text, view.gap, "line", asked.settings)
