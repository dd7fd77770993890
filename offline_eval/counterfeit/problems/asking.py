"""What the user wants; a run's question; the steps of the study on problems, and the work of each.

Most ask a model: one question an item, several answers to it. Recorded answers take the place of a model's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

from ....analysis.corpora.evalplus import traced
from ....analysis.sandbox.isolation.best_level import best_level
from ....analysis.sandbox.isolation.jail import Jail
from ....analysis.sandbox.isolation.levels import Isolation
from ....analysis.sandbox.judging.python import PythonSandbox
from ....analysis.sandbox.judging.result import ProgramOutcome
from ....inference.asking.asker import Asker, Message, Said, alternatives_behind
from ...asked_model import AskedModel, Asking, ChatOptions, Evaluator, fingerprint_of, prompt_beside, question_in_words
from ...calibration.recorded.draws import Labelled, Unit, start
from ...errors import UsageError
from ...progress import counted
from ...recorded.answers import RecordedAnswer
from ...recorded.answers import Step as RecordedStep
from ...recorded.formats import recorded
from ...run import Run, Step
from ...sets.problem import Problem
from ...sets.problems import countable_problems, problems
from ...sets.suites import Unjudged
from ...study import Making, Work, all_of
from .derived import Execution, executions_of, repair_units
from .programs import Program
from .tracing import LIMITS, guarded

Reasoning = Literal["with", "without"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ChatOptions):
    """What the user wants.

    set: humaneval, mbpp, odex or cruxeval, or the file of a set of counterfeits. data: the benchmark's file; None where only the texts of a
    set are asked about. limit: the first so many problems. draws, temperature: of drawing. votes: answers to each question. repairs: of
    each counterfeit. reasoning: judge in this way alone.
    """

    set: str | Path
    data: Path | None = None
    draws: int = 50
    temperature: float = 0.6
    votes: int = 10
    repairs: int = 10
    reasoning: Reasoning | None = None

    def problems(self, benchmark: str) -> list[Problem]:
        """The problems of the benchmark's file, each with tests that can be counted. Raises SetError and UsageError."""
        if self.data is None:
            raise UsageError(f"the tests of {benchmark} are needed: name its file with --data")
        return countable_problems(benchmark, self.data, self.limit if isinstance(self.set, str) else None)


PROMPTS = ("draw", "judge", "judge_reasoning", "execute", "repair")
prompt = partial(prompt_beside, __file__)
# As many as servers tell.
_TOP = 20


class Given(TypedDict):
    """An answer as it came. logprob: of all its tokens, in nats; null where it is not told."""

    text: str
    stopped_by: str
    logprob: float | None


