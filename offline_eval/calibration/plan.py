"""What a run of the calibration study would ask and execute: nothing of it is done."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ...analysis.sandbox.isolation.best_level import best_level
from ...inference.completion.prompt import SpellsPrompts, new_tokens
from ...inference.completion.task import kind_of
from ...inference.opening import ModelChoice
from ..model import model_of
from ..plan import example_of, tell, written
from ..progress import counted
from ..sets.arms import in_arm
from ..sets.code import label_of
from ..sets.lines import TASKS
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


class AsksModel(Protocol):
    """What decides how a model is asked."""

    @property
    def choice(self) -> ModelChoice:
        """The model."""
        ...

    @property
    def seed(self) -> int:
        """Of the draw of examples."""
        ...

    @property
    def alternatives(self) -> int:
        """How many are drawn at each gap."""
        ...


def tell_plan(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_study` raises before it begins."""
    from .study import TESTED, items_of, sources_of

    projects = asked.projects or sources_of(asked.set, (), asked.languages)
    plan: dict[str, Any] = {
        "schema": "assay/study-plan/1",
        "study": "calibration",
        "set": asked.set,
        "projects": [label_of(project) for project in projects],
        "archives": str(asked.archives),
        "arms": list(asked.arms),
        "tasks": list(asked.tasks),
        "run": str(asked.out),
    }
    if asked.set in TESTED:
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
        calls = calls_of(asked, shown, len(model.questions))
        plan |= {"model": model.id, "model_name": model.name, "prompt": model.prompts["line"], "places": len(places)}
        plan |= asdict(calls)
        tell(plan, [*_lines(asked, plan), *words_of(calls), written(asked.out), *example_of(calls.example)], as_json=asked.as_json)
        return
    tell(plan, _lines(asked, plan), as_json=asked.as_json)


def calls_of(asked: AsksModel, shown: Sequence[FileWithGap], questions: int) -> Calls:
    """The calls for gaps, each with so many questions about what was written there."""
    drawn = random.Random(asked.seed).sample(shown, min(_LAID_OUT, len(shown)))
    with asked.choice.open() as model:
        prompts = [gap.prompt(model) for gap in drawn]
        counts = [len(prompt.tokens) for prompt in prompts]
        example = model.prompt_text(prompts[0]) if prompts and isinstance(model, SpellsPrompts) else ""
        longest = max((new_tokens(model, gap.settings, kind_of(gap.task)) for gap in drawn), default=0)
    tokens = round(sum(counts) / len(counts) * len(shown)) if counts and all(counts) else None
    made = len(shown) * asked.alternatives
    return Calls(len(shown), made, made * questions, tokens, made * longest, example)


def words_of(calls: Calls) -> list[str]:
    """The calls, for people."""
    tokens = "the server counts them" if calls.prompt_tokens is None else f"about {calls.prompt_tokens:,} in all prompts"
    return [
        f"calls        {calls.generations:,} generations, {calls.questions:,} questions about them",
        f"tokens       {tokens}; at most {calls.most_new_tokens:,} new ones",
    ]


def _fetched_by(asked: Asked) -> str:
    if asked.set == "code":
        return "read where they are"
    return f"fetched by {'npm and apt-get' if asked.set == 'packages' else 'pip'} into {asked.archives}"


def _lines(asked: Asked, plan: dict[str, Any]) -> list[str]:
    from .study import TESTED

    lines = [
        f"projects     {counted(len(plan['projects']), 'project')}, {_fetched_by(asked)}: {', '.join(plan['projects'])}",
        f"asked        {', '.join(plan['tasks'])}; arms: {', '.join(plan['arms'])}",
    ]
    if asked.set in TESTED:
        change = "a bug in its line" if asked.set == "bugs" else "the code taken out"
        return [
            *lines,
            f"environment  one for each project's tests, made by pip with your rights ({asked.python or 'this Python'}): build code runs",
            f"tests        each project's own, isolated by {plan['isolation']}: whole, to know which are steady; then, at each place,",
            f"             those that touch it, with {change}, and with each text that the model wrote",
            f"places       at most {plan['most_places']:,}: which they are, the tests say",
            written(asked.out),
        ]
    return [
        *lines,
        f"model        {plan['model_name']} {plan['model']}, prompt {plan['prompt']}",
        f"places       {plan['places']:,}, with {plan['gaps']:,} gaps",
    ]
