"""The `Asker` protocol: messages go in, what a model says comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol, Self

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
        ...

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

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


def check_asked(messages: Sequence[Message], n: int, max_tokens: int, temperature: float, top_p: float, stop: Sequence[str]) -> None:
    """Refuse what no model can be asked. Raises ValueError."""
    check_sampling(max_tokens, temperature, top_p)
    if not any(message.role == "user" for message in messages):
        raise ValueError("no message is the user's: there is nothing to answer")
    if n < 1 or not all(stop):
        raise ValueError(f"{n} answers, stop texts {list(stop)}: at least 1, and none that is empty")
