"""The questions that a served model is asked at one place in a text, in the words of its kind of server."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from .errors import BadAnswer, Unavailable
from .families import Family
from .model import Prompt
from .remote_formats import Candidate, Heard, Sampling, llama_heard, llama_request, llama_token, openai_heard, openai_request
from .remote_http import Connection, Watch, unwatched
from .remote_probe import Served, score_given

# Log-probabilities asked for first; where a token is not among them, all of the vocabulary's are.
_FEW = 64
# Nearly uniform, so that soon a token is drawn that llama-server reports.
_ANY_TOKEN = 1e6
_MOST_DRAWS = 32


class Requests:
    """A server's model, the family that its prompts are laid out for, and the tokens that end its texts."""

    def __init__(self, connection: Connection, served: Served, family: Family | None, ends: frozenset[int]) -> None:
        self.connection, self.served, self._family, self._ends = connection, served, family, ends
        self.piece = functools.lru_cache(maxsize=4096)(self._piece)

    @property
    def where(self) -> str:
        """The server's address."""
        return self.connection.where

    def path(self, prompt: Prompt) -> str:
        """Where a prompt is sent."""
        if self.served.kind != "llama-server":
            return "/v1/completions"
        return "/infill" if prompt.layout == "infill" else "/completion"

    def body(self, prompt: Prompt, most: int, sampling: Sampling) -> dict[str, Any]:
        """A request for a stream of tokens, each with its log-probability and the best other's where the server has them."""
        top = min(self.served.top, 2)
        if self.served.kind != "llama-server":
            sent = prompt.tokens or self._spelled(prompt)
            return openai_request(
                sent, model=self.served.model, most=most, top=top or None, sampling=sampling, stream=True, extras=self.served.extras
            )
        fields: dict[str, Any] = {"prompt": list(prompt.tokens)}
        if prompt.parts is not None:
            fields = {"input_prefix": prompt.parts[0], "input_suffix": prompt.parts[1]}
        return llama_request(fields, most=most, top=top, sampling=sampling, stream=True)

    def heard(self, event: dict[str, Any]) -> list[Heard]:
        """The tokens of one event of the stream."""
        try:
            return llama_heard(event, self._ends) if self.served.kind == "llama-server" else openai_heard(event)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise BadAnswer(self.where, "the stream", f"an event without what it needs ({type(error).__name__}: {error})") from error

    def ends_text(self, token: int, text: bytes) -> bool:
        """Whether a token ends the text."""
        return token in self._ends or not text

    def row(self, tokens: Sequence[int], count: int, watch: Watch = unwatched, wanted: Sequence[int] = ()) -> list[Candidate]:
        """The most likely next tokens behind these, best first; wanted: tokens that vLLM tells of in their place, where it can.

        (`logprob_token_ids` of vllm/entrypoints/openai/completion/protocol.py; older versions pass it over.)
        """
        if self.served.kind == "llama-server":
            return self._llama_row(tokens, count, watch)
        extras = {**self.served.extras, **({"logprob_token_ids": list(wanted)} if wanted and self.served.kind == "vllm" else {})}
        body = openai_request(
            tokens, model=self.served.model, most=1, top=min(count, self.served.top), sampling=Sampling(), stream=False, extras=extras
        )
        heard = self.heard(self.connection.post("/v1/completions", body, watch))
        if not heard:
            raise BadAnswer(self.where, "/v1/completions", "no token")
        return list(heard[0].top)

    def logprobs_at(self, tokens: Sequence[int], wanted: Sequence[int]) -> list[float]:
        """log p of each wanted token behind these, in nats. Raises Unavailable where the server does not tell one of them."""
        found = {c.id: c.logprob for c in self.row(tokens, _FEW, wanted=wanted)}
        missing = set(wanted) - found.keys()
        if missing and self.served.kind == "llama-server":
            found |= {c.id: c.logprob for c in self.row(tokens, self.served.vocabulary or 1 << 20)}
        elif self.served.scoring is not None:
            for token in missing:
                scores = score_given(self.connection, self.served, self.served.scoring, (*tokens, token), 1)
                found |= {token: scores[0]} if scores else {}
        if lost := sorted(set(wanted) - found.keys()):
            raise Unavailable(
                f"log-probability of token {lost[0]}, which is not among the {len(found)} it tells of",
                self.where,
                "Ask for likelier ones, or use a server that scores a given text.",
            )
        return [found[token] for token in wanted]

    def _llama_row(self, tokens: Sequence[int], count: int, watch: Watch) -> list[Candidate]:
        """What llama-server reports is the distribution before any sampler, whichever token was taken from it.

        A token that is a part of a character is not reported, and with it the distribution that it came from: then others are drawn.
        """
        for seed in range(_MOST_DRAWS):
            sampling = Sampling(_ANY_TOKEN, seed=seed) if seed else Sampling()
            body = llama_request({"prompt": list(tokens)}, most=1, top=count, sampling=sampling, stream=False)
            answer = self.connection.post("/completion", body, watch)
            told = answer.get("completion_probabilities") if isinstance(answer, dict) else None
            if told:
                return list(llama_token(told[0]).top)
        raise Unavailable("log-probabilities at this place", self.where, "Every token that it drew there is a part of a character.")

    def _piece(self, token: int) -> bytes:
        """The bytes of a token by vLLM's `/detokenize`; none for one that ends a text."""
        if token in self._ends:
            return b""
        answer = self.connection.post("/detokenize", {"model": self.served.model, "tokens": [token]})
        text = answer.get("prompt") if isinstance(answer, dict) else None
        if not isinstance(text, str) or "\ufffd" in text:
            raise Unavailable(f"bytes of token {token}, a part of a character", self.where, "Ask for fewer alternatives.")
        return text.encode()

    def _spelled(self, prompt: Prompt) -> str:
        """The prompt as text, its control tokens spelled; what it begins with is left to the server."""
        prefix, suffix = prompt.parts or ("", "")
        if prompt.layout == "left_to_right" or self._family is None:
            return prefix
        return "".join({"PREFIX": prefix, "SUFFIX": suffix}.get(part, part) for part in self._family.order)
