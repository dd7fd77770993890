"""Servers of models that run on this machine, asked on their usual ports: only on the loopback, and only by reading what they list.

Ports (docs/model_server.md of each): Ollama 11434 (envconfig/config.go), LM Studio 1234 (lmstudio.ai/docs/app/api), llama-server 8080
(tools/server/README.md), vLLM 8000 (docs.vllm.ai, OpenAI-compatible server).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from ..completion.fim_families import family_named
from ..errors import HttpxMissing, ModelError, ServerTimedOut, ServerUnreachable
from .model import FoundModel
from .walk import Notes

PORTS: tuple[tuple[str, int], ...] = (("Ollama", 11434), ("LM Studio", 1234), ("llama-server", 8080), ("vLLM", 8000))
_HOST = "127.0.0.1"
_SECONDS = 2.0
_MAX_ANSWER_BYTES = 1 << 22
_MAX_MODELS = 50


def served_models(notes: Notes, ports: Sequence[tuple[str, int]]) -> list[FoundModel]:
    """What the servers on the ports serve, all asked at once for some seconds. A port where nothing answers is passed over."""
    with ThreadPoolExecutor(len(ports)) as pool:
        answers = list(pool.map(lambda port: _asked(*port), ports))
    for _, said in answers:
        notes += said
    return [model for models, _ in answers for model in models]


def _asked(title: str, port: int) -> tuple[list[FoundModel], Notes]:
    """What one server serves, and what is to be told of it."""
    try:
        from ..remote.http import Connection, Timeouts
        from ..remote.served import identify, served_names
    except HttpxMissing as error:
        return [], [f"servers were not asked: {error}"]
    where = f"http://{_HOST}:{port}"
    times = Timeouts(connect=_SECONDS, silence=_SECONDS, total=_SECONDS, retry=0.0, load=0.0)
    # No key: whatever answers there was not chosen by the user.
    with closing(Connection(where, None, times, _MAX_ANSWER_BYTES)) as connection:
        try:
            names = served_names(connection)
            notes = [f"{where}: only the first {_MAX_MODELS} of {len(names)} models are listed"] if len(names) > _MAX_MODELS else []
            found = []
            for name in names[:_MAX_MODELS]:
                served, _ = identify(connection, name)
                family = family_named(served.model)
                found.append(
                    FoundModel(
                        names=(where,),
                        place=title,
                        where=where,
                        server_model=name if len(names) > 1 else "",
                        parameters=served.parameters,
                        quantisation="" if served.quantisation == "unknown" else served.quantisation,
                        context_length=served.context_length,
                        fills_middle=None if family is None else True,
                        family="" if family is None else family.name,
                        fingerprint=served.fingerprint.id,
                    )
                )
        except (ServerUnreachable, ServerTimedOut):
            return [], []
        except ModelError as error:
            return [], [str(error)]
    return found, notes
