"""Read the shipped GGUF to train it further: its weights by the trainer's names and order, and its tokenizer.

The inverse of export.py, except for the rounding of q8_0 (|Δ log p| 0.03 on average).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray
from tokenizers import AddedToken, Tokenizer, models

from .export import LAYER, TOP
from .model import Shape
from .tokenizer import SPECIAL, bare

NAMES = {theirs: ours for ours, theirs in (LAYER | TOP).items()}


def deinterleave(weight: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Rows of a query or key projection from llama.cpp's pairs to the half-split rotary order; the inverse of export.interleave."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def trainer_name(name: str) -> str:
    """A tensor's name in model.py. Raises KeyError where it has none."""
    stem = name.removesuffix(".weight")
    if stem in NAMES:
        return f"{NAMES[stem]}.weight"
    _, number, rest = stem.split(".", 2)
    return f"layers.{number}.{NAMES[rest]}.weight"


def read(path: Path) -> tuple[dict[str, NDArray[np.float32]], Shape, Tokenizer]:
    """Weights (float32), shape and tokenizer of a GGUF that export.py wrote. Raises ValueError for any other file."""
    try:
        return _read(gguf.GGUFReader(path))
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path}: not a file that training.export wrote: {error}") from None


def _read(reader: gguf.GGUFReader) -> tuple[dict[str, NDArray[np.float32]], Shape, Tokenizer]:
    def field(key: str) -> Any:
        return reader.fields[key].contents()

    if field("general.architecture") != "llama" or field("tokenizer.ggml.pre") != "qwen2":
        raise ValueError("another kind of model")
    tensors = {trainer_name(tensor.name): tensor for tensor in reader.tensors}
    names = field("tokenizer.ggml.tokens")
    merges = [tuple(m.split(" ")) for m in field("tokenizer.ggml.merges")]
    tokenizer = bare(models.BPE(vocab={name: i for i, name in enumerate(names)}, merges=merges))
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in SPECIAL])
    heads, kv_heads, width = field("llama.attention.head_count"), field("llama.attention.head_count_kv"), field("llama.embedding_length")
    shape = Shape(
        vocabulary=tokenizer.get_vocab_size(),
        width=width,
        layers=field("llama.block_count"),
        heads=heads,
        kv_heads=kv_heads,
        hidden=field("llama.feed_forward_length"),
        context=field("llama.context_length"),
        rope_base=float(field("llama.rope.freq_base")),
        norm_epsilon=float(f"{field('llama.attention.layer_norm_rms_epsilon'):.6g}"),  # it is kept in 32 bits
    )
    weights = {}
    for name, tensor in tensors.items():
        array = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if "q_proj" in name or "k_proj" in name:
            array = deinterleave(array, heads if "q_proj" in name else kv_heads)
        weights[name] = array
    return weights, shape, tokenizer
