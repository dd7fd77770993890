"""The studies on problems: on the problems of a benchmark, for which a model draws programs, and on a file of counterfeits.

A model judges, executes and repairs what was drawn, or the programs of another model; CRUXEval is executed alone. The programs that are
drawn are a set of their own, `counterfeits.jsonl` in the run's folder, which other models can be asked about. With recorded answers no
model is asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ....analysis.sandbox.isolation.best_level import best_level
from ....calibration.report.blocks import Table
from ....calibration.report.paper_claims import MAX_UNREADABLE
from ....calibration.report.study_report import Section, Source, StudyContent
from ...asked_model import IN_FORM, Evaluator, evaluator_of, how_asked, text_of
from ...calibration.recorded.draws import Unit
from ...errors import UsageError
from ...probe import Probe, estimated
from ...progress import counted
from ...recorded.source import recorded_in, sources_of
from ...run import Run
from ...sets.problem import Problem
from ...sets.problems import problems
from ...study import Making, Plan, Study, carry_out
from ...study_page import again, cells_of, facts_of, page_of
from . import asking as steps
from . import pages
from .derived import Execution, ProblemItem, draws_of, executed_of, failing_references, reference_id, units_of
from .heatmap import compare
from .judgements import unreadable_cell
from .programs import PER_CLASS, CounterfeitSet, Program, read_set

# Of recorded answers that can take the place of a model's.
_STEPS = ("judge", "execute", "repair")
_TOO_FEW = f"No problem has {PER_CLASS} right programs and {PER_CLASS} counterfeits with distinct texts, so nothing is asked about them."


def run_problems(options: steps.Options) -> Run:
    """Run, or resume, a study. Raises UsageError, RunError, StudyError, NoIsolation, ModelError and OSError."""
    if isinstance(options.set, Path) or options.set == "cruxeval":
        return _run_file(options)
    found = options.problems(options.set)
    evaluator = evaluator_of(options)
    question = steps.question_of(pages.DRAWS, options, evaluator, options.set) | {
        "draws": options.draws,
        "temperature": f"{options.temperature:g}",
    }
    told = f"{counted(len(found), 'problem')} of {options.set}, {counted(options.draws, 'draw')} each, asked {IN_FORM[evaluator.form]}"
    count, benchmark = len(found) * PER_CLASS, str(options.set)
    calls = {"draw": len(found)} if options.wants("draw") else {}
    calls |= _questions(options, benchmark, 2 * count, count)
    plan = partial(_ahead, options, calls, program=found[0].prompt.rstrip())
    return carry_out(STUDY, options, question, map(item_of, found), lambda run: _plan(options, run, evaluator, found), told, plan=plan)


def _questions(options: steps.Options, benchmark: str, programs: int, counterfeits: int) -> dict[str, int]:
    """At most how many each step asks of so many programs."""
    each = {"judge": programs, "judge_reasoning": programs, "execute": 2 * programs, "repair": counterfeits}
    return {name: each[name] for name in steps.asked_of_set(options, benchmark, recorded=bool(options.recorded))}


def _ahead(options: steps.Options, calls: Mapping[str, int], call: str = "f(0)", **slots: str) -> dict[str, Any]:
    """What a dry run says. calls: how many questions each step asks at most. slots: of the prompts, for an example."""
    how, slots = steps.manners(options), {"call": call, **slots}
    plan: dict[str, Any] = {"most_questions": calls, "isolation": str(best_level())}
    if options.recorded or not calls:
        return plan | {"generations": 0}
    asked = {name: steps.Question("probe", {slot: slots[slot] for slot in steps.prompt(name).slots}) for name in calls}
    probes = [Probe(name, number, partial(steps.answered, how[name], options.seed, question=asked[name])) for name, number in calls.items()]
    return {
        **plan,
        "most_generations": sum(number * how[name].answers for name, number in calls.items()),
        "most_new_tokens": sum(number * how[name].answers * how[name].max_tokens for name, number in calls.items()),
        **estimated(options.choice, options.form, options.pool, probes),
        "example": text_of(steps.prompt(next(iter(calls))).render(**next(iter(asked.values())).slots)),
    }


def item_of(problem: Problem) -> ProblemItem:
    """The problem as a line of items.jsonl."""
    digest = hashlib.sha256(problem.test.encode(errors="surrogatepass")).hexdigest()
    return ProblemItem(problem.id, problem.set, problem.prompt, problem.entry_point or "", problem.plus_inputs > 0, digest)


def _plan(options: steps.Options, run: Run, evaluator: Evaluator, found: list[Problem]) -> Plan:
    benchmark, questions = str(options.set), [steps.Question(problem.id, {"program": problem.prompt.rstrip()}) for problem in found]
    plan: list[Making] = [lambda: steps.asked_in(options, evaluator, steps.DRAW, questions, "draw")] if options.wants("draw") else []
    if options.wants("label"):
        plan.append(lambda: steps.labelling(options, benchmark, steps.LABEL, _units(run, found)))
    return plan + steps.plan_of_set(options, run, evaluator, benchmark, lambda: pages.set_of(run).programs)


def _units(run: Run, found: list[Problem]) -> list[Unit]:
    """What is labelled: the problems' own solutions, and each distinct draw."""
    draws = run.records(steps.DRAW).read()
    drawn = {record["id"] for record in draws}
    references = [Unit(reference_id(problem.id), problem.id, problem.truth) for problem in found if problem.id in drawn]
    return references + list(units_of(run.items(ProblemItem), draws))


