"""What a run of the calibration study would ask and execute: nothing of it is done."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...analysis.sandbox.isolation.best_level import best_level
from ...inference.completion.prompt import SpellsPrompts
from ..model import model_of
from ..progress import counted, to_stderr
from ..sets.arms import in_arm
from ..sets.lines import TASKS
from ..sets.projects import named
from ..suggested import FileWithGap

if TYPE_CHECKING:
    from .study import Asked

# So many prompts are laid out to learn how long they are.
_LAID_OUT = 50


@dataclass(frozen=True, slots=True)
class Calls:
    """What the model would be asked. generations: at most. prompt_tokens: an estimate from some; None where a server counts them."""

    gaps: int
    generations: int
    questions: int
    prompt_tokens: int | None
    most_new_tokens: int
    example: str


def tell_plan(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_study` raises before it begins."""
    from .study import items_of

    projects = list(asked.projects or named((), suite=asked.set == "suites"))
    plan: dict[str, Any] = {
        "schema": "assay/study-plan/1",
        "study": "calibration",
        "set": asked.set,
        "projects": [f"{project.name} {project.version}" for project in projects],
        "archives": str(asked.archives),
        "arms": list(asked.arms),
        "tasks": list(asked.tasks),
        "run": str(asked.out),
    }
    if asked.set == "suites":
        plan["isolation"] = str(best_level())
        plan["most_places"] = min(asked.most * len(projects), asked.limit or asked.most * len(projects))
    else:
        places = items_of(asked, projects).places
        model = model_of(asked.choice, TASKS, reflective=asked.reflective, memory=asked.memory)
        shown = [
            gap
            for place in places
            for arm in asked.arms
            for task, cut in place.gaps
            if (gap := in_arm(arm, place.text, cut, task, model.settings)) is not None
        ]
        calls = _calls(asked, shown, len(model.questions))
        plan |= {"model": model.id, "model_name": model.name, "prompt": model.prompts["line"], "places": len(places)}
        plan |= {name: getattr(calls, name) for name in Calls.__slots__}
    if asked.as_json:
        print(json.dumps(plan, indent=1))
        return
    for line in _lines(asked, plan):
        to_stderr(line)


def _calls(asked: Asked, shown: list[FileWithGap], questions: int) -> Calls:
    drawn = random.Random(asked.seed).sample(shown, min(_LAID_OUT, len(shown)))
    with asked.choice.open() as model:
        prompts = [gap.prompt(model) for gap in drawn]
        counts = [len(prompt.tokens) for prompt in prompts]
        example = model.prompt_text(prompts[0]) if prompts and isinstance(model, SpellsPrompts) else ""
    tokens = round(sum(counts) / len(counts) * len(shown)) if counts and all(counts) else None
    made = len(shown) * asked.alternatives
    longest = max((gap.settings.line_tokens for gap in drawn), default=0)
    return Calls(len(shown), made, made * questions, tokens, made * longest, example)


def _lines(asked: Asked, plan: dict[str, Any]) -> list[str]:
    written = f"written      {Path(plan['run']).absolute()}"
    lines = [
        f"projects     {counted(len(plan['projects']), 'project')}, fetched by pip into {plan['archives']}: {', '.join(plan['projects'])}",
        f"asked        {', '.join(plan['tasks'])}; arms: {', '.join(plan['arms'])}",
    ]
    if asked.set == "suites":
        return [
            *lines,
            f"environment  one for each project's tests, made by pip with your rights ({asked.python or 'this Python'}): build code runs",
            f"tests        each project's own, isolated by {plan['isolation']}: whole, to know which are steady; then, at each place,",
            "             those that touch it, with the code taken out, and with each text that the model wrote",
            f"places       at most {plan['most_places']:,}: which they are, the tests say",
            written,
        ]
    tokens = "the server counts them" if plan["prompt_tokens"] is None else f"about {plan['prompt_tokens']:,} in all prompts"
    return [
        *lines,
        f"model        {plan['model_name']} {plan['model']}, prompt {plan['prompt']}",
        f"places       {plan['places']:,}, with {plan['gaps']:,} gaps",
        f"calls        {plan['generations']:,} generations, {plan['questions']:,} questions about them",
        f"tokens       {tokens}; at most {plan['most_new_tokens']:,} new ones",
        written,
        *(["", "one of the prompts in full:", plan["example"]] if plan["example"] else []),
    ]
