"""The questions that a served model is asked at one place in a text, in the words of its kind of server."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..completion.fim_families import Family, in_front
from ..errors import NoSuchEndpoint, RequestRefused, Unavailable
from ..model import Prompt, StopReason
from ..stopping.limits import Watch, unwatched
from .formats import Candidate, Heard, Sampling, llama_heard, llama_request, llama_token, openai_heard, openai_request, server_end
from .http import Connection
from .probe import Served, score_given
from .tokenizer import ServerTokenizer

# Log-probabilities asked for first; where a token is not among them, all of the vocabulary's are.
_FEW = 64
# Nearly uniform, so that soon a token is drawn that llama-server reports.
_ANY_TOKEN = 1e6
_MOST_DRAWS = 32


class Requests:
    """A server's model, the family that its prompts are laid out for, and the tokens that end its texts."""

    def __init__(
        self, connection: Connection, served: Served, family: Family | None, ends: frozenset[int], tokenizer: ServerTokenizer | None
    ) -> None:
        self.connection, self.served, self._family, self._ends = connection, served, family, ends
        self._anchor = tokenizer.encode("x") if tokenizer and served.kind == "vllm" else ()
        self._text_of = functools.lru_cache(maxsize=16)(self._detokenize)
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
            if prompt.extra:
                fields["input_extra"] = [{"filename": path, "text": text} for path, text in prompt.extra]
        return llama_request(fields, most=most, top=top, sampling=sampling, stream=True)

    def heard(self, event: dict[str, Any]) -> tuple[list[Heard], StopReason | None, int]:
        """The tokens of one event of the stream; why it is the last, None where it is not; how many llama-server had sampled by then."""
        with self.connection.promised("the stream"):
            ended, sampled = server_end(event), int(event.get("tokens_predicted") or 0)
            if self.served.kind == "llama-server":
                return llama_heard(event, self._ends), ended, sampled
            tokens = [replace(token, ends=token.ends or token.id in self._ends) for token in openai_heard(event)]
        if len(tokens) > 1 and all(token.id is not None for token in tokens):
            tokens = self._apart(tokens)
        return tokens, ended, sampled

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
        answer = self.connection.post("/v1/completions", body, watch)
        with self.connection.promised("/v1/completions"):
            return list(openai_heard(answer)[0].top)

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
            with self.connection.promised("/completion"):
                if told := answer.get("completion_probabilities"):
                    return list(llama_token(told[0]).top)
        raise Unavailable("log-probabilities at this place", self.where, "Every token that it drew there is a part of a character.")

    def _apart(self, tokens: Sequence[Heard]) -> list[Heard]:
        """Tokens that came with one text, each with its own part of it; of those that make a character up together the last has all.

        vLLM puts what it sampled while a stream was not read into one event (vllm/v1/engine/output_processor.py, RequestOutputCollector).
        """
        left = tokens[-1].text
        pieces = [self._piece_if_whole(token.id) for token in tokens]
        parts, first, last = [b""] * len(tokens), 0, len(tokens) - 1
        while first < last and (piece := pieces[first]) is not None and left.startswith(piece):
            parts[first], left, first = piece, left[len(piece) :], first + 1
        while last > first and (piece := pieces[last]) is not None and left.endswith(piece):
            parts[last], left, last = piece, left[: len(left) - len(piece)], last - 1
        parts[last] = left
        return [replace(token, text=part) for token, part in zip(tokens, parts, strict=True)]

    def _piece_if_whole(self, token: int | None) -> bytes | None:
        try:
            return None if token is None else self.piece(token)
        except (Unavailable, NoSuchEndpoint, RequestRefused):
            return None

    def _piece(self, token: int) -> bytes:
        """The bytes of a token in the middle of a text, by vLLM's `/detokenize`; none for one that ends a text."""
        if token in self._ends:
            return b""
        # A text's first token loses its space in tokenizers of SentencePiece: so it is not the first.
        before = self._text_of(self._anchor)
        text = self._text_of((*self._anchor, token))
        if not text.startswith(before) or "\ufffd" in text:
            raise Unavailable(f"bytes of token {token}, a part of a character", self.where, "Ask for fewer alternatives.")
        return text.removeprefix(before).encode()

    def _detokenize(self, tokens: tuple[int, ...]) -> str:
        answer = self.connection.post("/detokenize", {"model": self.served.model, "tokens": list(tokens)})
        with self.connection.promised("/detokenize"):
            return str(answer["prompt"])

    def _spelled(self, prompt: Prompt) -> str:
        """The prompt as text, its control tokens spelled; what it begins with is left to the server."""
        prefix, suffix = prompt.parts or ("", "")
        family = None if prompt.layout == "left_to_right" else self._family
        front = in_front(family, None, prompt.extra, prompt.path)
        prefix = front.text + prefix
        if family is None:
            return prefix
        return front.spelled + "".join({"PREFIX": prefix, "SUFFIX": suffix}.get(part, part) for part in family.order)
