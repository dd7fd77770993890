"""The calibration study on sets of problems: functions from signature and docstring, and repairs of one line.

A problem is a file with the cursor where its answer begins, and is completed as the editor completes it: a function's body (HumanEval,
MBPP), or the line in the place of a wrong one, which the model is not shown (QuixBugs, Defects4J). A set's tests judge each distinct text
in the sandbox. An exact match passes without a run; of Defects4J that is all that can be judged.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...analysis.python.lines import Gap
from ...analysis.python.source_text import tree_of
from ...analysis.sandbox.isolation.best_level import best_level
from ...inference.completion.settings import Settings
from ...inference.completion.task import Task
from ...suggestion.memory.scope import Scope
from ..answers import Answer
from ..asked_line import EVENT, Asking, OpenModel, drawn_at, generation_id, label_id
from ..errors import StudyError
from ..model import StudyModel, model_of
from ..probe import at_gaps
from ..progress import counted
from ..run import Run, Step
from ..sets.judging import InSandbox, Label, Text, is_exact
from ..sets.lines import FileWithGap
from ..sets.problem import Problem
from ..sets.problems import problems
from ..study import Making, Results, Study, StudyOptions, all_of, carry_out
from .report import write_report
from .shots import ADDABLE, SHOTS, Shots, Shown, check_labelled, shots_of, shown_answers, with_shots

# The sandbox ends a program long before; a worker that takes so long for one text hangs.
MAX_TEXT_S = 600.0
_GROUPS = "a project, in the tables, is a group of the set: each function is its own, and a bug of Defects4J is its project's"


ANSWERS = Step("answers", "problem", Answer)
LABELS = Step("labels", "text", Label)


def _answers(run: Run) -> list[Any]:
    """Each problem's generations, with what the tests said, and the model in words."""
    return with_shots(run, _labelled(run))


def _labelled(run: Run) -> list[Any]:
    said = run.by_id(LABELS, "tests_pass")
    answers = run.records(ANSWERS).read()
    for answer in answers:
        for one in answer["generations"]:
            if one["inserted"] is not None and one["labels"]["tests_pass"] is None:
                one["labels"]["tests_pass"] = said.get(label_id(answer["id"], one["task"], one["inserted"]))
    return answers


def _report(run: Run, results: Results, *, as_json: bool) -> None:
    """A page, and a summary on stderr."""
    write_report(run, results, STUDY.lost(run), as_json=as_json, facts=(_GROUPS,))


