"""The embedded model for what compares backends: as transformers has it, and as a GGUF in f32, of the very weights that q8_0 rounded."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM

from assay.inference.opening import EMBEDDED

QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
# transformers' names by GGUF's.
NAMES = {
    "token_embd": "embed_tokens",
    "output_norm": "norm",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def llama() -> LlamaForCausalLM:
    """The weights in transformers' Llama, in float32."""
    reader = GGUFReader(EMBEDDED)
    fields = {key.removeprefix("llama."): field.contents() for key, field in reader.fields.items() if key.startswith("llama.")}
    heads = {"attn_q": fields["attention.head_count"], "attn_k": fields["attention.head_count_kv"]}
    config = LlamaConfig(
        vocab_size=fields["vocab_size"],
        hidden_size=fields["embedding_length"],
        num_hidden_layers=fields["block_count"],
        num_attention_heads=heads["attn_q"],
        num_key_value_heads=heads["attn_k"],
        intermediate_size=fields["feed_forward_length"],
        max_position_embeddings=fields["context_length"],
        rope_theta=fields["rope.freq_base"],
        rms_norm_eps=fields["attention.layer_norm_rms_epsilon"],
        tie_word_embeddings=True,
        attn_implementation="eager",
    )
    weights = {}
    for tensor in reader.tensors:
        *layer, name, weight = tensor.name.split(".")
        array = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        if name in heads:  # from llama.cpp's pairs to the half-split rotary order
            rows, columns = array.shape
            array = array.reshape(heads[name], -1, 2, columns).swapaxes(1, 2).reshape(rows, columns)
        weights[".".join(["model", *(["layers", layer[1]] if layer else []), NAMES[name], weight])] = torch.tensor(array)
    model = LlamaForCausalLM(config).float().eval()
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert missing in ([], ["lm_head.weight"])
    assert not unexpected
    model.tie_weights()
    return model


def tokenizer(controls: bool = True) -> Tokenizer:
    """The tokenizer; without control tokens their spellings are text, as llama.cpp has it with parse_special off."""
    fields = GGUFReader(EMBEDDED).fields
    names, types, merges = (fields[f"tokenizer.ggml.{key}"].contents() for key in ("tokens", "token_type", "merges"))
    made = Tokenizer(models.BPE(vocab={name: i for i, name in enumerate(names)}, merges=[tuple(merge.split(" ")) for merge in merges]))
    split = pre_tokenizers.Split(Regex(QWEN2), behavior="isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    made.decoder = decoders.ByteLevel()
    special = [name for name, kind in zip(names, types, strict=True) if controls and kind == gguf.TokenType.CONTROL]
    made.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in special])
    return made


def write_f32(out: Path) -> None:
    """A GGUF of the same weights and fields."""
    reader, writer = GGUFReader(EMBEDDED), GGUFWriter(out, "llama")
    for key, field in reader.fields.items():
        if not key.startswith("GGUF.") and key not in ("general.architecture", "general.file_type"):
            writer.add_key_value(key, field.contents(), field.types[0], field.types[-1] if len(field.types) > 1 else None)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    for tensor in reader.tensors:
        array = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        writer.add_tensor(tensor.name, array, raw_dtype=GGMLQuantizationType.F32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
