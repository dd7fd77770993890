"""What tests and model said of each text, joined: the samples' labels and measures, and the facts that are never measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from ...run import Run
from ..classes import RULES, Outcomes, class_of
from .draw import DRAWS, EVENT, gap_id
from .judge import JUDGEMENTS
from .label import LABELS, outcomes_of
from .repair import REPAIR_LABELS, REPAIRS, passing

FACTS = "facts.jsonl"
# What stood there keeps all tests.
_EXACT = Outcomes(True, "passed", 1, 1)


def labelled(run: Run) -> list[Any]:
    """The draws of a run, each with its label, what the model says of it ("measures"), and what the tests said ("tested").

    "repaired": of each gap, by its task, the share of passing repairs of each of its counterfeits, None where that is unknown.
    """
    labels = {label["id"]: label for label in run.records(LABELS).read()}
    said = {(record["id"], one["task"], one["text"]): one for record in run.records(JUDGEMENTS).read() for one in record["said"]}
    repaired = _repaired(run, labels)
    answers = run.records(DRAWS).read()
    for answer in answers:
        for one in answer["generations"]:
            if one["text_id"] is None:
                continue
            one["tested"] = None if one["labels"][EVENT] else labels.get(one["text_id"])
            one["labels"]["tests_pass"] = outcomes(one).passes
            if judged := said.get((answer["id"], one["task"], one["text"])):
                one["measures"] |= judged["measures"]
                one["asked"] = judged["asked"]
        answer["repaired"] = repaired.get(answer["id"], {})
    return answers


def outcomes(one: Mapping[str, Any]) -> Outcomes:
    """What the tests said of a text of `labelled`."""
    return _EXACT if one["labels"][EVENT] else outcomes_of(one.get("tested"))


def _repaired(run: Run, labels: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, list[float | None]]]:
    verdicts = {record["id"]: record["tests_pass"] for record in run.records(REPAIR_LABELS).read()}
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
            "share": 1.0 if tested.passes else tested.share,
            "error": tested.error,
        }
        if "stream" in one:
            yield fact | {"stream": one["stream"]}
        else:
            yield fact | _of_gap(answer, one["task"])


def _of_gap(answer: Mapping[str, Any], task: str) -> dict[str, Any]:
    """pass_rate: the share of the draws at a gap that pass, those left out that no label tells of. repair_rate: of its repairs."""
    drawn = [one for one in answer["generations"] if one["task"] == task and "stream" in one]
    passes = [False if one["text_id"] is None else one["labels"]["tests_pass"] for one in drawn]
    known = [each for each in passes if each is not None]
    repairs = [share for share in answer["repaired"].get(task, ()) if share is not None]
    return {
        "draws": len(known),
        "pass_rate": fmean(known) if known else None,
        "repaired": len(repairs),
        "repair_rate": fmean(repairs) if repairs else None,
    }
