"""The backends that run models, one entry each: what a backend recognises, which options it takes, and how it opens a model.

To add a backend, write a folder beside this file with a class that has the `Model` protocol, add an entry to `BACKENDS` and the package to
pyproject.toml. An option that no backend has yet is also added to `ModelOptions` and `FLAGS` in opening.py, to `cli/options.py` and to
`server/settings/table.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import NoSuchModel
from .model import Model

logger = logging.getLogger(__name__)

Where = str | Path


@dataclass(frozen=True, slots=True)
class Backend:
    """A way to run models.

    name: as users read it. recognises: whether a path or an address names a model of this backend. options: the names of the
    `ModelOptions` that it takes. open: opens a model with such options. It imports the backend when it is called, because what a backend
    needs (torch, httpx) is heavy and may not be installed.
    """

    name: str
    recognises: Callable[[Where], bool]
    options: frozenset[str]
    open: Callable[[Where, Mapping[str, Any]], Model]


def backend_of(where: Where) -> Backend:
    """The backend that runs the model at a path or an address: the first of `BACKENDS` that recognises it."""
    return next(backend for backend in BACKENDS if backend.recognises(where))


def _is_address(where: Where) -> bool:
    return isinstance(where, str) and where.lower().startswith(("http://", "https://"))


def _open_remote(where: Where, options: Mapping[str, Any]) -> Model:
    from .remote.address import find_key
    from .remote.model import RemoteModel

    names = {"n_ctx": "context_length", "server_model": "model"}
    given = {names.get(name, name): value for name, value in options.items() if name != "key_files"}
    model = RemoteModel(str(where), key=find_key(str(where), options.get("key_files", {})), **given)
    for warning in model.warnings:
        logger.warning("assay: %s", warning)
    return model


def _open_folder(where: Where, options: Mapping[str, Any]) -> Model:
    from .hf.folder import read_folder

    read_folder(Path(where))  # before the packages that it needs: they are no advice for a folder without a model
    from .hf.model import HFModel

    return HFModel(where, **options)


def _open_gguf(where: Where, options: Mapping[str, Any]) -> Model:
    from .llamacpp.model import LlamaModel

    path = Path(where)
    if path.suffix != ".gguf" and not path.exists():
        raise NoSuchModel(
            path,
            "A model is a .gguf file, a folder with config.json or one GGUF model, the http:// address of a server, or a name of "
            "assay model list. Names at a model hub are not looked up: download the model first (assay model get NAME).",
        )
    return LlamaModel(path, **options)


SERVER = Backend(
    name="server",
    recognises=_is_address,
    options=frozenset({"n_ctx", "server_model", "key_files"}),
    open=_open_remote,
)
TRANSFORMERS = Backend(
    name="transformers",
    recognises=lambda where: Path(where).is_dir(),
    options=frozenset({"n_ctx", "device", "dtype"}),
    open=_open_folder,
)
LLAMA_CPP = Backend(
    name="llama.cpp",
    # The last one takes all the rest, so that a path that is wrong is refused when it is opened.
    recognises=lambda _: True,
    options=frozenset({"n_ctx", "threads", "gpu_layers", "kv_type", "flash_attention", "chunk"}),
    open=_open_gguf,
)
BACKENDS = (SERVER, TRANSFORMERS, LLAMA_CPP)
