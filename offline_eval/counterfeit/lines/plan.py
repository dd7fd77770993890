"""What a run on lines would ask and execute: nothing of it is done."""

from __future__ import annotations

from typing import Any

from ....analysis.oracle.oracle import MAX_PROFILED
from ....analysis.sandbox.isolation.best_level import best_level
from ...calibration.plan import tell, written
from ...progress import counted
from .judge import MEASURE
from .repair import DRAWS_EACH, MAX_REPAIRED
from .study import Asked


def tell_lines(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_lines` raises before it begins."""
    model = asked.model()
    projects = [f"{project.name} {project.version}" for project in asked.chosen]
    places = min(asked.per_project * len(projects), asked.limit or asked.per_project * len(projects))
    gaps = places * len(asked.tasks)
    texts = gaps * (1 + asked.draws)
    repairs = gaps * MAX_REPAIRED * (1 + DRAWS_EACH) if model.mends else 0
    plan: dict[str, Any] = {
        "schema": "assay/study-plan/1",
        "study": "counterfeit",
        "set": "lines",
        "run": str(asked.out),
        "projects": projects,
        "archives": str(asked.archives),
        "model": model.id,
        "model_name": model.name,
        "prompt": model.prompts["line"],
        "prompt_sampled": model.sampled["line"],
        "tasks": list(asked.tasks),
        "isolation": str(best_level()),
        "most_places": places,
        "most_generations": texts + repairs,
        "most_questions": texts if MEASURE in model.questions else 0,
        "most_new_tokens": (texts + repairs) * model.settings.line_tokens,
        "most_texts_judged": texts + repairs,
    }
    mended = f"at most {MAX_REPAIRED} counterfeits of a gap, each {1 + DRAWS_EACH} times" if model.mends else "left out: not trained for it"
    tell(
        plan,
        [
            f"projects     {counted(len(projects), 'project')}, fetched by pip into {asked.archives}: {', '.join(projects)}",
            f"environment  one for each project's tests, made by pip with your rights ({asked.python or 'this Python'}): build code runs",
            f"model        {model.name} {model.id}, prompt {model.prompts['line']}, at temperature {asked.temperature:g} "
            f"{model.sampled['line']}",
            f"places       at most {places:,}, with {', '.join(asked.tasks)} at each: which they are, the tests say",
            f"draw         the shown suggestion and {counted(asked.draws, 'draw')} at each gap: at most {texts:,} generations",
            f"label        each distinct text by the tests that touch it, at most {MAX_PROFILED}, isolated by {plan['isolation']}",
            f"judge        at most {plan['most_questions']:,} questions",
            f"repair       {mended}: at most {repairs:,} generations",
            f"tokens       at most {plan['most_new_tokens']:,} new ones",
            written(asked.out),
        ],
        as_json=asked.as_json,
    )
