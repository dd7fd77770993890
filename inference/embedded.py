"""The model that is shipped with the package, and opening a model by path or that one."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from .errors import NoSuchModel
from .llama import LlamaModel
from .llama_session import KVType

EMBEDDED = Path(__file__).parent / "embedded" / "assay.gguf"


def open_model(
    path: str | Path | None = None,
    *,
    n_ctx: int | None = None,
    gpu_layers: int | Literal["auto"] = "auto",
    threads: int | None = None,
    kv_type: KVType = "f16",
    flash_attention: bool | None = None,
) -> LlamaModel:
    """Open a GGUF file, or the embedded model where no path is given. Options and errors: see `LlamaModel`."""
    if path is None and not EMBEDDED.is_file():
        raise NoSuchModel(
            EMBEDDED, "The package was installed without its embedded model: name a GGUF file of your own, or install Assay again."
        )
    return LlamaModel(
        EMBEDDED if path is None else path,
        n_ctx=n_ctx,
        gpu_layers=gpu_layers,
        threads=threads,
        kv_type=kv_type,
        flash_attention=flash_attention,
    )
