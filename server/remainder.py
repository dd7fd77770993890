"""What is left of a generation when the beginning of its text already stands in the document, because the user typed along. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from ..inference.model import Generation, Token

# Atomic: the two characters of one newline never count as two newlines.
NEWLINE = re.compile(r"(?>\r\n|\r|\n)")
_HELD_BACK = (" ", "\t")


def remainder(generation: Generation, typed: str) -> Generation | None:
    r"""The generation without the beginning `typed` of its text; None where its text does not begin so, or only white space is left.

    Newlines of every kind are alike. The tokens are those that remain, what ended the text included, so that `measures_of` gives the
    measures of exactly what is left, `typed` being given as it would have been to the model.

    A token that typed ends inside of loses the bytes that were typed and keeps its numbers. The probability of its rest, given its
    beginning, is its own over that of all tokens that begin so, which is not known: its own is a lower bound. The bytes of U+FFFD in the
    text are not known: from the first of these on all tokens stay, as they do where they do not spell the text. So the total
    log-probability is never higher than the true one, and never falls as more is typed.
    """
    if not typed:
        return generation
    end = end_of(generation.text, typed)
    if end is None or not generation.text[end:].strip():
        return None
    return replace(generation, text=generation.text[end:], tokens=_behind(generation.tokens, _bytes_before(generation, end)))


def end_of(text: str, typed: str) -> int | None:
    """Where the rest of a text begins that begins with `typed`, newlines of every kind being alike; None where it does not begin so."""
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
    """The tokens behind so many bytes; of one that these end inside of, the rest of its bytes."""
    for index, token in enumerate(tokens):
        if size == 0:
            return tokens[index:]
        if size < len(token.text):
            return (replace(token, text=token.text[size:]), *tokens[index + 1 :])
        size -= len(token.text)
    return ()