class Answered(TypedDict):
    """The answers to an item. top: the likeliest tokens (text, log p) at the answer's first word, where they are asked for and told."""

    id: str
    given: list[Given]
    top: NotRequired[list[tuple[str, float]]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about an item. slots: of the prompt."""

    id: str
    slots: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Manner:
    """How a step asks. prompt: its name. top: whether the first word's likeliest tokens are asked for, at temperature 0."""

    prompt: str
    n: int
    temperature: float
    max_tokens: int
    stop: tuple[str, ...]
    top: bool = False

    @property
    def answers(self) -> int:
        """To each question."""
        return self.n + self.top


def answered(how: Manner, seed: int, asker: Asker, question: Question) -> dict[str, Any]:
    """The record of a question. Raises what `Asker.say` raises."""
    return record_of(question.id, prompt(how.prompt).render(**question.slots), how, seed, asker)


def record_of(name: str, messages: Sequence[Message], how: Manner, seed: int, asker: Asker) -> dict[str, Any]:
    """The record of what is asked in these messages. name: the question's. Raises what `Asker.say` raises."""
    record: dict[str, Any] = {"id": name}
    if how.top:
        (first,) = asker.say(messages, max_tokens=how.max_tokens, stop=how.stop, top_logprobs=_TOP)
        if top := alternatives_behind(first, how.stop[0].replace("/", "") if how.stop else ""):
            record["top"] = [(each.text, each.logprob) for each in top]
    said = asker.say(messages, n=how.n, temperature=how.temperature, max_tokens=how.max_tokens, stop=how.stop, seed=seed)
    return {**record, "given": [_given(each) for each in said]}


def _given(answer: Said | RecordedAnswer) -> Given:
    return {
        "text": answer.text,
        "stopped_by": answer.stopped_by,
        "logprob": None if answer.logprobs is None else sum(answer.logprobs),
    }


def from_files(paths: Sequence[Path], step: RecordedStep) -> Callable[[Question], dict[str, Any]]:
    """A worker's function that gives what was recorded."""
    found = [recorded(path) for path in paths]

    def record(question: Question) -> dict[str, Any]:
        answers = next(answers for each in found if (answers := each.of(question.id, step)))
        return {"id": question.id, "given": [_given(each) for each in answers]}

    return record


def asking(
    options: ChatOptions,
    evaluator: Evaluator,
    step: Step,
    questions: Sequence[Question],
    recorded_as: RecordedStep,
    ask: Callable[[Asker, Any], dict[str, Any]],
) -> Work[Any]:
    """The work of asking. recorded_as: the step of recorded answers that take its place."""
    if evaluator.files:
        there = [each for each in questions if any(file.answers.of(each.id, recorded_as) for file in evaluator.files)]
        return all_of(step, there, partial(from_files, options.recorded, recorded_as), options.pool)
    model = AskedModel(options.choice, evaluator.id, evaluator.name, evaluator.form)
    return all_of(step, questions, Asking(model, ask), options.pool, waits=options.waits)


def question_of(study: str, options: Options, evaluator: Evaluator, name: str) -> dict[str, Any]:
    """A run's question, but for its items. name: of the set."""
    question = question_in_words(study, options, evaluator, name, fingerprint_of(map(prompt, PROMPTS)))
    if not evaluator.files:
        question |= {"votes": options.votes, "repairs": options.repairs}
    return question | options.limited | ({"reasoning": options.reasoning} if options.reasoning else {})


def lost_in(run: Run, steps: Sequence[Step]) -> list[str]:
    """What has no record, for people."""
    lost = ((step, len(run.lost(step))) for step in steps)
    return [f"{counted(n, step.unit)} without an answer: the server or the machine failed." for step, n in lost if n]


def without_p(run: Run, step: Step, word: str = "Correct") -> list[str]:
    """Of how many questions p(word) is not known, for people."""
    records = run.records(step).read()
    missing = sum("top" not in record for record in records)
    if not missing or "recorded" in run.question():
        return []
    why = "the model tells no log-probabilities, or its answer has no such word"
    return [f"p({word}) of {missing:,} of {counted(len(records), step.unit)}: {why}."]


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


def asked_of_set(options: Options, benchmark: str, *, recorded: bool = False) -> list[str]:
    """The steps that ask about the programs of a set. recorded: answers take the place of a model, and are judgements of one way alone."""
    both = ("judge",) if recorded else ("judge", "judge_reasoning")
    judging = {None: both, "without": ("judge",), "with": ("judge_reasoning",)}[options.reasoning]
    found = [*judging] if options.wants("judge") else []
    if options.data is not None:
        there = ("repair",) if benchmark == "odex" else ("execute", "repair")
        found += [name for name in there if options.wants(name)]
    return found


def plan_of_set(
    options: Options, run: Run, evaluator: Evaluator, benchmark: str, programs: Callable[[], Sequence[Program]]
) -> list[Making]:
    """The steps on a set of programs. programs: the set, when the steps before are done."""
    plan: list[Making] = []
    for name in asked_of_set(options, benchmark, recorded=bool(evaluator.files)):
        match name:
            case "execute":
                plan.append(lambda: _tracing(options, benchmark, programs()))
                plan.append(lambda: executing(options, evaluator, list(executions_of(programs(), run.records(TRACE).read(), options.seed))))
            case "repair":
                plan.append(lambda: asked_in(options, evaluator, REPAIR, _programs_asked(programs(), "counterfeit"), "repair"))
                plan.append(lambda: labelling(options, benchmark, REPAIR_LABEL, list(repair_units(programs(), run.records(REPAIR).read()))))
            case _:
                step = JUDGE if name == "judge" else JUDGE_REASONING
                plan.append(partial(lambda step: asked_in(options, evaluator, step, _programs_asked(programs()), "judge"), step))
    return plan


def executing(options: Options, evaluator: Evaluator, executions: Sequence[Execution]) -> Work[Any]:
    """The work of asking for outputs."""
    questions = [Question(each.id, {"program": each.code.rstrip(), "call": each.call}) for each in executions]
    return asked_in(options, evaluator, EXECUTE, questions, "execute")


def _programs_asked(programs: Sequence[Program], kind: str = "") -> list[Question]:
    return [Question(each.id, {"program": each.text.rstrip()}) for each in programs if kind in ("", each.kind)]


def _tracing(options: Options, benchmark: str, programs: Sequence[Program]) -> Work[Any]:
    assert options.data is not None, "its problems have been read"
    return all_of(TRACE, programs, partial(tracer, benchmark, options.data, best_level()), options.pool, max_item_s=MAX_TEXT_S)


def tracer(benchmark: str, data: Path, isolation: Isolation) -> Callable[[Program], dict[str, Any]]:
    """The worker's function that traces programs; it raises Unjudged where the machine failed."""
    by_id: Mapping[str, Problem] = {problem.id: problem for problem in problems(benchmark, data)}
    sandbox = PythonSandbox(Jail(isolation))

    def trace(item: Program) -> dict[str, Any]:
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
