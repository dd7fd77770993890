"""What a run of the study on problems would ask and execute: nothing of it is done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....analysis.sandbox.isolation.best_level import best_level
from ...calibration.recorded import study as recorded_study
from ...plan import example_of, tell, written
from ...progress import counted
from .asked import Asked
from .asking import PROMPTS, prompt
from .file_study import items_of
from .programs import PER_CLASS
from .steps import manners

_SCHEMA = "assay/study-plan/1"


def tell_problems(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_problems` raises before a model is opened."""
    benchmark, programs, counterfeits, problems, shown, upper = _counts(asked)
    calls = _calls(asked, benchmark, programs, counterfeits, problems)
    how = manners(asked)
    tokens = sum(number * how[name].answers * how[name].max_tokens for name, number in calls.items())
    plan: dict[str, Any] = {
        "schema": _SCHEMA,
        "study": "counterfeit_problems" if problems else "counterfeit_file",
        "set": str(asked.set),
        "problems": problems,
        "most_programs": programs,
        "questions": calls,
        "generations": sum(number * how[name].answers for name, number in calls.items()),
        "most_new_tokens": tokens,
        "isolation": str(best_level()),
        "run": str(asked.out),
        "example": shown,
    }
    lines = [
        f"set          {asked.set}: {counted(problems, 'problem') + ', ' if problems else ''}{upper}{counted(programs, 'program')}",
        *(
            f"{name:12s} {counted(number, 'question')}, {how[name].n} answers each at T {how[name].temperature:g}"
            f"{' and one at T 0' if how[name].top else ''}"
            for name, number in calls.items()
        ),
        f"in all       at most {plan['generations']:,} answers of at most {tokens:,} tokens",
        f"tests        what a model wrote runs in the sandbox alone, isolated by {plan['isolation']}",
        written(asked.out),
        *example_of(shown, "one of the prompts,"),
    ]
    tell(plan, lines, as_json=asked.as_json)


def _counts(asked: Asked) -> tuple[str, int, int, int, str, str]:
    """Benchmark, programs and counterfeits at most, problems to draw for, an example, and what people are told of the number."""
    if isinstance(asked.set, Path) or asked.set == "cruxeval":
        made, executions = items_of(asked)
        if executions:
            first = executions[0]
            return "cruxeval", len(executions), 0, 0, _rendered("execute", program=first.code, call=first.call), ""
        wrong = sum(program.kind == "counterfeit" for program in made.programs)
        return made.benchmark, len(made.programs), wrong, 0, _rendered("judge", program=made.programs[0].text.rstrip()), ""
    found = asked.problems(asked.set)
    most = PER_CLASS * len(found)
    return asked.set, 2 * most, most, len(found), _rendered("draw", program=found[0].prompt.rstrip()), "at most "


def _calls(asked: Asked, benchmark: str, programs: int, counterfeits: int, problems: int) -> dict[str, int]:
    if benchmark == "cruxeval":
        return {"execute": programs}
    calls = {"draw": problems} if problems and asked.wants("draw") else {}
    if asked.wants("judge"):
        calls |= {"judge": programs} if asked.reasoning != "with" else {}
        calls |= {"judge_reasoning": programs} if asked.reasoning != "without" else {}
    if asked.data is not None and asked.wants("execute") and benchmark != "odex":
        calls["execute"] = 2 * programs
    if asked.data is not None and asked.wants("repair"):
        calls["repair"] = counterfeits
    return calls


def _rendered(name: str, **slots: str) -> str:
    assert name in PROMPTS, name
    return "\n\n".join(message.text for message in prompt(name).render(**slots))


def tell_draws(asked: recorded_study.Asked) -> None:
    """Say what a run on recorded programs would do. Raises as `run_recorded` before it begins."""
    found = recorded_study.find(asked)
    draws = sum(unit.draws for unit in found.units)
    plan = {
        "schema": _SCHEMA,
        "study": "counterfeit_recorded",
        "set": asked.set,
        "problems": len(found.problems),
        "recorded": [str(file.path) for file in found.files],
        "texts": len(found.units),
        "generations": 0,
        "isolation": str(best_level()),
        "run": str(asked.out),
    }
    lines = [
        f"problems     {len(found.problems):,} of {asked.set}, {asked.data}",
        "calls        none: no model is asked",
        f"answers      {counted(draws, 'recorded answer')}, {counted(len(found.units), 'distinct text')}, each run once in the sandbox",
        f"tests        isolated by {plan['isolation']}",
        written(asked.out),
    ]
    tell(plan, lines, as_json=asked.as_json)
