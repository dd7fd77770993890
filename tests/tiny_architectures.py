"""Tiny GGUF files of models that don't keep every token: a recurrent one (Mamba) and one with sliding windows (Gemma 3)."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray
from tiny_gguf import MERGES, TinyModel

WIDTH, LAYERS, CONTEXT, WINDOW = 64, 2, 256, 16
# Mamba's: width inside, of the state, of the convolution, rank of the time step (arXiv 2312.00752, section 3.4 and its reference code).
INNER, STATE, KERNEL, RANK = 2 * WIDTH, 16, 4, 4
HEADS, KV_HEADS, HEAD_WIDTH, FEED_FORWARD = 4, 2, 16, 128

Weights = dict[str, NDArray[np.float32]]


def write_tiny_mamba(path: Path) -> Path:
    """A recurrent model: what it holds of a text is one state, which can't be cut back."""
    random = np.random.default_rng(5)
    weights: Weights = {}
    for layer in range(LAYERS):
        at = f"blk.{layer}."
        weights |= {
            f"{at}attn_norm.weight": np.ones(WIDTH, np.float32),
            f"{at}ssm_in.weight": _normal(random, 2 * INNER, WIDTH),
            f"{at}ssm_conv1d.weight": _normal(random, INNER, KERNEL),
            f"{at}ssm_conv1d.bias": _normal(random, 1, INNER)[0],
            f"{at}ssm_x.weight": _normal(random, RANK + 2 * STATE, INNER),
            f"{at}ssm_dt.weight": _normal(random, INNER, RANK),
            f"{at}ssm_dt.bias": _normal(random, 1, INNER)[0],
            f"{at}ssm_a": -np.tile(np.arange(1, STATE + 1, dtype=np.float32), (INNER, 1)),
            f"{at}ssm_d": np.ones(INNER, np.float32),
            f"{at}ssm_out.weight": _normal(random, WIDTH, INNER),
        }
    writer = gguf.GGUFWriter(path, "mamba")
    writer.add_head_count(0)
    writer.add_feed_forward_length(0)
    writer.add_ssm_conv_kernel(KERNEL)
    writer.add_ssm_inner_size(INNER)
    writer.add_ssm_state_size(STATE)
    writer.add_ssm_time_step_rank(RANK)
    return _written(writer, weights, random, path)


def write_tiny_gemma3(path: Path) -> Path:
    """A model whose layers look back no further than WINDOW tokens."""
    random = np.random.default_rng(6)
    weights: Weights = {}
    for layer in range(LAYERS):
        at = f"blk.{layer}."
        for name in ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"):
            weights[f"{at}{name}.weight"] = np.ones(WIDTH, np.float32)
        for name in ("attn_q_norm", "attn_k_norm"):
            weights[f"{at}{name}.weight"] = np.ones(HEAD_WIDTH, np.float32)
        for name, rows, columns in (
            ("attn_q", HEADS * HEAD_WIDTH, WIDTH),
            ("attn_k", KV_HEADS * HEAD_WIDTH, WIDTH),
            ("attn_v", KV_HEADS * HEAD_WIDTH, WIDTH),
            ("attn_output", WIDTH, HEADS * HEAD_WIDTH),
            ("ffn_gate", FEED_FORWARD, WIDTH),
            ("ffn_up", FEED_FORWARD, WIDTH),
            ("ffn_down", WIDTH, FEED_FORWARD),
        ):
            weights[f"{at}{name}.weight"] = _normal(random, rows, columns)
    writer = gguf.GGUFWriter(path, "gemma3")
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(HEAD_WIDTH)
    writer.add_value_length(HEAD_WIDTH)
    writer.add_sliding_window(WINDOW)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_rope_freq_base(10000.0)
    return _written(writer, weights, random, path)


def _normal(random: np.random.Generator, rows: int, columns: int) -> NDArray[np.float32]:
    return (random.standard_normal((rows, columns)) * 0.15).astype(np.float32)


def _written(writer: gguf.GGUFWriter, weights: Weights, random: np.random.Generator, path: Path) -> Path:
    model = TinyModel(fim=False)
    writer.add_name("tiny")
    writer.add_file_type(0)
    writer.add_quantization_version(2)
    writer.add_vocab_size(len(model.tokens))
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(model.tokens)
    control = [gguf.TokenType.CONTROL] * len(model.control)
    writer.add_token_types([*[gguf.TokenType.NORMAL] * (len(model.tokens) - len(control)), *control])
    writer.add_token_merges(list(MERGES))
    writer.add_eos_token_id(len(model.tokens) - 1)
    writer.add_add_bos_token(False)
    weights["token_embd.weight"] = (random.standard_normal((len(model.tokens), WIDTH))).astype(np.float32)
    weights["output.weight"] = (random.standard_normal((len(model.tokens), WIDTH)) * 0.35).astype(np.float32)
    weights["output_norm.weight"] = np.ones(WIDTH, np.float32)
    for name, array in weights.items():
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
