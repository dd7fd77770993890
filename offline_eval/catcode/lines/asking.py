"""What is done at a line: rewrites that a project's tests confirm, what a model suggests and says of them; and the facts of a run.

facts.jsonl has what became of rewrites, place by place, and all that the report counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec

from ....analysis.oracle.changes import changed_lines, with_statements
from ....analysis.oracle.oracle import Oracle
from ....analysis.python.lines import Gap
from ....calibration.measures.registry import measures_of
from ....calibration.validation.catcode_facts import LineFact, PlaceFact, RegeneratedFact, Tried, VariantFact
from ....inference.completion.settings import GREEDY
from ....inference.completion.task import Task
from ...answers import Answer
from ...asked_line import EVENT, OpenModel, drawn_at, label_id
from ...counterfeit.classes import class_of
from ...counterfeit.lines.label import label_of, outcomes_of
from ...run import Step
from ...sets.lines import FileWithGap, Place
from ...sets.suites import Judge, Judged, Suite, verdict_of
from .rewrites import ARMS, Arm, Class, Rewriting, Variant, View, as_shown, shown_around, view_of


class Rewritten(TypedDict):
    """The record of a line. variants: those that the tests confirmed. tried: what became of each rule."""

    id: str
    place: str
    variants: list[Variant]
    tried: list[dict[str, str]]


REWRITES = Step("rewrites", "line", Rewritten)


@dataclass(frozen=True, slots=True)
class Line:
    """A line at a place that passes the tests: its own, or one that a model suggested there. Or a part of one, as the place's task has it.

    text: of the line, or of the part. shown: where the part of the file begins and ends that the model sees. suite: of its project; None
    where nothing is judged.
    """

    place: Place
    text: str
    shown: tuple[int, int]
    suite: Suite | None = None

    @property
    def id(self) -> str:
        """The same as of its label."""
        return label_id(self.place.id, self.task, self.text)

    @property
    def task(self) -> Task:
        """What is asked for at the place."""
        ((task, _),) = self.place.gaps
        return task

    @property
    def around(self) -> tuple[str, str]:
        """What stands on the line before and after the text; of a whole line nothing."""
        text, gap = self.place.text, self.place.gap(self.task)
        if self.task == "line":
            return "", ""
        return text[text.rfind("\n", 0, gap.start) + 1 : gap.start].lstrip(), text[gap.end :].split("\n", 1)[0].rstrip()

    @property
    def view(self) -> View:
        """The file with the line in it."""
        (before, after), gap = self.around, self.place.gap(self.task)
        whole = Gap(gap.start - len(before), gap.end + len(after))
        return View(self.place.text, whole, *self.shown).with_line(before + self.text + after)

    def part(self, view: View) -> Gap:
        """Where the text is in a view whose line is the same, or may be another where the text is the whole line."""
        before, after = self.around
        return Gap(view.gap.start + len(before), view.gap.end - len(after))


def confirmed(seed: int, judge: Judge, line: Line) -> dict[str, Any]:
    """The record of a line. seed: of the draw of rewrites. Raises Unjudged where the machine failed, and Changed."""
    if line.suite:
        of = _OfLine(line, line.suite, judge.oracle(line.suite), seed)
        found = Rewriting(line.view, f"{seed}:{line.id}", of.judged, of.at_import)
        found.find(ARMS)
    else:
        found = Rewriting(line.view, f"{seed}:{line.id}", lambda *_: ("right", ""), lambda _: False)
        found.find(("context",))
    return {"id": line.id, "place": line.place.id, "variants": found.variants, "tried": found.tried}


@dataclass(frozen=True, slots=True)
class _OfLine:
    """What a project's tests say of rewrites of a line."""

    line: Line
    suite: Suite
    oracle: Oracle
    seed: int

    def at_import(self, view: View) -> bool:
        """Whether a rewrite changes what runs at import: then the whole suite would have to be run."""
        changed = with_statements(self.line.place.text, changed_lines(self.line.place.text, view.text))
        return not self.oracle.coverage().imported.get(self.line.place.file, frozenset()).isdisjoint(changed)

    def judged(self, arm: Arm, view: View) -> tuple[Class | None, str]:
        """The class of a rewrite, and why. Raises Unjudged."""
        if arm == "wrong":
            assert self.line.place.judged, "places of suites are judged"
            label = label_of(self.oracle, Judged("", self.suite, self.line.place.file, view.text, self.line.place.judged), self.seed)
            return class_of(outcomes_of(label)), label["why"]
        verdict = verdict_of(self.oracle, self.line.place.file, view.text)
        return None if verdict.label is None else "right" if verdict.label else "other", verdict.reason


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
    line, view = item.line, item.line.view

    def said(of: View) -> Measures | None:
        shown = as_shown(asked.model, of, line.part(of), line.task, asked.settings)
        given = shown and asked.given(shown, asked.memory_at(_whole(asked, line, of), line.place))
        return measures_of(given) if given else None

    plain = said(view)
    return {"plain": plain, "variants": [said(view_of(view, one["steps"])) for one in item.variants], "identity": said(view)}


