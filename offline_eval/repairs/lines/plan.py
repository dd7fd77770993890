"""What a run on lines would ask and execute: nothing of it is done."""

from __future__ import annotations

from typing import Any

from ....analysis.sandbox.isolation.best_level import best_level
from ....suggestion.repair.confidence import RANKS
from ...calibration.plan import tell, written
from ...progress import counted
from ..candidates import BELONGS
from ..loop import MAX_TRIED
from .bugs import DRAWS, TRIES
from .proposing import MAX_CONTROLS
from .study import STUDY, Asked, question_of

_SOURCES = 2


def tell_lines(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_lines` raises before it begins."""
    asked.check()
    model = asked.model()
    projects = [f"{project.name} {project.version}" for project in asked.chosen]
    places = min(len(projects) * asked.most, asked.limit or len(projects) * asked.most)
    bugs = places * _SOURCES
    judged = places * _SOURCES * TRIES + bugs * RANKS * len(BELONGS) + places * MAX_CONTROLS
    plan: dict[str, Any] = {
        "schema": "assay/study-plan/1",
        "study": STUDY.name,
        "set": "lines",
        "run": str(asked.out),
        "projects": projects,
        "archives": str(asked.archives),
        "model": model.id,
        "model_name": model.name,
        "prompt": question_of(asked, model)["prompt"],
        "isolation": str(best_level()),
        "most_places": places,
        "most_bugs": bugs,
        "most_generations": places * DRAWS,
        "most_lines_repaired": bugs + places,
        "most_texts_judged": judged,
        "most_mutants_tested": bugs * MAX_TRIED,
    }
    tell(
        plan,
        [
            f"projects     {counted(len(projects), 'project')}, fetched by pip into {asked.archives}: {', '.join(projects)}",
            f"environment  one for each project's tests, made by pip with your rights ({asked.python or 'this Python'}): build code runs",
            f"model        {model.name} {model.id}, fingerprint of repairs {plan['prompt']}",
            f"places       at most {places:,}: which they are, the tests say",
            f"bugs         at each one by a rule and one of {DRAWS} lines that the model draws, of at most {TRIES} that are tried",
            f"repairs      of at most {bugs:,} bugs, and at {places:,} right lines as a control",
            f"tests        each project's own, isolated by {plan['isolation']}: at most {judged:,} texts are judged",
            f"loop         beside it at most {MAX_TRIED} mutants of a bug are tested, until one passes",
            written(asked.out),
        ],
        as_json=asked.as_json,
    )
