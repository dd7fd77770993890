"""What a GGUF header decides before the model is loaded: the prompt's layout, the context's length, whether the model can run here."""

from __future__ import annotations

from pathlib import Path

from ..errors import ContextTooLong, OutOfMemory, UnknownLayout, UnsupportedArchitecture
from ..machine_memory import machine_memory
from ..model import KVType, Layout
from .gguf_header import GGUFHeader
from .session import BYTES_OF_KV, FORK_CELLS

# The default context is the model's own, but no longer than this: its cache takes memory from the start.
DEFAULT_CONTEXT = 4096
_UNKNOWN_CONTEXT = 2048
# Our own key, for models trained to be asked suffix first, so that typing changes only the end of the prompt.
LAYOUT_KEY = "assay.fim.layout"
_LAYOUTS: tuple[Layout, ...] = ("anchored", "psm", "spm")
_NOT_CAUSAL = frozenset(
    {
        "bert",
        "clip",
        "jina-bert-v2",
        "jina-bert-v3",
        "modern-bert",
        "neo-bert",
        "nomic-bert",
        "nomic-bert-moe",
        "t5encoder",
        "wavtokenizer-dec",
    }
)


def layout_of(path: Path, header: GGUFHeader) -> Layout:
    """The layout of fill-in-the-middle prompts that the metadata asks for. Raises UnknownLayout."""
    asked = header.metadata.get(LAYOUT_KEY, "anchored")
    for layout in _LAYOUTS:
        if asked == layout:
            return layout
    raise UnknownLayout(path, LAYOUT_KEY, asked, " and ".join(_LAYOUTS))


def context_length_of(header: GGUFHeader, n_ctx: int | None) -> int:
    """Tokens of context: n_ctx, or the model's own (DEFAULT_CONTEXT at most) where n_ctx is None. Raises ContextTooLong."""
    trained = header.context_length
    if n_ctx is None:
        return min(trained or _UNKNOWN_CONTEXT, DEFAULT_CONTEXT)
    if trained is not None and n_ctx > trained:
        raise ContextTooLong(n_ctx, trained, "the context that was asked for")
    return n_ctx


def check_generates(path: Path, header: GGUFHeader) -> None:
    """Refuse a model that is not one of text. Raises UnsupportedArchitecture."""
    if header.architecture in _NOT_CAUSAL:
        raise UnsupportedArchitecture(path, f'the architecture "{header.architecture}" does not generate text')


def check_can_run(path: Path, header: GGUFHeader, n_ctx: int, kv_type: KVType) -> None:
    """Refuse a model that can't run here.

    Raises what `check_generates` raises, and OutOfMemory where the cache alone needs more memory than the machine has.
    """
    check_generates(path, header)
    cache, memory = header.cache_bytes(n_ctx + FORK_CELLS, BYTES_OF_KV[kv_type]), machine_memory()
    if memory is not None and cache > memory:
        raise OutOfMemory(path, f"the cache of {n_ctx:,} tokens takes {cache / 2**30:,.1f} GiB, this machine has {memory / 2**30:,.1f}")
