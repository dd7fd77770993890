"""The prompt that asks a model to mend a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.inference.completion.mending import FIX, can_mend, mending_prompt
from assay.inference.completion.prompt import prompt_at
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.opening import ModelChoice
from assay.inference.stopping.stop import LINE


def test_the_line_stands_between_what_is_before_it_and_the_token_that_asks() -> None:
    before, after = "def larger(a, b):\n    if a > b:\n        ", "\n    return b\n"
    with ModelChoice().open() as model:
        assert isinstance(model, LlamaModel)
        assert can_mend(model)
        prompt = mending_prompt(model, prompt_at(model, before, after), "return b")
        assert prompt.tokens[-1] == model.control(FIX)
        assert prompt.held == ""
        assert model.prompt_text(prompt).endswith(f"{before}return b{FIX}")
        answer = model.generate(prompt, stop=LINE, max_tokens=16).text
        assert answer.strip(), "the line is written from its beginning"


def test_a_model_without_the_token_can_not_be_asked(tiny_gguf: Path) -> None:
    with LlamaModel(tiny_gguf) as model:
        assert not can_mend(model)
        with pytest.raises(ValueError, match="no control token"):
            mending_prompt(model, prompt_at(model, "x = ", "\n"), "1")
