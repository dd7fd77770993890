"""Tiny folders of transformers models for tests: real architectures with random weights, and real tokenizers learned on the spot."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tiny_gguf import byte_letters
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BloomConfig,
    Gemma2Config,
    GPT2Config,
    GPTBigCodeConfig,
    LlamaConfig,
    MambaConfig,
    MistralConfig,
    PretrainedConfig,
    Qwen2Config,
    Starcoder2Config,
)
from transformers.models.auto.modeling_auto import AutoModelForCausalLM
from transformers.utils import logging as transformers_logging

from assay.inference.completion.fim_families import FAMILIES

TEXTS = [
    f"def area_{i}(width, height):\n    '''ünïcödé 𝕏'''\n    return width * height + {i}\n\n\nclass Point:\n    pass\n" for i in range(20)
]
END = "<|endoftext|>"
_SMALL = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
_OLD = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 256}
CONFIGS: dict[str, tuple[type[PretrainedConfig], dict[str, Any]]] = {
    "llama": (LlamaConfig, _SMALL),
    "qwen2": (Qwen2Config, _SMALL),
    # Windows shorter than the tests' texts, so that tokens fall out of them.
    "mistral": (MistralConfig, {**_SMALL, "head_dim": 8, "sliding_window": 12}),
    "gemma2": (Gemma2Config, {**_SMALL, "head_dim": 8, "sliding_window": 12, "query_pre_attn_scalar": 8}),
    "starcoder2": (Starcoder2Config, {**_SMALL, "sliding_window": 12}),
    "gpt_bigcode": (GPTBigCodeConfig, {**_OLD, "multi_query": True}),
    "gpt2": (GPT2Config, _OLD),
    "bloom": (BloomConfig, {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "mamba": (MambaConfig, {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}),
}


@functools.cache
def byte_level(controls: tuple[str, ...] = (), marked: bool = True) -> str:
    """A byte-level BPE tokenizer.json with these control tokens behind its vocabulary; marked: as special."""
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(r"\s?\w+|\s+|[^\s\w]+"), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, show_progress=False))
    tokenizer.add_special_tokens([AddedToken(END, special=True, normalized=False)])
    tokenizer.add_tokens([AddedToken(name, special=marked, normalized=False) for name in controls if name != END])
    return tokenizer.to_str()


@functools.cache
def sentencepiece(controls: tuple[str, ...] = (), legacy: bool = False, leading_space: bool = True) -> str:
    """A tokenizer.json as those that are made from SentencePiece models: ▁ for a space, bytes for what it lacks, <s> before a text.

    legacy: the leading space is put by the normalizer, as in older files, else by the pre-tokenizer.
    """
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first", split=False)
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))],
        show_progress=False,
    )
    tokenizer.train_from_iterator([word for text in TEXTS[:8] for word in text.split(" ")], trainer)
    content = json.loads(tokenizer.to_str())
    content["added_tokens"] = content["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(content))
    scheme = "first" if leading_space else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme=scheme, split=False)
    if legacy:
        tokenizer.pre_tokenizer = None  # type: ignore[assignment]
        prepend = [normalizers.Prepend("▁")] if leading_space else []
        tokenizer.normalizer = normalizers.Sequence([*prepend, normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in controls if name not in ("<s>", "</s>")])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    return tokenizer.to_str()


def family_tokenizer(name: str) -> str:
    """A tokenizer.json with the control tokens of a family, as special as that family's own tokenizer marks them."""
    family = next(family for family in FAMILIES if family.name == name)
    names = tuple(dict.fromkeys((*family.controls, *family.marks)))
    if name in ("codellama", "codestral"):
        return sentencepiece(names, legacy=name == "codellama")
    if name == "codegemma":
        return sentencepiece(("<bos>", *names), leading_space=False)
    return byte_level(names, marked=name != "qwen2.5-coder")


def write_tiny_hf(
    path: Path,
    architecture: str = "llama",
    *,
    tokenizer: str | None = None,
    name: str = "tiny",
    seed: int = 0,
    context: int = 256,
    shards: int = 1,
    tokenizer_config: dict[str, Any] | None = None,
    script: Sequence[bytes] = (),
    **changed: Any,
) -> Path:
    """Write a folder and give its path back. script: each of these texts (one token each) is followed by the next, as greedy text."""
    content = tokenizer or byte_level()
    whole = Tokenizer.from_str(content)
    make, settings = CONFIGS[architecture]
    torch.manual_seed(seed)
    ends = whole.token_to_id(END)
    options = {
        "vocab_size": whole.get_vocab_size(),
        "eos_token_id": ends,
        "bos_token_id": ends,
        "pad_token_id": None,
        **settings,
        **changed,
    }
    if "n_positions" in options:
        options["n_positions"] = context
    elif architecture not in ("bloom", "mamba"):
        options["max_position_embeddings"] = context
    model = AutoModelForCausalLM.from_config(make(**options))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(std=0.25)
        if script:
            _follow(model, [_one_token(whole, piece) for piece in script])
    transformers_logging.disable_progress_bar()
    model.save_pretrained(path, max_shard_size="40KB" if shards > 1 else "1GB")
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**config, "_name_or_path": name}))
    (path / "tokenizer.json").write_text(content)
    (path / "tokenizer_config.json").write_text(json.dumps(tokenizer_config or {}))
    return path


def _one_token(tokenizer: Tokenizer, piece: bytes) -> int:
    named = tokenizer.token_to_id(piece.decode("latin-1"))
    if named is not None and piece.startswith(b"<"):
        return int(named)
    letters = byte_letters()
    return int(tokenizer.token_to_id("".join(letters[byte] for byte in piece)))


def _follow(model: Any, tokens: Sequence[int]) -> None:
    """Say what follows a token from that token alone: the layers add next to nothing."""
    for parameter in model.parameters():
        if parameter.ndim > 1:
            parameter.mul_(0.002)
    embedding, output = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    embedding.normal_(std=1.0)
    output.normal_(std=0.01)
    for token, following in itertools.pairwise(tokens):
        output[following] += embedding[token] * 0.5
