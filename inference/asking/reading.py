"""Reading answers: blocks between tags, and the tokens of a part of a text. Pure functions."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Sequence

from .asker import Alternative, Said, SaidToken

_CLOSING = re.compile(r"\[/(\w+)\]")


def last_block(text: str, tag: str, *, strip: bool = True) -> str | None:
    """What stands in the last complete `[TAG]…[/TAG]`, without white space around it; None where there is none.

    A block begins at the last opening tag before its closing tag. strip: False leaves white space, which says how far code is indented.
    """
    name = re.escape(tag)
    blocks = re.findall(rf"\[{name}\]((?:(?!\[/?{name}\]).)*)\[/{name}\]", text, re.DOTALL)
    if not blocks:
        return None
    return str(blocks[-1]).strip() if strip else str(blocks[-1])


def closed(text: str, stop: Sequence[str]) -> str:
    """A text that ended by itself or by a stop text, with the closing tag that was cut off as a stop, if its block is still open."""
    for closing in stop:
        if (tag := _CLOSING.fullmatch(closing)) and text.rfind(f"[{tag[1]}]") > text.rfind(closing):
            return text + closing
    return text


def alternatives_behind(said: Said, opening: str) -> tuple[Alternative, ...]:
    """The likeliest tokens at the first word behind the last `opening` (a tag, say) of an answer, best first; empty where not told."""
    at = said.text.rfind(opening)
    if at < 0:
        return ()
    at += len(opening)
    at += len(said.text[at:]) - len(said.text[at:].lstrip())
    end = said.given
    for token in said.tokens if at >= said.given else ():
        end += len(token.text)
        if end > at:
            return token.top
    return ()


def tokens_within(tokens: Sequence[SaidToken], begin: int, end: int) -> tuple[SaidToken, ...]:
    """The tokens that write these characters of the text that all make; none where the log-probability of one is not told (NaN)."""
    found, until = [], 0
    for token in tokens:
        at, until = until, until + len(token.text)
        if at < end and (until > begin or (until == begin == at)):
            found.append(token)
    return () if any(math.isnan(token.logprob) for token in found) else tuple(found)


def tokens_of(text: str, tokens: Sequence[SaidToken], *, thought: bool = False) -> tuple[tuple[SaidToken, ...], bool]:
    """The tokens that write a text, and whether they write all of it, of those that a server tells.

    It may tell more, of a thought, a stop text and white space that it cut off, or fewer at the end. None are told where they write
    something else.
    """
    whole = "".join(token.text for token in tokens)
    at = whole.rfind(text) if thought else whole.find(text)
    if text and at >= 0 and (thought or not whole[:at].strip()):
        return tokens_within(tokens, at, at + len(text)), True
    begin = len(whole) - len(whole.lstrip()) if whole and not text.startswith(whole) else 0
    if thought or not text.startswith(whole[begin:]):
        return (), True
    return tokens_within(tokens, begin, len(whole)), False


def whole_characters(pieces: Sequence[bytes]) -> list[str]:
    """The text of each piece; a character that several write together is the last one's. What can't be UTF-8 is U+FFFD."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return [decoder.decode(piece) for piece in pieces]
