"""The page of a run on lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from ....calibration.effective_status import confidence_of
from ....calibration.registry import Purpose, Registry, choose, load_registry
from ....calibration.report.blocks import Paragraph, Table
from ....calibration.report.cells import Cell, text_of
from ....calibration.report.paper_claims import Asked, PaperClaim, Rule, claim_of
from ....calibration.report.study_report import Section, StudyContent
from ....calibration.samples import Event, Sample
from ....calibration.validation.counterfeit_facts import Fact
from ....calibration.validation.counterfeit_study import EVENTS, STREAM, figures
from ....calibration.validation.figures import Figure
from ....calibration.validation.inputs import Inputs
from ...pictures import bars, scatter
from ...progress import counted
from ...run import Run
from ...study import Results
from ...study_page import again, cells_of, facts_of, figures_of_task, lost_items, the_paper, write_page
from ..paper import paper
from . import tables
from .draw import JUDGEMENTS
from .label import LABELS, REPAIRS, is_untested
from .label import facts_of as facts_of_answer
from .texts import Gap, Text, distinct, gaps_of, texts_of

MAX_EXAMPLES = 8
_MAX_TESTS = 5
_MAX_LINE = 200
# What the badge said of a text that was shown; nothing for another.
Badge = Callable[[Text], str]


def examples_of(texts: Sequence[Text], badge: Badge) -> Iterator[Table]:
    """The counterfeits that the model was surest of, at most one of a gap: those that were shown first, then drawn ones."""
    found = [text for text in texts if text.kind == "counterfeit"]
    gaps, same = set[str](), set[str]()
    for text in sorted(found, key=lambda text: (bool(text.stream), -text.p_tot if text.p_tot == text.p_tot else 0.0, text.id)):
        if text.gap not in gaps and text.text_id not in same and len(gaps) < MAX_EXAMPLES:
            gaps.add(text.gap)
            same.add(text.text_id)
            yield _example(text, badge)


def _example(text: Text, badge: Badge) -> Table:
    outcomes = text.outcomes
    said = badge(text) if not text.stream else f"none: drawn at {text.stream}, not shown"
    tests = [("fails", f"{each['test']}: {each['why']}") for each in text.changed[:_MAX_TESTS]]
    more = len(text.changed) - len(tests)
    rows = [
        ("−", text.head + text.truth),
        ("+", text.head + text.inserted),
        ("badge", said),
        ("model", f"p_tot {_measured(text.p_tot)}" + (f", asked: log odds of right {text.asked:+.2f}" if text.asked == text.asked else "")),
        *([("tests", f"{outcomes.kept} of {outcomes.known} that touch it keep their outcome")] if tests else []),
        *tests,
        *([("", f"and {more} more")] if more > 0 else []),
    ]
    return Table(
        f"{text.gap}, {'shown' if not text.stream else 'drawn'}", ("", ""), "ll", tuple((name, _short(what)) for name, what in rows)
    )


def _measured(value: float) -> str:
    return f"{value:.3f}" if value == value else "not measured"


def _short(text: str) -> str:
    text = text.replace("\n", " ↵ ")
    return text if len(text) <= _MAX_LINE else f"{text[: _MAX_LINE - 1]}…"


_EVENT: Event = "tests_pass"
_LOOKS_RIGHT = "it parses and keeps some of the tests"
_UNTESTED = (
    "the file parses with it. No test says what is right: that is what stood there alone, so what does the same in other words is called "
    "wrong"
)
_INTRO = (
    "A counterfeit is a text that the model wrote itself, that is wrong, and that looks right: {}. "
    "Tasks: line is a whole line, line_rest the rest of one, line_middle what is in brackets. Shown is what the editor shows; draws are "
    "further texts at a temperature. "
    "95 % intervals take projects alone as independent. The paper's numbers are of whole programs, and of larger models."
)


def write_report(run: Run, results: Results, lost: int, *, as_json: bool) -> None:
    """Write report/. A summary on stderr; on stdout the paths of samples and report, or one JSON document. lost: items without a record.

    Raises StudyError and SampleError.
    """
    question = run.question(("items", "prompt_sampled"))
    texts, gaps = texts_of(results.answers), gaps_of(results.answers)
    verdicts = tables.all_verdicts(distinct(texts))
    as_the_paper = next((each for each in verdicts if each.judge.key == tables.AS_THE_PAPER), verdicts[0] if verdicts else None)
    registry = load_registry()
    badge = _badge(registry, question)
    untested = is_untested(question)
    sections = _of_untested(texts, verdicts, badge) if untested else _sections(texts, gaps, verdicts, as_the_paper, badge)
    cells = cells_of(sections)
    claims = () if untested else tuple(_claims(cells))
    content = StudyContent(
        title=f"Counterfeits among lines: {question['model_name']}",
        summary=_summary(texts, gaps, cells, question),
        facts=(
            f"model {question['model_name']}, fingerprint {question['model']}",
            f"prompt fingerprint {question['prompt']}; of draws at temperature {question['temperature']}: {question['prompt_sampled']}",
            *facts_of(question, "memory", "tasks", "older", "projects", "per_project", "limit", "draws", "seed"),
            the_paper(paper()),
        ),
        sections=sections,
        claims=claims,
        figures=tuple(_figures(registry, question, results)),
        left_out=(*_not_done(run, question), *_left_out(results.answers, texts, question, lost)),
        command=again(run),
    )
    write_page(run.folder, content, samples=results.paths, as_json=as_json)


def _sections(
    texts: Sequence[Text], gaps: Sequence[Gap], verdicts: Sequence[tables.Verdicts], as_the_paper: tables.Verdicts | None, badge: Badge
) -> tuple[Section, ...]:
    judging, repair = tables.judging_table(verdicts), tables.repair_table(gaps)
    labels = [
        f"{each.judge.name.split(',')[0]}{', fitted' if each.judge.from_ is None else ''}: {name}"
        for each in verdicts
        for name in ("right", "counterfeit")
    ]
    rates = [cell for row in judging.rows for cell in row.cells[:2]]
    mended = [(gap.pass_rate, gap.repair_rate) for gap in gaps if gap.pass_rate is not None and gap.repair_rate is not None]
    examples = tuple(examples_of(texts, badge))
    return (
        Section(
            "What the model writes",
            (Paragraph(_INTRO.format(_LOOKS_RIGHT)), tables.class_table(texts), tables.rule_table(texts)),
        ),
        Section("How plausible its wrong texts are", (tables.plausibility_table(texts),)),
        Section(
            "Judging",
            (
                judging,
                bars("judging", "How often each judge is right about right texts and counterfeits", labels, rates, 0.5),
                tables.strata_table(distinct(texts)),
                tables.pass_rate_table(verdicts),
            ),
        ),
        Section(
            "Repair", (repair, scatter("repair", "Repair against drawing again, by gap", mended, "draws that pass", "repairs that pass"))
        ),
        Section("Difficulty", (tables.difficulty_table(gaps, as_the_paper), tables.correlation_table(gaps, as_the_paper))),
        Section("Examples", examples or (Paragraph("There is no counterfeit to look at."),)),
    )


def _of_untested(texts: Sequence[Text], verdicts: Sequence[tables.Verdicts], badge: Badge) -> tuple[Section, ...]:
    """Of code that no test judges."""
    found = tables.class_table(texts)
    # The paper's are of programs that pass.
    rows = tuple(replace(row, cells=tuple(replace(cell, paper=()) for cell in row.cells)) for row in found.rows)
    classes = replace(found, rows=rows, notes=("Other: what does not parse.",))
    return (
        Section("What the model writes", (Paragraph(_INTRO.format(_UNTESTED)), classes)),
        Section("Judging", (tables.judging_table(verdicts),)),
        Section("Examples", tuple(examples_of(texts, badge)) or (Paragraph("There is no counterfeit to look at."),)),
    )


def _badge(registry: Registry, question: Mapping[str, Any]) -> Badge:
    """What the editor's badge says of a shown text: of passing tests where there is a calibrator for that, else of an exact match."""

    def said(text: Text) -> str:
        events: tuple[Event, ...] = (_EVENT, "exact_match")
        for event in events:
            entry = choose(registry, Purpose(question["model"], question["prompt"], event, text.task, "python"))
            if entry is not None:
                return confidence_of(entry, text.measures, {"language": "python", "project": text.project}).text
        return "no calibrator on this machine"

    return said


