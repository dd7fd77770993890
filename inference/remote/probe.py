"""Find out what a server can do, by a few requests of one token when it is opened."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..completion.fim_families import FAMILIES
from ..errors import AccessRefused, BadAnswer, NoSuchEndpoint, NoSuchServedModel, NotACompletionServer, RequestRefused
from .formats import (
    Holding,
    Sampling,
    ServedToken,
    agree,
    echoed_logprobs,
    held_fields,
    llama_held,
    llama_held_request,
    llama_request,
    llama_token,
    openai_request,
    openai_tokens,
    prompt_logprobs,
)
from .http import Connection
from .tokenizer import Kind, ServerTokenizer

Scoring = Literal["steps", "prompt_logprobs", "echo"]

_TEXT = "def add(a, b):\n    return"
# No model writes it there, and few tokens agree with it.
_HELD = "qxz"
# Of all probability, which the tokens that agree have together where the model is held to it.
_MIN_SHARE = 1 - 1e-3
# Log-probabilities that differ by less are those of one distribution, computed in another batch.
_SAME = 0.1
# How a server, or a proxy in front of it, says that it lacks a path that only some servers have.
_ABSENT = (NoSuchEndpoint, RequestRefused, BadAnswer, NotACompletionServer, AccessRefused)
_HOT = Sampling(temperature=2.0, seed=1)
_DRAWS = 16


@dataclass(frozen=True, slots=True)
class Served:
    """What a server says of its model, and what it can do.

    Attributes
        vocabulary: how many tokens there are, None where it does not say.
        top: how many log-probabilities it reports at each place, 0 for none.
        ids: whether it takes token ids as a prompt.
        shaped: whether its log-probabilities are those at the temperature, not the model's own.
        infill: whether it lays fill-in-the-middle prompts out itself.
        scoring: how it scores a given text, None where it can't.
        holding: how it is held to a text that must come next, so that log-probabilities are among what agrees with it; None where it can't.
        ends: spellings of the tokens that end a text.
        extras: fields of every request.
        metadata: what the fingerprint is made of.
    """

    kind: Kind | Literal["openai"]
    model: str
    runtime: str
    context_length: int | None
    parameters: int = 0
    quantisation: str = "unknown"
    vocabulary: int | None = None
    top: int = 0
    ids: bool = False
    shaped: bool = False
    infill: bool = False
    scoring: Scoring | None = None
    holding: Holding | None = None
    ends: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


def probe(connection: Connection, name: str | None) -> tuple[Served, ServerTokenizer | None]:
    """Ask a server about the model of this name, or about its only one. Raises ModelError."""
    with connection.expecting("/v1/models, /props or /info"):
        return _probe(connection, name)


def _probe(connection: Connection, name: str | None) -> tuple[Served, ServerTokenizer | None]:
    model = _model(connection, name)
    told = model.get("meta") or {}
    props = _get(connection, "/props")
    if isinstance(props, dict) and "default_generation_settings" in props:
        return _llama(connection, str(model.get("id") or props.get("model_alias") or "unknown"), told, props)
    info = _get(connection, "/info")
    if isinstance(info, dict) and "max_total_tokens" in info:
        return _tgi(connection, str(model.get("id") or info.get("model_id")), info)
    kind: Literal["vllm", "openai"] = "vllm" if model.get("owned_by") == "vllm" else "openai"
    return _openai(connection, kind, str(model.get("id") or name or "default"), model)


def _model(connection: Connection, name: str | None) -> Mapping[str, Any]:
    """The entry of `/v1/models`; an empty one where the server has no list."""
    try:
        answer = connection.get("/v1/models", patience=connection.timeouts.load)
    except NoSuchEndpoint:
        return {"id": name} if name else {}
    models = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(models, list) or not all(isinstance(model, dict) for model in models):
        raise NotACompletionServer(connection.where, "/v1/models is no list of models")
    there = [str(model.get("id")) for model in models]
    if name is None and len(models) == 1:
        return models[0]  # type: ignore[no-any-return]
    chosen = next(
        (model for model in models if name is not None and (model.get("id") == name or name in (model.get("aliases") or ()))), None
    )
    if chosen is None:
        raise NoSuchServedModel(connection.where, name, [connection.quoted(one) for one in there])
    return chosen  # type: ignore[no-any-return]


def _get(connection: Connection, path: str) -> Any:
    """The JSON of a path that only some servers have, or None."""
    try:
        return connection.get(path)
    except _ABSENT:
        return None


def _llama(connection: Connection, model: str, told: Mapping[str, Any], props: Mapping[str, Any]) -> tuple[Served, ServerTokenizer]:
    between = [str(props[name]) for name in ("bos_token", "eos_token") if props.get(name)]
    tokenizer = _tokenizer(connection, "llama-server", model, between)
    if tokenizer is None:
        raise NotACompletionServer(connection.where, "a llama-server without /tokenize")
    prompt = {"prompt": [*tokenizer.beginning, *tokenizer.encode(_TEXT)]}
    # A token that is only a part of a character is not reported. Then others are drawn, again at two temperatures.
    cold = _llama_token(connection, prompt, [Sampling(), *(Sampling(1e3, seed=seed) for seed in range(_DRAWS))])
    hot = _llama_token(connection, prompt, [_HOT, *(Sampling(1e6, seed=seed) for seed in range(_DRAWS))])
    known = ("n_vocab", "n_ctx_train", "n_embd", "n_params", "size", "ftype", "vocab_type")
    served = Served(
        kind="llama-server",
        # The file's name alone: its folder on the host says nothing of the model.
        model=re.split(r"[/\\]", model)[-1] if model.endswith(".gguf") else model,
        runtime=f"llama-server {props.get('build_info', '')}".strip(),
        context_length=_number(props["default_generation_settings"].get("n_ctx")),
        parameters=_number(told.get("n_params")) or 0,
        quantisation=str(told.get("ftype") or props.get("model_ftype") or "unknown"),
        vocabulary=_number(told.get("n_vocab")),
        # An older server has none of these, or reports the distribution at the temperature.
        top=5 if cold and cold.logprob is not None and hot and _same(cold, hot) else 0,
        ids=True,
        infill=_has_infill(connection),
        ends=tuple(between[-1:]) if props.get("eos_token") else (),
        scoring="steps" if cold and cold.logprob is not None else None,
        metadata={name: told.get(name) for name in known},
    )
    holds = served.top and _writes_plain(tokenizer) and _llama_holds(connection, tokenizer, prompt["prompt"], served.ends)
    return replace(served, holding="grammar" if holds else None), tokenizer


def _llama_holds(connection: Connection, tokenizer: ServerTokenizer, prompt: Sequence[int], ends: Sequence[str]) -> bool:
    end = tokenizer.first_control(ends)
    if end is None:
        return False
    try:
        answer = connection.post("/completion", llama_held_request(prompt, _HELD, top=64, refused=end, never=tokenizer.controls))
        with connection.expecting("/completion"):
            told = llama_held(answer)
    except (RequestRefused, BadAnswer):
        return False
    return told is not None and _among_agreeing(told)


def _llama_token(connection: Connection, prompt: Mapping[str, Any], samplings: Sequence[Sampling]) -> ServedToken | None:
    """The first token behind the prompt that the server reports, with the first of these samplings that gives one."""
    for sampling in samplings:
        answer = connection.post("/completion", llama_request(prompt, max_tokens=1, top=5, sampling=sampling, stream=False))
        if told := answer.get("completion_probabilities"):
            return llama_token(told[0]) if "top_logprobs" in told[0] and "bytes" in told[0] else None
    return None


def _has_infill(connection: Connection) -> bool:
    body = llama_request({"input_prefix": "", "input_suffix": ""}, max_tokens=0, top=0, sampling=Sampling(), stream=False)
    try:
        connection.post("/infill", body)
    except (NoSuchEndpoint, RequestRefused):
        return False
    return True


def _tgi(connection: Connection, model: str, info: Mapping[str, Any]) -> tuple[Served, ServerTokenizer | None]:
    served = Served(
        kind="tgi",
        model=model,
        runtime=f"text-generation-inference {info.get('version', '')}".strip(),
        context_length=_number(info.get("max_total_tokens")),
        metadata={name: info.get(name) for name in ("model_id", "model_sha", "model_dtype")},
    )
    _ask(connection, served, _TEXT, top=None)
    return served, _tokenizer(connection, "tgi", model)


def _openai(
    connection: Connection, kind: Literal["vllm", "openai"], model: str, entry: Mapping[str, Any]
) -> tuple[Served, ServerTokenizer | None]:
    """Ask for each ability on its own, so that a server that refuses one is not taken to lack the others."""
    tokenizer = _tokenizer(connection, "vllm", model)
    # Neutral values of what vLLM would else take from the model's own generation_config.json.
    neutral = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0} if kind == "vllm" else {}
    version = _get(connection, "/version") if kind == "vllm" else None
    served = Served(
        kind=kind,
        model=model,
        runtime=f"vllm {version.get('version', '')}".strip() if isinstance(version, dict) else kind,
        context_length=_number(entry.get("max_model_len")),
        extras=neutral,
        metadata={name: entry.get(name) for name in ("owned_by", "root", "parent", "max_model_len")},
    )
    _ask(connection, served, _TEXT, top=None)  # a server without completions is refused here, by its own message
    named = {"return_tokens_as_token_ids": True}
    for top, extras in ((20, named), (5, named), (5, {})):
        trial = replace(served, top=top, extras={**neutral, **extras})
        cold = _token(connection, trial, _TEXT, Sampling())
        if cold and cold.logprob is not None:
            served = replace(trial, top=min(top, len(cold.top)))
            break
    else:
        return served, tokenizer
    ids = [*tokenizer.beginning, *tokenizer.encode(_TEXT)] if tokenizer else []
    by_ids = _token(connection, served, ids, Sampling()) if ids else None
    hot, warm = (_token(connection, served, _TEXT, Sampling(temperature, seed=1)) for temperature in (2.0, 1.0))
    if warm is None or not _same(cold, warm):
        served = replace(served, top=0)  # what it reports at temperature 0 is not the model's distribution
    takes_ids = by_ids is not None and _same(cold, by_ids)
    served = replace(served, shaped=hot is None or not _same(cold, hot), ids=takes_ids)
    if tokenizer is None or not takes_ids:
        return served, tokenizer
    return replace(served, scoring=_scoring(connection, served, ids), holding=_holding(connection, served, tokenizer, ids)), tokenizer


def _holding(connection: Connection, served: Served, tokenizer: ServerTokenizer, ids: Sequence[int]) -> Holding | None:
    """How a server is held to a text, where its log-probabilities are then among the tokens that agree.

    vLLM masks the logits by its structured outputs before it computes the log-probabilities (vllm/v1/worker/gpu_model_runner.py), but
    by `allowed_token_ids` afterwards (vllm/v1/sample/sampler.py).
    """
    if not served.top or not _writes_plain(tokenizer):
        return None
    holdings: tuple[Holding, ...] = ("structured_outputs", "guided_regex")
    for holding in holdings:
        told = _token(connection, replace(served, extras={**served.extras, **held_fields(holding, _HELD)}), ids, Sampling())
        if told and told.id is not None and told.top and told.logprob == told.top[0].logprob and _among_agreeing(told):
            return holding
    return None


def _writes_plain(tokenizer: ServerTokenizer) -> bool:
    try:
        return tokenizer.writes_plain
    except _ABSENT:
        return False


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
    body = openai_request(tokens, model=served.model, max_tokens=1, top=None, sampling=Sampling(), stream=False, extras=served.extras)
    asked = {"prompt_logprobs": 0} if scoring == "prompt_logprobs" else {"echo": True, "logprobs": 1}
    answer = connection.post("/v1/completions", body | asked)
    with connection.expecting("/v1/completions"):
        return prompt_logprobs(answer, tokens, last) if scoring == "prompt_logprobs" else echoed_logprobs(answer, len(tokens), last)


def _ask(connection: Connection, served: Served, prompt: str | Sequence[int], *, top: int | None, sampling: Sampling | None = None) -> Any:
    body = openai_request(
        prompt, model=served.model, max_tokens=1, top=top, sampling=sampling or Sampling(), stream=False, extras=served.extras
    )
    answer = connection.post("/v1/completions", body)
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list) or not answer["choices"]:
        raise NotACompletionServer(connection.where, "/v1/completions answered without choices")
    return answer


def _token(connection: Connection, served: Served, prompt: str | Sequence[int], sampling: Sampling) -> ServedToken | None:
    """The first token that the server reports, or None where it refuses."""
    try:
        answer = _ask(connection, served, prompt, top=served.top, sampling=sampling)
        with connection.expecting("/v1/completions"):
            heard = openai_tokens(answer)
    except (RequestRefused, NotACompletionServer, BadAnswer):
        return None
    return heard[0] if heard else None


def _tokenizer(connection: Connection, kind: Kind, model: str, between: Sequence[str] = ("<|endoftext|>",)) -> ServerTokenizer | None:
    try:
        tokenizer = ServerTokenizer(connection, kind, model, between)
        tokenizer.look_up(spelling for family in FAMILIES for spelling in (*family.controls, *family.marks))
    except _ABSENT:
        return None
    return tokenizer


def _same(one: ServedToken, other: ServedToken) -> bool:
    """Whether two answers at one place have the same distribution, by the tokens that are in both."""
    first, second = ({(c.id, c.text): c.logprob for c in heard.top} for heard in (one, other))
    both = first.keys() & second.keys()
    return bool(both) and all(abs(first[key] - second[key]) < _SAME for key in both)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