def _run_file(options: steps.Options) -> Run:
    made, executions = items_of(options)
    evaluator = evaluator_of(options)
    _check_answered(evaluator, {each.id for each in (executions or made.programs)}, made.name)
    of_set = {"benchmark": made.benchmark, "generator": made.generator, "source": made.source, "licence": made.licence}
    question = steps.question_of(pages.FILES, options, evaluator, made.name) | of_set | recorded_in(evaluator.files)

    def works(run: Run) -> Plan:
        if executions:
            return [lambda: steps.executing(options, evaluator, executions)]
        return steps.plan_of_set(options, run, evaluator, made.benchmark, lambda: made.programs)

    told = f"{counted(len(executions or made.programs), 'item')} of {made.name}, asked of {evaluator.name}"
    if executions:
        plan = partial(_ahead, options, {"execute": len(executions)}, program=executions[0].code, call=executions[0].call)
    else:
        wrong = sum(program.kind == "counterfeit" for program in made.programs)
        calls = _questions(options, made.benchmark, len(made.programs), wrong)
        plan = partial(_ahead, options, calls, program=made.programs[0].text.rstrip())
    return carry_out(OF_FILE, options, question, executions or made.programs, works, told, plan=plan)


def items_of(options: steps.Options) -> tuple[CounterfeitSet, list[Execution]]:
    """The set, and for CRUXEval what is executed. Raises SetError and UsageError."""
    if isinstance(options.set, str):
        assert options.data is not None, "the options were checked"
        found = problems("cruxeval", options.data, options.limit)
        executions = []
        for problem in found:
            code, _, call = problem.prompt.removesuffix(" == ").rpartition("\nassert ")
            executions.append(Execution(problem.id, problem.id, problem.id, "right", code, call, problem.truth, problem.truth))
        return CounterfeitSet("cruxeval", "cruxeval", "CRUXEval", ()), executions
    made = read_set(options.set)
    kept = set(list(dict.fromkeys(program.problem for program in made.programs))[: options.limit])
    made = replace(made, programs=tuple(program for program in made.programs if program.problem in kept))
    if options.data is not None:
        known = {problem.id for problem in options.problems(made.benchmark)}
        if missing := [problem for problem in kept if problem not in known]:
            raise UsageError(
                f"{options.data} has no {min(missing)}, of which {options.set} has programs: name the file of {made.benchmark}"
            )
    elif wanted := [step for step in options.steps if step in ("execute", "repair")]:
        raise UsageError(f"the step {wanted[0]} runs programs on the tests of {made.benchmark}: name its file with --data")
    return made, []


def _check_answered(evaluator: Evaluator, ids: set[str], name: str) -> None:
    """Raises UsageError where recorded answers are of other items; an input's id is that of its program, @ and a number."""
    answered = {item.partition("@")[0] for file in evaluator.files for item, step, _ in file.answers.answers if step in _STEPS}
    if evaluator.files and not answered & ids:
        files = ", ".join(str(file.path) for file in evaluator.files)
        raise UsageError(f"{files}: no answer to any item of {name} (steps {', '.join(_STEPS)}; an item is named as {min(ids)})")


def _content(run: Run) -> StudyContent:
    question, made = run.question(), pages.set_of(run)
    drawn, items, draws = pages.stream_of(run), run.items(ProblemItem), run.records(steps.DRAW).read()
    sections = [pages.stream_section(made.benchmark, drawn, made.programs)] if drawn else []
    opening = "No program has a label yet."
    if drawn:
        opening = pages.drawn_sentence(question["set"], question["model_name"], drawn, cells_of(sections))
    unreadable = unreadable_cell("DR/unreadable", [(texts.count(None), len(texts), item.id) for item, texts in draws_of(items, draws)])
    if (unreadable.value or 0.0) > MAX_UNREADABLE:
        opening = f"{100 * (unreadable.value or 0.0):.1f} % of the draws hold no program that can be read. {opening}"
    failing = failing_references(items, pages.labels_of(run, steps.LABEL))
    left_out = [f"{counted(len(failing), 'problem')} whose own solution fails in this sandbox ({', '.join(failing[:5])})."]
    title = f"Counterfeits of {question['model_name']} on {question['set']}"
    sections += pages.sections_of_set(run, made)
    without = () if made.programs or not drawn else (_TOO_FEW,)
    return _page(run, title, opening, sections, without=without, left_out=left_out if failing else ())


