"""The study on the problems of a benchmark: draw, label, and then judge, execute and repair what was drawn.

The programs that are judged are a set of their own, `counterfeits.jsonl` in the run's folder, which other models can be asked about.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from ....calibration.report.paper_claims import MAX_UNREADABLE
from ....calibration.report.study_report import StudyContent
from ...asked_model import IN_FORM, Evaluator, evaluator_of, how_asked
from ...calibration.recorded.draws import Labelled, Unit
from ...counterfeit.problems.steps import asked_in
from ...progress import counted
from ...run import Run
from ...sets.problem import Problem
from ...study import Making, Plan, Study, carry_out
from ...study_page import again, cells_of, facts_of, page_of
from .asking import Options, Question, lost_in, question_of, without_p
from .derived import ProblemItem, failing_references, reference_id, units_of, unreadable_draws
from .file_study import run_file
from .heatmap import COMPARED, DRAWN, DRAWS, compare, kept_set, sections_of_set, stream_of
from .judgements import unreadable_cell
from .pages import claims, drawn_sentence, stream_section, summary_of
from .programs import PER_CLASS
from .steps import DRAW, JUDGE, LABEL, OF_SETS, labelling, plan_of_set

_TOO_FEW = f"No problem has {PER_CLASS} right programs and {PER_CLASS} counterfeits with distinct texts, so nothing is asked about them."


def run_problems(options: Options) -> Run:
    """Run, or resume, the study. Raises UsageError, RunError, StudyError, NoIsolation, ModelError and OSError."""
    if isinstance(options.set, Path) or options.set == "cruxeval":
        return run_file(options)
    found = options.problems(options.set)
    evaluator = evaluator_of(options.choice, options.form, options.recorded)
    question = question_of(DRAWS, options, evaluator, options.set) | {"draws": options.draws, "temperature": f"{options.temperature:g}"}
    told = f"{counted(len(found), 'problem')} of {options.set}, {counted(options.draws, 'draw')} each, asked {IN_FORM[evaluator.form]}"
    return carry_out(STUDY, options, question, map(item_of, found), lambda run: _plan(options, run, evaluator, found), told)


def item_of(problem: Problem) -> ProblemItem:
    """The problem as a line of items.jsonl."""
    digest = hashlib.sha256(problem.test.encode(errors="surrogatepass")).hexdigest()
    return ProblemItem(problem.id, problem.set, problem.prompt, problem.entry_point or "", problem.plus_inputs > 0, digest)


def _plan(options: Options, run: Run, evaluator: Evaluator, found: list[Problem]) -> Plan:
    benchmark, questions = str(options.set), [Question(problem.id, {"program": problem.prompt.rstrip()}) for problem in found]
    plan: list[Making] = [lambda: asked_in(options, evaluator, DRAW, questions, "draw")] if options.wants("draw") else []
    if options.wants("label"):
        plan.append(lambda: labelling(options, benchmark, LABEL, _units(run, found)))
    return plan + plan_of_set(options, run, evaluator, benchmark, lambda: kept_set(run).programs)


def _units(run: Run, found: list[Problem]) -> list[Unit]:
    """What is labelled: the problems' own solutions, and each distinct draw."""
    draws = run.records(DRAW).read()
    drawn = {record["id"] for record in draws}
    references = [Unit(reference_id(problem.id), problem.id, problem.truth) for problem in found if problem.id in drawn]
    return references + list(units_of(run.items(ProblemItem), draws))


def _content(run: Run) -> StudyContent:
    question = run.question(DRAWN)
    drawn, made = stream_of(run), kept_set(run)
    items, draws = run.items(ProblemItem), run.records(DRAW).read()
    labels = {record["id"]: Labelled(**record) for record in run.records(LABEL).read()}
    sections = [stream_section(made.benchmark, drawn, made.programs)] if drawn else []
    sections += sections_of_set(run, made.benchmark, made.generator, made.programs, question["seed"])
    cells = cells_of(sections)
    opening = drawn_sentence(question["set"], question["model_name"], drawn, cells) if drawn else "No program has a label yet."
    unreadable = unreadable_cell("DR/unreadable", unreadable_draws(items, draws))
    if (unreadable.value or 0.0) > MAX_UNREADABLE:
        opening = f"{100 * (unreadable.value or 0.0):.1f} % of the draws hold no program that can be read. {opening}"
    failing = failing_references(items, labels)
    left_out = (
        [f"{counted(len(failing), 'problem')} whose own solution fails in this sandbox ({', '.join(failing[:5])})."] if failing else []
    )
    return StudyContent(
        title=f"Counterfeits of {question['model_name']} on {question['set']}",
        summary=summary_of(opening, cells) if made.programs or not drawn else summary_of(opening, cells, _TOO_FEW),
        facts=(
            how_asked(question),
            *facts_of(question, "set", "draws", "temperature", "votes", "repairs", "reasoning", "limit", "seed"),
        ),
        sections=tuple(sections),
        claims=claims(cells_of(sections)) if len(sections) > 1 else (),
        left_out=(*left_out, *lost_in(run, STUDY.steps), *without_p(run, JUDGE)),
        command=again(run),
    )


STUDY = Study(DRAWS, (DRAW, LABEL, *OF_SETS), DRAWN, page_of(_content), compare=compare, compared=COMPARED)