def _figures(registry: Registry, question: Mapping[str, Any], results: Results) -> Iterator[Figure]:
    facts = {fact["id"]: msgspec.convert(fact, Fact) for answer in results.answers for fact in facts_of_answer(answer)}
    for task in question["tasks"]:
        drawn: Sequence[Sample] = results.samples.get(f"{task}-{STREAM}", ())
        inputs = Inputs(results.samples.get(task, ()), {STREAM: drawn}, facts)
        for event in EVENTS:
            yield from figures_of_task(registry, question, task, event, inputs, figures)


def _summary(texts: Sequence[Text], gaps: Sequence[Gap], cells: Mapping[str, Cell], question: Mapping[str, Any]) -> tuple[str, str, str]:
    known = [text for text in texts if text.stream and text.kind is not None]
    if not known:
        return (
            "The study asks how well a model knows its own plausible errors.",
            "No drawn text has a label yet.",
            "More steps tell more.",
        )
    shares = {kind: sum(text.kind == kind for text in known) / len(known) for kind in ("right", "counterfeit")}
    others = [text for text in distinct(known) if text.kind != "right"]
    untested = is_untested(question)
    parse = sum(bool(text.outcomes.parses) for text in others) / max(1, len(others))
    keep = sum(text.outcomes.kept > 0 for text in others) / max(1, len(others))
    projects = counted(len({text.project for text in known}), "project")
    right = "are what stood there" if untested else "pass the project's tests"
    wrong = "something else that parses" if untested else "wrong, and yet they parse and keep some of the tests"
    first = (
        f"Of {counted(len(known), 'text')} that {question['model_name']} drew for {counted(len(gaps), 'gap')} in lines of {projects}, "
        f"{shares['right']:.0%} {right} and "
        f"{shares['counterfeit']:.0%} are counterfeits: {wrong}."
    )
    second = "None of them is wrong."
    if others:
        second = f"Of its distinct wrong texts {parse:.0%} parse"
        second += "." if untested else f" and {keep:.0%} keep at least one of the tests that touch them."
    return first, second, " ".join(_judged_and_repaired(cells)) or "Nothing was judged or repaired yet."


