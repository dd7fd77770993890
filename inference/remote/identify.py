"""What a server says of itself and its model, before anything is asked of that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import quote

from ..errors import NoSuchEndpoint, NoSuchServedModel, NotACompletionServer
from .http import Connection
from .ollama import ollama_served
from .served import Served, number

# What an entry of these lists has, and hardly one of another server's at the same path.
_OWN = frozenset({"quantization", "loaded_instances", "publisher", "arch"})
# The newer list comes first: it says more.
_LISTS = ("/api/v1/models", "/api/v0/models")


def lm_studio_served(connection: Connection, name: str, entry: Mapping[str, Any]) -> Served | None:
    """What LM Studio says of a model; None where the server is another. entry: of `/v1/models`.

    Completions go to its `/v1/completions`, which applies no template; its newer interface (`/api/v1`) has only chat. Reference:
    https://github.com/lmstudio-ai/docs 1_developer/2_rest/list.md and endpoints.mdx, 1_developer/3_openai-compat/completions.mdx.
    """
    told = _entry(connection, name)
    if told is None:
        return None
    quantisation = told.get("quantization")
    named = quantisation.get("name") if isinstance(quantisation, dict) else quantisation
    return Served(
        kind="lm-studio",
        model=name,
        runtime="lm-studio",
        context_length=_context(told, name),
        quantisation=str(named or "unknown"),
        metadata={"owned_by": entry.get("owned_by"), "quantisation": named, "size": number(told.get("size_bytes"))},
    )


def loaded_context(connection: Connection, name: str) -> int | None:
    """Tokens of context that a model was loaded with; None where LM Studio does not say."""
    return _context(_entry(connection, name) or {}, name)


def _context(entry: Mapping[str, Any], name: str) -> int | None:
    loaded = entry.get("loaded_instances")
    instances = [one for one in loaded if isinstance(one, dict)] if isinstance(loaded, list) else []
    instance = next((one for one in instances if one.get("id") == name), instances[0] if instances else {})
    config = instance.get("config")
    return number(config.get("context_length") if isinstance(config, dict) else entry.get("loaded_context_length"))


def _entry(connection: Connection, name: str) -> dict[str, Any] | None:
    """The entry of a model in the first of the lists that LM Studio has."""
    for path in _LISTS:
        answer = connection.optional(path)
        models = (answer.get("models") or answer.get("data")) if isinstance(answer, dict) else None
        for entry in models if isinstance(models, list) else ():
            if isinstance(entry, dict) and name in _names(entry) and not _OWN.isdisjoint(entry):
                return entry
    return None


def _names(entry: Mapping[str, Any]) -> list[object]:
    loaded, variants = entry.get("loaded_instances"), entry.get("variants")
    instances = [one.get("id") for one in loaded if isinstance(one, dict)] if isinstance(loaded, list) else []
    return [entry.get("key"), entry.get("id"), *instances, *(variants if isinstance(variants, list) else ())]


def identify(connection: Connection, name: str | None, *, load: bool = True) -> tuple[Served, Mapping[str, Any]]:
    """What a server says of the model of this name, or of its only one, and llama-server's `/props`; nothing of what it can do.

    load: whether a llama-server with several models is to load this one, which says more of itself then.

    Raises ModelError.
    """
    with connection.expecting("/v1/models or /props"):
        model = _model(connection, name)
        said = str(model.get("id") or name or "default")
        props = connection.optional("/props")
        if isinstance(props, dict) and props.get("role") == "router":
            connection.in_every_body["model"] = said
            props = _props_behind_router(connection, said, load=load)
            if load and props is not None:
                model = _model(connection, said)  # now that it is loaded, the list says more of it
            elif props is None and not load:
                props = {"default_generation_settings": {}}
        if isinstance(props, dict) and "default_generation_settings" in props:
            return _llama(str(model.get("id") or props.get("model_alias") or "unknown"), model.get("meta") or {}, props), props
        kind: Literal["vllm", "openai"] = "vllm" if model.get("owned_by") == "vllm" else "openai"
        own = None if kind == "vllm" else ollama_served(connection, said) or lm_studio_served(connection, said, model)
        return own or _openai(connection, kind, said, model), {}


def _props_behind_router(connection: Connection, name: str, *, load: bool) -> Mapping[str, Any] | None:
    """`/props` of one of the models that a llama-server loads when they are asked for; None where its router passes no such question on.

    References: tools/server/README.md, "Using multiple models"; tools/server/README-dev.md, "Router mode". Its own message is raised.
    """
    path = f"/props?model={quote(name, safe='')}"
    try:
        found = connection.get(path, patience=connection.timeouts.load) if load else connection.optional(f"{path}&autoload=false")
    except NoSuchEndpoint:
        return None
    return found if isinstance(found, dict) else None


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


def _llama(model: str, told: Mapping[str, Any], props: Mapping[str, Any]) -> Served:
    known = ("n_vocab", "n_ctx_train", "n_embd", "n_params", "size", "ftype", "vocab_type")
    return Served(
        kind="llama-server",
        # The file's name alone: its folder on the host says nothing of the model.
        model=re.split(r"[/\\]", model)[-1] if model.endswith(".gguf") else model,
        runtime=f"llama-server {props.get('build_info', '')}".strip(),
        context_length=number(props["default_generation_settings"].get("n_ctx")),
        parameters=number(told.get("n_params")) or 0,
        quantisation=str(told.get("ftype") or props.get("model_ftype") or "unknown"),
        vocabulary=number(told.get("n_vocab")),
        ends=(str(props["eos_token"]),) if props.get("eos_token") else (),
        metadata={name: told.get(name) for name in known},
    )


def _openai(connection: Connection, kind: Literal["vllm", "openai"], model: str, entry: Mapping[str, Any]) -> Served:
    version = connection.optional("/version") if kind == "vllm" else None
    return Served(
        kind=kind,
        model=model,
        runtime=f"vllm {version.get('version', '')}".strip() if isinstance(version, dict) else kind,
        context_length=number(entry.get("max_model_len")),
        # Neutral values of what vLLM would else take from the model's own generation_config.json.
        extras={"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0} if kind == "vllm" else {},
        metadata={name: entry.get(name) for name in ("owned_by", "root", "parent", "max_model_len")},
    )
