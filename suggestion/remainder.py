"""The rest of a generation whose beginning the user has typed. Pure."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from ..inference.model import Generation, StopReason, Token
from ..inference.stopping.continuation import added

# Atomic: the two characters of one newline never count as two newlines.
NEWLINE = re.compile(r"(?>\r\n|\r|\n)")


def remainder(generation: Generation, typed: str) -> Generation | None:
    r"""The generation without `typed`, the beginning of its text; None where its text does not begin so, or only white space is left.

    Newlines of every kind are alike. The tokens are those that remain, with the one that ended the text, so that `measures_of` measures
    exactly what is left. Log-probabilities are given what was typed (`Token.shares`), so the total never falls as more is typed: they are
    those that the model alone would give at a new request. Where a server tells no shares, a token that was typed in part keeps its own,
    which is lower.
    The bytes of U+FFFD in the text are not known: from the first of these on all tokens stay.
    """
    if not typed:
        return generation
    end = end_of(generation.text, typed)
    if end is None or not generation.text[end:].strip():
        return None
    size = len(generation.text[:end].partition("\ufffd")[0].encode())
    return replace(generation, text=generation.text[end:], tokens=_behind(generation.tokens, size))


def end_of(text: str, typed: str) -> int | None:
    """The offset behind `typed`, with which the text begins; None where it does not. Newlines of every kind are alike."""
    if "\r" not in text and "\r" not in typed:
        return len(typed) if text.startswith(typed) else None
    match = re.match(NEWLINE.pattern.join(map(re.escape, NEWLINE.split(typed))), text)
    return match.end() if match else None


def _behind(tokens: tuple[Token, ...], size: int) -> tuple[Token, ...]:
    """The tokens behind so many bytes; the first has the log-probability of those before it that the cursor still holds back added."""
    held: list[tuple[float, tuple[float, ...]]] = []
    for index, token in enumerate(tokens):
        if size < len(token.text) or size == 0:
            first = _rest(token, size)
            for logprob, shares in held:
                first = replace(first, logprob=first.logprob + logprob, shares=added(first.shares, shares, logprob))
            return (first, *tokens[index + 1 :])
        if size <= len(token.shares):
            share = token.shares[size - 1]
            held.append((min(0.0, token.logprob - share), tuple([later - share for later in token.shares[size:]])))
        size -= len(token.text)
    return ()


def _rest(token: Token, size: int) -> Token:
    """The rest of a token behind the `size` bytes that were typed of it, among the tokens that begin with these.

    What the best other of these has is not known: at most what the token leaves. The entropy among the others is left as it is.
    """
    text, share = token.text[size:], token.shares[size - 1] if 0 < size <= len(token.shares) else 0.0
    if share == 0.0:
        return replace(token, text=text, shares=token.shares[size:])
    logprob = min(0.0, token.logprob - share)
    p, left = math.exp(token.logprob), math.exp(logprob)
    best_other, entropy = token.best_other_logprob, token.entropy
    if best_other is not None:
        best_other = min(best_other - share, math.log1p(-left) if left < 1 else -math.inf)
    if entropy is not None:
        others = max(0.0, entropy - _entropy_of_two(p)) / (1 - p) if p < 1 else 0.0
        entropy = _entropy_of_two(left) + (1 - left) * others
    return Token(token.id, text, logprob, best_other, entropy, tuple([later - share for later in token.shares[size:]]))


def _entropy_of_two(p: float) -> float:
    """Nats, of an event with probability p."""
    return -(p * math.log(p) + (1 - p) * math.log1p(-p)) if 0 < p < 1 else 0.0


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
