"""Models that can't be cut back, or that look back only so far, give the numbers of a fresh context too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from tiny_architectures import write_tiny_gemma3, write_tiny_mamba

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt
from assay.inference.stopping.stop import NONE

from .test_property import LONG, TOLERANCE, run

Write = Callable[[Path], Path]
EACH = pytest.mark.parametrize("write", [write_tiny_mamba, write_tiny_gemma3])


def opened(path: Path, **options: int) -> LlamaModel:
    return LlamaModel(path, threads=1, kv_type="f32", flash_attention=False, **options)  # type: ignore[arg-type]


@pytest.mark.slow
@EACH
def test_every_number_is_a_fresh_contexts_after_many_requests(write: Write, tmp_path: Path) -> None:
    path = write(tmp_path / "model.gguf")
    with opened(path, parked_sequences=0) as reference:
        run(path, reference, setting=settings(LONG, max_examples=25))


def test_a_recurrent_model_reuses_a_prompt_that_is_typed_on_and_no_other(tmp_path: Path) -> None:
    with opened(write_tiny_mamba(tmp_path / "model.gguf")) as model:
        prompt = tuple(range(100))
        ids = [token.id for token in model.generate(Prompt(prompt, "left_to_right"), stop=NONE, max_tokens=4).tokens]
        typed = model.generate(Prompt((*prompt, *ids, 7), "left_to_right"), stop=NONE, max_tokens=1)
        assert typed.timings.reused_tokens == len(prompt) + len(ids) - 1
        other = model.generate(Prompt((*prompt[:50], 7), "left_to_right"), stop=NONE, max_tokens=1)
        assert other.timings.reused_tokens == 0
        one = Prompt((97,), "left_to_right")
        held = model.score(one, [98, 99])
        model.forget()
        assert model.score(one, [98, 99]) == pytest.approx(held, abs=TOLERANCE)
