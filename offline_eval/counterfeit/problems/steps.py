"""The steps of the study on problems, and the work of each."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from ....analysis.corpora.evalplus import traced
from ....analysis.sandbox.isolation.best_level import best_level
from ....analysis.sandbox.isolation.jail import Jail
from ....analysis.sandbox.isolation.levels import Isolation
from ....analysis.sandbox.judging.python import PythonSandbox
from ....analysis.sandbox.judging.result import ProgramOutcome
from ...asked_model import Evaluator
from ...calibration.recorded.draws import Labelled, Unit, start
from ...recorded.answers import Step as RecordedStep
from ...run import Run, Step
from ...sets.problem import Problem
from ...sets.problems import problems
from ...sets.suites import Unjudged
from ...study import Making, Work, all_of
from .asking import Answered, Manner, Options, Question, answered, asking
from .derived import Execution, executions_of, repair_units
from .programs import Program
from .tracing import LIMITS, guarded

# A worker that takes so long for one text hangs.
MAX_TEXT_S = 900.0
# The paper's for judging and execution; its repairs and draws have no word of a limit.
T_ANSWER, T_REPAIR = 0.2, 0.6
_CLOSING = ("[/ANSWER]",)


class Traced(TypedDict):
    """What a program gives. pairs: (arguments, value, right answer), none where CRUXEval's filter refuses the program."""

    id: str
    entry_point: str
    pairs: list[tuple[str, str, str]]


DRAW = Step("draw", "problem", Answered)
LABEL = Step("label", "text", Labelled)
JUDGE = Step("judge", "judged program", Answered)
JUDGE_REASONING = Step("judge_reasoning", "reasoned verdict", Answered)
TRACE = Step("trace", "traced program", Traced)
EXECUTE = Step("execute", "execution", Answered)
REPAIR = Step("repair", "repaired counterfeit", Answered)
REPAIR_LABEL = Step("repair_label", "repair", Labelled)
OF_SETS = (JUDGE, JUDGE_REASONING, TRACE, EXECUTE, REPAIR, REPAIR_LABEL)


@dataclass(frozen=True, slots=True)
class TraceItem:
    """A program to be traced."""

    id: str
    problem: str
    text: str


def manners(options: Options) -> dict[str, Manner]:
    """How each step asks."""
    return {
        "draw": Manner("draw", options.draws, options.temperature, 1024, ("[/PYTHON]",)),
        "judge": Manner("judge", options.votes, T_ANSWER, 32, _CLOSING, top=True),
        "judge_reasoning": Manner("judge_reasoning", options.votes, T_ANSWER, 1024, _CLOSING),
        "execute": Manner("execute", options.votes, T_ANSWER, 256, _CLOSING),
        "repair": Manner("repair", options.repairs, T_REPAIR, 2048, ("[/PYTHON]",)),
    }


def asked_in(options: Options, evaluator: Evaluator, step: Step, questions: Sequence[Question], recorded_as: RecordedStep) -> Work[Any]:
    """The work of a step that asks, in its manner."""
    return asking(options, evaluator, step, questions, recorded_as, partial(answered, manners(options)[step.name], options.seed))


def labelling(options: Options, benchmark: str, step: Step, units: Sequence[Unit]) -> Work[Any]:
    """The work of running programs on the benchmark's tests."""
    assert options.data is not None, "its problems have been read"
    begin = partial(start, benchmark, options.data, None, best_level())
    return all_of(step, units, begin, options.pool, max_item_s=MAX_TEXT_S)


def plan_of_set(
    options: Options, run: Run, evaluator: Evaluator, benchmark: str, programs: Callable[[], Sequence[Program]]
) -> list[Making]:
    """The steps on a set of programs. programs: the set, when the steps before are done."""
    plan: list[Making] = []
    if options.wants("judge"):
        for step, way in ((JUDGE, "without"), (JUDGE_REASONING, "with")):
            if (options.reasoning or way) == way and (not evaluator.files or (options.reasoning or "without") == way):
                plan.append(partial(_judging, options, evaluator, step, programs))
    if options.wants("execute") and options.data is not None and benchmark != "odex":
        plan.append(lambda: _tracing(options, benchmark, programs()))
        plan.append(lambda: executing(options, evaluator, list(executions_of(programs(), run.records(TRACE).read(), options.seed))))
    if options.wants("repair") and options.data is not None:
        plan.append(lambda: asked_in(options, evaluator, REPAIR, _programs_asked(programs(), "counterfeit"), "repair"))
        plan.append(lambda: labelling(options, benchmark, REPAIR_LABEL, list(repair_units(programs(), run.records(REPAIR).read()))))
    return plan


def executing(options: Options, evaluator: Evaluator, executions: Sequence[Execution]) -> Work[Any]:
    """The work of asking for outputs."""
    questions = [Question(each.id, {"program": each.code.rstrip(), "call": each.call}) for each in executions]
    return asked_in(options, evaluator, EXECUTE, questions, "execute")


def _judging(options: Options, evaluator: Evaluator, step: Step, programs: Callable[[], Sequence[Program]]) -> Work[Any]:
    return asked_in(options, evaluator, step, _programs_asked(programs()), "judge")


def _programs_asked(programs: Sequence[Program], kind: str = "") -> list[Question]:
    return [Question(each.id, {"program": each.text.rstrip()}) for each in programs if kind in ("", each.kind)]


def _tracing(options: Options, benchmark: str, programs: Sequence[Program]) -> Work[Any]:
    assert options.data is not None, "its problems have been read"
    items = [TraceItem(each.id, each.problem, each.text) for each in programs]
    return all_of(TRACE, items, partial(tracer, benchmark, options.data, best_level()), options.pool, max_item_s=MAX_TEXT_S)


def tracer(benchmark: str, data: Path, isolation: Isolation) -> Callable[[TraceItem], dict[str, Any]]:
    """The worker's function that traces programs; it raises Unjudged where the machine failed."""
    by_id: Mapping[str, Problem] = {problem.id: problem for problem in problems(benchmark, data)}
    sandbox = PythonSandbox(Jail(isolation))

    def trace(item: TraceItem) -> dict[str, Any]:
        begun, problem = time.perf_counter(), by_id[item.problem]
        record: dict[str, Any] = {"id": item.id, "entry_point": problem.entry_point or "", "pairs": []}
        program = guarded(item.text, problem.entry_point or "")
        if program is not None:
            test = traced(problem.test, problem.entry_point, problem.base_inputs)
            result = sandbox.check(program, test, problem.entry_point, limits=LIMITS)
            if result.outcome is ProgramOutcome.INFRASTRUCTURE:
                raise Unjudged(result.reason)
            record["pairs"] = json.loads(result.report or "[]")
        return {**record, "timings": {"tests_ms": (time.perf_counter() - begun) * 1e3}}

    return trace
