"""What is left of the generations for one place at another, where more was typed and the editor closed brackets. Pure."""

from __future__ import annotations

from dataclasses import replace

from ..inference.model import Generation, StopReason
from .remainder import NEWLINE, end_of, remainder

# Characters behind a place that must be as they were.
MAX_BEHIND = 300
# Characters that the editor may have put behind the cursor since: closing brackets and quotes, some of them on indented lines.
MAX_GAINED = 64

# Ends behind which the model, asked again, adds nothing.
_ENDED = (StopReason.LINE, StopReason.BRACKET, StopReason.BLOCK, StopReason.END, StopReason.SUFFIX)


def gained(before: str, now: str) -> str | None:
    """What stands behind a cursor in front of what stood there before, newlines as the model writes them; None where that is not there.

    before: `MAX_BEHIND` characters of what stood there, or all that did.
    """
    at = now.find(before, 0, MAX_GAINED + MAX_BEHIND) if len(before) == MAX_BEHIND else len(now) - len(before)
    return NEWLINE.sub("\n", now[:at]) if 0 <= at <= MAX_GAINED and now.startswith(before, at) else None


def rest_of(generations: tuple[Generation, ...], typed: str, gained: str) -> tuple[Generation, ...] | None:
    """What is left of generations between what was typed and what came to stand behind the cursor; None where that is not known.

    All of them, those without a text too, where neither is anything; none where the model's own first choice is to add nothing.
    """
    if not typed and not gained:
        return generations if generations and generations[0].text.strip() else ()
    rests = tuple([rest for generation in generations if (rest := _between(generation, typed, gained))])
    if rests:
        return rests
    if gained or (typed and not any(_ended_with(generation, typed) for generation in generations)):
        return None
    return ()


def _between(generation: Generation, typed: str, gained: str) -> Generation | None:
    """A generation without the beginning and the end of its text that stand in the document; None where they don't, or nothing is left."""
    rest = remainder(generation, typed)
    if rest is None or not rest.text.endswith(gained):
        return None
    text = rest.text.removesuffix(gained)
    return replace(rest, text=text) if text.strip() else None


def _ended_with(generation: Generation, typed: str) -> bool:
    """Whether the model itself ended its text behind what was typed. (Asked where nothing is left of the text.)"""
    return generation.stopped_by in _ENDED and end_of(generation.text, typed) is not None
