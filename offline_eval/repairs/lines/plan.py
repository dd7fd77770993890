"""What a run on lines would ask and execute: nothing of it is done."""

from __future__ import annotations

from ....analysis.sandbox.isolation.best_level import best_level
from ....suggestion.repair.confidence import RANKS
from ...on_suites import planned
from ...plan import tell
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
    first = planned(asked, model, STUDY.name, str(question_of(asked, model)["prompt"]))
    places, bugs = first.places, first.places * _SOURCES
    judged = bugs * TRIES + bugs * RANKS * len(BELONGS) + places * MAX_CONTROLS
    more = {
        "most_bugs": bugs,
        "most_generations": places * DRAWS,
        "most_lines_repaired": bugs + places,
        "most_texts_judged": judged,
        "most_mutants_tested": bugs * MAX_TRIED,
    }
    told = [
        f"bugs         at each one by a rule and one of {DRAWS} lines that the model draws, of at most {TRIES} that are tried",
        f"repairs      of at most {bugs:,} bugs, and at {places:,} right lines as a control",
        f"tests        each project's own, isolated by {best_level()}: at most {judged:,} texts are judged",
        f"loop         beside it at most {MAX_TRIED} mutants of a bug are tested, until one passes",
    ]
    tell({**first.document, **more}, [*first.lines, *told], as_json=asked.as_json)
