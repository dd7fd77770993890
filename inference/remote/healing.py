"""Token healing with a server: what is held back is written again by requests of one token, each held to what is left of it.

Log-probabilities are then among the tokens that agree with what stands there. The rest of the text is streamed as any other: a grammar
would cost the server time at each of its tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..completion.settings import Sampling
from ..errors import BadAnswer, Unavailable
from ..healing.pre_tokens import last_pre_token, without_last_space
from ..stopping.cancel_or_timeout import StopCheck
from .formats import ServedToken, agree, held_fields, openai_request, openai_tokens
from .held_llama import HeldLlama
from .requests import Requests
from .tokenizer import ServerTokenizer


class ServerHealing:
    """What a server's model is held to, and the requests by which it is. Where there is no way (`Served.holding`), at most a space."""

    def __init__(self, requests: Requests, tokenizer: ServerTokenizer | None) -> None:
        self._requests, self._served = requests, requests.served
        self._tokenizer = tokenizer if self._served.holding else None
        self._pieces = self._tokenizer.pieces if self._tokenizer else None
        end = self._tokenizer.first_control(self._served.ends) if self._tokenizer else None
        self._llama = HeldLlama(requests, self._tokenizer, end) if self._tokenizer and end is not None else None

    @property
    def heals(self) -> bool:
        """Whether the model can be held to a text."""
        return self._tokenizer is not None

    def split(self, prefix: str) -> tuple[str, str]:
        """What of a prefix goes into the prompt, and what is held back: the last pre-token.

        Of that only what stands behind the last character that tokens write in parts, because servers do not tell of such tokens. It is
        seldom joined to the next character, so that texts ended with it in training, too.
        """
        if self._tokenizer is None or self._pieces is None:
            return without_last_space(prefix)
        held = self._tokenizer.written_whole(prefix[last_pre_token(prefix, self._pieces) :])
        return prefix[: len(prefix) - len(held)], held

    def next_token(self, tokens: Sequence[int], held: bytes, count: int, sampling: Sampling, stop_check: StopCheck) -> ServedToken:
        """The next token behind these, of those that agree with what must be written; in `top` the `count` likeliest of them.

        Raises Unavailable for a token that is a part of a character, where the server has no other way to tell of it, and the errors of a
        connection.
        """
        ask = self._by_regex if self._llama is None else self._llama.next_token
        told = ask(tokens, held, count, sampling, stop_check)
        if told.logprob is None or not told.top or not agree(told.text, held):
            path = "/completion" if self._served.kind == "llama-server" else "/v1/completions"
            raise BadAnswer(self._requests.where, path, "a token that does not agree with what stands before the cursor")
        return told

    def _by_regex(self, tokens: Sequence[int], held: bytes, count: int, sampling: Sampling, stop_check: StopCheck) -> ServedToken:
        served, where = self._served, self._requests.where
        assert served.holding is not None, "asked only where the model heals"
        in_part = Unavailable("tokens that are parts of a character", where, "Put the cursor before or behind that character.")
        try:
            extras = {**served.extras, **held_fields(served.holding, held.decode())}
        except UnicodeDecodeError:
            raise in_part from None
        top = min(count, served.top)
        body = openai_request(tokens, model=served.model, max_tokens=1, top=top, sampling=sampling, stream=False, extras=extras)
        answer = self._requests.connection.post("/v1/completions", body, stop_check)
        with self._requests.connection.expecting("/v1/completions"):
            told = openai_tokens(answer)[0]
        if not told.text or "\ufffd".encode() in told.text:
            raise in_part
        return told
