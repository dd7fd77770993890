"""What a run on pairs would make and ask: nothing of it is done."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ....analysis.sandbox.isolation.best_level import best_level
from ...evaluator import NOBODY, evaluator_of
from ...plan import example_of, tell, written
from ...progress import counted
from .asked import Asked, Sources, sources_of
from .asking import manner, prompt, questions_of
from .building import MAX_OF_KIND, MAX_RULES, MAX_RUN, MAX_SITES
from .pair import GLOBAL, KINDS

_SCHEMA = "assay/study-plan/1"
# Characters of a token of code, about.
_CHARACTERS = 3.2
# The most pairs of each kind that a program, or the draws for a problem, can give.
_MOST = {
    **dict.fromkeys(KINDS, 1),
    "1-eq": MAX_RULES,
    "1-neq": MAX_RULES,
    "global-neq": MAX_OF_KIND,
}
# Runs of programs: the source, two variants, two chains, and the places of the rules that change it.
_RUNS = 1 + MAX_RULES + 2 + MAX_RULES * MAX_SITES


def tell_plan(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_pairs` raises before it begins, but for a model that can't be opened."""
    sources = sources_of(asked)
    if asked.recorded:
        evaluator_of(asked.choice, asked.form, asked.recorded) if asked.asks else NOBODY
    questions, characters = _questions(asked, sources)
    how = manner(asked.votes)
    answers = questions * how.answers
    sets = Counter([f"{each.set} {each.language}" for each in sources.programs] + [pair.data for pair in sources.pairs])
    example = _example(sources)
    plan: dict[str, Any] = {
        "schema": _SCHEMA,
        "study": "catcode_pairs",
        "programs": len(sources.programs),
        "problems_with_draws": len(sources.drawn),
        "pairs": len(sources.pairs),
        "sets": dict(sets),
        "most_runs_of_programs": _RUNS * len(sources.programs) + MAX_RUN * len(sources.drawn) if asked.wants("pairs") else 0,
        "most_questions": questions,
        "generations": 0 if asked.recorded else answers,
        "prompt_tokens": round(characters / _CHARACTERS) * (0 if asked.recorded else 2),
        "most_new_tokens": 0 if asked.recorded else answers * how.max_tokens,
        "isolation": str(best_level()),
        "run": str(asked.out),
        "example": example,
    }
    lines = [f"data         {', '.join(f'{name}: {number:,}' for name, number in sets.items())}"]
    if sources.items and asked.wants("pairs"):
        lines += [
            f"pairs        of {counted(len(sources.programs), 'program')}, at most {plan['most_runs_of_programs']:,} runs of programs",
            f"tests        in the sandbox alone, isolated by {plan['isolation']}",
        ]
    if asked.asks:
        at_most = "" if sources.pairs else "at most "
        lines.append(f"asked        {at_most}{counted(questions, 'question')}, both orders of each pair")
        if asked.recorded:
            lines.append("calls        none: no model is asked")
        else:
            lines += [
                f"calls        {at_most}{answers:,} answers: {how.n} at T {how.temperature:g} to each question, and one at T 0",
                f"tokens       {at_most}about {plan['prompt_tokens']:,} in all prompts; at most {plan['most_new_tokens']:,} new ones",
            ]
    tell(plan, [*lines, written(asked.out), *(example_of(example) if asked.asks else [])], as_json=asked.as_json)


def _questions(asked: Asked, sources: Sources) -> tuple[int, int]:
    """Questions, and the characters of their prompts; of pairs that are not made yet, at most, each program being as long as its source."""
    if not asked.asks:
        return 0, 0
    frame = len(_rendered("", ""))
    if sources.pairs:
        questions = questions_of(sources.pairs)
        return len(questions), sum(frame + sum(map(len, each.slots.values())) for each in questions)
    orders = {kind: 1 if kind == "identity" else 2 for kind in asked.kinds}
    local = sum(_MOST[kind] * orders[kind] for kind in asked.kinds if kind not in GLOBAL)
    of_draws = sum(_MOST[kind] * orders[kind] for kind in asked.kinds if kind in GLOBAL)
    characters = sum(local * (frame + 2 * len(program.source)) for program in sources.programs)
    characters += sum(of_draws * (frame + 2 * max(len(text) for text, _ in each.programs)) for each in sources.drawn)
    return local * len(sources.programs) + of_draws * len(sources.drawn), characters


def _example(sources: Sources) -> str:
    if sources.pairs:
        return _rendered(sources.pairs[0].first, sources.pairs[0].second)
    return _rendered(sources.programs[0].source, sources.programs[0].source)


def _rendered(first: str, second: str) -> str:
    return "\n\n".join(message.text for message in prompt("local").render(first=first.strip("\n"), second=second.strip("\n")))
