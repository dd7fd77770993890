"""The rest of a generation whose beginning the user has typed. Pure."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from ..inference.model import Generation, Token

# Atomic: the two characters of one newline never count as two newlines.
NEWLINE = re.compile(r"(?>\r\n|\r|\n)")
_HELD_BACK = (" ", "\t")
# Each typed byte of a token leaves this share of the other tokens' probability to those that begin with it: 0.48 (0.26 to 0.75; 1,431
# beginnings of the embedded model's tokens in 155 files of CPython's library, benchmarks/typed_tokens.py). Where one byte is typed, the
# rest is promised at 74 % with it and at 64 % without; 79 % come true.
_AGREES = 0.48


def remainder(generation: Generation, typed: str) -> Generation | None:
    r"""The generation without `typed`, the beginning of its text; None where its text does not begin so, or only white space is left.

    Newlines of every kind are alike. The tokens are those that remain, with the one that ended the text, so that `measures_of` measures
    exactly what is left. A token that was typed in part loses the typed bytes and has the numbers of its rest (`_rest`). The total
    log-probability therefore never falls as more is typed. The bytes of U+FFFD in the text are not known: from the first of these on all
    tokens stay, as they do where the tokens do not spell the text.
    """
    if not typed:
        return generation
    end = end_of(generation.text, typed)
    if end is None or not generation.text[end:].strip():
        return None
    return replace(generation, text=generation.text[end:], tokens=_behind(generation.tokens, _bytes_before(generation, end)))


def end_of(text: str, typed: str) -> int | None:
    """The offset behind `typed`, with which the text begins; None where it does not. Newlines of every kind are alike."""
    if "\r" not in text and "\r" not in typed:
        return len(typed) if text.startswith(typed) else None
    match = re.match(NEWLINE.pattern.join(map(re.escape, NEWLINE.split(typed))), text)
    return match.end() if match else None


def _bytes_before(generation: Generation, end: int) -> int:
    """How many of the tokens' bytes stand before the offset `end` of the text."""
    written = b"".join([token.text for token in generation.tokens]).decode(errors="replace")
    # `complete` leaves out the space or tab that the prefix ended with, where the model wrote it first. Only a blank text could stand in
    # what was written both at its start and behind that.
    for held_back in ("", written[:1] if written.startswith(_HELD_BACK) else ""):
        if written.startswith(held_back + generation.text):
            return len(written[: len(held_back) + end].partition("\ufffd")[0].encode())
    return 0


def _behind(tokens: tuple[Token, ...], size: int) -> tuple[Token, ...]:
    """The tokens behind so many bytes; a token that is only typed in part gives its rest."""
    for index, token in enumerate(tokens):
        if size == 0:
            return tokens[index:]
        if size < len(token.text):
            return (_rest(token, size), *tokens[index + 1 :])
        size -= len(token.text)
    return ()


def _rest(token: Token, size: int) -> Token:
    """The rest of a token behind the `size` bytes that were typed of it.

    Given its beginning, its probability is p / (p + (1 - p) s), s the share of all others that begin so. That share is not known; each
    byte but a space leaves `_AGREES` of them in the mean, so that a byte adds -log(_AGREES) to the log odds, to those against the best
    other token as well. The entropy among the others is left as it is.
    """
    gained = -math.log(_AGREES) * (size - token.text.count(b" ", 0, size))
    text, p = token.text[size:], math.exp(token.logprob)
    if gained == 0 or not 0 < p < 1:
        return replace(token, text=text)
    # log p' = log p - log(p + (1 - p) exp(-gained))
    logprob = token.logprob - math.log(p + (1 - p) * math.exp(-gained))
    margin = None if token.best_other_logprob is None else token.logprob - token.best_other_logprob + gained
    entropy = token.entropy
    if entropy is not None:
        left = math.exp(logprob)
        others = max(0.0, entropy - _entropy_of_two(p)) / (1 - p)
        entropy = _entropy_of_two(left) + (1 - left) * others
    return replace(token, text=text, logprob=logprob, best_other_logprob=None if margin is None else logprob - margin, entropy=entropy)


def _entropy_of_two(p: float) -> float:
    """Nats, of an event with probability p."""
    return -(p * math.log(p) + (1 - p) * math.log1p(-p)) if 0 < p < 1 else 0.0
