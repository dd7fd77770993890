"""The step label: what the tests say of each distinct text that was drawn at a place."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from ....analysis.oracle.oracle import MAX_PROFILED, Oracle
from ....analysis.oracle.profile import Profile
from ....analysis.python.lines import Gap
from ...run import Run
from ...sets.lines import Place
from ...sets.suites import Items, Judge, Judged, Unjudged
from ...study import Step
from ..classes import Outcomes
from .draw import DRAWS, EVENT

# The reason of a test's change is for people, and may be a page.
_MAX_WHY = 300
# Where an object is in memory, which is another place in each run.
_ADDRESS = re.compile(r"\b0x[0-9a-f]{4,}")
# A suite is run several times before it can judge.
MAX_TEXT_S = 1800.0


class ChangedTest(TypedDict):
    """A test that does not have its outcome of the unchanged project, or of which that is unknown. error: its class, None if unknown."""

    test: str
    error: str | None
    why: str


class Label(TypedDict):
    """What the tests that touch a text said.

    kept, known: as in `Outcomes`. left_out: how many more touch it and were run only up to the first that changed. changed: the others.
    """

    id: str
    tests_pass: bool | None
    error: str | None
    kept: int
    known: int
    left_out: int
    changed: list[ChangedTest]
    why: str
    way: str


LABELS = Step("labels", "text", Label)


def outcomes_of(label: Mapping[str, Any] | None) -> Outcomes:
    """What a label says; of none that nothing is known."""
    return Outcomes(label["tests_pass"], label["error"], label["kept"], label["known"]) if label else Outcomes(None)


def judged_text(name: str, items: Items, place: Place, text: str) -> Judged:
    """A file's text as the tests of its project judge it."""
    assert place.judged, "places of suites are judged"
    return Judged(name, items.suites[place.project], place.path.partition("/")[2], text, place.judged)


def drawn_texts(run: Run, items: Items) -> Iterator[Judged]:
    """Each distinct text that was drawn at a place, unless it is what stood there."""
    places: dict[str, Place] = {place.id: place for place in items.places}
    known = set[str]()
    for answer in run.records(DRAWS).read():
        place = places[answer["id"]]
        gaps = dict[str, Gap](place.gaps)
        for one in answer["generations"]:
            if one["text_id"] is not None and not one["labels"][EVENT] and one["text_id"] not in known:
                known.add(one["text_id"])
                gap = gaps[one["task"]]
                yield judged_text(one["text_id"], items, place, place.text[: gap.start] + one["inserted"] + place.text[gap.end :])


@dataclass(frozen=True, slots=True)
class Profiling:
    """Makes the worker's function that has texts judged by all tests that touch them. contents, seed: as `Judging`'s, and the profile's."""

    contents: Mapping[str, str]
    seed: int

    def __call__(self) -> Callable[[Judged], dict[str, Any]]:
        """The function."""
        return Profiler(Judge(self.contents), self.seed)


@dataclass(frozen=True, slots=True)
class Profiler:
    """Profiles texts; holds the oracle of the project that was asked about last."""

    judge: Judge
    seed: int

    def __call__(self, judged: Judged) -> dict[str, Any]:
        """The label of a text. Raises Unjudged where the machine failed, and Changed where the project is another than it was."""
        begun = time.perf_counter()
        label = label_of(self.judge.oracle(judged.suite), judged, self.seed)
        return {**label, "timings": {"tests_ms": (time.perf_counter() - begun) * 1e3}}

    def close(self) -> None:
        """Put the oracle away."""
        self.judge.close()


def label_of(oracle: Oracle, judged: Judged, seed: int, most: int = MAX_PROFILED) -> Label:
    """The label of a text. Raises Unjudged where the machine failed.

    Where more tests touch the text than `most`, which are run, and those keep their outcome, the verdict of all of them decides.
    """
    lines = range(judged.lines[0], judged.lines[1] + 1)
    profile = oracle.profile(judged.file, judged.text, lines, most=most, seed=seed)
    if profile.infrastructure:
        raise Unjudged(profile.reason)
    passes, error, why = profile.tests_pass, profile.error, profile.reason
    if passes is None and profile.left_out and _all_kept(profile):
        verdict = oracle.verdict(judged.file, judged.text, lines)
        if verdict.infrastructure:
            raise Unjudged(verdict.reason)
        passes, error, why = verdict.label, "passed" if verdict.label else None, verdict.reason
    changed: list[ChangedTest] = [
        {"test": one.test, "error": one.error, "why": reason_of(one.why)} for one in profile.tests if one.change != "as_before"
    ]
    return {
        "id": judged.id,
        "tests_pass": passes,
        "error": error,
        "kept": sum(one.change == "as_before" for one in profile.tests),
        "known": sum(one.change != "unknown" for one in profile.tests),
        "left_out": profile.left_out,
        "changed": changed,
        "why": reason_of(why),
        "way": profile.way,
    }


def reason_of(why: str) -> str:
    """The reason of a test's change as a record keeps it: short, and the same in each run."""
    return _ADDRESS.sub("0x…", why)[:_MAX_WHY]


def _all_kept(profile: Profile) -> bool:
    return all(one.change == "as_before" for one in profile.tests)
