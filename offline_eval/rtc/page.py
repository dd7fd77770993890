"""The page of a run of round trips, and that of runs of several models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...calibration.report.blocks import Block, Paragraph
from ...calibration.report.cells import Cell, CellTable, text_of
from ...calibration.report.paper_claims import Asked, PaperClaim, Rule, claim_of
from ...calibration.report.study_report import Section, StudyContent, counted_claims
from ..asked_model import how_asked
from ..chains.scores import EXACT, left_out, scored_in, told_of_unreadable
from ..errors import StudyError
from ..progress import counted
from ..run import RUN, Run
from ..side_by_side import by_model, models_section
from ..study_page import again, again_of, apart, cells_of, facts_of, the_paper, write_comparison
from . import tables
from .items import Code, Edit, Item
from .sets import LABELS

_ABOVE_0 = Rule("above 0", above=0.0)
_WHAT = (
    "RTC: the share of round trips after which the code is as before, of as many descriptions and rebuildings of each item. Lift: what "
    "a description adds to the baseline, which is rebuilt from words that say nothing, three times, or once greedily. pass@1: written "
    "from the docstring. A round trip has two legs, and a low value does not say which failed. Passing tests means that each test ends "
    "as with the code itself, as well as the tests can tell; an exact match is one of these. 95 % intervals, with whole groups alone "
    "independent."
)
# What they may not: more rebuilds are another rate.
_THE_SAME = ("items", "forward", "backward")


def group_word(name: str) -> str:
    """What the groups of a set are."""
    return "problem" if name == "humaneval" else "project"


def items_of(run: Run) -> list[Item]:
    """What a run asks about. Raises RunError."""
    return list(run.items(Edit if run.question(("set",))["set"] == "edits" else Code))


def scored_of(run: Run) -> tables.Trips:
    """The items of a run with their scores. Raises RunError."""
    return scored_in(run, items_of(run), LABELS, times=int(run.question()["backward"]))


def content_of(run: Run) -> StudyContent:
    """The page of a run."""
    question, found = run.question(("set", "form")), scored_of(run)
    name = question["set"]
    sim, by = tables.sim_of(name), group_word(name)
    sims, benchmark = dict.fromkeys((sim, EXACT)), "HumanEval" if name == "humaneval" else None
    parts: list[Block | CellTable] = [Paragraph(_WHAT), tables.main_table(found, list(sims), question["forward"], by, benchmark)]
    if name == "edits":
        parts.append(tables.edit_table(found, by))
    sections = [Section("Round trips", (*parts, tables.count_table(found, by), tables.length_table(found, sim, by)))]
    if not benchmark:
        sections.append(Section("By project", (tables.group_table(found, sim),)))
    called = "pass@1" if tables.is_documented(found) else "baseline = pass@1"
    within = tables.correlation_table("C", f"RTC and {called}, over {by}s", tables.by_group(found), sim, by)
    sections.append(Section("RTC and pass@1", (within, *((tables.paper_table(),) if benchmark else ()))))
    cells = cells_of(sections)
    read = _claims(cells, sim)
    return StudyContent(
        title=f"Round trips: {question['model_name']} on {name}",
        summary=(f"{told_of_unreadable(found, by)}{_first(question, cells, sim, len(found))}", _second(cells, sim), counted_claims(read)),
        facts=(
            how_asked(question),
            *facts_of(question, "set", "forward", "backward", "projects", "repositories", "per_project", "limit", "seed"),
            the_paper(tables.paper()),
        ),
        sections=tuple(sections),
        claims=read,
        left_out=tuple(_left_out(run, found)),
        command=again(run),
    )


def _claims(cells: Mapping[str, Cell], sim: str) -> tuple[PaperClaim, ...]:
    wanted = (
        ("lift", "A description helps: RTC is above the baseline", "−0.2 to 30.4 points (T2)", f"T2/{sim}/all/lift"),
        ("lift_without_copies", "It helps also where it does not recite the code", "not looked at", f"T2/{sim}/without_copies/lift"),
        ("longer", "Code that never comes back is longer", "454.2 against 302.6 characters (Fig. 6)", "F6/all/difference"),
    )
    return tuple(
        claim_of(name, claim, printed, _ABOVE_0, [("", cell)], cells, {"": Asked(("N/unreadable",))})
        for name, claim, printed, cell in wanted
    )


def _first(question: Mapping[str, Any], cells: Mapping[str, Cell], sim: str, count: int) -> str:
    rtc, baseline = (cells[f"T2/{sim}/all/{column}"] for column in ("rtc", "baseline"))
    if rtc.value is None or baseline.value is None:
        return f"Nothing is known yet of {counted(count, 'item')} of {question['set']}."
    return (
        f"{question['model_name']} rebuilt {rtc.value:.1%} of {counted(rtc.n, 'item')} of {question['set']} from its own descriptions "
        f"({tables.SIM_WORDS[sim]}), and {baseline.value:.1%} from words that say nothing."
    )


def _second(cells: Mapping[str, Cell], sim: str) -> str:
    lift, plain = (text_of(cells[f"T2/{sim}/{which}/lift"]) for which in ("all", "without_copies"))
    return f"The lift is {lift}; {cells['N/copies'].value or 0:.1%} of the descriptions recite the code, and without them it is {plain}."


def _left_out(run: Run, found: tables.Trips) -> Iterator[str]:
    yield from left_out(run, found, tables.sim_of(run.question()["set"]), "description", (LABELS,))
    if missing := len(items_of(run)) - len(found):
        yield f"{counted(missing, 'item')} not described and rebuilt yet."
    yield "ARCADE and CodeReviewer, the paper's other sets: they can't be had."


def compare(runs: Sequence[Run], out: Path, *, as_json: bool) -> None:
    """Write report/ into `out` about runs of several models. Raises StudyError where they were asked different things."""
    questions = [run.question(("set", "items")) for run in runs]
    for run, question in zip(runs[1:], questions[1:], strict=True):
        if any(question.get(name) != questions[0].get(name) for name in _THE_SAME):
            what = "of the same items" if question["items"] != questions[0]["items"] else "asked equally often"
            raise StudyError(
                f"{runs[0].folder} and {run.folder} are not {what} ({apart((questions[0], question))}): make one again with the "
                f"options of the other, which are in its {RUN}"
            )
    found = {name: scored_of(run) for name, run in by_model(runs).items()}
    content = models_content(found, questions[0]["set"], again_of(runs))
    write_comparison(out, content, [run.folder for run in runs], as_json=as_json)


def models_content(found: Mapping[str, tables.Trips], name: str, command: str) -> StudyContent:
    """The page on several models."""
    sim, by = tables.sim_of(name), group_word(name)
    numbers = {model: tables.numbers_of(items, sim) for model, items in found.items()}
    over_models = tables.correlation_table("CM", "RTC and pass@1 over models", found, sim, "model")
    cells = {cell.id: cell for cell in over_models.cells()}
    r = claim_of("follows", "RTC follows pass@1 over models", "r = .96, n = 7 (text)", _ABOVE_0, [("r", "CM/all/r")], cells)
    correlated = (over_models, tables.between_models(found, sim), tables.paper_table())
    return StudyContent(
        title=f"Round trips of {counted(len(found), 'model')} on {name}",
        summary=(
            f"{counted(len(found), 'model')} went around on the same items of {name}.",
            f"RTC and pass@1 over them: r {text_of(cells['CM/all/r'])}.",
            counted_claims([r]),
        ),
        facts=(the_paper(tables.paper()),),
        sections=(
            Section("What is counted", (Paragraph(_WHAT),)),
            models_section(("share",), numbers, by),
            Section("Correlations", correlated),
        ),
        claims=(r,),
        command=command,
    )
