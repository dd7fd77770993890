from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_gguf import TinyModel, write_tiny_gguf
from tiny_models import open_exact

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.llamacpp.session import CHUNK
from assay.inference.model import Prompt, StopReason
from assay.inference.stopping.stop import NONE

TOLERANCE = 2e-3


def after(calls: int) -> Callable[[], bool]:
    """A cancel that is false so many times."""
    counter = itertools.count()
    return lambda: next(counter) >= calls


@pytest.fixture(scope="module")
def fresh(tiny_gguf: Path) -> LlamaModel:
    return open_exact(tiny_gguf)


def test_a_cancel_takes_effect_within_one_chunk_of_the_prompt_and_within_one_token(tiny: LlamaModel) -> None:
    tiny.forget()
    prompt = Prompt(tuple([97] * (3 * CHUNK)), "left_to_right")
    generation = tiny.generate(prompt, stop=NONE, max_tokens=5, cancel=after(2))
    assert (generation.stopped_by, generation.tokens, generation.text) == (StopReason.CANCELLED, (), "")
    again = tiny.generate(prompt, stop=NONE, max_tokens=1)
    assert again.timings.reused_tokens < len(prompt.tokens) - CHUNK + 1
    tiny.forget()
    # Two looks belong to the prompt's one chunk (before it, and after), then there is one to each token.
    cancelled = tiny.generate(tiny.fim("x", ""), stop=NONE, max_tokens=100, cancel=after(4))
    assert cancelled.stopped_by is StopReason.CANCELLED
    assert len(cancelled.tokens) <= 3


def test_an_error_in_the_callers_cancel_reaches_the_caller_and_the_cache_stays_right(tiny: LlamaModel, fresh: LlamaModel) -> None:
    prompt = Prompt(tuple([97] * 300), "left_to_right")
    for calls in (0, 1, 2, 5):
        tiny.forget()
        counter = itertools.count()

        def cancel(counter: itertools.count[int] = counter, calls: int = calls) -> bool:
            if next(counter) >= calls:
                raise LookupError("the caller's own")
            return False

        with pytest.raises(LookupError, match="the caller's own"):
            tiny.generate(prompt, stop=NONE, max_tokens=5, cancel=cancel)
        fresh.forget()
        assert tiny.next_token_logprobs(prompt, ["a"]) == pytest.approx(fresh.next_token_logprobs(prompt, ["a"]), abs=TOLERANCE)


def test_a_chunk_is_broken_off_while_it_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ggml asks between the operations of one decode, so that a large model's chunk of a second need not end first."""
    monkeypatch.setattr("assay.inference.llamacpp.session._SECONDS_BETWEEN_CHECKS", 0.0)
    with open_exact(write_tiny_gguf(tmp_path / "model.gguf", TinyModel(seed=2))) as model:
        cache = model._open()
        asked = itertools.count()
        assert cache.extend([97] * CHUNK, lambda: next(asked) >= 3) is False
        assert cache.tokens == []
        assert next(asked) == 4
        prompt = Prompt((97, 98, 99), "left_to_right")
        used = model.next_token_logprobs(prompt, ["a"])
        model.forget()
        assert used == pytest.approx(model.next_token_logprobs(prompt, ["a"]), abs=TOLERANCE)
