"""Asks one server on this machine for its models, only by reading what it lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from ..completion.fim_families import family_named
from ..errors import ModelError, ServerTimedOut, ServerUnreachable
from ..remote.http import Connection, Timeouts
from ..remote.identify import identify, served_names
from ..remote.served import Served, number
from .candidate import Notes
from .model import FoundModel

# LM Studio's newer list says more than its older one.
_PATHS = ("/api/tags", "/api/v1/models", "/api/v0/models")
_COUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMBT]?)", re.IGNORECASE)
_UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


@dataclass(frozen=True, slots=True)
class Told:
    """What a list says of a model; 0, empty and None where it does not say. runs_at: another server, to which the text is sent on."""

    size: int = 0
    parameters: int = 0
    quantisation: str = ""
    architecture: str = ""
    context_length: int | None = None
    runs_at: str = ""


def own_list(connection: Connection) -> dict[str, Told]:
    """What a server says of its models, by their names; empty where it has no list of its own, or one that can't be read.

    Formats: Ollama `/api/tags` (docs.ollama.com/api/tags), LM Studio `/api/v1/models` (lmstudio.ai/docs/developer/rest/list) and, before
    it had that one, `/api/v0/models` (lmstudio.ai/docs/developer/rest/endpoints).
    """
    for path in _PATHS:
        try:
            answer = connection.get(path)
        except ModelError:
            continue
        # LM Studio answers an unknown path with status 200 and an error.
        if told := {name: said for entry in _entries(answer) for name, said in _of_entry(entry)}:
            return told
    return {}


def _entries(answer: object) -> list[dict[str, Any]]:
    models = (answer.get("models") or answer.get("data")) if isinstance(answer, dict) else None
    return [entry for entry in models if isinstance(entry, dict)] if isinstance(models, list) else []


def _of_entry(entry: dict[str, Any]) -> Iterator[tuple[str, Told]]:
    """The model of an entry, by each name that it has."""
    details = entry.get("details")
    said = entry | details if isinstance(details, dict) else entry
    quantisation = said.get("quantization_level") or said.get("quantization")
    runs_at = _text(said.get("remote_host"))
    told = Told(
        # Of a model that runs elsewhere, the few bytes that say so.
        size=0 if runs_at else number(said.get("size") or said.get("size_bytes")) or 0,
        parameters=count_of(said.get("parameter_size") or said.get("params_string")),
        quantisation=_text(quantisation.get("name") if isinstance(quantisation, dict) else quantisation),
        architecture=_text(said.get("family") or said.get("architecture") or said.get("arch")),
        context_length=number(said.get("max_context_length")),
        runs_at=runs_at,
    )
    loaded = said.get("loaded_instances")
    instances = [one for one in loaded if isinstance(one, dict)] if isinstance(loaded, list) else []
    for name in (said.get("name"), said.get("model"), said.get("key"), said.get("id"), *(one.get("id") for one in instances)):
        if isinstance(name, str):
            yield name, told


def count_of(text: object) -> int:
    """A number as these lists write it: "1.5B" is 1,500,000,000. 0 for what is none, such as "8x7B"."""
    found = _COUNT.fullmatch(text.strip()) if isinstance(text, str) else None
    return round(float(found[1]) * _UNITS[found[2].upper()]) if found else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) and value.isprintable() and value != "unknown" else ""


_HOST = "127.0.0.1"
_SECONDS = 2.0
_MAX_ANSWER_BYTES = 1 << 22
_MAX_MODELS = 50


def ask_server(title: str, port: int) -> tuple[list[FoundModel], Notes]:
    """What the server at a port serves, and what is to be told of it: nothing where none is there.

    title: the program whose usual port it is.
    """
    where = f"http://{_HOST}:{port}"
    times = Timeouts(connect=_SECONDS, silence=_SECONDS, total=_SECONDS, retry=0.0, load=0.0)
    # No key: whatever answers there was not chosen by the user.
    with closing(Connection(where, None, times, _MAX_ANSWER_BYTES)) as connection:
        try:
            names = served_names(connection)
            listed = names[:_MAX_MODELS]
            # Nothing is loaded for a list.
            served = [identify(connection, name, load=False)[0] for name in listed]
        except ServerUnreachable:
            return [], []
        except ServerTimedOut:
            why = f"what runs there, at the usual port of {title}, gave no answer within {_SECONDS:g} s"
            return [], [f"{where}: {why}, so its models are not listed"]
        except ModelError as error:
            return [], [str(error)]
        told = own_list(connection) if any(one.kind in ("openai", "ollama", "lm-studio") for one in served) else {}
    notes = [f"{where}: only the first {_MAX_MODELS} of {len(names)} models are listed"] if len(names) > len(listed) else []
    found = []
    for name, one in zip(listed, served, strict=True):
        said = told.get(name, Told())
        if said.runs_at:
            notes.append(f"{where}: {name} runs at {said.runs_at}, so what it is shown is sent there")
        model = FoundModel(names=(where,), place=title, where=where, server_model=name if len(names) > 1 else "")
        found.append(_described(model, one, said))
    return found, notes


def _described(model: FoundModel, served: Served, told: Told) -> FoundModel:
    family = family_named(served.model)
    return replace(
        model,
        size=number(served.metadata.get("size")) or told.size,
        parameters=served.parameters or told.parameters,
        quantisation=told.quantisation if served.quantisation == "unknown" else served.quantisation,
        architecture=told.architecture,
        context_length=served.context_length or told.context_length,
        fills_middle=None if family is None else True,
        family="" if family is None else family.name,
        # A llama-server says little of a model that it has not loaded.
        fingerprint=served.fingerprint.id if served.kind != "llama-server" or served.context_length else "",
    )
