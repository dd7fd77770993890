"""Export a run to GGUF, q8_0 where nothing else is said: python -m training.export --out assay.gguf"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from .model import Shape
from .paths import CACHE
from .tokenizer import END, FIM, FIX, MIDDLE, PAD, PREFIX, SPECIAL, SUFFIX, TASKS

NAME = "assay-embedded"
LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
TOP = {"embed_tokens": "token_embd", "norm": "output_norm"}
FILE_TYPES = {"f32": gguf.LlamaFileType.ALL_F32, "f16": gguf.LlamaFileType.MOSTLY_F16, "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}
TENSOR_TYPES = {"f32": gguf.GGMLQuantizationType.F32, "f16": gguf.GGMLQuantizationType.F16, "q8_0": gguf.GGMLQuantizationType.Q8_0}


def saved(run: Path) -> tuple[dict[str, NDArray[np.float32]], Shape, dict[str, Any]]:
    """The weights of a run of train.py, their shape and their tokenizer. Raises ValueError where nothing was saved yet."""
    if not (run / "weights.safetensors").is_file():
        raise ValueError(f"{run} has no weights.safetensors: it is no folder of training.train, or nothing was saved yet")
    shape = Shape(**json.loads((run / "shape.json").read_text()))
    return load_file(run / "weights.safetensors"), shape, json.loads((run / "tokenizer.json").read_text())


def gguf_name(name: str) -> str:
    stem = name.removesuffix(".weight")
    if stem in TOP:
        return f"{TOP[stem]}.weight"
    _, number, rest = stem.split(".", 2)
    return f"blk.{number}.{LAYER[rest]}.weight"


def interleave(weight: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Rows of a query or key projection from the half-split rotary order to llama.cpp's pairs."""
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def write_gguf(out: Path, weights: dict[str, NDArray[np.float32]], shape: Shape, tokenizer: dict[str, Any], file_type: str) -> None:
    """One GGUF file of architecture "llama" with its tokenizer and control tokens.

    Raises ValueError as `vocabulary_of` does.
    """
    ids = vocabulary_of(tokenizer, shape)
    temporary = out.with_suffix(".tmp")
    w = gguf.GGUFWriter(temporary, "llama")
    w.add_name(NAME)
    w.add_license("Apache-2.0")
    w.add_file_type(FILE_TYPES[file_type])
    w.add_quantization_version(gguf.GGML_QUANT_VERSION)
    w.add_vocab_size(shape.vocabulary)
    w.add_context_length(shape.context)
    w.add_embedding_length(shape.width)
    w.add_block_count(shape.layers)
    w.add_feed_forward_length(shape.hidden)
    w.add_head_count(shape.heads)
    w.add_head_count_kv(shape.kv_heads)
    w.add_rope_freq_base(shape.rope_base)
    w.add_rope_dimension_count(shape.width // shape.heads)
    w.add_layer_norm_rms_eps(shape.norm_epsilon)
    add_tokenizer(w, tokenizer, ids)
    for name, weight in weights.items():
        array = weight.astype(np.float32)
        if "q_proj" in name or "k_proj" in name:
            array = interleave(array, shape.heads if "q_proj" in name else shape.kv_heads)
        kind = TENSOR_TYPES[file_type] if array.ndim == 2 else gguf.GGMLQuantizationType.F32
        w.add_tensor(gguf_name(name), gguf.quants.quantize(array, kind), raw_dtype=kind)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    temporary.rename(out)


def vocabulary_of(tokenizer: dict[str, Any], shape: Shape) -> dict[str, int]:
    """The ids of all tokens. Raises ValueError for a tokenizer that is not of tokenizer.py or not the one of the weights."""
    ids: dict[str, int] = tokenizer["model"]["vocab"]
    if len(ids) != shape.vocabulary:
        raise ValueError(f"the tokenizer has {len(ids):,} tokens and the weights {shape.vocabulary:,}: it is not the one of their run")
    if missing := [token for token in (*FIM, *TASKS) if token not in ids]:
        raise ValueError(f"the tokenizer lacks {', '.join(missing)}: take one that training.tokenizer wrote")
    return ids


def add_tokenizer(w: gguf.GGUFWriter, tokenizer: dict[str, Any], ids: dict[str, int]) -> None:
    vocabulary = sorted(ids, key=ids.__getitem__)
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("qwen2")
    w.add_token_list(vocabulary)
    w.add_token_types([gguf.TokenType.CONTROL if t in SPECIAL else gguf.TokenType.NORMAL for t in vocabulary])
    w.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]])
    w.add_bos_token_id(ids[END])
    w.add_eos_token_id(ids[END])
    w.add_pad_token_id(ids[PAD])
    w.add_add_bos_token(False)
    w.add_uint32("tokenizer.ggml.fim_pre_token_id", ids[PREFIX])
    w.add_uint32("tokenizer.ggml.fim_suf_token_id", ids[SUFFIX])
    w.add_uint32("tokenizer.ggml.fim_mid_token_id", ids[MIDDLE])
    w.add_uint32("tokenizer.ggml.fim_pad_token_id", ids[PAD])
    w.add_string("assay.fim.layout", "spm")
    w.add_uint32("assay.tasks.fix_token_id", ids[FIX])  # asked behind a prompt for filling in the middle: the model card's "Lines to mend"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, default=CACHE / "run", help="of training.train (default: %(default)s)")
    parser.add_argument("--type", choices=FILE_TYPES, default="q8_0", help="(default: %(default)s)")
    parser.add_argument("--out", type=Path, required=True, help="a GGUF file")
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_gguf(args.out, *saved(args.run), args.type)
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
