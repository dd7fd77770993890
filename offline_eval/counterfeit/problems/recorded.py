"""Recorded programs of a model, labelled whole in the sandbox: its natural stream, its classes, and its own tests as a judge.

The labels are those of the calibration study on recorded programs. What they give is also a set of counterfeits, `counterfeits.jsonl` in
the run's folder, which any model can judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ....calibration.report.study_report import StudyContent
from ...calibration.recorded.draws import Labelled, Unit
from ...calibration.recorded.study import LABELS, Options, label
from ...recorded.source import sources_of
from ...run import AskedQuestion, Run
from ...sets.problem import Problem
from ...study import Results, Study
from ...study_page import again, cells_of, facts_of, write_page
from .derived import pass_shares
from .pages import drawn_sentence, of_own_tests, stream_section, summary_of
from .programs import COUNTERFEITS, CounterfeitSet, Drawn, balanced, write_set

_NEEDED = ("set", "items")


def _report(run: Run, results: Results, *, as_json: bool) -> None:  # noqa: ARG001
    """A page, its summary on stderr, and the set of counterfeits."""
    question = run.question(_NEEDED)
    found = drawn_of(run.items(dict), {record["id"]: Labelled(**record) for record in run.records(LABELS).read()})
    programs = balanced(question["set"], found, question["seed"])
    of = sources_of(question)[0]
    if programs:
        made = CounterfeitSet(of.name, question["set"], question["model_name"], programs, of.source, of.licence)
        write_set(run.folder / COUNTERFEITS, made)
    write_page(run.folder, _content(run, question, found, programs), as_json=as_json)


STUDY = Study("counterfeit_recorded", (LABELS,), _NEEDED, _report)


def run_recorded(options: Options) -> Run:
    """Run, or resume, the study. Raises as `label`."""
    return label(STUDY, options, _item)


def _item(unit: Unit, problem: Problem) -> dict[str, Any]:
    """The unit with its whole program, which the set of counterfeits has."""
    return {**asdict(unit), "program": problem.program(unit.text)}


def drawn_of(items: Sequence[dict[str, Any]], labels: dict[str, Labelled]) -> list[Drawn]:
    """The texts, problem by problem, with what the tests say; what has no label yet is left out."""
    found, numbers = [], dict[str, int]()
    for item in items:
        index = numbers[item["problem"]] = numbers.get(item["problem"], -1) + 1
        label = labels.get(item["id"])
        if label is not None:
            own = label.own_right / item["own_tests"] if item["own_tests"] and label.own_right is not None else None
            found.append(Drawn(item["problem"], index, item["program"], item["draws"], pass_shares(label, item["program"]), own))
    return found


def _content(run: Run, question: AskedQuestion, found: Sequence[Drawn], programs: Sequence[Any]) -> StudyContent:
    name, section = question["set"], stream_section(question["set"], found, programs)
    cells = cells_of([section])
    opening = drawn_sentence(name, question["model_name"], found, cells)
    own = of_own_tests(cells)
    size = f"{len(programs):,} of them make a balanced set ({COUNTERFEITS})." if programs else "They are too few for a balanced set."
    sentences = (opening, own[0] if own else "It wrote no tests of its own.", size)
    unlabelled = sum(item["draws"] for item in run.items(dict)) - sum(each.draws for each in found if each.tested is not None)
    left_out = [f"{unlabelled:,} answers without a label: not run yet, or undecided."] if unlabelled else []
    if question["unasked"]:
        left_out.append(f"{question['unasked']:,} recorded answers to other problems.")
    return StudyContent(
        title=f"Counterfeits among recorded programs: {question['model_name']} on {name}",
        summary=sentences if found else summary_of("No program has a label yet.", {}),
        facts=(
            f"the programs of {question['model_name']} were recorded by others; no model was asked",
            "a program is run on the inputs of the benchmark until one that it does not come back from",
            *facts_of(question, "set", "limit", "seed"),
        ),
        sections=(section,),
        left_out=tuple(left_out),
        sources=sources_of(question),
        command=again(run),
    )
