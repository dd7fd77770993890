"""What a run on lines would ask and execute: nothing of it is done."""

from __future__ import annotations

from ....analysis.sandbox.isolation.best_level import best_level
from ...on_suites import planned
from ...plan import tell
from .rewrites import MAX_CHAIN, MAX_UNCONFIRMED, MAX_WRONG, ON_LINE
from .study import STUDY, Asked

# Of a line: as it is, once more, and each rewrite.
MAX_SCORED = 2 + MAX_CHAIN + len(ON_LINE) + MAX_WRONG
MAX_JUDGED = MAX_CHAIN + MAX_UNCONFIRMED + len(ON_LINE) + MAX_WRONG + MAX_UNCONFIRMED


def tell_lines(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_lines` raises before it begins."""
    asked.check()
    model = asked.model()
    first = planned(asked, model, STUDY.name, model.prompts["line"])
    places, lines = first.places, first.places * len(asked.of)
    more = {
        "of": list(asked.of),
        "most_generations": 2 * places,
        "most_new_tokens": 2 * places * model.settings.line_tokens,
        "most_scored_texts": lines * MAX_SCORED,
        "most_texts_judged": 2 * places + lines * MAX_JUDGED,
    }
    told = [
        f"rewritten    {' and '.join(asked.of)}, where it passes: the code around it in a chain of at most {MAX_CHAIN},",
        f"             the line at most {len(ON_LINE)} times so that it does the same and {MAX_WRONG} times so that tests fail",
        f"tests        each project's own, isolated by {best_level()}: at most {more['most_texts_judged']:,} texts are judged",
        f"calls        at most {more['most_generations']:,} generations, {more['most_new_tokens']:,} new tokens, and "
        f"{more['most_scored_texts']:,} texts that are scored",
    ]
    tell({**first.document, **more}, [*first.lines, *told], as_json=asked.as_json)
