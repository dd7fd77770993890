"""The study on a file of counterfeits: a model judges, executes and repairs the programs of another; or on CRUXEval, executed alone.

With recorded answers no model is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ....analysis.sandbox.isolation.best_level import best_level
from ....calibration.report.blocks import Table
from ....calibration.report.study_report import Section, Source, StudyContent
from ...asked_model import Evaluator, evaluator_of, how_asked, text_of
from ...calibration.recorded import study as recorded_study
from ...errors import UsageError
from ...plan import tell_study
from ...progress import counted
from ...recorded.source import recorded_in, sources_of
from ...run import Run
from ...sets.problems import problems
from ...study import Plan, Study, carry_out
from ...study_page import again, cells_of, facts_of, page_of
from .asking import Options, lost_in, prompt, question_of, without_p
from .derived import Execution, executed_of
from .heatmap import COMPARED, FILES, compare, sections_of_set
from .pages import claims, execution_section, set_section, summary_of
from .programs import PER_CLASS, CounterfeitSet, Program, read_set
from .steps import EXECUTE, JUDGE, OF_SETS, executing, manners, plan_of_set

NEEDED = ("set", "items", "form", "benchmark", "generator")
# Of recorded answers that can take the place of a model's.
_STEPS = ("judge", "execute", "repair")


def run_file(options: Options) -> Run:
    """Run, or resume, the study. Raises UsageError, RunError, StudyError, NoIsolation, ModelError and OSError."""
    made, executions = items_of(options)
    evaluator = evaluator_of(options.choice, options.form, options.recorded)
    _check_answered(evaluator, {each.id for each in (executions or made.programs)}, made.name)
    of_set = {"benchmark": made.benchmark, "generator": made.generator, "source": made.source, "licence": made.licence}
    question = question_of(FILES, options, evaluator, made.name) | of_set | recorded_in(evaluator.files)

    def works(run: Run) -> Plan:
        if executions:
            return [lambda: executing(options, evaluator, executions)]
        return plan_of_set(options, run, evaluator, made.benchmark, lambda: made.programs)

    told = f"{counted(len(executions or made.programs), 'item')} of {made.name}, asked of {evaluator.name}"
    return carry_out(STUDY, options, question, executions or made.programs, works, told)


def items_of(options: Options) -> tuple[CounterfeitSet, list[Execution]]:
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


def _content(run: Run) -> StudyContent:
    question = run.question(NEEDED)
    benchmark, generator, name, evaluator = (question[key] for key in ("benchmark", "generator", "set", "model_name"))
    if benchmark == "cruxeval":
        executed = executed_of(run.items(Execution), run.records(EXECUTE).read())
        sections = [execution_section(benchmark, generator, executed)] if executed else []
        opening = f"{evaluator} was asked for the output of {counted(len(executed), 'function')} of CRUXEval, which are right programs."
    else:
        programs = run.items(Program)
        sections = [set_section(benchmark, programs), Section("Labels", (audit(programs),))]
        sections += sections_of_set(run, benchmark, generator, programs, question["seed"])
        kinds = [program.kind for program in programs]
        right, wrong = kinds.count("right"), kinds.count("counterfeit")
        opening = f"{evaluator} was asked about {right:,} right programs and {wrong:,} counterfeits of {generator} ({name})."
    sources = [Source(name, generator, question["source"], question["licence"])] if question.get("source") else []
    if "recorded" in question:
        sources += sources_of(question)
    return StudyContent(
        title=f"Counterfeits of {generator}, asked of {evaluator}" if benchmark != "cruxeval" else f"Execution: {evaluator} on CRUXEval",
        summary=summary_of(opening, cells_of(sections)),
        facts=(
            "the answers were recorded by others; no model was asked" if "recorded" in question else
            how_asked(question),
            *facts_of(question, "set", "benchmark", "votes", "repairs", "reasoning", "limit", "seed"),
        ),
        sections=tuple(sections),
        claims=claims(cells_of(sections)) if benchmark != "cruxeval" else (),
        left_out=(*lost_in(run, STUDY.steps), *without_p(run, JUDGE)),
        sources=tuple(sources),
        command=again(run),
    )  # fmt: skip


def tell_problems(options: Options) -> None:
    """Say what a run would do. Raises what `run_problems` raises before a model is opened."""
    benchmark, programs, counterfeits, problems, shown, upper = _counts(options)
    calls = _calls(options, benchmark, programs, counterfeits, problems)
    how = manners(options)
    tokens = sum(number * how[name].answers * how[name].max_tokens for name, number in calls.items())
    plan: dict[str, Any] = {
        "set": str(options.set),
        "problems": problems,
        "most_programs": programs,
        "questions": calls,
        "generations": sum(number * how[name].answers for name, number in calls.items()),
        "most_new_tokens": tokens,
        "isolation": str(best_level()),
    }
    lines = [
        f"set          {options.set}: {counted(problems, 'problem') + ', ' if problems else ''}{upper}{counted(programs, 'program')}",
        *(
            f"{name:12s} {counted(number, 'question')}, {how[name].n} answers each at T {how[name].temperature:g}"
            f"{' and one at T 0' if how[name].top else ''}"
            for name, number in calls.items()
        ),
        f"in all       at most {plan['generations']:,} answers of at most {tokens:,} tokens",
        f"tests        what a model wrote runs in the sandbox alone, isolated by {plan['isolation']}",
    ]
    tell_study("counterfeit_problems" if problems else "counterfeit_file", options, plan, lines, shown, "one of the prompts,")


def _counts(options: Options) -> tuple[str, int, int, int, str, str]:
    """Benchmark, programs and counterfeits at most, problems to draw for, an example, and what people are told of the number."""
    if isinstance(options.set, Path) or options.set == "cruxeval":
        made, executions = items_of(options)
        if executions:
            first = executions[0]
            return "cruxeval", len(executions), 0, 0, _rendered("execute", program=first.code, call=first.call), ""
        wrong = sum(program.kind == "counterfeit" for program in made.programs)
        return made.benchmark, len(made.programs), wrong, 0, _rendered("judge", program=made.programs[0].text.rstrip()), ""
    found = options.problems(options.set)
    most = PER_CLASS * len(found)
    return options.set, 2 * most, most, len(found), _rendered("draw", program=found[0].prompt.rstrip()), "at most "


def _calls(options: Options, benchmark: str, programs: int, counterfeits: int, problems: int) -> dict[str, int]:
    if benchmark == "cruxeval":
        return {"execute": programs}
    calls = {"draw": problems} if problems and options.wants("draw") else {}
    if options.wants("judge"):
        calls |= {"judge": programs} if options.reasoning != "with" else {}
        calls |= {"judge_reasoning": programs} if options.reasoning != "without" else {}
    if options.data is not None and options.wants("execute") and benchmark != "odex":
        calls["execute"] = 2 * programs
    if options.data is not None and options.wants("repair"):
        calls["repair"] = counterfeits
    return calls


def _rendered(name: str, **slots: str) -> str:
    return text_of(prompt(name).render(**slots))


STUDY = Study(FILES, OF_SETS, NEEDED, page_of(_content), compare=compare, compared=COMPARED)


def tell_draws(options: recorded_study.Options) -> None:
    """Say what a run on recorded programs would do. Raises as `run_recorded` before it begins."""
    found = recorded_study.find(options)
    draws = sum(unit.draws for unit in found.units)
    plan = {
        "set": options.set,
        "problems": len(found.problems),
        "recorded": [str(file.path) for file in found.files],
        "texts": len(found.units),
        "generations": 0,
        "isolation": str(best_level()),
    }
    lines = [
        f"problems     {len(found.problems):,} of {options.set}, {options.data}",
        "calls        none: no model is asked",
        f"answers      {counted(draws, 'recorded answer')}, {counted(len(found.units), 'distinct text')}, each run once in the sandbox",
        f"tests        isolated by {plan['isolation']}",
    ]
    tell_study("counterfeit_recorded", options, plan, lines)
