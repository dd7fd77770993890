"""What a GGUF's header says of how the model is to be run, before any of it is loaded."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import ContextTooLong, OutOfMemory, SplitModel, UnknownLayout, UnsupportedArchitecture
from ..model import KVType, Layout
from .gguf_header import GGUFHeader
from .session import BYTES_OF_KV, FORK_CELLS

# A context is as long as the model's own, but no longer than this unless the caller asks: its cache costs memory from the start.
DEFAULT_CONTEXT = 4096
_UNSAID_CONTEXT = 2048
# Our own key, for models trained to be asked suffix first: what is typed then changes only the prompt's end.
LAYOUT_KEY = "assay.fim.layout"
_LAYOUTS: tuple[Layout, ...] = ("psm", "spm")
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
    """How a prompt for filling in the middle is laid out, where the file has the tokens. Raises UnknownLayout."""
    asked = header.metadata.get(LAYOUT_KEY, "psm")
    for layout in _LAYOUTS:
        if asked == layout:
            return layout
    raise UnknownLayout(path, LAYOUT_KEY, asked, " and ".join(_LAYOUTS))


def context_length_of(header: GGUFHeader, n_ctx: int | None) -> int:
    """Tokens of context: n_ctx, None for the model's own (DEFAULT_CONTEXT at most). Raises ContextTooLong."""
    trained = header.context_length
    if n_ctx is None:
        return min(trained or _UNSAID_CONTEXT, DEFAULT_CONTEXT)
    if trained is not None and n_ctx > trained:
        raise ContextTooLong(n_ctx, trained, f"n_ctx={n_ctx:,}")
    return n_ctx


def refuse_what_can_not_work(path: Path, header: GGUFHeader, n_ctx: int, kv_type: KVType) -> None:
    """Raises UnsupportedArchitecture, SplitModel, and OutOfMemory where the cache alone is more than the machine has."""
    if header.architecture in _NOT_CAUSAL:
        raise UnsupportedArchitecture(path, f'the architecture "{header.architecture}" does not generate text')
    if header.number("split.count", 1) > 1:
        raise SplitModel(path, header.number("split.count", 1))
    if not hasattr(os, "sysconf"):
        return
    cache = header.cache_bytes(n_ctx + FORK_CELLS, BYTES_OF_KV[kv_type])
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if cache > memory:
        raise OutOfMemory(path, f"the cache of {n_ctx:,} tokens takes {cache / 2**30:,.1f} GiB, this machine has {memory / 2**30:,.1f}")
