"""A model behind a server of completions: llama-server, vLLM, or another that speaks OpenAI's interface."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..completion.fim_families import Family, end_tokens, front_tokens, in_front, lay_out, prefix_parts, separates_files
from ..completion.settings import Sampling
from ..errors import ModelError, Unavailable
from ..model import (
    Cancel,
    Capabilities,
    Fingerprint,
    Generation,
    Layout,
    Model,
    OnAlternative,
    OnToken,
    Prompt,
    StopReason,
    Timings,
    check_sampling,
)
from ..room import room_behind
from ..stopping.cancel_or_timeout import StopCheck, make_stop_check
from ..stopping.continuation import Continuation
from ..stopping.stop import Stop
from .healing import ServerHealing
from .http import Connection, Interrupted, Timeouts
from .probe import probe, score_given
from .replay import Replays
from .requests import Requests
from .served import Served
from .streamed_generation import TOP, Beginning, Beginnings, StreamedGeneration
from .tokenizer import ServerTokenizer, estimated_tokens, spelled_control

# Of a server that does not say how long its context is.
UNSAID_CONTEXT = 2048


class RemoteModel(Model):
    """The `Model` protocol over HTTP. One call at a time. What the server can't give raises Unavailable; nothing is estimated.

    Token.id is -1 where the server gives no ids. Token.logprob is NaN where it gives none (then `capabilities.logprobs` is false). The
    entropy is always None.

    Parameters
        url: http(s)://HOST[:PORT], with or without /v1.
        model: which of the server's models; None for its only one.
        key: the server's key, None for none. It is looked for nowhere: `opening` does that, by the server's address.
        layout: None for the one that the model's control tokens say.
        context_length: None for what the server says. Ollama loads the model with it.

    Attributes
        served: what was found out about the server.
        warnings: what the user must be told.

    Raises ModelError where it can't be opened.
    """

    chat_format = None  # a server renders its template itself, at another endpoint

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        key: str | None = None,
        timeouts: Timeouts | None = None,
        layout: Layout | None = None,
        context_length: int | None = None,
    ) -> None:
        if context_length is not None and context_length < 1:
            raise ValueError(f"context_length is {context_length}, it must be at least 1")
        self._connection = Connection(url, key, timeouts or Timeouts())
        try:
            self.served, self._tokenizer = probe(self._connection, model, context_length)
            self._family = self.served.family_with(self._tokenizer)
            self._layout = _layout(self.where, self.served, self._family, layout)
        except BaseException:
            self._connection.close()
            raise
        served_length = self.served.context_length or context_length or UNSAID_CONTEXT
        self._context_length = min(served_length, context_length or served_length)
        ends = _ends(self.served, self._tokenizer, self._family)
        self._requests = Requests(self._connection, self.served, self._family, ends, self._tokenizer)
        # A server that lays prompts out itself takes no tokens behind them.
        self._healing = ServerHealing(self._requests, None if self._layout == "infill" else self._tokenizer)
        self._beginnings = Beginnings(self._requests, self._healing, self._context_length)
        can = self._healing.heals and self.served.ids and self.served.scoring is not None and self.served.top >= TOP
        self._replays = Replays(self._requests, self._healing, self._tokenizer, self._context_length) if self._tokenizer and can else None

    @property
    def where(self) -> str:
        """The server's address."""
        return self._connection.where

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user must be told about the connection, in one or two sentences each. Mostly empty."""
        return self._connection.warnings + self.served.warnings

    @property
    def way(self) -> str:
        """How the server is asked, in words: by which path, with what, and who lays the prompt out."""
        return self._requests.way(self._layout)

    @property
    def context_length(self) -> int:
        """Tokens that prompt and generation may have together."""
        return self._context_length

    @property
    def fingerprint(self) -> Fingerprint:
        """What the server says of the model (`Served.fingerprint`)."""
        return self.served.fingerprint

    @property
    def capabilities(self) -> Capabilities:
        """What was found when it was opened."""
        asks = self.served.ids and self._tokenizer is not None
        fills, lookup = self._layout != "left_to_right", None if self._tokenizer is None else self._tokenizer.control
        return Capabilities(
            logprobs=self.served.top > 0,
            best_other=self.served.top >= TOP,
            entropy=False,
            score=asks and self.served.scoring is not None,
            next_token=asks and self.served.top > 0,
            tokenize=self._tokenizer is not None,
            fim=fills,
            files=fills and separates_files(self._family, lookup),
            heals=self._healing.heals,
            memory=False,
            replay=self._replays is not None,
        )

    @property
    def layout(self) -> Layout:
        """The family's, where the vocabulary, or the model's name, is of a known one; "infill" where only the server knows how."""
        return self._layout

    def tokenize(self, text: str) -> list[int]:
        """Token ids of plain text. The spelling of a control token is text like any other. Raises Unavailable where a server can't."""
        if self._tokenizer is None:
            raise self._unavailable("token ids of a text", "Use a server that has /tokenize.")
        return list(self._tokenizer.encode(text))

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has, by few requests (`ServerTokenizer.count`). An estimate where the server does not tokenize."""
        return estimated_tokens(text) if self._tokenizer is None else self._tokenizer.count(text)

    def fim(self, prefix: str, suffix: str, extra: Sequence[tuple[str, str]] = (), path: str = "", begun: int | None = None) -> Prompt:
        """See `Model.fim`. The prompt has token ids where the server takes them, else texts.

        A llama-server that lays prompts out itself gives pieces of other files only the part of its context beyond its batch
        (tools/server/server-common.cpp, format_prompt_infill).

        Raises Unavailable where the prompt has to be text and the prefix or suffix spells a control token. A piece of another file that
        spells one is left out.
        """
        tokenizer, family = self._tokenizer, None if self._layout == "left_to_right" else self._family
        prefix, middle, held = prefix_parts(prefix, self._layout, begun, self._healing.split)
        if self._layout == "infill" and not self.served.suffix:
            return Prompt((), "infill", (prefix, suffix), tuple(extra), held=held)
        suffix = "" if self._layout == "left_to_right" else suffix
        if tokenizer is None or not self.served.ids:
            if spelling := spelled_control(prefix) or spelled_control(middle) or spelled_control(suffix):
                raise self._no_control(spelling)
            plain = tuple(piece for piece in extra if not any(map(spelled_control, piece)))
            named = "" if spelled_control(path) else path
            return Prompt((), self._layout, (prefix + middle, suffix), plain, named, held, len(middle))
        front = in_front(family, tokenizer.control, extra, path)
        prefix = front.text + prefix
        if family is None:
            return self._continuing(tokenizer, prefix, held)
        encode_behind = tokenizer.encode_behind if family.dummy_space else tokenizer.encode
        beginning = () if family.first else tuple(tokenizer.beginning)
        others = front_tokens(front, family, tokenizer.control, tokenizer.encode)
        laid = lay_out(family, tokenizer.control, tokenizer.encode(prefix), encode_behind(suffix), encode_behind(middle), others)
        return Prompt((*beginning, *laid), self._layout, held=held)

    def left_to_right(self, text: str) -> Prompt:
        """See `Model.left_to_right`. Raises what `fim` raises."""
        if self._tokenizer is not None and self.served.ids:
            return self._continuing(self._tokenizer, text)
        if spelling := spelled_control(text):
            raise self._no_control(spelling)
        return Prompt((), "left_to_right", (text, ""))

    def generate(
        self,
        prompt: Prompt,
        *,
        stop: Stop,
        max_tokens: int,
        max_ms: float | None = None,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int = 0,
        cancel: Cancel | None = None,
        on_token: OnToken | None = None,
        instead_of: Sequence[int] = (),
    ) -> Generation:
        """See `Model.generate`.

        What ends it before the server does closes the stream, so that the server stops too. cancel and max_ms are checked every 5 ms, also
        while the server is silent. Raises ContextTooLong, Unavailable (a temperature at which the server does not report the model's own
        distribution; a part of a character that it does not report), and the errors of a connection.
        """
        if instead_of:
            raise self._unavailable("text that begins with given tokens", "Name the file of the model to Assay.")
        begun = time.perf_counter()
        self._check_sampling(max_tokens, temperature, top_p)
        stop_check = make_stop_check(cancel, max_ms, begun)
        max_tokens = self._most(prompt, max_tokens)
        text = Continuation(stop, max_tokens, on_token, prompt.held_bytes)
        return self._written(prompt, [text], [Sampling(temperature, top_p, seed)], max_tokens, stop_check, begun)[0]

    def alternatives(
        self,
        prompt: Prompt,
        count: int,
        *,
        stop: Stop,
        max_tokens: int,
        max_ms: float | None = None,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int = 0,
        cancel: Cancel | None = None,
        on_token: OnAlternative | None = None,
    ) -> list[Generation]:
        """See `Model.alternatives`. All are asked for at once, which the server's batching and prefix cache make cheap.

        Raises Unavailable where the server reports too few tokens to begin with.
        """
        begun = time.perf_counter()
        self._check_sampling(max_tokens, temperature, top_p)
        if count < 1:
            raise ValueError(f"{count} alternatives: at least 1")
        stop_check = make_stop_check(cancel, max_ms, begun)
        max_tokens = self._most(prompt, max_tokens)
        texts = [Continuation(stop, max_tokens, _numbered(on_token, number), prompt.held_bytes) for number in range(count)]
        samplings = [Sampling(temperature, top_p, seed + number) for number in range(count)]
        return self._written(prompt, texts, samplings, max_tokens, stop_check, begun, greedily=temperature == 0)

    def replay(self, prompt: Prompt, text: str, *, stop: Stop | None, repeated: Sequence[str] = ()) -> Generation:
        """See `Model.replay`. Each token is a request."""
        self._check_question(prompt, "log-probabilities of a given text and of the best other tokens", self._replays is not None)
        self._room(prompt)
        assert self._replays is not None, "just checked"
        return self._replays.replay(prompt, text, stop, repeated)

    def score(self, prompt: Prompt, continuation: Sequence[int]) -> list[float]:
        """See `Model.score`. vLLM and others that echo a prompt need one request, llama-server one for each token."""
        self._check_question(prompt, "log-probabilities of a given text", self.capabilities.score)
        # A server that scores a given text also samples a token behind it.
        self._room(prompt, len(continuation) + (self.served.scoring != "steps"))
        if not continuation:
            return []
        if self.served.scoring == "steps":
            given = tuple(continuation)
            steps = [(*prompt.tokens, *given[:index]) for index in range(len(given))]
            return [self._requests.logprobs_at(before, [token])[0] for before, token in zip(steps, given, strict=True)]
        scores = score_given(
            self._connection, self.served, str(self.served.scoring), (*prompt.tokens, *continuation), last=len(continuation)
        )
        if scores is None:
            raise self._unavailable("log-probability of every token of this text", "It had them when it was opened: try again.")
        return scores

    def next_token_logprobs(self, prompt: Prompt, candidates: Sequence[str]) -> list[float]:
        """See `Model.next_token_logprobs`. Raises Unavailable where the server does not report one of them."""
        self._check_question(prompt, "log-probabilities of the next token", self.capabilities.next_token)
        self._room(prompt)
        first = [self.tokenize(candidate)[:1] for candidate in candidates]
        if not all(first):
            raise ValueError("an empty candidate has no first token")
        return self._requests.logprobs_at(prompt.tokens, [token for (token,) in first])

    def close(self) -> None:
        """Close the connections; the model can't be used after. A second time does nothing."""
        self._connection.close()

    def _written(
        self,
        prompt: Prompt,
        texts: Sequence[Continuation],
        samplings: Sequence[Sampling],
        max_tokens: int,
        stop_check: StopCheck,
        begun: float,
        *,
        greedily: bool = False,
    ) -> list[Generation]:
        """Begin the texts, and follow their streams until each has ended. greedily: each begins with another of the likeliest tokens."""
        try:
            if greedily:
                beginnings = self._beginnings.begin_several(prompt, texts, stop_check)
            else:
                both = zip(texts, samplings, strict=True)
                beginnings = [self._beginnings.write_held(Beginning(prompt), text, how, stop_check) for text, how in both]
        except Interrupted as interrupted:
            nothing = Timings((time.perf_counter() - begun) * 1000, 0.0, len(prompt.tokens), 0)
            return [text.generation(interrupted.reason, nothing) for text in texts]
        readings = []
        for beginning, text, how in zip(beginnings, texts, samplings, strict=False):
            left = min(max_tokens - len(text.tokens), self._context_length - len(beginning.prompt.tokens))
            readings.append(StreamedGeneration(self._requests, beginning, text, how, left, stop_check))
        live = [reading for reading in readings if reading.goes_on]
        otherwise: StopReason | None = stop_check()
        if otherwise is None and live:
            path = self._requests.path(live[0].prompt)
            with self._connection.stream(path, [reading.body() for reading in live]) as streams:
                try:
                    for number, event in streams.events(stop_check):
                        if live[number].take(event):
                            streams.end(number)
                except Interrupted as interrupted:
                    otherwise = interrupted.reason
        done = time.perf_counter()
        return [reading.generation(otherwise, begun, done) for reading in readings]

    def _check_sampling(self, max_tokens: int, temperature: float, top_p: float) -> None:
        check_sampling(max_tokens, temperature, top_p)
        if self.served.shaped and self.served.top and temperature > 0 and (temperature, top_p) != (1.0, 1.0):
            raise self._unavailable(
                f"log-probabilities of the model's own distribution at temperature {temperature:g} and top_p {top_p:g}",
                "Use temperature 0, or 1 with top_p 1 (vLLM: --logprobs-mode raw_logprobs).",
            )

    def _check_question(self, prompt: Prompt, what: str, can: bool) -> None:
        if not can or not prompt.tokens:
            raise self._unavailable(what, "Use vLLM or llama-server, which do, with a model whose layout is known.")

    def _most(self, prompt: Prompt, max_tokens: int) -> int:
        """How many tokens a text may have, so that these and those for what is held back fit into the context."""
        return max(1, min(max_tokens, self._room(prompt) - len(prompt.held_bytes)))

    def _room(self, prompt: Prompt, wanted: int = 1) -> int:
        """Tokens that the context has left behind the prompt, at least `wanted`; of a prompt of texts only the server knows."""
        if prompt.parts is not None:
            return self._context_length
        if prompt.tokens and not self.served.ids:
            raise self._unavailable("way to ask with token ids", "Ask with what `fim` gives, or use vLLM or llama-server.")
        if min(prompt.tokens, default=0) < 0:
            raise self._unavailable("ids of the tokens it samples, and the prompt holds one of them", "Ask with a prompt of text.")
        return room_behind(prompt, self._context_length, wanted)

    def _continuing(self, tokenizer: ServerTokenizer, text: str, held: str = "") -> Prompt:
        return Prompt((*tokenizer.beginning, *tokenizer.encode(text)) or (tokenizer.separator,), "left_to_right", held=held)

    def _no_control(self, spelling: str) -> ModelError:
        what = f'way to say that the "{spelling}" in a text is no control token'
        return self._unavailable(what, "Use a server that takes token ids as a prompt.")

    def _unavailable(self, what: str, advice: str) -> ModelError:
        return Unavailable(what, self.where, advice)


def _ends(served: Served, tokenizer: ServerTokenizer | None, family: Family | None) -> frozenset[int]:
    """The tokens that end a text, as far as they can be looked up."""
    if tokenizer is None:
        return frozenset()
    said = frozenset(token for spelling in served.ends if (token := tokenizer.control(spelling)) is not None)
    return said | end_tokens(family, tokenizer.control) if family else said


def _layout(where: str, served: Served, family: Family | None, wanted: Layout | None) -> Layout:
    found: Layout = family.layout if family else "infill" if served.infill or served.suffix else "left_to_right"
    if wanted is None or wanted == found or wanted == "left_to_right":
        return wanted or found
    if wanted == "infill" and served.infill:
        return wanted
    raise Unavailable(f'layout "{wanted}" with this model', where, f'It has "{found}" and "left_to_right".')


def _numbered(on_token: OnAlternative | None, number: int) -> OnToken | None:
    return None if on_token is None else lambda token, text: on_token(number, token, text)
