"""What a run on a set of problems, or on recorded answers, would ask and execute: nothing of it is done."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...analysis.sandbox.isolation.best_level import best_level
from ..plan import tell_study
from ..progress import counted
from . import problems
from .problems import gap_of
from .recorded import labelled, study
from .recorded.draws import MAX_RESTARTS
from .recorded.source import AnswerFile
from .study import calls_of, words_of


def tell_problems(asked: problems.Asked) -> None:
    """Say what a run on problems would do. Raises what it raises before it begins."""
    found, model = asked.problems(), asked.model()
    calls = calls_of(asked, asked.alternatives, [gap_of(problem, asked.task, model.settings) for problem in found], len(model.questions))
    tested = sum(bool(problem.test) for problem in found)
    level = str(best_level()) if tested else ""
    plan = {
        "set": asked.set,
        "model": model.id,
        "model_name": model.name,
        "prompt": model.prompts[asked.task],
        "problems": len(found),
        "tested_problems": tested,
        "isolation": level,
        "most_texts_judged": tested * asked.alternatives,
        **asdict(calls),
    }
    judged = f"{plan['most_texts_judged']:,} texts at most, isolated by {level}" if tested else "none: this set has no tests that run here"
    lines = [
        f"problems     {len(found):,} of {asked.set}, {asked.data}",
        f"model        {model.name} {model.id}, prompt {model.prompts[asked.task]}",
        *words_of(calls),
        f"tests        {judged}",
    ]
    tell_study("problems", asked, plan, lines, calls.example)


def tell_recorded(asked: study.Asked) -> None:
    """Say what a run on recorded programs would do. Raises as above."""
    found = study.find(asked)
    draws = sum(unit.draws for unit in found.units)
    own = sum({unit.problem: unit.own_tests for unit in found.units}.values())
    by_id = {problem.id: problem for problem in found.problems}
    first = found.units[0]
    example = by_id[first.problem].program(first.text)
    most = len(found.units) * (1 + (1 + MAX_RESTARTS if own else 0))
    plan = {
        "set": asked.set,
        "problems": len(found.problems),
        "recorded": [_of_file(file) for file in found.files],
        "answers": draws,
        "texts": len(found.units),
        "own_tests": own,
        "most_programs_run": most,
        "isolation": str(best_level()),
        "generations": 0,
    }
    lines = [
        f"problems     {len(found.problems):,} of {asked.set}, {asked.data}",
        *map(_words_of_file, found.files),
        "calls        none: no model is asked",
        f"answers      {counted(draws, 'recorded answer')} to them, {counted(len(found.units), 'distinct text')}",
        f"tests        each text once on the benchmark's inputs{f', then on {own:,} tests of the model' if own else ''}: at most",
        f"             {most:,} programs, isolated by {plan['isolation']}",
    ]
    tell_study("recorded", asked, plan, lines, example, f"one of the programs, of {first.problem},")


def tell_labelled(asked: labelled.Asked) -> None:
    """Say what a run on answers with labels would do. Raises as above."""
    found = labelled.find(asked)
    what = "functions that were voted on" if found.measure == "vote share" else f"answers with a score and a label {found.event}"
    plan = {
        "set": asked.set,
        "recorded": [_of_file(file) for file in found.files],
        "measure": found.measure,
        "items": len(found.items),
        "unscored": found.unscored,
        "generations": 0,
    }
    lines = [
        *map(_words_of_file, found.files),
        "calls        none: no model is asked, and nothing is executed",
        f"measure      {found.measure}: {len(found.items):,} {what}",
    ]
    tell_study("recorded_labelled", asked, plan, lines, found.items[0], "one of them")


def _of_file(file: AnswerFile) -> dict[str, Any]:
    answers = file.answers
    return {
        "file": str(file.path),
        "name": answers.name,
        "model": answers.model,
        "answers": len(answers.answers),
        "source": answers.source,
        "licence": answers.licence,
    }


def _words_of_file(file: AnswerFile) -> str:
    answers = file.answers
    source = f"from {answers.source}" if answers.source else "nothing tells its source"
    model = answers.model or "an unnamed model"
    return f"recorded     {file.path}: {answers.name}, {counted(len(answers.answers), 'answer')} of {model}, {source}"
