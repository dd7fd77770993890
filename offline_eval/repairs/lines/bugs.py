"""The steps draw and bug: wrong lines for each place, made by rules and drawn from the model, of which the tests notice each.

A place has at most one bug of each source: by a rule (`analysis.bugs`), and a counterfeit that the model drew for that very line.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from ....analysis.bugs.injection import inject
from ....analysis.morphisms.morphism import Refused
from ....analysis.python.lines import Gap, UnreadableSource
from ....inference.completion.sampling import Sampling
from ...asked_line import OpenModel
from ...counterfeit.classes import Outcomes, class_of
from ...counterfeit.lines.draw import gap_id, seed_of
from ...counterfeit.lines.label import ChangedTest, reason_of
from ...sets.lines import Place
from ...sets.suites import Judge, Suite, Unjudged
from ...study import Step
from ...suggested import FileWithGap
from .spectrum import Spectrum, spectrum_at

Source = Literal["rule", "model"]
TEMPERATURE = 0.6
# Of the model's draws for a line; and so many wrong lines of each source are tried until the tests notice one.
DRAWS, TRIES = 8, 3


class Drawn(TypedDict):
    """The distinct wrong lines that the model drew at a place: each as the editor would insert it."""

    id: str
    texts: list[str]


class Bug(TypedDict):
    """A wrong line. source: who made it. kind: the rule's, or "counterfeit". code: the line without its indentation.

    changed: the tests that notice it. kept, known: as in `Outcomes`. spectrum: of these tests.
    """

    source: str
    kind: str
    code: str
    changed: list[ChangedTest]
    kept: int
    known: int
    spectrum: Spectrum


class Bugs(TypedDict):
    """The bugs at a place. tried: how many wrong lines the tests were asked about."""

    id: str
    bugs: list[Bug]
    tried: int


DRAWN = Step("drawn", "place", Drawn)
BUGS = Step("bugs", "place", Bugs)


def gap_of(place: Place) -> Gap:
    """Where the code of a place's line is."""
    return dict[str, Gap](place.gaps)["line"]


def with_code(place: Place, code: str) -> str:
    """The file with other code in the line of a place."""
    gap = gap_of(place)
    return place.text[: gap.start] + code + place.text[gap.end :]


def draw(asked: OpenModel[int], place: Place) -> dict[str, Any]:
    """What the model draws in the place of a line; `asked.asking.wanted` is the seed. Raises what `Model.generate` raises."""
    shown = FileWithGap(place.text, gap_of(place), "line", asked.asking.model.settings)
    how = Sampling(TEMPERATURE, seed=seed_of(asked.asking.wanted, gap_id(place.id, "line")))
    made = shown.draws(asked.model, DRAWS, how, asked.memory_at(shown, place))
    texts = dict.fromkeys(one.inserted.rstrip() for one in made if one.inserted is not None and not shown.is_exact(one.inserted))
    return {"texts": list(texts)}


@dataclass(frozen=True, slots=True)
class Wrong:
    """A place with the lines that the model drew there."""

    place: Place
    drawn: tuple[str, ...]
    suite: Suite

    @property
    def id(self) -> str:
        """The place's."""
        return self.place.id


@dataclass(frozen=True, slots=True)
class Breaking:
    """Makes the worker's function that finds bugs which the tests notice. contents: as `Judging`'s."""

    contents: Mapping[str, str]
    seed: int

    def __call__(self) -> Callable[[Wrong], dict[str, Any]]:
        """The function."""
        return Breaker(Judge(self.contents), self.seed)


@dataclass(frozen=True, slots=True)
class Breaker:
    """Finds bugs; holds the oracle of the project that was asked about last."""

    judge: Judge
    seed: int

    def __call__(self, wrong: Wrong) -> dict[str, Any]:
        """The bugs at a place. Raises Unjudged where the machine failed, and Changed where the project is another than it was."""
        begun, bugs, tried = time.perf_counter(), list[Bug](), 0
        for source, codes in (("rule", by_rules(wrong.place, self.seed)), ("model", [("counterfeit", text) for text in wrong.drawn])):
            known = {bug["code"] for bug in bugs}
            for kind, code in [each for each in codes if each[1] not in known][:TRIES]:
                tried += 1
                if found := self._bug(wrong, source, kind, code):
                    bugs.append(found)
                    break
        return {"id": wrong.id, "bugs": bugs, "tried": tried, "timings": {"tests_ms": (time.perf_counter() - begun) * 1e3}}

    def close(self) -> None:
        """Put the oracle away."""
        self.judge.close()

    def _bug(self, wrong: Wrong, source: str, kind: str, code: str) -> Bug | None:
        """The bug, if the tests notice it, and some do not where the model made it."""
        oracle, place = self.judge.oracle(wrong.suite), wrong.place
        lines = range(place.line, place.line + 1)
        text = with_code(place, code)
        profile = oracle.profile(place.path.partition("/")[2], text, lines, seed=self.seed)
        if profile.infrastructure:
            raise Unjudged(profile.reason)
        changed = [test for test in profile.tests if test.change == "changed"]
        known = {test.test for test in profile.tests if test.change != "unknown"}
        outcomes = Outcomes(profile.tests_pass, profile.error, len(known) - len(changed), len(known))
        if not changed or (source == "model" and class_of(outcomes) != "counterfeit"):
            return None
        return {
            "source": source,
            "kind": kind,
            "code": code,
            "changed": [{"test": one.test, "error": one.error, "why": reason_of(one.why)} for one in changed],
            "kept": outcomes.kept,
            "known": outcomes.known,
            "spectrum": spectrum_at(oracle, place, text, [one.test for one in changed], known),
        }


def by_rules(place: Place, seed: int) -> list[tuple[str, str]]:
    """Kind and code of wrong lines that rules make of a place's line, each another one."""
    gap, found = gap_of(place), dict[str, str]()
    start, end = place.text.rfind("\n", 0, gap.start) + 1, place.text.find("\n", gap.end)
    line = (start, end if end >= 0 else len(place.text))
    for number in range(TRIES):
        try:
            bug = inject(place.text, f"{seed}:{place.id}:{number}", line)
        except (Refused, UnreadableSource):
            break
        text = bug.of(place.text)
        found.setdefault(text[start : line[1] + len(text) - len(place.text)].strip(), bug.morphism)
    return [(kind, code) for code, kind in found.items()]


def wrong_of(places: Sequence[Place], drawn: Mapping[str, Any], suites: Mapping[str, Suite]) -> Iterator[Wrong]:
    """The places that were drawn at."""
    for place in places:
        if place.id in drawn:
            yield Wrong(place, tuple(drawn[place.id]["texts"]), suites[place.project])