def regenerate(asked: OpenModel[None], item: RewrittenPlace) -> dict[str, Any]:
    """What the editor would suggest where the code around the place is rewritten."""
    line, view = item.line, item.view
    found: Mapping[str, Any] = {"text": None, "inserted": None, "measures": None, "equal": False}
    if shown := as_shown(asked.model, view, line.part(view), line.task, asked.settings):
        (made,) = shown.draws(asked.model, 1, GREEDY, asked.memory_at(_whole(asked, line, view), line.place))
        written, inserted = made.generation, made.inserted
        found = {"text": written.text, "inserted": inserted, "measures": measures_of(written), "equal": shown.is_exact(inserted)}
    return {"line": line.id, "variant": item.number, **found}


def _whole(asked: OpenModel[None], line: Line, view: View) -> FileWithGap:
    return FileWithGap(view.text, line.part(view), line.task, asked.settings)


class Known(TypedDict):
    """The records of a run, by their ids, and what the tests said of texts."""

    rewrites: Mapping[str, Rewritten]
    scores: Mapping[str, Scored]
    regenerated: Mapping[str, Regenerated]
    said: Mapping[str, bool | None]


def is_exact(text: str | None, truth: str) -> bool:
    """Whether a line is the project's own, white space at its end aside."""
    return text is not None and text.rstrip() == truth.rstrip()


def lines_at(answer: Mapping[str, Any], of: Sequence[str]) -> dict[str, str]:
    """The distinct lines of a place that are looked at, by what they are: truth, suggestion. A suggestion may be the truth."""
    (one,) = answer["generations"]
    texts = {"truth": one["truth"], "suggestion": one["inserted"]}
    found: dict[str, str] = {}
    for code in of:
        text = texts[code]
        if text is not None and (text.strip() or code == "truth") and text not in found.values():
            found[code] = text
    return found


def facts_of(answers: Sequence[Mapping[str, Any]], known: Known, of: Sequence[str], *, tested: bool = True) -> list[PlaceFact]:
    """The facts of each place. of: truth, suggestion. tested: whether tests judged what was suggested."""
    return [
        PlaceFact(
            id=answer["generations"][0]["id"],
            project=answer["project"],
            file=answer["file"],
            lines=tuple(line for code, text in lines_at(answer, of).items() if (line := _line(answer, code, text, known))),
            regenerated=_regenerated(answer, known, tested=tested),
        )
        for answer in answers
    ]


def _line(answer: Mapping[str, Any], code: str, text: str, known: Known) -> LineFact | None:
    """The facts of a line, where it was rewritten."""
    name = label_id(answer["id"], answer["generations"][0]["task"], text)
    rewritten = known["rewrites"].get(name)
    if rewritten is None:
        return None
    unknown = Scored(id=name, plain=None, identity=None, variants=[None] * len(rewritten["variants"]))
    scored = known["scores"].get(name, unknown)
    variants = tuple(
        VariantFact(arm=one["arm"], rules=_rules(one), kind=one["kind"], measures=measures, line=one["line"], diff=tuple(one["diff"]))
        for one, measures in zip(rewritten["variants"], scored["variants"], strict=True)
    )
    return LineFact(
        exact=is_exact(text, answer["generations"][0]["truth"]),
        plain=scored["plain"],
        identity=scored["identity"],
        variants=variants,
        code=code,
        text=text,
        tried=tuple(msgspec.convert(rewritten["tried"], list[Tried])),
    )


def _rules(variant: Variant) -> tuple[str, ...]:
    return tuple(step["rule"] for step in variant["steps"])


def _regenerated(answer: Mapping[str, Any], known: Known, *, tested: bool) -> RegeneratedFact | None:
    made = known["regenerated"].get(answer["id"])
    if made is None or made["inserted"] is None or made["measures"] is None:
        return None
    passes = True if made["equal"] else known["said"].get(f"{answer['id']}:rewritten")
    return RegeneratedFact(
        measures=made["measures"],
        exact=is_exact(made["inserted"], answer["generations"][0]["truth"]) if tested else made["equal"],
        passes=passes if tested else None,
        rules=_rules(known["rewrites"][made["line"]]["variants"][made["variant"]]),
        text=made["inserted"],
    )
