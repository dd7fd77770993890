from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_gguf import END, FIM_MIDDLE, TinyModel

from assay.inference.errors import CacheNotPossible
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Generation, Prompt, StopReason, Token
from assay.inference.stopping.stop import NONE

TOLERANCE = 1e-3
Open = Callable[..., LlamaModel]


def prompt_of(*parts: range | tuple[int, ...]) -> Prompt:
    return Prompt(tuple(itertools.chain(*parts)), "left_to_right")


A, B, C = (prompt_of(range(first, first + 100)) for first in (0, 60, 120))


@pytest.fixture
def open_with(tiny_gguf: Path) -> Iterator[Open]:
    """Opens the tiny model with float32 weights and cache, and further options."""
    opened: list[LlamaModel] = []

    def open_one(**options: Any) -> LlamaModel:
        opened.append(LlamaModel(tiny_gguf, **{"threads": 1, "kv_type": "f32", "flash_attention": False, **options}))
        return opened[-1]

    yield open_one
    for model in opened:
        model.close()


def continued(model: LlamaModel, prompt: Prompt, most: int = 4) -> Generation:
    return model.generate(prompt, stop=NONE, max_tokens=most)


def numbers(tokens: tuple[Token, ...]) -> list[float]:
    return [token.logprob for token in tokens]


def test_several_prompts_are_kept_and_come_back_whole_whatever_is_typed(open_with: Open) -> None:
    model = open_with()
    first = [continued(model, prompt) for prompt in (A, B, C)]
    for prompt, before in zip((A, B, C, A), (*first, first[0]), strict=True):
        again = continued(model, prompt)
        assert again.timings.reused_tokens >= len(prompt.tokens) - 1
        assert numbers(again.tokens) == pytest.approx(numbers(before.tokens), abs=TOLERANCE)
    # Each letter typed in front of a suffix parks what was there; that fills the pool with nearly the same over and over.
    """Each letter typed in front of a suffix parks what was there; that fills the pool with nearly the same over and over."""
    model = open_with(parked_sequences=3)
    continued(model, C)
    for letters in range(8):
        continued(model, prompt_of(A.tokens[:60], (9,) * letters, B.tokens[:40]))
    assert continued(model, C).timings.reused_tokens == len(C.tokens) - 1


def test_no_more_is_parked_than_was_allowed(open_with: Open) -> None:
    nothing = open_with(parked_sequences=0)
    one = open_with(parked_sequences=1)
    little = open_with(parked_bytes=1000)
    for model in (nothing, one, little):
        for prompt in (A, B, C):
            continued(model, prompt)
    assert continued(nothing, A).timings.reused_tokens == 0
    assert continued(one, B).timings.reused_tokens == len(B.tokens)
    assert continued(one, A).timings.reused_tokens == 0
    assert continued(little, A).timings.reused_tokens == 0


def test_a_question_leaves_the_cache_as_it_was(open_with: Open) -> None:
    model = open_with()
    generation = continued(model, A, 10)
    held = list(model._open().tokens)
    behind = prompt_of(A.tokens, tuple(token.id for token in generation.tokens), range(200, 230))
    model.next_token_logprobs(behind, ["a"])
    model.score(behind, [1, 2, 3])
    assert model._open().tokens == held
    beside = prompt_of(A.tokens, range(200, 230))
    model.next_token_logprobs(beside, ["a"])
    assert model._open().tokens == held
    longer = prompt_of(A.tokens, tuple(token.id for token in generation.tokens))
    assert continued(model, longer).timings.reused_tokens == len(longer.tokens) - 1
    # One whose prompt is mostly new takes a place of its own.
    model.next_token_logprobs(B, ["a"])
    assert continued(model, B).timings.reused_tokens == len(B.tokens) - 1


