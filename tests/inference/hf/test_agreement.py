"""The same weights as a folder for transformers and as a GGUF for llama.cpp: both backends must say the same of real code."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path

import embedded_weights
import pytest
import torch
from transformers import PreTrainedTokenizerFast

from assay.inference.hf.model import HFModel
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Model, Prompt
from assay.inference.stopping.stop import LINE, NONE

pytestmark = pytest.mark.slow

STDLIB = [path.read_text(encoding="utf-8") for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:40]]
Both = tuple[HFModel, LlamaModel]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """The shipped model."""
    folder = tmp_path_factory.mktemp("both")
    embedded_weights.llama().save_pretrained(folder / "hf")
    tokenizer = embedded_weights.tokenizer()
    end, *others = (token.content for _, token in sorted(tokenizer.get_added_tokens_decoder().items()))
    known = {"eos_token": end, "pad_token": "<|fim_pad|>", "extra_special_tokens": others}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **known).save_pretrained(folder / "hf")
    embedded_weights.write_f32(gguf := folder / "model.gguf")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with HFModel(folder / "hf", device="cpu") as ours, LlamaModel(gguf, threads=1, kv_type="f32", flash_attention=False) as theirs:
        yield ours, theirs
    torch.set_num_threads(threads)


def halves(text: str) -> tuple[str, str]:
    cut = len(text) // 2
    return text[max(0, cut - 1200) : cut], text[cut : cut + 400]


def test_both_cut_text_and_lay_prompts_out_alike_and_their_generations_agree(both: Both) -> None:
    for text in STDLIB:
        assert both[0].tokenize(text) == both[1].tokenize(text)
        assert both[0].fim(*halves(text)) == both[1].fim(*halves(text))
    assert both[0].layout == both[1].layout == "spm"
    assert both[0].context_length == both[1].context_length

    def check_numbers(model: Model, prompt: Prompt) -> list[tuple[str, str, list[float]]]:
        made = [
            model.generate(prompt, stop=LINE, max_tokens=24),
            model.generate(prompt, stop=NONE, max_tokens=12, temperature=0.8, top_p=0.9, seed=3),
        ]
        return [
            (one.text, one.stopped_by, [x for t in one.tokens for x in (t.logprob, t.best_other_logprob or 0, t.entropy or 0)])
            for one in made
        ]

    for text in STDLIB[:6]:
        prompt = both[0].fim(*halves(text))
        for own, other in zip(check_numbers(both[0], prompt), check_numbers(both[1], prompt), strict=True):
            assert own[:2] == other[:2]
            assert own[2] == pytest.approx(other[2], abs=2e-3)
