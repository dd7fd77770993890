"""The step label: what the tests say of each distinct text that was drawn at a place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

from ....analysis.oracle.oracle import MAX_PROFILED, Oracle
from ....analysis.oracle.profile import Profile
from ...run import Run
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


def drawn_texts(run: Run, items: Items) -> Iterator[Judged]:
    """Each distinct text that was drawn at a place, unless it is what stood there."""
    places, known = items.by_id, set[str]()
    for answer in run.records(DRAWS).read():
        place = places[answer["id"]]
        for one in answer["generations"]:
            if one["text_id"] is not None and not one["labels"][EVENT] and one["text_id"] not in known:
                known.add(one["text_id"])
                yield items.judged(one["text_id"], place, place.with_text(place.gap(one["task"]), one["inserted"]))


def profiled(seed: int, judge: Judge, judged: Judged) -> dict[str, Any]:
    """The label of a text. Raises Unjudged where the machine failed, and Changed where the project is another than it was."""
    return dict(label_of(judge.oracle(judged.suite), judged, seed))


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
