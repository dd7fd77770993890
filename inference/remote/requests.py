"""The questions that a server's model is asked, in the format of its kind of server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..completion.fim_families import Family, in_front, prefix_parts
from ..completion.settings import Sampling
from ..errors import NoSuchEndpoint, RequestRefused, Unavailable
from ..model import Layout, Prompt, StopReason
from ..stopping.cancel_or_timeout import StopCheck, never_stop
from . import ollama
from .formats import Candidate, ServedToken, llama_request, llama_token, llama_tokens, openai_tokens, server_end
from .http import Connection
from .probe import score_given
from .served import Served
from .tokenizer import ServerTokenizer

# Log-probabilities that are asked for first. Where a token is not among them, all of the vocabulary are asked for.
_FEW = 64
# Nearly uniform, so that a token that llama-server reports is soon drawn.
_ANY_TOKEN = 1e6
_MAX_DRAWS = 32
_SERVERS = {
    "llama-server": "llama-server",
    "vllm": "vLLM",
    "ollama": "Ollama",
    "lm-studio": "LM Studio",
}


class Requests:
    """A server's model, the family of its prompts, and the tokens that end its texts."""

    def __init__(
        self, connection: Connection, served: Served, family: Family | None, ends: frozenset[int], tokenizer: ServerTokenizer | None
    ) -> None:
        self.connection, self.served, self._family, self._ends = connection, served, family, ends
        self._tokenizer = tokenizer

    @property
    def where(self) -> str:
        """The server's address."""
        return self.connection.where

    def path(self, prompt: Prompt) -> str:
        """The path that a prompt is sent to."""
        if self.served.kind == "ollama":
            return ollama.PATH
        if self.served.kind != "llama-server":
            return "/v1/completions"
        return "/infill" if prompt.layout == "infill" else "/completion"

    def way(self, layout: Layout) -> str:
        """How the server is asked, in words: by which path, with what, and who lays the prompt out."""
        served, family = self.served, self._family
        path = " of ".join(filter(None, (self.path(Prompt((), layout)), _SERVERS.get(served.kind))))
        if served.suffix and layout == "infill":
            return f"{path}: prompt and suffix as text, laid out by the server with the model's template"
        raw = ", raw" if served.kind == "ollama" else ""
        what = "token ids" if served.ids and self._tokenizer is not None else f"text{raw}"
        laid = {"infill": "laid out by the server", "left_to_right": "what stands before the cursor, and nothing of what stands behind it"}
        return f"{path}: {what}, {laid.get(layout) or f'laid out for {family.name if family else layout}'}"

    def body(self, prompt: Prompt, max_tokens: int, sampling: Sampling) -> dict[str, Any]:
        """The body of a request for a stream of tokens, with log-probabilities where the server has them."""
        top = min(self.served.top, 2)
        if self.served.kind == "ollama":
            spelled, suffix = self._spelled(prompt), prompt.parts[1] if prompt.parts and prompt.layout == "infill" else None
            return ollama.generate_request(self.served, spelled, suffix, max_tokens=max_tokens, sampling=sampling, stream=True, top=top)
        if self.served.kind != "llama-server":
            asked = prompt.tokens or self._spelled(prompt)
            return self.served.request(asked, top or None, sampling, max_tokens=max_tokens, stream=True)
        fields: dict[str, Any] = {"prompt": list(prompt.tokens)}
        if prompt.parts is not None:
            fields = {"input_prefix": prompt.parts[0], "input_suffix": prompt.parts[1]}
            if prompt.extra:
                fields["input_extra"] = [{"filename": path, "text": text} for path, text in prompt.extra]
        return llama_request(fields, top, sampling, max_tokens=max_tokens, stream=True)

    def heard(self, event: dict[str, Any]) -> tuple[list[ServedToken], StopReason | None, int]:
        """The tokens of one event of the stream, why the stream ends with it (or None), and how many tokens llama-server has sampled."""
        with self.connection.expecting("the stream"):
            ended, sampled = server_end(event), int(event.get("tokens_predicted") or 0)
            if self.served.kind == "llama-server":
                return llama_tokens(event, self._ends), ended, sampled
            if self.served.kind == "ollama":
                return ollama.generated_tokens(event), ended, sampled
            tokens = [replace(token, ends=token.ends or token.id in self._ends) for token in openai_tokens(event)]
        if len(tokens) > 1 and all(token.id is not None for token in tokens):
            tokens = self._apart(tokens)
        return tokens, ended, sampled

    def ends_text(self, token: int, text: bytes) -> bool:
        """Whether a token ends the text."""
        return token in self._ends or not text

    def piece(self, token: int) -> bytes:
        """The bytes of a token within a text; none for one that ends a text. Raises Unavailable for a part of a character."""
        if token in self._ends:
            return b""
        if self._tokenizer is None:
            raise Unavailable(f"bytes of token {token}", self.where, "Use a server that has /detokenize.")
        return self._tokenizer.piece(token)

    def row(self, tokens: Sequence[int], count: int, stop_check: StopCheck = never_stop, wanted: Sequence[int] = ()) -> list[Candidate]:
        """The `count` most likely next tokens behind these, best first.

        wanted: tokens that vLLM reports instead, if it can (`logprob_token_ids` of vllm/entrypoints/openai/completion/protocol.py; older
        versions ignore it).
        """
        if self.served.kind == "llama-server":
            return self._llama_row(tokens, count, stop_check)
        more: dict[str, Any] = {"logprob_token_ids": list(wanted)} if wanted and self.served.kind == "vllm" else {}
        body = self.served.request(tokens, min(count, self.served.top), **more)
        return self.connection.ask("/v1/completions", body, lambda answer: list(openai_tokens(answer)[0].top), stop_check)

    def logprobs_at(self, tokens: Sequence[int], wanted: Sequence[int]) -> list[float]:
        """log p of each wanted token behind these, in nats. Raises Unavailable where the server does not report one of them."""
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
                f"log-probability of token {lost[0]}, which is not among the {len(found)} that it reports",
                self.where,
                "Ask for likelier ones, or use a server that scores a given text.",
            )
        return [found[token] for token in wanted]

    def _llama_row(self, tokens: Sequence[int], count: int, stop_check: StopCheck) -> list[Candidate]:
        """The most likely tokens before any sampler, by llama-server.

        Where the sampled token is only a part of a character, the server reports nothing. Then other tokens are drawn: the distribution
        that it reports does not depend on the token.
        """
        for seed in range(_MAX_DRAWS):
            sampling = Sampling(_ANY_TOKEN, seed=seed) if seed else Sampling()
            body = llama_request({"prompt": list(tokens)}, count, sampling)
            answer = self.connection.post("/completion", body, stop_check)
            with self.connection.expecting("/completion"):
                if told := answer.get("completion_probabilities"):
                    return list(llama_token(told[0]).top)
        raise Unavailable("log-probabilities at this place", self.where, "Every token that it drew there was only a part of a character.")

    def _apart(self, tokens: Sequence[ServedToken]) -> list[ServedToken]:
        """Split the text that several tokens came with. Of tokens that form one character together, the last gets all.

        vLLM joins the tokens that it sampled while the stream was not read in one event (vllm/v1/engine/output_processor.py,
        RequestOutputCollector).
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

    def _spelled(self, prompt: Prompt) -> str:
        """The prompt as text, with control tokens spelled out. The server adds the token that every text begins with."""
        prefix, suffix = prompt.parts or ("", "")
        prefix, middle, _ = prefix_parts(prefix, prompt.layout, prompt.begun, lambda whole: (whole, ""))
        family = self._family if prompt.layout in ("anchored", "spm") else None
        front = in_front(family, None, prompt.extra, prompt.path)
        prefix = front.text + prefix
        if family is None:
            return prefix
        return front.spelled + "".join({"PREFIX": prefix, "SUFFIX": suffix, "BEGUN": middle}.get(part, part) for part in family.order)
