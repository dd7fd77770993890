"""What a server says of itself and its model, before anything is asked of that."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..errors import AccessRefused, BadAnswer, NoSuchEndpoint, NoSuchServedModel, NotACompletionServer, RequestRefused
from ..model import Fingerprint
from .formats import Holding
from .http import Connection
from .tokenizer import Kind

Scoring = Literal["steps", "prompt_logprobs", "echo"]

# How a server, or a proxy in front of it, says that it lacks a path that only some servers have.
ABSENT = (NoSuchEndpoint, RequestRefused, BadAnswer, NotACompletionServer, AccessRefused)


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

    @property
    def fingerprint(self) -> Fingerprint:
        """What the server says of the model. Instead of hashes of weights and tokenizer it has "served:" and a hash of that."""
        said = json.dumps({"kind": self.kind, "model": self.model, **self.metadata}, sort_keys=True, default=str)
        digest = hashlib.sha256(said.encode()).hexdigest()
        return Fingerprint(
            name=self.model,
            architecture="unknown",
            parameters=self.parameters,
            quantisation=self.quantisation,
            weights=f"served:{digest}",
            tokenizer=f"served:{digest}",
            runtime=self.runtime,
        )


def identify(connection: Connection, name: str | None) -> tuple[Served, Mapping[str, Any]]:
    """What a server says of the model of this name, or of its only one, and llama-server's `/props`; nothing of what it can do.

    Raises ModelError.
    """
    with connection.expecting("/v1/models, /props or /info"):
        model = _model(connection, name)
        props = _get(connection, "/props")
        if isinstance(props, dict) and "default_generation_settings" in props:
            return _llama(str(model.get("id") or props.get("model_alias") or "unknown"), model.get("meta") or {}, props), props
        info = _get(connection, "/info")
        if isinstance(info, dict) and "max_total_tokens" in info:
            return _tgi(str(model.get("id") or info.get("model_id")), info), {}
        kind: Literal["vllm", "openai"] = "vllm" if model.get("owned_by") == "vllm" else "openai"
        return _openai(connection, kind, str(model.get("id") or name or "default"), model), {}


def served_names(connection: Connection) -> list[str]:
    """The names of the models that a server lists. Raises ModelError, also where it has no list."""
    with connection.expecting("/v1/models"):
        return [str(model["id"]) for model in _models(connection)]


def _models(connection: Connection) -> list[Mapping[str, Any]]:
    answer = connection.get("/v1/models", patience=connection.timeouts.load)
    models = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(models, list) or not all(isinstance(model, dict) for model in models):
        raise NotACompletionServer(connection.where, "/v1/models is no list of models")
    return models


def _model(connection: Connection, name: str | None) -> Mapping[str, Any]:
    """The entry of `/v1/models`; an empty one where the server has no list."""
    try:
        models = _models(connection)
    except NoSuchEndpoint:
        return {"id": name} if name else {}
    there = [str(model.get("id")) for model in models]
    if name is None and len(models) == 1:
        return models[0]
    chosen = next(
        (model for model in models if name is not None and (model.get("id") == name or name in (model.get("aliases") or ()))), None
    )
    if chosen is None:
        raise NoSuchServedModel(connection.where, name, [connection.quoted(one) for one in there])
    return chosen


def _get(connection: Connection, path: str) -> Any:
    """The JSON of a path that only some servers have, or None."""
    try:
        return connection.get(path)
    except ABSENT:
        return None


def _llama(model: str, told: Mapping[str, Any], props: Mapping[str, Any]) -> Served:
    known = ("n_vocab", "n_ctx_train", "n_embd", "n_params", "size", "ftype", "vocab_type")
    return Served(
        kind="llama-server",
        # The file's name alone: its folder on the host says nothing of the model.
        model=re.split(r"[/\\]", model)[-1] if model.endswith(".gguf") else model,
        runtime=f"llama-server {props.get('build_info', '')}".strip(),
        context_length=_number(props["default_generation_settings"].get("n_ctx")),
        parameters=_number(told.get("n_params")) or 0,
        quantisation=str(told.get("ftype") or props.get("model_ftype") or "unknown"),
        vocabulary=_number(told.get("n_vocab")),
        ends=(str(props["eos_token"]),) if props.get("eos_token") else (),
        metadata={name: told.get(name) for name in known},
    )


def _tgi(model: str, info: Mapping[str, Any]) -> Served:
    return Served(
        kind="tgi",
        model=model,
        runtime=f"text-generation-inference {info.get('version', '')}".strip(),
        context_length=_number(info.get("max_total_tokens")),
        metadata={name: info.get(name) for name in ("model_id", "model_sha", "model_dtype")},
    )


def _openai(connection: Connection, kind: Literal["vllm", "openai"], model: str, entry: Mapping[str, Any]) -> Served:
    version = _get(connection, "/version") if kind == "vllm" else None
    return Served(
        kind=kind,
        model=model,
        runtime=f"vllm {version.get('version', '')}".strip() if isinstance(version, dict) else kind,
        context_length=_number(entry.get("max_model_len")),
        # Neutral values of what vLLM would else take from the model's own generation_config.json.
        extras={"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0} if kind == "vllm" else {},
        metadata={name: entry.get(name) for name in ("owned_by", "root", "parent", "max_model_len")},
    )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
