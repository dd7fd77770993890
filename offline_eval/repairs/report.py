"""The report of a run: a page, and a summary on stderr. What took how long is of timings.jsonl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...calibration.report.blocks import Paragraph
from ...calibration.report.cells import Cell, text_of
from ...calibration.report.study_report import Section, StudyContent
from ...suggestion.repair.confidence import TASK
from ...suggestion.repair.localisation import TASK as FAULT
from ..progress import counted
from ..run import Run
from ..study import Results
from ..study_page import again, cells_in, facts_of, lost_items, write_page
from . import tables
from .candidates import FEATURES, Attempt, best

_WORDS = (
    "Each bug is a line of a program that passes its tests; with the bug some of them fail. What is proposed in its place is what the "
    "editor proposes; a model that is asked in chat is told what one of these tests says. It passes where every test that touches the line "
    "ends as it does without the bug."
)
_OF_LINES = "lines: that of the bug"
_TOLD = ("set", "sources", "memory", "projects", "per_project", "limit", "seed")


def write_report(
    run: Run, results: Results, attempts: Sequence[Attempt], lost: int, *, by: str, faults: Sequence[tables.Fault] = (), as_json: bool
) -> None:
    """Write report/. On stdout the paths of samples and report, or one JSON document.

    attempts: bugs and, with the source "control", right lines. by: what is independent. faults: where bugs are. lost: items without an
    answer. Raises StudyError and SampleError.
    """
    bugs = [each for each in attempts if each.source != "control"]
    controls = [each for each in attempts if each.source == "control"]
    samples = results.samples.get(TASK, ())
    numbers = {f"repairs: {said}": tables.numbers_of(samples, event, FEATURES[TASK]) for event, said in tables.EVENTS.items()}
    for said in tables.EVENTS.values():
        for source in dict.fromkeys(each.source for each in bugs):
            numbers[f"repairs: {said}, {tables.BUGS[source]}"] = tables.of_source(numbers[f"repairs: {said}"], samples, source)
    numbers["repairs with a ✔: passes"] = tables.numbers_of(
        tables.verified_samples(samples, bugs, run.question()["seed"]), "tests_pass", FEATURES[TASK]
    )
    if faults:
        numbers[_OF_LINES] = tables.numbers_of(results.samples.get(FAULT, ()), "exact_match", FEATURES[FAULT])
    question = run.question()
    repaired, verified = (
        tables.repaired_table(bugs, by),
        tables.verified_table(bugs, by, question["seed"]),
    )
    cells = cells_in((repaired, verified))
    content = StudyContent(
        title=f"Repairs: {question['model_name']}",
        summary=summary(bugs, cells, by),
        facts=(
            f"model {question['model_name']}, fingerprint {question['model']}; of repairs {question['prompt']}",
            *facts_of(question, *_TOLD),
        ),
        sections=(
            Section("Bugs repaired", (Paragraph(_WORDS), repaired)),
            *((Section("Verified", (verified,)),) if verified.rows else ()),
            *((Section("Right lines", (tables.controls_table(controls, by),)),) if controls else ()),
            Section("Numbers", (tables.numbers_table(numbers),)),
            *((Section("Where the bug is", (tables.faults_table(faults, by, numbers[_OF_LINES]),)),) if faults else ()),
        ),
        left_out=tuple(_left_out(bugs, lost)),
        command=again(run),
    )
    write_page(run.folder, content, samples=results.paths, as_json=as_json)


def summary(bugs: Sequence[Attempt], cells: Mapping[str, Cell], by: str) -> tuple[str, str, str]:
    """Three sentences for somebody who reads no more."""
    groups = len({each.group for each in bugs})
    tested = any(each.labels is not None for each in bugs)
    noticed = ", each of which some test notices," if tested else ""
    first = f"{counted(len(bugs), 'bug')} of {counted(groups, by)}{noticed} were to be repaired."
    source = next((place.split("/")[1] for place in cells if place.startswith("A/")), "all")
    said, what = ("passes", "passes the tests") if tested else ("exact", "is the text before the bug")
    one, eight = cells.get(f"A/{source}/both/{said}/1"), cells.get(f"A/{source}/both/{said}/8")
    false, tick = cells.get(f"V/{source}/both/false"), cells.get(f"V/{source}/both/passes")
    if one is None or eight is None or one.value is None:
        return first, "None was judged.", "Of verification this run says nothing."
    second = f"The first proposal {what} for {text_of(one)} of them, one of the first eight for {text_of(eight)}."
    if tick is None or false is None or tick.value is None:
        return first, second, "Of verification this run says nothing."
    third = (
        f"Verified by half of the tests, the first that passes those is right for {text_of(tick)}; of such repairs {text_of(false)} fail "
        "the other half."
    )
    return first, second, third


def attempt_of(
    name: str,
    group: str,
    bug: Mapping[str, Any] | None,
    made: Mapping[str, Any],
    labels: Mapping[str, Any] | None,
    search: Mapping[str, Any] | None,
    loop: Mapping[str, Any] | None,
) -> Attempt:
    """A line that was to be repaired, from its records. bug: None for a control."""
    if bug is None:
        return Attempt(name, group, "control", "", made["candidates"], (), 0, labels)
    failing = [test["test"] for test in bug["changed"] if test["error"] is not None]
    return Attempt(name, group, bug["source"], bug["kind"], made["candidates"], failing, bug["known"], labels, search, loop)


def _left_out(bugs: Sequence[Attempt], lost: int) -> Iterator[str]:
    yield from lost_items(lost)
    if bare := sum(not each.candidates for each in bugs):
        yield f"{counted(bare, 'bug')} without any proposal: they count as not repaired."
    for name, records in ((tables.SEARCH, [each.search for each in bugs]), (tables.LOOP, [each.loop for each in bugs])):
        if gave_up := sum(record is not None and record["gave_up"] for record in records):
            yield f"{counted(gave_up, 'bug')} at which the time of “{name}” was up: they count as not repaired by it."
    tested = (each for each in bugs if each.labels is not None)
    unknown = sum(each.is_right(one, "tests_pass") is None for each in tested for one in best(each.candidates))
    if unknown:
        yield f"{counted(unknown, 'proposal')} without a label: not judged yet, or the tests say something else in each run."
