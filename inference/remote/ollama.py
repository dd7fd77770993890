"""Ollama's own interface: `/api/show` says what a model is, `/api/generate` completes.

Its `/v1/completions` puts every prompt into the model's chat template. `/api/generate` takes one as it is (`raw`), or lays prompt and
`suffix` out by the model's template, if that has a place for a suffix (the capability "insert"). Reference:
https://github.com/ollama/ollama api/types.go (GenerateRequest, ShowResponse, Logprob), server/routes.go (GenerateHandler, GetModelInfo,
streamResponse), llm/llama_server.go (Completion, convertLogprobs).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..completion.fim_families import FAMILIES, PLACES, Family, family_named, family_of
from ..completion.settings import Sampling
from .formats import ServedToken, same_distribution, spelled_token
from .http import Connection
from .served import Served, number

PATH = "/api/generate"
# Ollama's upper bound is 20; more than the best other is not needed.
TOP = 2
# `FROM` and `ADAPTER` in a Modelfile name the files of the weights by their hash.
_BLOB = re.compile(r"^(?:FROM|ADAPTER)\s+\S*sha256[:-]([0-9a-f]{64})", re.MULTILINE)


def ollama_served(connection: Connection, name: str) -> Served | None:
    """What Ollama says of a model, without loading it; None where the server is none. Raises ModelError."""
    told = _show(connection, name)
    if told is None:
        return None
    details, info = told.get("details") or {}, told.get("model_info") or {}
    known = {key: value for key, value in info.items() if not isinstance(value, list | dict | None)}
    version = connection.optional("/api/version")
    host = told.get("remote_host")
    sent_on = (f"{connection.where}: {name} runs at {connection.quoted(str(host))}, so what it is shown is sent there.",) if host else ()
    return Served(
        kind="ollama",
        model=name,
        runtime=f"ollama {version.get('version', '')}".strip() if isinstance(version, dict) else "ollama",
        context_length=None,
        parameters=number(info.get("general.parameter_count")) or 0,
        quantisation=str(details.get("quantization_level") or "unknown"),
        suffix="insert" in (told.get("capabilities") or ()),
        metadata={"files": _BLOB.findall(str(told.get("modelfile", ""))), "template": told.get("template"), "info": known},
        warnings=sent_on,
    )


def probe_ollama(connection: Connection, served: Served, text: str, context: int | None) -> Served:
    """What a model of Ollama can do; loads it. text: what it is asked to continue. context: tokens to load it with, None for its own."""
    options = {"num_ctx": context} if context else {}
    served = replace(served, extras={"options": options}, family=_family(_show(connection, served.model, verbose=True) or {}, served.model))
    if served.family is not None:
        served = replace(served, suffix=False)
    cold, hot, warm = (_first(connection, served, text, Sampling(temperature, seed=1)) for temperature in (0.0, 2.0, 1.0))
    if cold is not None and cold.logprob is not None and cold.top and warm is not None and same_distribution(cold, warm):
        served = replace(served, top=TOP, shaped=hot is None or not same_distribution(cold, hot))
    return replace(served, context_length=_loaded_context(connection, served.model))


def generate_request(
    served: Served, prompt: str, suffix: str | None, *, max_tokens: int, sampling: Sampling, stream: bool, top: int
) -> dict[str, Any]:
    """A body. suffix: what stands behind, for the model's template to lay out; None to have the prompt taken as it is.

    It overrides what the model's own file says of sampling and stops. Without `truncate` a prompt that is too long is refused; else its
    beginning would be dropped. (`shift` is not said: another value than other programs' has the model loaded anew.)
    """
    options: dict[str, Any] = {
        "num_predict": max_tokens,
        "temperature": sampling.temperature,
        "top_k": 0 if sampling.temperature > 0 else 1,
        "top_p": sampling.top_p,
        "min_p": 0.0,
        "typical_p": 1.0,
        "repeat_penalty": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "seed": sampling.seed % (1 << 31),
        "stop": [],
    }
    body: dict[str, Any] = {"model": served.model, "prompt": prompt, "stream": stream, "truncate": False, "think": False}
    # A suffix that is empty counts as none, and the prompt would go into the chat template.
    body |= {"raw": True} if suffix is None else {"suffix": suffix or "\n"}
    if top:
        body |= {"logprobs": True, "top_logprobs": top}
    return {**body, "options": {**options, **served.extras.get("options", {})}}


def generated_tokens(event: Mapping[str, Any]) -> list[ServedToken]:
    """The tokens of one event or answer. Without log-probabilities all its text is one token.

    A token that is only a part of a character has no event of its own: the text of the next has all of it, and its log-probability is then
    that of several tokens, of which not all are told.
    """
    text = str(event.get("response") or "").encode("utf-8", "replace")
    tokens = [spelled_token(entry) for entry in event.get("logprobs") or ()]
    if b"".join(token.text for token in tokens) == text:
        return tokens
    return [ServedToken(None, text, None)] if text else []


def _first(connection: Connection, served: Served, text: str, sampling: Sampling) -> ServedToken | None:
    body = generate_request(served, text, None, max_tokens=1, sampling=sampling, stream=False, top=5)
    tokens = connection.ask(PATH, body, generated_tokens)
    return tokens[0] if tokens else None


def _family(told: Mapping[str, Any], name: str) -> Family | None:
    """The family whose tokens a model has: by its vocabulary, where that is told, else by its name or what its template spells.

    Not one whose tokenizer puts a space before a text, which a prompt of text can't say: Ollama's template for it does.
    """
    vocabulary = (told.get("model_info") or {}).get("tokenizer.ggml.tokens")
    if isinstance(vocabulary, list) and vocabulary:
        there = {token for token in vocabulary if isinstance(token, str)}
        found = family_of(lambda spelling: 0 if spelling in there else None, name)
    else:
        template = str(told.get("template", ""))
        found = family_named(name) or next((family for family in FAMILIES if _spelled_in(template, family)), None)
    return None if found is None or found.dummy_space else found


def _spelled_in(template: str, family: Family) -> bool:
    return all(spelling in template for spelling in (*family.order, *family.marks) if spelling not in PLACES)


def _loaded_context(connection: Connection, name: str) -> int | None:
    """Tokens of context that a model was loaded with (ProcessModelResponse); None where Ollama does not say."""
    told = connection.optional("/api/ps")
    models = told.get("models") if isinstance(told, dict) else None
    for entry in models if isinstance(models, list) else ():
        if isinstance(entry, dict) and name in (entry.get("name"), entry.get("model"), str(entry.get("name")).removesuffix(":latest")):
            return number(entry.get("context_length"))
    return None


def _show(connection: Connection, name: str, *, verbose: bool = False) -> dict[str, Any] | None:
    told = connection.optional("/api/show", {"model": name, **({"verbose": True} if verbose else {})})
    return told if isinstance(told, dict) and isinstance(told.get("details"), dict) else None
