"""Byte-level BPE with Qwen2's pre-tokenizer, which llama.cpp knows as "qwen2", so that both split text at the same places.

    python -m training.tokenizer    writes tokenizer.json beside the corpus

There is no normalizer and no added prefix space: every text decodes to its own bytes.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from .paths import CACHE, there

END, PREFIX, MIDDLE, SUFFIX, PAD = FIM = ["<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>"]
# Asked behind an ordinary prompt for filling in the middle. Only "fix" is still taught (fixes.py).
_, _, FIX, _ = TASKS = ["<|assay_implement|>", "<|assay_describe|>", "<|assay_fix|>", "<|assay_judge|>"]
# Reserved, so that what is taught later does not change the vocabulary; eight rows also keep the embedding's size a multiple of eight.
RESERVED = [f"<|assay_reserved_{i}|>" for i in range(4)]
SPECIAL = [*FIM, *TASKS, *RESERVED]
QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"

MERGES_FROM = 50_000_000  # characters of the corpus

SPLIT = pre_tokenizers.Split(Regex(QWEN2), behavior="isolated")


def bare(model: models.BPE) -> Tokenizer:
    """A tokenizer of a BPE model that splits and decodes as Qwen2's does, without control tokens."""
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([SPLIT, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def for_text(tokenizer: Tokenizer) -> Tokenizer:
    """The same vocabulary for plain text: the spelling of a control token is split like any text, as llama.cpp does with parse_special off.

    A tokenizer with control tokens finds their spellings in any text, even with `add_special_tokens=False`.
    """
    model = json.loads(tokenizer.to_str())["model"]
    return bare(
        models.BPE(vocab=model["vocab"], merges=[tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in model["merges"]])
    )


def pre_token_start(text: str) -> int:
    """The offset where the last pre-token of a text begins: there a prompt ends when the cursor stands behind the text (token healing)."""
    pieces = SPLIT.pre_tokenize_str(text)
    return pieces[-1][1][0] if pieces else 0


def token_start(text: str, offset: int) -> int:
    """The offset where the token of the word at `offset` starts: one earlier where a space or tab stands before the word.

    A tokenizer joins that space to the word.
    """
    return offset - 1 if text[offset - 1 : offset] in (" ", "\t") else offset


def train(texts: Iterator[str], vocabulary: int) -> Tokenizer:
    """Train a tokenizer. Control tokens get the first ids; the others are the 256 bytes and the merges."""
    tokenizer = bare(models.BPE())
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=SPECIAL, initial_alphabet=alphabet))
    return tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=there, default=str(CACHE / "corpus.jsonl"))
    parser.add_argument("--vocabulary", type=int, default=8192, help="tokens, control tokens included (default: %(default)s)")
    args = parser.parse_args()
    with args.corpus.open(encoding="utf-8") as f:
        texts = [json.loads(line)["text"] for line in f]
    random.Random(0).shuffle(texts)
    size, sample = 0, []
    for text in texts:
        sample.append(text)
        size += len(text)
        if size > MERGES_FROM:
            break
    train(iter(sample), args.vocabulary).save(str(args.corpus.with_name("tokenizer.json")))


if __name__ == "__main__":
    main()
