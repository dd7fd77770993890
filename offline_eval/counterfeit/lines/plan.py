"""What a run on lines would ask and execute: nothing of it is done."""

from __future__ import annotations

from ....analysis.oracle.oracle import MAX_PROFILED
from ....analysis.sandbox.isolation.best_level import best_level
from ...on_suites import planned
from ...plan import tell
from ...progress import counted
from .judge import MEASURE
from .repair import DRAWS_EACH, MAX_REPAIRED
from .study import STUDY, Asked


def tell_lines(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_lines` raises before it begins."""
    asked.check()
    model = asked.model()
    first = planned(asked, model, STUDY.name, model.prompts["line"])
    gaps = first.places * len(asked.tasks)
    texts = gaps * (1 + asked.draws)
    repairs = gaps * MAX_REPAIRED * (1 + DRAWS_EACH) if model.mends else 0
    more = {
        "prompt_sampled": model.sampled["line"],
        "tasks": list(asked.tasks),
        "most_generations": texts + repairs,
        "most_questions": texts if MEASURE in model.questions else 0,
        "most_new_tokens": (texts + repairs) * model.settings.line_tokens,
        "most_texts_judged": texts + repairs,
    }
    mended = f"at most {MAX_REPAIRED} counterfeits of a gap, each {1 + DRAWS_EACH} times" if model.mends else "left out: not trained for it"
    told = [
        f"draw         the shown suggestion and {counted(asked.draws, 'draw')} at each gap: at most {texts:,} generations",
        f"             draws at temperature {asked.temperature:g}, prompt {model.sampled['line']}",
        f"label        each distinct text by the tests that touch it, at most {MAX_PROFILED}, isolated by {best_level()}",
        f"judge        at most {more['most_questions']:,} questions",
        f"repair       {mended}: at most {repairs:,} generations",
        f"tokens       at most {more['most_new_tokens']:,} new ones",
    ]
    tell({**first.document, **more}, [*first.lines, *told], as_json=asked.as_json)
