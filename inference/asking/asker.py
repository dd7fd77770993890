"""The `Asker` protocol: messages go in, what a model says comes out."""

from __future__ import annotations

import codecs
import math
import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol, Self, TypeVar

from ..errors import AnswerCutOff, ServerBusy, ServerFailed, ServerUnreachable
from ..model import Fingerprint, StopReason, check_sampling

Role = Literal["system", "user", "assistant"]
Form = Literal["chat", "text"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message. An assistant's that comes last is the beginning of the answer."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that might have been said, and its log p in nats."""

    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class SaidToken:
    """A token of an answer.

    text: whole characters; empty for the first parts of a character, which the last part has. logprob: in nats, of the model's own
    distribution. top: the likeliest tokens at its place, best first; empty where not told.
    """

    text: str
    logprob: float
    top: tuple[Alternative, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """One answer.

    Attributes
        text: the whole answer, with the beginning that the model was given. A stop text is cut off, but a closing tag whose block it closes
            stays.
        stopped_by: END where the model or a stop text ended it, TOKENS where max_tokens cut it short.
        tokens: of what was generated, without a thought that the server keeps apart; empty where a log-probability is not told.
        given: how many characters of the text were the beginning that was given; the tokens begin behind them.
        complete: whether the tokens are all that write the text. llama-server leaves the last ones out where it cuts a stop text off that
            the model wrote in fewer tokens than the text has by itself.
    """

    text: str
    stopped_by: StopReason
    tokens: tuple[SaidToken, ...] = ()
    given: int = 0
    complete: bool = True

    @property
    def logprobs(self) -> tuple[float, ...] | None:
        """log p of each token in nats, None where not told of all."""
        return tuple(token.logprob for token in self.tokens) or None if self.complete else None


class Asker(Protocol):
    """A model that is asked in words. Any number of threads may call `say` at once; what is more than it can take waits."""

    @property
    def form(self) -> Form:
        """Whether it is asked in chat (by a server, or by its own template) or in plain text. In the other form it is another model."""
        ...

    @property
    def name(self) -> str:
        """The model's name."""
        return self.fingerprint.name

    @property
    def fingerprint(self) -> Fingerprint:
        """What the model is, as `Model.fingerprint`."""
        ...

    def say(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        temperature: float = 0.0,
        top_p: float = 1.0,
        max_tokens: int = 512,
        stop: Sequence[str] = (),
        seed: int = 0,
        top_logprobs: int = 0,
    ) -> list[Said]:
        """n answers. Number i is what n=1 gives with seed + i, up to the rounding of what is computed together.

        At temperature 0 all are one answer, which is asked for once. stop: texts before which an answer ends.
        top_logprobs: how many alternatives to tell of each token in chat, and of the first in plain text; fewer where a server tells fewer.

        Raises one of `SERVER_FAILURES` where a server did not answer, after retries: the answer is lost, and asking later may help.
        Raises another ModelError where the question is at fault, such as RequestRefused or ContextTooLong.
        """
        ...

    def close(self) -> None:
        """Close the model or the connection. It can't be asked afterwards."""
        ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def check_asked(messages: Sequence[Message], n: int, max_tokens: int, temperature: float, top_p: float, stop: Sequence[str]) -> None:
    """Refuse what no model can be asked. Raises ValueError."""
    check_sampling(max_tokens, temperature, top_p)
    if not any(message.role == "user" for message in messages):
        raise ValueError("no message is the user's: there is nothing to answer")
    if n < 1 or not all(stop):
        raise ValueError(f"{n} answers, stop texts {list(stop)}: at least 1, and none that is empty")


T = TypeVar("T")

PATIENCE_S = 30.0

# A timeout is not retried: the server may still be at it.
_RETRIED = (ServerUnreachable, ServerBusy, ServerFailed, AnswerCutOff)
_FIRST_PAUSE_S = 0.25
_MAX_PAUSE_S = 8.0


def retried(ask: Callable[[], T], patience_s: float, closed: threading.Event) -> T:
    """What `ask` gives, asked again for so many seconds from its first failure on, with pauses that grow and differ by chance.

    A server that says when to come back is asked no earlier. closed: ends a pause, and the asking. Raises what `ask` raised last.
    """
    began, pause = None, _FIRST_PAUSE_S
    while True:
        try:
            return ask()
        except _RETRIED as failure:
            now = time.monotonic()
            began = now if began is None else began
            wait = max(pause * random.uniform(0.5, 1.5), failure.after if isinstance(failure, ServerBusy) else 0.0)
            if now + wait - began > patience_s or closed.wait(wait):
                raise
            pause = min(2 * pause, _MAX_PAUSE_S)


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
    """The likeliest tokens at the first word behind the last `opening` (a tag, say) of an answer, best first; empty where not told.

    Without an opening: at the first word of the answer.
    """
    at = said.text.rfind(opening) if opening else 0
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
