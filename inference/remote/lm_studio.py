"""LM Studio's own lists of models, beside the list in OpenAI's format.

Completions go to its `/v1/completions`, of which its documentation says "Prompt template is not applied"; its newer interface
(`/api/v1`) has only chat. Reference: https://github.com/lmstudio-ai/docs 1_developer/2_rest/list.md and endpoints.mdx,
1_developer/3_openai-compat/completions.mdx.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .http import Connection
from .served import ABSENT, Served, number

# What an entry of these lists has, and hardly one of another server's at the same path.
_OWN = frozenset({"quantization", "loaded_instances", "publisher", "arch"})
# The newer list comes first: it says more.
_LISTS = ("/api/v1/models", "/api/v0/models")


def lm_studio_served(connection: Connection, name: str, entry: Mapping[str, Any]) -> Served | None:
    """What LM Studio says of a model; None where the server is another. entry: of `/v1/models`."""
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
        try:
            answer = connection.get(path)
        except ABSENT:
            continue
        models = (answer.get("models") or answer.get("data")) if isinstance(answer, dict) else None
        for entry in models if isinstance(models, list) else ():
            if isinstance(entry, dict) and name in _names(entry) and not _OWN.isdisjoint(entry):
                return entry
    return None


def _names(entry: Mapping[str, Any]) -> list[object]:
    loaded, variants = entry.get("loaded_instances"), entry.get("variants")
    instances = [one.get("id") for one in loaded if isinstance(one, dict)] if isinstance(loaded, list) else []
    return [entry.get("key"), entry.get("id"), *instances, *(variants if isinstance(variants, list) else ())]