STUDY = Study("problems", (ANSWERS, LABELS, SHOTS), ("set",), _report, answers=_answers, addable=ADDABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(StudyOptions):
    """What the user wants. data: the set's file or folder. limit: the first so many problems. The rest as of the study of lines."""

    set: str
    data: Path
    reflective: bool = False
    shots: int | None = None
    alternatives: int = 1
    memory: Scope = "file"

    def problems(self) -> list[Problem]:
        """What is asked about. Raises SetError."""
        return problems(self.set, self.data, self.limit)

    @property
    def task(self) -> Task:
        """What the model is asked for."""
        return "function" if self.set in ("humaneval", "mbpp") else "line"

    def model(self) -> StudyModel:
        """The model. Of other files there are none, so the memory is at most of the open one. Raises as `model_of`."""
        return model_of(self.choice, (self.task,), reflective=self.reflective, memory="off" if self.memory == "off" else "file")


def run_problems(options: Options) -> Run:
    """Run, or resume, the study. Raises UsageError, RunError, StudyError, NoIsolation, ModelError and OSError."""
    found = options.problems()
    model = options.model()
    question = {**model.question(STUDY.name, options.task), "set": options.set, "seed": options.seed, **options.limited, **model.reflecting}
    if options.alternatives > 1:
        question["alternatives"] = options.alternatives
    if shots := shots_of(options.choice, options.shots):
        question |= shots.question
    told = f"{counted(len(found), 'problem')} of {options.set}"
    works, plan = partial(_works, options, model=model, found=found, shots=shots), partial(_plan, options, model, found, shots)
    return carry_out(STUDY, options, question, map(_item, found), works, told, plan=plan)


def _plan(options: Options, model: StudyModel, found: Sequence[Problem], shots: Shots | None) -> dict[str, Any]:
    """What a dry run says."""
    tested = sum(bool(problem.test) for problem in found)
    gaps = [gap_of(problem, options.task, model.settings) for problem in found]
    return {
        "most_texts_judged": tested * options.alternatives,
        **({"isolation": str(best_level())} if tested else {}),
        **at_gaps(options, gaps, options.alternatives, len(model.questions)),
        **(shots.plan(len(found)) if shots else {}),
    }


def _item(problem: Problem) -> dict[str, str]:
    asked, test = (
        hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        for text in ("\0".join((problem.prompt, problem.suffix, problem.truth, problem.wrong)), problem.test)
    )
    return {"id": problem.id, "set": problem.set, "kind": problem.kind, "group": problem.group, "sha256": asked, "test_sha256": test}


def _works(options: Options, run: Run, model: StudyModel, found: Sequence[Problem], shots: Shots | None) -> Mapping[str, Making]:
    asking = Asking(model, options.alternatives, complete_problem)
    plan: dict[str, Making] = {"answers": lambda: all_of(ANSWERS, found, asking, options.pool, waits=options.waits)}
    texts, event = {problem.id: problem for problem in found}, EVENT
    if any(problem.test for problem in found):
        event = "tests_pass"
        plan["labels"] = lambda: all_of(LABELS, _judged(run, texts), InSandbox(best_level()), options.pool, max_item_s=MAX_TEXT_S)
    if shots:

        def shown() -> list[Shown]:
            if not run.records(ANSWERS).read():
                raise StudyError("there are no answers to ask about: do the step answers before shots")
            check_labelled(run, LABELS, _judged(run, texts))
            return list(shown_answers(_labelled(run), lambda answer, _: _before(texts[answer["id"]]), event))

        plan["shots"] = lambda: shots.work(shown(), options.pool, waits=options.waits)
    return plan


def _before(problem: Problem) -> str:
    return problem.prompt + indentation_of(problem)


def gap_of(problem: Problem, task: Task, settings: Settings) -> FileWithGap:
    """The problem's file, with the cursor behind the indentation with which its answer begins."""
    before = _before(problem)
    truth = problem.truth.removeprefix(indentation_of(problem)).rstrip("\n")
    after = f"\n{problem.suffix}" if problem.suffix else ""
    return FileWithGap(before + truth + after, Gap(len(before), len(before) + len(truth)), task, settings)


def indentation_of(problem: Problem) -> str:
    """The white space with which the answer's first line begins: that of the function's docstring, or of the wrong line."""
    line = problem.wrong
    if problem.kind == "function":
        defined = [node for node in tree_of(problem.prompt).body if isinstance(node, ast.FunctionDef)]
        first = next(node for node in reversed(defined) if node.name == problem.entry_point).body[0]
        line = problem.prompt.splitlines()[first.lineno - 1]
    return line[: len(line) - len(line.lstrip())]


def complete_problem(asked: OpenModel[int], problem: Problem) -> dict[str, Any]:
    """The answer of one problem, with so many alternatives. Raises what `Model.generate` raises."""
    timings: dict[str, float] = {}
    return {
        "project": problem.group,
        "file": problem.id,
        "function": problem.entry_point or "",
        "line": problem.prompt.count("\n") + 1,
        "language": problem.language,
        "generations": list(_generations(asked, problem, timings)),
        "timings": timings,
    }


def _generations(asked: OpenModel[int], problem: Problem, timings: dict[str, float]) -> Iterator[dict[str, Any]]:
    study = asked.asking.model
    (task,) = study.prompts
    shown = gap_of(problem, task, study.settings)
    for each, record in drawn_at(shown, asked.model, asked.wanted, asked.memory.at(shown), study.questions, timings):
        if not each.generation.text.strip():
            # no text is an answer, too, and a wrong one
            record["inserted"] = ""
        exact = None if record["inserted"] is None else is_exact(problem, record["inserted"])
        labels = {"exact_match": exact, "tests_pass": True if exact and problem.test else None}
        name = generation_id(f"{problem.id}:{problem.set}", each.drawn.rank)
        yield {"id": name, "task": problem.set, "truth": shown.truth, "labels": labels, **record}


def _judged(run: Run, found: Mapping[str, Problem]) -> Iterator[Text]:
    """Each distinct text that a problem with tests was given, unless it is the right one."""
    known = set[str]()
    for answer in run.records(ANSWERS).read():
        problem = found[answer["id"]]
        for one in answer["generations"]:
            if not problem.test or one["inserted"] is None or one["labels"]["exact_match"]:
                continue
            name = label_id(problem.id, one["task"], one["inserted"])
            if name not in known:
                known.add(name)
                yield Text(name, problem, indentation_of(problem) + one["inserted"])
