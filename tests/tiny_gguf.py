"""Tiny GGUF files for tests, written from numpy arrays: real models with real tokenizers, small enough to make by the dozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import gguf
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
LAYERS, WIDTH, HEADS, KV_HEADS, INNER = 2, 64, 4, 2, 128
END, FIM_PREFIX, FIM_MIDDLE, FIM_SUFFIX, FIM_PAD = "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>"
MERGES = ("Ġ Ġ", "ĠĠ ĠĠ", "Ċ ĠĠĠĠ", "d e", "de f", "r e", "t u", "tu r", "re tur", "retur n", "Ġ =", "Ġ= Ġ", "( )")


def byte_letters() -> list[str]:
    """The letter that stands for each byte in a byte-level vocabulary (GPT-2's table)."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]


@dataclass(frozen=True)
class TinyModel:
    """What to write. `script` makes a model that follows each of these pieces with the next, as greedy text, from the first on.

    heads: two of them are wide enough for a quantised cache. pieces: tokens beyond single bytes and merges, that tokenizing never yields
    but a script may.
    """

    seed: int = 0
    heads: int = HEADS
    pieces: tuple[bytes, ...] = ()
    script: tuple[bytes, ...] = ()
    fim: bool = True
    add_bos: bool = False
    ends: bool = True
    context_length: int = 512
    architecture: str = "llama"
    metadata: Mapping[str, int | str] = field(default_factory=dict)

    @property
    def control(self) -> tuple[str, ...]:
        return (END, FIM_PREFIX, FIM_MIDDLE, FIM_SUFFIX, FIM_PAD) if self.fim else (END,)

    @property
    def tokens(self) -> list[str]:
        letters = byte_letters()
        pieces = ["".join(letters[byte] for byte in piece) for piece in self.pieces]
        return [*letters, *(merge.replace(" ", "") for merge in MERGES), *pieces, *self.control]

    def token(self, piece: bytes | str) -> int:
        """The id of a piece of text (bytes) or of a control token (its name)."""
        letters = byte_letters()
        return self.tokens.index(piece if isinstance(piece, str) else "".join(letters[byte] for byte in piece))

    def weights(self) -> dict[str, Array]:
        """By the names that transformers gives them."""
        random = np.random.default_rng(self.seed)

        def normal(rows: int, columns: int, scale: float) -> Array:
            return (random.standard_normal((rows, columns)) * scale).astype(np.float32)

        size, kv_width = len(self.tokens), WIDTH * KV_HEADS // HEADS
        # A scripted model says what follows a token from that token alone: its layers add next to nothing.
        scale = 0.001 if self.script else 0.15
        weights = {
            "model.embed_tokens.weight": normal(size, WIDTH, 1.0),
            "lm_head.weight": normal(size, WIDTH, 0.01 if self.script else 0.35),
        }
        for layer in range(LAYERS):
            at = f"model.layers.{layer}."
            for name, rows, columns in (
                ("self_attn.q_proj", WIDTH, WIDTH),
                ("self_attn.k_proj", kv_width, WIDTH),
                ("self_attn.v_proj", kv_width, WIDTH),
                ("self_attn.o_proj", WIDTH, WIDTH),
                ("mlp.gate_proj", INNER, WIDTH),
                ("mlp.up_proj", INNER, WIDTH),
                ("mlp.down_proj", WIDTH, INNER),
            ):
                weights[f"{at}{name}.weight"] = normal(rows, columns, scale)
            for name in ("input_layernorm", "post_attention_layernorm"):
                weights[f"{at}{name}.weight"] = 1 + normal(1, WIDTH, 0.1)[0]
        weights["model.norm.weight"] = 1 + normal(1, WIDTH, 0.0 if self.script else 0.1)[0]
        embedding, output = weights["model.embed_tokens.weight"], weights["lm_head.weight"]
        for piece, following in zip(self.script, self.script[1:], strict=False):
            output[self._scripted(following)] += embedding[self._scripted(piece)] * np.float32(0.3)
        return weights

    def _scripted(self, piece: bytes) -> int:
        name = piece.decode("latin-1")
        return self.token(name if name in self.control else piece)


def write_tiny_gguf(
    path: Path, model: TinyModel | None = None, kind: Literal["f32", "f16", "q8_0"] = "f32", *, tensors_in_a_file: int = 0
) -> Path:
    """Write the model and give its path back; vectors stay f32, as llama.cpp wants them.

    tensors_in_a_file: write several files, as gguf-split does; 0 for one. The path is then that of the first.
    """
    model = model or TinyModel()
    writer = gguf.GGUFWriter(path, model.architecture, split_max_tensors=tensors_in_a_file)
    _write_metadata(writer, model, kind)
    types = {"f32": gguf.GGMLQuantizationType.F32, "f16": gguf.GGMLQuantizationType.F16, "q8_0": gguf.GGMLQuantizationType.Q8_0}
    for name, array in model.weights().items():
        stored = gguf.GGMLQuantizationType.F32 if array.ndim == 1 else types[kind]
        writer.add_tensor(_gguf_name(name), gguf.quants.quantize(_permuted(name, array, model.heads), stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return min(path.parent.glob(f"{path.stem}-00001-of-*.gguf")) if tensors_in_a_file else path


def _write_metadata(writer: gguf.GGUFWriter, model: TinyModel, kind: str) -> None:
    writer.add_name("tiny")
    writer.add_file_type({"f32": 0, "f16": 1, "q8_0": 7}[kind])
    writer.add_quantization_version(2)
    writer.add_vocab_size(len(model.tokens))
    writer.add_context_length(model.context_length)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(model.heads)
    writer.add_head_count_kv(model.heads * KV_HEADS // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(WIDTH // model.heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(model.tokens)
    control = [gguf.TokenType.CONTROL] * len(model.control)
    writer.add_token_types([*[gguf.TokenType.NORMAL] * (len(model.tokens) - len(control)), *control])
    writer.add_token_merges(list(MERGES))
    if model.ends:
        writer.add_bos_token_id(model.token(END))
        writer.add_eos_token_id(model.token(END))
    writer.add_add_bos_token(model.add_bos)
    if model.fim:
        for part, name in (("pre", FIM_PREFIX), ("mid", FIM_MIDDLE), ("suf", FIM_SUFFIX), ("pad", FIM_PAD)):
            writer.add_uint32(f"tokenizer.ggml.fim_{part}_token_id", model.token(name))
    for key, value in model.metadata.items():
        writer.add_string(key, value) if isinstance(value, str) else writer.add_uint32(key, value)


def _permuted(name: str, array: Array, all_heads: int) -> Array:
    """Query and key weights in llama.cpp's rotary layout: pairs side by side instead of halves."""
    heads = all_heads if "q_proj" in name else all_heads * KV_HEADS // HEADS if "k_proj" in name else 0
    if not heads:
        return array
    rows, columns = array.shape
    return array.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def _gguf_name(name: str) -> str:
    names = {
        "model.embed_tokens": "token_embd",
        "model.norm": "output_norm",
        "lm_head": "output",
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
    }
    stem = name.removesuffix(".weight")
    if stem.startswith("model.layers."):
        _, _, layer, rest = stem.split(".", 3)
        return f"blk.{layer}.{names[rest]}.weight"
    return f"{names[stem]}.weight"


def scripted(*pieces: bytes, prompt: bytes = b"?", **options: bool | int) -> TinyModel:
    """A model whose greedy text after a prompt that ends in `prompt` is these pieces; each is one token of its own.

    Without fill-in-the-middle tokens, so that the prompt's last token is the text's.
    """
    control = {name.encode() for name in (END, FIM_PREFIX, FIM_MIDDLE, FIM_SUFFIX, FIM_PAD)}
    plain: Sequence[bytes] = list(dict.fromkeys(piece for piece in pieces if len(piece) > 1 and piece not in control))
    return TinyModel(pieces=tuple(plain), script=(prompt, *pieces), fim=bool(options.pop("fim", False)), **options)  # type: ignore[arg-type]
