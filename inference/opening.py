"""Opening a model by what names it: a GGUF file, a folder for transformers, the address of a server, or nothing for the embedded one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from .errors import NoSuchModel, OptionDoesNotApply
from .model import KVType, Model

logger = logging.getLogger(__name__)

EMBEDDED = Path(__file__).parent / "embedded" / "assay.gguf"

Backend = Literal["llama.cpp", "transformers", "server"]


class ModelOptions(TypedDict, total=False):
    """How a model is run; what is left out is chosen by the backend. `OPTIONS_OF` says which backend takes which.

    n_ctx: tokens of context; threads: of the CPU; gpu_layers: how many layers to offload; kv_type: numbers of the cache;
    flash_attention: None lets the runtime choose; chunk: tokens of a prompt that are decoded at once; shift_tokens: reuse runs of at
    least so many tokens at new positions, which makes log-probabilities approximate; device, dtype: torch's names; server_model: which of
    a server's models; key_file: a file with the server's key.
    """

    n_ctx: int
    threads: int
    gpu_layers: int | Literal["auto"]
    kv_type: KVType
    flash_attention: bool
    chunk: int
    shift_tokens: int
    device: str
    dtype: str
    server_model: str
    key_file: str


# As the command line spells them; an editor's are the same words in camel case.
FLAGS: Mapping[str, str] = {
    "n_ctx": "--context",
    "threads": "--threads",
    "gpu_layers": "--gpu-layers",
    "kv_type": "--kv-cache",
    "flash_attention": "--flash-attention",
    "chunk": "--chunk",
    "shift_tokens": "--shift",
    "device": "--device",
    "dtype": "--dtype",
    "server_model": "--server-model",
    "key_file": "--key-file",
}
OPTIONS_OF: Mapping[Backend, frozenset[str]] = {
    "llama.cpp": frozenset({"n_ctx", "threads", "gpu_layers", "kv_type", "flash_attention", "chunk", "shift_tokens"}),
    "transformers": frozenset({"n_ctx", "device", "dtype"}),
    "server": frozenset({"n_ctx", "server_model", "key_file"}),
}


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that is not open yet: where it is (None: the embedded one) and how it is to be run."""

    where: str | None = None
    options: ModelOptions = field(default_factory=ModelOptions)

    def open(self) -> Model:
        """Open it. Raises what `open_model` raises."""
        return open_model(self.where, **self.options)

    def on_one_thread(self) -> ModelChoice:
        """The same model for a process that shares the machine with others; a server's stays as it is."""
        return replace(self, options={**self.options, "threads": 1}) if backend_of(self.where) == "llama.cpp" else self


def backend_of(where: str | Path | None) -> Backend:
    """What runs the model that is named so: an http(s) address is a server's, a folder is for transformers, all else a GGUF file."""
    if where is None:
        return "llama.cpp"
    if isinstance(where, str) and where.lower().startswith(("http://", "https://")):
        return "server"
    return "transformers" if Path(where).is_dir() else "llama.cpp"


def open_model(where: str | Path | None = None, **options: Unpack[ModelOptions]) -> Model:
    """The model that `where` names, opened; the embedded one where nothing is named.

    Raises OptionDoesNotApply, NoSuchModel, and what `LlamaModel`, `HFModel` and `RemoteModel` raise.
    """
    backend = backend_of(where)
    if wrong := sorted(options.keys() - OPTIONS_OF[backend]):
        raise OptionDoesNotApply(FLAGS[wrong[0]], str(where or EMBEDDED), backend, [FLAGS[name] for name in OPTIONS_OF[backend]])
    given: dict[str, Any] = {**options}
    match backend:
        case "server":
            from .remote.model import RemoteModel

            model = RemoteModel(str(where), **_renamed(given, n_ctx="context_length", server_model="model"))
            for warning in model.warnings:
                logger.warning("assay: %s", warning)
            return model
        case "transformers":
            from .hf.model import HFModel

            return HFModel(Path(str(where)), **given)
        case "llama.cpp":
            from .llamacpp.model import LlamaModel

            if where is None and not EMBEDDED.is_file():
                raise NoSuchModel(
                    EMBEDDED, "The package was installed without its embedded model: name a model of your own, or install Assay again."
                )
            if where is not None and Path(where).suffix != ".gguf" and not Path(where).exists():
                raise NoSuchModel(
                    Path(where),
                    "A model is a .gguf file, a folder with config.json, or the http:// address of a server. Names at a model hub are not "
                    "looked up: download the model first.",
                )
            return LlamaModel(EMBEDDED if where is None else where, **given)


def _renamed(options: dict[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in options.items()}
