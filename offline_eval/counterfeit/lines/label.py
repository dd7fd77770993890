"""The steps label and repair: what tests say of each distinct text, and what a model writes in the place of a counterfeit.

Only a model that was trained to mend lines can repair. facts.jsonl joins what tests and model said of each text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypedDict

from ....analysis.oracle.oracle import MAX_PROFILED, Oracle
from ....analysis.oracle.profile import Profile
from ....suggestion.repair.sources.fix_task import mended_lines
from ...answers import text_id
from ...asked_line import OpenModel
from ...run import Run, Step
from ...sets.lines import FileWithGap, Place
from ...sets.suites import Items, Judge, Judged, Unjudged, verdict_of
from ...sets.suites import Label as Verdict
from ..classes import RULES, Outcomes, class_of
from .draw import DRAWS, EVENT, JUDGEMENTS, PlaceTexts, code_of, gap_id, seed_of

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
    profile = oracle.profile(judged.file, judged.text, judged.region, most=most, seed=seed)
    if profile.infrastructure:
        raise Unjudged(profile.reason)
    passes, error, why = profile.tests_pass, profile.error, profile.reason
    if passes is None and profile.left_out and _all_kept(profile):
        verdict = verdict_of(oracle, judged.file, judged.text, judged.region)
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


def counterfeits(run: Run, items: Items, seed: int) -> Iterator[PlaceTexts]:
    """The places with counterfeits, and of each gap at most `MAX_REPAIRED`, drawn by the seed."""
    places = items.by_id
    labels = run.by_id(LABELS)
    for answer in run.records(DRAWS).read():
        place, found = places[answer["id"]], dict[str, dict[str, None]]()
        for one in answer["generations"]:
            wrong = one["text_id"] is not None and not one["labels"][EVENT]
            if wrong and class_of(outcomes_of(labels.get(one["text_id"]))) == "counterfeit":
                found.setdefault(one["task"], {})[one["inserted"]] = None
        chosen = tuple((task, text) for task, texts in found.items() for text in _chosen(list(texts), f"{seed}:{gap_id(place.id, task)}"))
        if chosen:
            yield PlaceTexts(place, chosen)


def _chosen(texts: list[str], seed: str) -> list[str]:
    if len(texts) <= MAX_REPAIRED:
        return texts
    return [texts[index] for index in sorted(random.Random(f"{seed}:repair").sample(range(len(texts)), MAX_REPAIRED))]


@dataclass(frozen=True, slots=True)
class Mending:
    """How repairs are drawn."""

    temperature: float
    seed: int


def mend(asked: OpenModel[Mending], found: PlaceTexts) -> dict[str, Any]:
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


FACTS = "facts.jsonl"
# What stood there keeps all tests.
_EXACT = Outcomes(True, "passed", 1, 1)


def labelled(run: Run) -> list[Any]:
    """The draws of a run, each with its label, what the model says of it ("measures"), and what the tests said ("tested").

    Of code that no test judges, "tested" is what would be said where only what stood there passes.
    "repaired": of each gap, by its task, the share of passing repairs of each of its counterfeits, None where that is unknown.
    """
    labels, untested = run.by_id(LABELS), is_untested(run.question())
    said = {(record["id"], one["task"], one["text"]): one for record in run.records(JUDGEMENTS).read() for one in record["said"]}
    repaired = _shares_repaired(run, labels)
    answers = run.records(DRAWS).read()
    for answer in answers:
        for one in answer["generations"]:
            if untested:
                one["labels"]["tests_pass"] = None
            if one["text_id"] is None:
                continue
            if not one["labels"][EVENT]:
                one["tested"] = _as_if_tested(one) if untested else labels.get(one["text_id"])
            if not untested:
                one["labels"]["tests_pass"] = outcomes(one).passes
            if judged := said.get((answer["id"], one["task"], one["text"])):
                one["measures"] |= judged["measures"]
                one["asked"] = judged["asked"]
        answer["repaired"], answer["untested"] = repaired.get(answer["id"], {}), untested
    return answers


def is_untested(question: Mapping[str, Any]) -> bool:
    """Whether no test judges the code of a run."""
    return bool(question["set"] == "code")


def _as_if_tested(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """The label of a text that is not what stood there: one test of one keeps its outcome, so that it is a counterfeit where it parses."""
    error = "wrong" if one["file_parses"] else "unparsed"
    return {"tests_pass": False, "error": error, "kept": 1, "known": 1, "changed": []}


def outcomes(one: Mapping[str, Any]) -> Outcomes:
    """What the tests said of a text of `labelled`."""
    return _EXACT if one["labels"][EVENT] else outcomes_of(one.get("tested"))


def _shares_repaired(run: Run, labels: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, list[float | None]]]:
    verdicts = run.by_id(REPAIR_LABELS, "tests_pass")
    passes = {name: label["tests_pass"] for name, label in labels.items()} | verdicts
    found: dict[str, dict[str, list[float | None]]] = {}
    for record in run.records(REPAIRS).read():
        for repair in record["repairs"]:
            found.setdefault(record["id"], {}).setdefault(repair["task"], []).append(passing(repair, passes))
    return found


def write_facts(run: Run, answers: Sequence[Any]) -> None:
    """Write facts.jsonl: a line for each gap and each further text, by the id of its sample. Format in docs/formats.md."""
    run.write_lines(FACTS, (fact for answer in answers for fact in facts_of(answer)))


def facts_of(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The facts of a place's texts."""
    for one in answer["generations"]:
        gap = gap_id(answer["id"], one["task"])
        tested = outcomes(one) if one["text_id"] is not None else Outcomes(None)
        fact = {
            "id": one["id"],
            "gap": gap,
            "project": answer["project"],
            "task": one["task"],
            "classes": {rule: class_of(tested, rule) for rule in RULES},
            "parses": tested.parses,
            "share": None if answer["untested"] else 1.0 if tested.passes else tested.share,
            "error": None if answer["untested"] else tested.error,
        }
        if "stream" in one:
            yield fact | {"stream": one["stream"]}
        else:
            yield fact | _of_gap(answer, one["task"])


def known_at_gap(answer: Mapping[str, Any], task: str) -> tuple[list[bool], list[float]]:
    """Whether each draw at a gap passes, and the share of passing repairs of each counterfeit; what no label tells of is left out."""
    drawn = [one for one in answer["generations"] if one["task"] == task and "stream" in one]
    passes = [] if answer["untested"] else [False if one["text_id"] is None else one["labels"]["tests_pass"] for one in drawn]
    repairs = [share for share in answer["repaired"].get(task, ()) if share is not None]
    return [each for each in passes if each is not None], repairs


def _of_gap(answer: Mapping[str, Any], task: str) -> dict[str, Any]:
    """pass_rate: the share of the draws at a gap that pass. repair_rate: of its repairs."""
    known, repairs = known_at_gap(answer, task)
    return {
        "draws": len(known),
        "pass_rate": fmean(known) if known else None,
        "repaired": len(repairs),
        "repair_rate": fmean(repairs) if repairs else None,
    }
