"""The fix task of the embedded model, which was trained to say the right line behind a wrong one."""

from __future__ import annotations

from collections.abc import Iterator

from ....inference.completion.mending import can_mend, mending_prompt
from ....inference.completion.prompt import Surroundings, new_tokens, prompt_at
from ....inference.completion.settings import Settings
from ....inference.errors import ContextTooLong
from ....inference.model import Cancel, Model, StopReason
from ....inference.stopping.stop import LINE
from ...cursor import Cursor
from ...cut.steps import text_to_show
from ..candidate import Candidate, around, change_of, indent_of
from ..request import Request


def why_not(request: Request) -> str:
    """Why the model can't be asked; empty where it can."""
    return "" if can_mend(request.asking.model) else "the model was not trained to mend lines"


def candidates(request: Request) -> Iterator[Candidate]:
    """What the model says in the place of each line that is asked about, greedily and drawn. Raises ModelError."""
    asking = request.asking
    for number in request.asked:
        line = request.lines[number]
        before, after = around(request.lines, number, number + 1)
        cursor, indent = asking.cursor(before + indent_of(line), after), indent_of(line)
        texts = mended_lines(
            asking.model, cursor, line[len(indent) :].rstrip(), asking.settings, surroundings=asking.surroundings,
            draws=request.draws, temperature=request.temperature, seed=request.seed, cancel=asking.is_over,
        )  # fmt: skip
        for text in texts:
            if text is not None:
                yield Candidate(change_of(request.lines, number, number + 1, (indent + text,)), "fix_task", is_drawn=True)


def mended_lines(
    model: Model,
    cursor: Cursor,
    shown: str,
    settings: Settings,
    *,
    surroundings: Surroundings | None = None,
    draws: int,
    temperature: float,
    seed: int,
    cancel: Cancel | None = None,
) -> list[str | None]:
    """What a model says in the place of a line's code: its first choice, then as many drawn ones; None for what would not be shown.

    cursor: where the code begins, with what stands behind the line as its suffix. shown: the code. Where the prompt is too long, and where
    it is cancelled, nothing would be shown. Raises ValueError for a model that was not trained to mend lines, and ModelError.
    """
    prompt = prompt_at(model, cursor.prefix, cursor.suffix, kind=cursor.kind, settings=settings, surroundings=surroundings)
    prompt, most = mending_prompt(model, prompt, shown), new_tokens(model, settings, "line")
    try:
        made = [model.generate(prompt, stop=LINE, max_tokens=most, cancel=cancel)]
        if draws:
            made += model.alternatives(prompt, draws, stop=LINE, max_tokens=most, temperature=temperature, seed=seed, cancel=cancel)
    except ContextTooLong:
        return [None] * (1 + draws)
    texts = ("" if one.stopped_by is StopReason.CANCELLED else one.text for one in made)
    return [text_to_show(text.lstrip(), cursor) for text in texts]