def _judged_and_repaired(cells: Mapping[str, Cell]) -> Iterator[str]:
    own, asked = (cells.get(f"J/{key}/balanced_accuracy") for key in ("own", "asked"))
    if own is not None and own.value is not None:
        said = f"; asked whether they are right, {text_of(asked)}" if asked is not None and asked.value is not None else ""
        yield f"Its own probability tells right texts from counterfeits {text_of(own)} of the time, where 50 % is chance{said}."
    for place, cell in cells.items():
        if place.startswith("R/") and place.endswith("/difference") and cell.value is not None:
            yield f"Repair of {place.split('/')[1]} against drawing again: {text_of(cell)}."


def _claims(cells: Mapping[str, Cell]) -> Iterator[PaperClaim]:
    """The paper's claims a to h, by explicit rules. A claim that needs what a model of lines can't do has no cell."""
    differences = {place.split("/")[1]: place for place in cells if place.startswith("R/") and place.endswith("/difference")}
    none, second = Rule("not asked of a model of lines"), Rule("needs a second model")
    asked = "when asked"
    judges = {asked: Asked(judge="J/asked/balanced_accuracy")}
    claims: tuple[tuple[str, str, str, Rule, Mapping[str, str]], ...] = (
        ("a", "Judging its own counterfeits is near chance", "57 to 62 % (GPT-4: 84 %)",
         Rule("balanced accuracy between 35 and 65 %", above=0.35, below=0.65), {asked: "J/asked/balanced_accuracy"}),
        ("a.bias", "It is biased toward calling counterfeits right", "41 % called wrong (CL-34B, its own)",
         Rule("fewer than half of the counterfeits are called wrong", below=0.5), {asked: "J/asked/specificity"}),
        ("b", "Executing wrong programs is far worse, and often as if they were right", "66 % against 30 %", none, {}),
        ("c", "Repair loses to drawing again", "wins at 14 of 82 problems", Rule("repairs minus draws below 0", below=0.0), differences),
        ("d.judge", "Easy problems are not easier to judge", "median r about 0", Rule("r within ±0.2", above=-0.2, below=0.2),
         {asked: "Q/judge"}),
        ("d.repair", "Easy problems are a little easier to repair", "median r about 0.35", Rule("r above 0", above=0.0), {"r": "Q/repair"}),
        ("e", "Own counterfeits are as hard as others'", "a heatmap", second, {}),
        ("f", "Strong and weak generators make equally hard ones", "36 to 42 %", second, {}),
        ("g", "Reasoning with a vote helps a little", "no numbers", none, {}),
        ("h", "A counterfeit's pass rate does not predict how it is judged", "log odds ratios -0.9 to 1.0 by its own counts",
         Rule("log odds ratio within ±0.5", above=-0.5, below=0.5), {asked: "H/asked"}),
    )  # fmt: skip
    for name, claim, printed, rule, wanted in claims:
        yield claim_of(name, claim, printed, rule, list(wanted.items()), cells, judges)


def _not_done(run: Run, question: Mapping[str, Any]) -> Iterator[str]:
    steps = {
        "label": None if is_untested(question) else LABELS,
        "judge": JUDGEMENTS if question.get("questions") else None,
        "repair": REPAIRS if question["mends"] == "yes" else None,
    }
    if left := [name for name, step in steps.items() if step and not run.records(step).path.exists()]:
        yield f"Not done yet: {', '.join(left)}. The same command does it."


def _left_out(answers: Sequence[Any], texts: Sequence[Text], question: Mapping[str, Any], lost: int) -> Iterator[str]:
    hidden = [one["text"] for answer in answers for one in answer["generations"] if one["text_id"] is None]
    blank = sum(not text.strip() for text in hidden)
    failed = "" if is_untested(question) else "; among draws they count as failed"
    yield from lost_items(lost)
    if blank:
        yield f"{counted(blank, 'generation')} without text{failed}."
    if other := len(hidden) - blank:
        yield f"{counted(other, 'generation')} that the editor would hide{failed}."
    if unknown := sum(text.kind is None for text in distinct(texts)):
        yield f"{counted(unknown, 'distinct text')} without a label: not judged yet, or the tests say something else in each run."
    yield "Executing code, and reasoning before a judgement: a model of lines can't be asked for them."
    if is_untested(question):
        yield "Tests and repair: no test judges this code."
    elif question["mends"] != "yes":
        yield "Repair: the model was not trained to mend lines."
    if not question.get("questions"):
        yield "Asking the model whether a text is right: it can't be asked."
    yield "Counterfeits of other models: each run is of one."
