"""The exported files against the weights and the tokenizer that they were made from; transformers is the reference."""

from __future__ import annotations

import json
import sysconfig
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tiny_gguf import write_tiny_gguf
from tiny_hf import llama_of
from tokenizers import Tokenizer

from assay.inference.llamacpp.gguf_header import read_header
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt
from assay.inference.opening import EMBEDDED
from training.export import NAME, write_gguf
from training.model import Llama, Shape
from training.shipped import read
from training.tokenizer import FIX, SPECIAL, for_text, train

TEXTS = [f"class Point{i}:\n    '''ünïcödé 𝕏'''\n\n    def move(self, x, y={i}):\n        self.x += x\n\n\n" * 4 for i in range(20)]
STDLIB = [p.read_text(encoding="utf-8") for p in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:60]]
SHAPE = Shape(vocabulary=600, width=64, layers=2, heads=4, kv_heads=2, hidden=96, context=256)

needs_embedded = pytest.mark.skipif(not EMBEDDED.exists(), reason="the embedded model is not in this checkout")


@torch.no_grad()
def logprobs(model: Any, ids: list[int]) -> NDArray[np.float64]:
    rows = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
    return rows[:-1].gather(1, torch.tensor(ids[1:])[:, None])[:, 0].numpy()


def scored(path: Path, ids: list[int], kv_type: Any = "f32") -> NDArray[np.float64]:
    with LlamaModel(path, threads=1, kv_type=kv_type, flash_attention=False) as model:
        return np.array(model.score(Prompt(tuple(ids[:1]), "left_to_right"), ids[1:]))


def random_weights(shape: Shape) -> dict[str, NDArray[np.float32]]:
    torch.manual_seed(0)
    model = Llama(shape)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.15)
    return {k: v.detach().numpy() for k, v in model.state_dict().items()}


@pytest.fixture(scope="module")
def tokenizer() -> dict[str, Any]:
    return json.loads(train(iter(STDLIB[:5]), SHAPE.vocabulary).to_str())


def test_an_f32_export_has_the_log_probabilities_of_transformers(tmp_path: Path, tokenizer: dict[str, Any]) -> None:
    weights = random_weights(SHAPE)
    write_gguf(tmp_path / "f32.gguf", weights, SHAPE, tokenizer, "f32")
    ids = for_text(Tokenizer.from_str(json.dumps(tokenizer))).encode("".join(TEXTS)).ids[: SHAPE.context]
    delta = np.abs(scored(tmp_path / "f32.gguf", ids) - logprobs(llama_of(weights, SHAPE), ids))
    assert delta.max() < 2e-3


def test_our_llama_is_transformers_llama() -> None:
    weights = random_weights(SHAPE)
    ours = Llama(SHAPE)
    ours.load_state_dict({k: torch.tensor(v) for k, v in weights.items()})
    ids = torch.randint(0, SHAPE.vocabulary, (2, 50))
    with torch.no_grad():
        states = ours(ids)
        theirs = llama_of(weights, SHAPE).model(ids).last_hidden_state
    assert torch.allclose(states, theirs, atol=2e-4)


def test_the_file_says_how_its_tasks_are_asked(tmp_path: Path, tokenizer: dict[str, Any]) -> None:
    write_gguf(tmp_path / "f32.gguf", random_weights(SHAPE), SHAPE, tokenizer, "f32")
    metadata = read_header(tmp_path / "f32.gguf").metadata
    ids = tokenizer["model"]["vocab"]
    assert metadata["assay.tasks.fix_token_id"] == ids[FIX]
    with LlamaModel(tmp_path / "f32.gguf", threads=1) as model:
        assert [model.token_bytes(ids[token]) for token in SPECIAL] == [b""] * len(SPECIAL)  # none of them is text


def test_a_tokenizer_that_the_weights_were_not_trained_with_is_refused(tmp_path: Path, tokenizer: dict[str, Any]) -> None:
    larger = replace(SHAPE, vocabulary=SHAPE.vocabulary + 8)
    with pytest.raises(ValueError, match="has 600 tokens and the weights 608"):
        write_gguf(tmp_path / "f32.gguf", random_weights(larger), larger, tokenizer, "f32")
    vocabulary = {token.replace("assay", "other"): i for token, i in tokenizer["model"]["vocab"].items()}
    foreign = {**tokenizer, "model": {**tokenizer["model"], "vocab": vocabulary}, "added_tokens": []}
    with pytest.raises(ValueError, match=r"lacks <\|assay_implement\|>"):
        write_gguf(tmp_path / "f32.gguf", random_weights(SHAPE), SHAPE, foreign, "f32")
    assert not list(tmp_path.iterdir())


def test_a_file_that_was_not_exported_here_is_nothing_to_go_on_from(tmp_path: Path) -> None:
    write_tiny_gguf(tmp_path / "other.gguf")
    with pytest.raises(ValueError, match=r"not a file that training\.export wrote"):
        read(tmp_path / "other.gguf")


@needs_embedded
def test_the_embedded_model_is_small_named_and_made_to_fill_in_the_middle() -> None:
    assert EMBEDDED.stat().st_size <= 36_000_000
    with LlamaModel(EMBEDDED, threads=1) as model:
        assert model.fingerprint.name == NAME
        assert model.fingerprint.parameters <= 32_000_000
        assert model.layout == "spm"


@pytest.mark.slow
@needs_embedded
def test_the_embedded_weights_in_f32_have_the_log_probabilities_of_transformers(tmp_path: Path) -> None:
    weights, shape, cut = read(EMBEDDED)
    write_gguf(tmp_path / "f32.gguf", weights, shape, json.loads(cut.to_str()), "f32")
    model = llama_of(weights, shape)
    with LlamaModel(EMBEDDED, threads=1) as shipped:
        texts = [shipped.tokenize(t)[: shape.context] for t in STDLIB[:6]]
    for ids in texts:
        exact = logprobs(model, ids)
        assert np.abs(scored(tmp_path / "f32.gguf", ids) - exact).max() < 2e-3
        # q8_0 also rounds what flows between the layers: near, and no more than near.
        assert np.abs(scored(EMBEDDED, ids, "f16") - exact).mean() < 0.1


@pytest.mark.slow
@needs_embedded
def test_the_embedded_tokenizer_cuts_the_standard_library_as_the_trained_one() -> None:
    _, _, cut = read(EMBEDDED)
    plain = for_text(cut)
    assert set(SPECIAL) <= set(cut.get_vocab())
    with LlamaModel(EMBEDDED, threads=1) as model:
        for text in [*STDLIB[:30], "<|fim_prefix|>x<|endoftext|>", "\r\n\t\x0c\u2028é́𝕏\n\n   \n", ""]:
            assert model.tokenize(text) == plain.encode(text).ids
