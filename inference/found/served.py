"""Asks one server on this machine for its models, only by reading what it lists."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from ..completion.fim_families import family_named
from ..errors import ModelError, ServerTimedOut, ServerUnreachable
from ..remote.http import Connection, Timeouts
from ..remote.identify import identify, served_names
from ..remote.served import Served
from .candidate import Notes
from .model import FoundModel
from .own_lists import Told, own_list

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
    size = served.metadata.get("size")
    return replace(
        model,
        size=size if isinstance(size, int) and size > 0 else told.size,
        parameters=served.parameters or told.parameters,
        quantisation=told.quantisation if served.quantisation == "unknown" else served.quantisation,
        architecture=told.architecture,
        context_length=served.context_length or told.context_length,
        fills_middle=None if family is None else True,
        family="" if family is None else family.name,
        # A llama-server says little of a model that it has not loaded.
        fingerprint=served.fingerprint.id if served.kind != "llama-server" or served.context_length else "",
    )
