"""Find out what a server can do, by a few requests of one token when it is opened."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..completion.settings import GREEDY, Sampling
from ..errors import BadAnswer, NoSuchEndpoint, NotACompletionServer, RequestRefused
from .formats import (
    Holding,
    ServedToken,
    agree,
    echoed_logprobs,
    held_fields,
    llama_held,
    llama_held_request,
    llama_request,
    llama_token,
    openai_tokens,
    prompt_logprobs,
    same_distribution,
)
from .http import ABSENT, Connection
from .identify import identify, loaded_context
from .ollama import probe_ollama
from .served import Scoring, Served
from .tokenizer import ServerTokenizer

_TEXT = "def add(a, b):\n    return"
# No model writes it there, and few tokens agree with it.
_HELD = "qxz"
# Of all probability, which the tokens that agree have together where the model is held to it.
_MIN_SHARE = 1 - 1e-3
_HOT = Sampling(temperature=2.0, seed=1)
_DRAWS = 16
# Of a prompt of one letter, with the least that chat templates put around it.
_MIN_TEMPLATE_TOKENS = 6


def probe(connection: Connection, name: str | None, context: int | None = None) -> tuple[Served, ServerTokenizer | None]:
    """Ask a server about the model of this name, or about its only one. Raises ModelError.

    context: tokens of context to load the model with, where a server loads it as it is asked to; None for its own.
    """
    served, props = identify(connection, name)
    with connection.expecting("what it was asked when it was opened"):
        if served.kind == "llama-server":
            return _llama(connection, served, props)
        if served.kind == "ollama":
            return probe_ollama(connection, served, _TEXT, context), None
        return _openai(connection, served)


def _llama(connection: Connection, served: Served, props: Mapping[str, Any]) -> tuple[Served, ServerTokenizer]:
    between = [str(props[name]) for name in ("bos_token", "eos_token") if props.get(name)]
    try:
        tokenizer = ServerTokenizer(connection, "llama-server", served.model, between)
    except NoSuchEndpoint:
        raise NotACompletionServer(connection.where, "a llama-server without /tokenize") from None
    prompt = {"prompt": [*tokenizer.beginning, *tokenizer.encode(_TEXT)]}
    # A token that is only a part of a character is not reported. Then others are drawn, again at two temperatures.
    cold = _llama_token(connection, prompt, [Sampling(), *(Sampling(1e3, seed=seed) for seed in range(_DRAWS))])
    hot = _llama_token(connection, prompt, [_HOT, *(Sampling(1e6, seed=seed) for seed in range(_DRAWS))])
    served = replace(
        served,
        # An older server has none of these, or reports the distribution at the temperature.
        top=5 if cold and cold.logprob is not None and hot and same_distribution(cold, hot) else 0,
        ids=True,
        infill=_has_infill(connection),
        scoring="steps" if cold and cold.logprob is not None else None,
    )
    holds = served.top and tokenizer.writes_plain and _llama_holds(connection, tokenizer, prompt["prompt"], served.ends)
    return replace(served, holding="grammar" if holds else None), tokenizer


def _llama_holds(connection: Connection, tokenizer: ServerTokenizer, prompt: Sequence[int], ends: Sequence[str]) -> bool:
    end = tokenizer.first_control(ends)
    if end is None:
        return False
    try:
        told = connection.ask("/completion", llama_held_request(prompt, _HELD, top=64, refused=end, never=tokenizer.controls), llama_held)
    except (RequestRefused, BadAnswer):
        return False
    return told is not None and _among_agreeing(told)


def _llama_token(connection: Connection, prompt: Mapping[str, Any], samplings: Sequence[Sampling]) -> ServedToken | None:
    """The first token behind the prompt that the server reports, with the first of these samplings that gives one."""
    for sampling in samplings:
        answer = connection.post("/completion", llama_request(prompt, 5, sampling))
        if told := answer.get("completion_probabilities"):
            return llama_token(told[0]) if "top_logprobs" in told[0] and "bytes" in told[0] else None
    return None


def _has_infill(connection: Connection) -> bool:
    body = llama_request({"input_prefix": "", "input_suffix": ""}, 0, max_tokens=0)
    try:
        connection.post("/infill", body)
    except (NoSuchEndpoint, RequestRefused):
        return False
    return True


def _openai(connection: Connection, served: Served) -> tuple[Served, ServerTokenizer | None]:
    """Ask for each ability on its own, so that a server that refuses one is not taken to lack the others."""
    tokenizer: ServerTokenizer | None = None
    with contextlib.suppress(*ABSENT):
        tokenizer = ServerTokenizer(connection, "vllm", served.model, ("<|endoftext|>",))
    neutral = served.extras
    _ask(connection, served, _TEXT)  # a server without completions is refused here, by its own message
    if served.kind == "lm-studio":
        served = replace(served, context_length=loaded_context(connection, served.model))
    if served.kind == "openai" and tokenizer is None:
        served = _warned_of_a_template(connection, served)
    named = {"return_tokens_as_token_ids": True}
    for top, extras in ((20, named), (5, named), (5, {})):
        trial = replace(served, top=top, extras={**neutral, **extras})
        cold = _token(connection, trial, _TEXT)
        if cold and cold.logprob is not None:
            served = replace(trial, top=min(top, len(cold.top)))
            break
    else:
        return served, tokenizer
    ids = [*tokenizer.beginning, *tokenizer.encode(_TEXT)] if tokenizer else []
    by_ids = _token(connection, served, ids) if ids else None
    hot, warm = (_token(connection, served, _TEXT, Sampling(temperature, seed=1)) for temperature in (2.0, 1.0))
    if warm is None or not same_distribution(cold, warm):
        served = replace(served, top=0)  # what it reports at temperature 0 is not the model's distribution
    takes_ids = by_ids is not None and same_distribution(cold, by_ids)
    served = replace(served, shaped=hot is None or not same_distribution(cold, hot), ids=takes_ids)
    if tokenizer is None or not takes_ids:
        return served, tokenizer
    return replace(served, scoring=_scoring(connection, served, ids), holding=_holding(connection, served, tokenizer, ids)), tokenizer


def _warned_of_a_template(connection: Connection, served: Served) -> Served:
    """With a warning where a server puts a prompt into the model's chat template.

    One letter is one token, or two with that which every text begins with; a template has more.
    """
    counted = _ask(connection, served, "a").get("usage")
    count = counted.get("prompt_tokens") if isinstance(counted, dict) else None
    if not isinstance(count, int) or count < _MIN_TEMPLATE_TOKENS:
        return served
    told = "puts what it is to continue into the model's chat template, so it answers instead of completing"
    return replace(served, warnings=(f"{connection.where}: /v1/completions {told}. Use the model's file, or llama-server.",))


def _holding(connection: Connection, served: Served, tokenizer: ServerTokenizer, ids: Sequence[int]) -> Holding | None:
    """How a server is held to a text, where its log-probabilities are then among the tokens that agree.

    vLLM masks the logits by its structured outputs before it computes the log-probabilities (vllm/v1/worker/gpu_model_runner.py), but
    by `allowed_token_ids` afterwards (vllm/v1/sample/sampler.py).
    """
    if not served.top or not tokenizer.writes_plain:
        return None
    holdings: tuple[Holding, ...] = ("structured_outputs", "guided_regex")
    for holding in holdings:
        told = _token(connection, served, ids, **held_fields(holding, _HELD))
        if told and told.id is not None and told.top and told.logprob == told.top[0].logprob and _among_agreeing(told):
            return holding
    return None


def _among_agreeing(told: ServedToken) -> bool:
    """Whether the tokens that are reported agree with `_HELD`, as far as their text is known, and have all the probability."""
    texts = [told.text, *(candidate.text for candidate in told.top if candidate.text is not None)]
    return all(agree(text, _HELD.encode()) for text in texts) and math.fsum(math.exp(c.logprob) for c in told.top) > _MIN_SHARE


def _scoring(connection: Connection, served: Served, ids: Sequence[int]) -> Scoring | None:
    for scoring in ("prompt_logprobs", "echo"):
        try:
            if score_given(connection, served, scoring, ids, 2) is not None:
                return scoring
        except (RequestRefused, BadAnswer):
            continue
    return None


def score_given(connection: Connection, served: Served, scoring: str, tokens: Sequence[int], last: int) -> list[float] | None:
    """log p of the `last` of the given tokens, or None where the answer does not have them."""
    asked: dict[str, Any] = {"prompt_logprobs": 0} if scoring == "prompt_logprobs" else {"echo": True, "logprobs": 1}

    def read(answer: Any) -> list[float] | None:
        return prompt_logprobs(answer, tokens, last) if scoring == "prompt_logprobs" else echoed_logprobs(answer, len(tokens), last)

    return connection.ask("/v1/completions", served.request(tokens, None, **asked), read)


def _ask(
    connection: Connection, served: Served, prompt: str | Sequence[int], top: int | None = None, sampling: Sampling = GREEDY, **more: Any
) -> Any:
    answer = connection.post("/v1/completions", served.request(prompt, top, sampling, **more))
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list) or not answer["choices"]:
        raise NotACompletionServer(connection.where, "/v1/completions answered without choices")
    return answer


def _token(
    connection: Connection, served: Served, prompt: str | Sequence[int], sampling: Sampling = GREEDY, **more: Any
) -> ServedToken | None:
    """The first token that the server reports, or None where it refuses."""
    try:
        answer = _ask(connection, served, prompt, served.top, sampling, **more)
        with connection.expecting("/v1/completions"):
            heard = openai_tokens(answer)
    except (RequestRefused, NotACompletionServer, BadAnswer):
        return None
    return heard[0] if heard else None
