"""What a run on lines would ask and execute: nothing of it is done."""

from __future__ import annotations

from typing import Any

from ....analysis.sandbox.isolation.best_level import best_level
from ...calibration.plan import tell, written
from ...progress import counted
from .rewrites import MAX_CHAIN, MAX_UNCONFIRMED, MAX_WRONG, ON_LINE
from .study import STUDY, Asked

# Of a line: as it is, once more, and each rewrite.
MAX_SCORED = 2 + MAX_CHAIN + len(ON_LINE) + MAX_WRONG
MAX_JUDGED = MAX_CHAIN + MAX_UNCONFIRMED + len(ON_LINE) + MAX_WRONG + MAX_UNCONFIRMED


def tell_lines(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_lines` raises before it begins."""
    asked.check()
    model = asked.model()
    projects = [f"{project.name} {project.version}" for project in asked.chosen]
    places = min(len(projects) * asked.most, asked.limit or len(projects) * asked.most)
    lines = places * len(asked.of)
    plan: dict[str, Any] = {
        "schema": "assay/study-plan/1",
        "study": STUDY.name,
        "set": "lines",
        "of": list(asked.of),
        "projects": projects,
        "run": str(asked.out),
        "model": model.id,
        "model_name": model.name,
        "prompt": model.prompts["line"],
        "isolation": str(best_level()),
        "most_places": places,
        "most_generations": 2 * places,
        "most_new_tokens": 2 * places * model.settings.line_tokens,
        "most_scored_texts": lines * MAX_SCORED,
        "most_texts_judged": 2 * places + lines * MAX_JUDGED,
    }
    tell(
        plan,
        [
            f"projects     {counted(len(projects), 'project')}, fetched by pip: {', '.join(projects)}",
            f"environment  one for each project's tests, made by pip with your rights ({asked.python or 'this Python'}): build code runs",
            f"model        {model.name} {model.id}, prompt {model.prompts['line']}",
            f"places       at most {places:,}: which they are, the tests say",
            f"rewritten    {' and '.join(asked.of)}, where it passes: the code around it in a chain of at most {MAX_CHAIN},",
            f"             the line at most {len(ON_LINE)} times so that it does the same and {MAX_WRONG} times so that tests fail",
            f"tests        each project's own, isolated by {plan['isolation']}: at most {plan['most_texts_judged']:,} texts are judged",
            f"calls        at most {plan['most_generations']:,} generations, {plan['most_new_tokens']:,} new tokens, and "
            f"{plan['most_scored_texts']:,} texts that are scored",
            written(asked.out),
        ],
        as_json=asked.as_json,
    )
