"""Whatever is asked of a model in whatever order, its cache gives the numbers of a context that has seen nothing else.

Weights and cache are float32 and flash attention is off, so what is left between two ways of decoding the same tokens is the order of
float32 sums, which other batch sizes and other places in the cache change: 1e-5 here, where a wrong cell, position or token moves a
log-probability of a random model by more than 0.1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from tiny_gguf import TinyModel, write_tiny_gguf

from assay.inference.llamacpp.cache import LIVE
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Generation, Prompt, Token
from assay.inference.stopping.stop import LINE, NONE

TOLERANCE = 1e-3
CONTEXT = 256

# Beginnings that are longer than what is worth parking, a middle that differs, and an end: prompts share a part of themselves.
STARTS = st.sampled_from([(97,) * 60, tuple(range(100, 180)), tuple(range(180, 100, -1)), (97,) * 40 + tuple(range(50, 90)), ()])
MIDDLES = st.lists(st.integers(0, 260), max_size=12).map(tuple)
ENDS = st.sampled_from([(98,), tuple(range(60, 120)), tuple(range(30, 75))])
PROMPTS = st.builds(lambda start, middle, end: Prompt((*start, *middle, *end), "left_to_right"), STARTS, MIDDLES, ENDS)


def after(calls: int) -> Callable[[], bool]:
    """A cancel that is false so many times."""
    counter = itertools.count()
    return lambda: next(counter) >= calls


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf", TinyModel(seed=4, context_length=CONTEXT))


@pytest.fixture(scope="module")
def reference(written: Path) -> Iterator[LlamaModel]:
    with LlamaModel(written, threads=1, kv_type="f32", flash_attention=False, parked_sequences=0) as model:
        yield model


class Requests(RuleBasedStateMachine):
    """Requests of every kind to one model; each number that comes back is compared with a fresh context's."""

    model: LlamaModel
    reference: LlamaModel

    def __init__(self) -> None:
        super().__init__()
        self.earlier: list[tuple[int, ...]] = [(97, 98)]

    @initialize()
    def begin(self) -> None:
        self.model.forget()

    @rule(
        prompt=PROMPTS,
        most=st.integers(1, 12),
        temperature=st.sampled_from([0.0, 1.0]),
        seed=st.integers(0, 3),
        calls=st.none() | st.integers(0, 12),
        early=st.none() | st.integers(1, 6),
    )
    def generate(self, prompt: Prompt, most: int, temperature: float, seed: int, calls: int | None, early: int | None) -> None:
        counter = itertools.count(1)
        generation = self.model.generate(
            prompt,
            stop=NONE,
            max_tokens=most,
            temperature=temperature,
            seed=seed,
            cancel=None if calls is None else after(calls),
            on_token=None if early is None else lambda _token, _text: next(counter) >= early,
        )
        self.check(prompt, generation)

    @rule(
        prompt=PROMPTS,
        count=st.integers(1, 11),
        most=st.sampled_from([1, 2, 5, 9, 40]),
        temperature=st.sampled_from([0.0, 1.2]),
        calls=st.none() | st.integers(0, 9),
        early=st.lists(st.integers(0, 10), max_size=4),
    )
    def alternatives(self, prompt: Prompt, count: int, most: int, temperature: float, calls: int | None, early: list[int]) -> None:
        made = self.model.alternatives(
            prompt,
            count,
            stop=LINE,
            max_tokens=most,
            temperature=temperature,
            cancel=None if calls is None else after(calls),
            on_token=lambda number, _token, _text: number in early,
        )
        # The first comes last, for it is in the cache, and what is asked next goes on from what was checked last.
        for generation in made[-2:] + made[:1]:
            self.check(prompt, generation)

    @rule(which=st.integers(0, 9), at=st.integers(0, 2), other=st.integers(0, 1), tail=MIDDLES, seed=st.integers(0, 3))
    def come_back(self, which: int, at: int, other: int, tail: Sequence[int], seed: int) -> None:
        """To what was asked before and what came of it, to its last token or not quite, or with the next token changed by a little."""
        before = self.earlier[which % len(self.earlier)]
        changed = [(before[len(before) - at] + other) % 261] if 0 < at < len(before) else []
        prompt = Prompt((*(before[: len(before) - at] or (97,)), *changed, *tail)[: CONTEXT - 8], "left_to_right")
        self.check(prompt, self.model.generate(prompt, stop=NONE, max_tokens=4, temperature=1.0, seed=seed))

    @rule(question=MIDDLES, at=st.integers(0, 6))
    def ask_behind_what_was_last(self, question: Sequence[int], at: int) -> None:
        last = self.earlier[-1]
        prompt = Prompt((*(last[: len(last) - at] or (97,)), *question), "left_to_right")
        held = self.held()
        known = len(prompt.tokens) - len(question) - 1
        cuts = self.model._open()._can_cut_live() or known == len(held)
        logprobs = self.model.next_token_logprobs(prompt, ["a", "z"])
        if cuts and known >= len(prompt.tokens) // 2 and held[:known] == list(prompt.tokens[:known]):
            assert self.held() == held
        self.compare(logprobs, self.fresh(prompt, self.model.tokenize("a"))[:1] + self.fresh(prompt, self.model.tokenize("z"))[:1])

    @rule(prompt=PROMPTS, continuation=st.lists(st.integers(0, 260), min_size=1, max_size=40))
    def score(self, prompt: Prompt, continuation: list[int]) -> None:
        self.compare(self.model.score(prompt, continuation), self.fresh(prompt, continuation))

    @rule()
    def forget(self) -> None:
        self.model.forget()
        assert self.held() == []

    @invariant()
    def what_is_parked_is_bounded(self) -> None:
        cache = self.model._open()
        assert len(cache._parked) <= 3
        assert cache.parked_bytes <= PARKED_BYTES

    @invariant()
    def llama_cpp_holds_as_many_tokens_as_we_say(self) -> None:
        session = self.model._open().session
        assert session.llama.llama_memory_seq_pos_max(session._memory, LIVE) + 1 == len(self.held())
        assert [session.first_position(fork) for fork in range(1, 1 + session.forks)] == [-1] * session.forks

    def held(self) -> list[int]:
        return list(self.model._open().tokens)

    def check(self, prompt: Prompt, generation: Generation) -> None:
        tokens: tuple[Token, ...] = generation.tokens
        ids = [token.id for token in tokens]
        self.earlier.append((*prompt.tokens, *ids))
        if ids:
            self.compare([token.logprob for token in tokens], self.fresh(prompt, ids))

    def fresh(self, prompt: Prompt, continuation: Sequence[int]) -> list[float]:
        self.reference.forget()
        return self.reference.score(prompt, continuation)

    def compare(self, found: Sequence[float], expected: Sequence[float]) -> None:
        assert found == pytest.approx(expected, abs=TOLERANCE)


PARKED_BYTES = 400_000
FAST = settings(max_examples=20, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck))
LONG = settings(FAST, max_examples=60, stateful_step_count=30)


def run(written: Path, reference: LlamaModel, setting: settings = FAST) -> None:
    options = {"threads": 1, "kv_type": "f32", "flash_attention": False, "parked_sequences": 3, "parked_bytes": PARKED_BYTES}
    with LlamaModel(written, chunk=32, **options) as model:  # type: ignore[arg-type]
        bound = type("Bound", (Requests,), {"model": model, "reference": reference})
        run_state_machine_as_test(bound, settings=setting)


@pytest.mark.slow
def test_too_few_cells_for_all_forks_change_no_number(written: Path, reference: LlamaModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.inference.llamacpp.session.FORK_CELLS", 0)
    run(written, reference)


@pytest.mark.slow
def test_every_number_is_a_fresh_contexts_after_many_requests(written: Path, reference: LlamaModel) -> None:
    run(written, reference, setting=LONG)
