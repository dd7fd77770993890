"""Opening a model by what names it: a GGUF file, a folder for transformers, the address of a server, or nothing for the embedded one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from .backends import Backend, backend_of
from .errors import NoSuchModel, OptionDoesNotApply
from .model import KVType, Model

EMBEDDED = Path(__file__).parent / "embedded" / "assay.gguf"


# GGML_MAX_N_THREADS in ggml.h: with more, the process of the model ends.
MAX_THREADS = 512


class ModelOptions(TypedDict, total=False):
    """How a model is run. What is left out is chosen by the backend; `Backend.options` says which backend takes which.

    n_ctx: tokens of context
    threads: of the CPU; "auto" for as many as are fastest at the moment
    gpu_layers: how many layers to offload
    kv_type: number format of the cache
    flash_attention: whether to use it; None lets the runtime choose
    chunk: tokens of a prompt that are decoded at once
    shift_tokens: reuse runs of at least so many tokens at new positions, which makes log-probabilities approximate
    device, dtype: torch's names
    server_model: which of a server's models
    key_file: a file with the server's key
    """

    n_ctx: int
    threads: int | Literal["auto"]
    gpu_layers: int | Literal["auto"]
    kv_type: KVType
    flash_attention: bool
    chunk: int
    shift_tokens: int
    device: str
    dtype: str
    server_model: str
    key_file: str


# As the command line spells them. An editor's settings are the same words in camel case.
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


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that is not open yet: where it is (None: the embedded one) and how it is to be run."""

    where: str | None = None
    options: ModelOptions = field(default_factory=ModelOptions)

    @property
    def backend(self) -> Backend:
        """What runs it."""
        return backend_of(_located(self.where))

    def open(self) -> Model:
        """Open it. Raises what `open_model` raises."""
        return open_model(self.where, **self.options)

    def on_one_thread(self) -> ModelChoice:
        """The same model with one thread where its backend has that option, for a process that shares the machine with others."""
        return replace(self, options={**self.options, "threads": 1}) if "threads" in self.backend.options else self


def open_model(where: str | Path | None = None, **options: Unpack[ModelOptions]) -> Model:
    """The model that `where` names, opened; the embedded one where nothing is named.

    Raises
        OptionDoesNotApply: the model's backend does not take one of the options.
        NoSuchModel: nothing is there.
        ModelError: what else `LlamaModel`, `HFModel` and `RemoteModel` raise on opening.
    """
    located = _located(where)
    backend = backend_of(located)
    if wrong := sorted(options.keys() - backend.options):
        raise OptionDoesNotApply(FLAGS[wrong[0]], str(located), backend.name, [FLAGS[name] for name in backend.options])
    if where is None and not EMBEDDED.is_file():
        raise NoSuchModel(
            EMBEDDED, "The package was installed without its embedded model: name a model of your own, or install Assay again."
        )
    return backend.open(located, options)


def _located(where: str | Path | None) -> str | Path:
    return EMBEDDED if where is None else where