def test_alternatives_are_what_one_at_a_time_gives(open_with: Open) -> None:
    model = open_with()
    # More than there are forks: the last wait until a place is free.
    made = model.alternatives(A, 11, stop=NONE, max_tokens=12, temperature=1.1, top_p=0.95, seed=3)
    for number, generation in enumerate(made):
        alone = model.generate(A, stop=NONE, max_tokens=12, temperature=1.1, top_p=0.95, seed=3 + number)
        assert [token.id for token in generation.tokens] == [token.id for token in alone.tokens]
        assert numbers(generation.tokens) == pytest.approx(numbers(alone.tokens), abs=TOLERANCE)
        assert (generation.text, generation.stopped_by) == (alone.text, alone.stopped_by)
    first, *_ = model.alternatives(A, 3, stop=NONE, max_tokens=6)
    typed = prompt_of(A.tokens, tuple(token.id for token in first.tokens))
    assert continued(model, typed).timings.reused_tokens == len(typed.tokens) - 1, "the first one is in the cache"


def test_a_cancel_ends_all_alternatives_and_leaves_no_fork(open_with: Open) -> None:
    model = open_with()
    written: list[int] = []

    def write(number: int, _token: Token, _text: str) -> bool:
        written.append(number)
        return False

    made = model.alternatives(A, 3, stop=NONE, max_tokens=50, cancel=lambda: written.count(2) == 4, on_token=write)
    assert [(len(generation.tokens), generation.stopped_by) for generation in made] == [(4, StopReason.CANCELLED)] * 3
    session = model._open().session
    assert [session.first_position(fork) for fork in range(1, 1 + session.forks)] == [-1] * session.forks
    alternatives = model.alternatives(A, 3, stop=NONE, max_tokens=50, max_ms=0)
    assert [(generation.tokens, generation.stopped_by) for generation in alternatives] == [((), StopReason.TIME)] * 3


def test_a_cache_that_the_model_can_not_have_is_refused(tiny_gguf: Path) -> None:
    with pytest.raises(CacheNotPossible, match=r"a cache of q8_0 is not possible here .*Use f16 or f32"):
        LlamaModel(tiny_gguf, threads=1, kv_type="q8_0")
    with pytest.raises(CacheNotPossible, match="flash attention only"):
        LlamaModel(tiny_gguf, threads=1, kv_type="q4_0", flash_attention=False)
    with pytest.raises(ValueError, match="it must be one of f32, f16, q8_0, q4_0"):
        LlamaModel(tiny_gguf, threads=1, kv_type="q3")  # type: ignore[arg-type]
    for option, least in (("chunk", 0), ("parked_bytes", -1), ("parked_sequences", -1)):
        with pytest.raises(ValueError, match=f"{option} is {least}"):
            LlamaModel(tiny_gguf, threads=1, **{option: least})  # type: ignore[arg-type]


def test_a_control_token_is_found_by_its_spelling_and_text_is_not(tiny_gguf: Path) -> None:
    with LlamaModel(tiny_gguf, threads=1) as model:
        written = TinyModel()
        assert model.control(FIM_MIDDLE) == written.token(FIM_MIDDLE)
        assert model.control(END) == written.token(END)
        assert [model.control(name) for name in ("<|nonesuch|>", "def", "a", "", f"{END}{END}", "\ud800")] == [None] * 6


@pytest.mark.slow
def test_many_requests_take_no_more_memory_than_few(open_with: Open) -> None:
    """The cells are all that a request fills; what is parked is bounded; nothing else may grow."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("this system does not say how much memory a process has")
    model = open_with(parked_sequences=2)

    def work(times: int) -> int:
        for number in range(times):
            calls = itertools.count()
            prompt = prompt_of(range(number % 7, number % 7 + 60 + number % 50), (number % 200,))
            model.generate(prompt, stop=NONE, max_tokens=3, cancel=lambda: next(calls) > number % 5)  # noqa: B023
            model.alternatives(prompt, 3, stop=NONE, max_tokens=3)
            model.next_token_logprobs(prompt, ["a"])
        return int(statm.read_text().split()[1]) * 4096

    before = work(100)
    assert work(300) - before < 2 << 20
