"""The step rewrite: a worker that finds the rewrites of a line, and has a project's tests confirm them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

from ....analysis.oracle.changes import changed_lines, with_statements
from ....analysis.oracle.oracle import Oracle
from ...calibration.draw import label_id
from ...counterfeit.classes import class_of
from ...counterfeit.lines.label import label_of, outcomes_of
from ...sets.lines import Place
from ...sets.suites import Judge, Judged, Suite, Unjudged
from ...study import Step
from .rewrites import Arm, Class, Rewriting, Tried, Variant
from .view import View


class Rewritten(TypedDict):
    """The record of a line. variants: those that the tests confirmed. tried: what became of each rule."""

    id: str
    place: str
    variants: list[Variant]
    tried: list[Tried]


REWRITES = Step("rewrites", "line", Rewritten)


@dataclass(frozen=True, slots=True)
class Line:
    """A line at a place that passes the tests: its own, or one that a model suggested there.

    shown: where the part of the file begins and ends that the model sees. suite: of its project; None where nothing is judged.
    """

    place: Place
    text: str
    shown: tuple[int, int]
    suite: Suite | None = None

    @property
    def id(self) -> str:
        """The same as of its label."""
        return label_id(self.place.id, "line", self.text)

    @property
    def view(self) -> View:
        """The file with the line in it."""
        return View(self.place.text, self.place.gap("line"), *self.shown).with_line(self.text)


def confirmed(seed: int, judge: Judge, line: Line) -> dict[str, Any]:
    """The record of a line. seed: of the draw of rewrites. Raises Unjudged where the machine failed, and Changed."""
    assert line.suite, "lines of suites are judged"
    of = _OfLine(line, line.suite, judge.oracle(line.suite), seed)
    found = Rewriting(line.view, f"{seed}:{line.id}", of.judged, of.at_import)
    found.find()
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
        verdict = self.oracle.verdict(self.line.place.file, view.text)
        if verdict.infrastructure:
            raise Unjudged(verdict.reason)
        return None if verdict.label is None else "right" if verdict.label else "other", verdict.reason
