"""The shipped file: what it is, and its numbers and tokens against transformers and tokenizers, of the same weights and vocabulary."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

import embedded_weights
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt
from assay.inference.opening import EMBEDDED

STDLIB = [path.read_text(encoding="utf-8") for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:60]]


@torch.no_grad()
def logprobs(model: Any, ids: list[int]) -> NDArray[np.float64]:
    rows = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
    return rows[:-1].gather(1, torch.tensor(ids[1:])[:, None])[:, 0].numpy()


def scored(path: Path, ids: list[int], kv_type: Any = "f32") -> NDArray[np.float64]:
    with LlamaModel(path, threads=1, kv_type=kv_type, flash_attention=False) as model:
        return np.array(model.score(Prompt(tuple(ids[:1]), "left_to_right"), ids[1:]))


def test_the_embedded_model_is_small_named_and_made_to_fill_in_the_middle() -> None:
    assert EMBEDDED.stat().st_size <= 36_000_000
    with LlamaModel(EMBEDDED, threads=1) as model:
        assert model.fingerprint.name == "assay-embedded"
        assert model.fingerprint.parameters <= 32_000_000
        assert model.layout == "spm"


@pytest.mark.slow
def test_the_embedded_weights_in_f32_have_the_log_probabilities_of_transformers(tmp_path: Path) -> None:
    embedded_weights.write_f32(tmp_path / "f32.gguf")
    model = embedded_weights.llama()
    with LlamaModel(EMBEDDED, threads=1) as shipped:
        texts = [shipped.tokenize(text)[: shipped.context_length] for text in STDLIB[:6]]
    for ids in texts:
        exact = logprobs(model, ids)
        assert np.abs(scored(tmp_path / "f32.gguf", ids) - exact).max() < 2e-3
        # q8_0 also rounds what flows between the layers: near, and no more than near.
        assert np.abs(scored(EMBEDDED, ids, "f16") - exact).mean() < 0.1


@pytest.mark.slow
def test_the_embedded_tokenizer_cuts_text_as_tokenizers_does_and_has_control_tokens_that_are_no_text() -> None:
    plain, whole = embedded_weights.tokenizer(controls=False), embedded_weights.tokenizer()
    with LlamaModel(EMBEDDED, threads=1) as model:
        for text in [*STDLIB[:30], "<|fim_prefix|>x<|endoftext|>", "\r\n\t\x0c\u2028é́𝕏\n\n   \n", ""]:
            assert model.tokenize(text) == plain.encode(text).ids
        assert {model.token_bytes(token) for token in whole.get_added_tokens_decoder()} == {b""}