def _content_of_file(run: Run) -> StudyContent:
    question, made = run.question((*pages.NEEDED, "benchmark", "generator")), pages.set_of(run)
    name, evaluator, programs = question["set"], question["model_name"], made.programs
    if made.benchmark == "cruxeval":
        title = f"Execution: {evaluator} on CRUXEval"
        executed = executed_of(run.items(Execution), run.records(steps.EXECUTE).read())
        sections = [pages.execution_section(made.benchmark, made.generator, executed)] if executed else []
        opening = f"{evaluator} was asked for the output of {counted(len(executed), 'function')} of CRUXEval, which are right programs."
    else:
        title = f"Counterfeits of {made.generator}, asked of {evaluator}"
        sections = [pages.set_section(made.benchmark, programs), Section("Labels", (audit(programs),)), *pages.sections_of_set(run, made)]
        kinds = [program.kind for program in programs]
        right, wrong = kinds.count("right"), kinds.count("counterfeit")
        opening = f"{evaluator} was asked about {right:,} right programs and {wrong:,} counterfeits of {made.generator} ({name})."
    sources = [Source(name, made.generator, question["source"], question["licence"])] if question.get("source") else []
    return _page(run, title, opening, sections, sources=sources)


def _page(
    run: Run,
    title: str,
    opening: str,
    sections: Sequence[Section],
    *,
    without: Sequence[str] = (),
    left_out: Sequence[str] = (),
    sources: Sequence[Source] = (),
) -> StudyContent:
    """without: why nothing was asked."""
    question, cells = run.question(), cells_of(sections)
    is_recorded = "recorded" in question
    asked = ("set", "benchmark", "draws", "temperature", "votes", "repairs", "reasoning", "limit", "seed")
    return StudyContent(
        title=title,
        summary=pages.summary_of(opening, cells, *without),
        facts=(
            "the answers were recorded by others; no model was asked" if is_recorded else how_asked(question),
            *facts_of(question, *asked),
        ),
        sections=tuple(sections),
        claims=pages.claims(cells) if len(sections) > 1 else (),
        left_out=(*left_out, *steps.lost_in(run, STUDY.steps), *steps.without_p(run, steps.JUDGE)),
        sources=(*sources, *(sources_of(question) if is_recorded else ())),
        command=again(run),
    )


def audit(programs: Sequence[Program]) -> Table:
    """How far the labels of a set can be trusted: counterfeits that pass the original tests, or are right by the benchmark's own rule."""
    counterfeits = [program for program in programs if program.kind == "counterfeit"]
    rates = [program.tested.rate for program in counterfeits]
    rows = (
        ("right programs", sum(program.kind == "right" for program in programs)),
        (
            "of these, not all tests pass",
            sum(program.kind == "right" and not (program.base == 1 == program.tested.rate) for program in programs),
        ),
        ("counterfeits", len(counterfeits)),
        ("of these, all original tests pass", sum(program.base == 1 for program in counterfeits)),
        ("of these, right by the 95 % rule", sum(program.is_right("benchmark") for program in counterfeits)),
        (
            "of these, all of EvalPlus' pass and an original one fails",
            sum(program.plus == 1 and program.base < 1 for program in counterfeits),
        ),
        ("counterfeits that pass less than half of the tests", sum(rate < 0.5 for rate in rates)),
        ("counterfeits that pass more than half", sum(rate > 0.5 for rate in rates)),
        ("distinct texts", len({(program.problem, program.text) for program in programs})),
    )
    return Table("Audit of the labels", ("what", "number"), "lr", tuple((what, f"{number:,}") for what, number in rows))


STUDY = Study(
    pages.DRAWS, (steps.DRAW, steps.LABEL, *steps.OF_SETS), pages.NEEDED, page_of(_content), compare=compare, compared=pages.COMPARED
)
OF_FILE = Study(
    pages.FILES,
    steps.OF_SETS,
    (*pages.NEEDED, "benchmark", "generator"),
    page_of(_content_of_file),
    compare=compare,
    compared=pages.COMPARED,
)
