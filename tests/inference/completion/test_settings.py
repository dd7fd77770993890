from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.completion.mending import FIX, can_mend, mending_prompt
from assay.inference.completion.prompt import prompt_at
from assay.inference.completion.settings import GREEDY, Sampling, Settings
from assay.inference.completion.task import Kind, next_lines, task_of
from assay.inference.opening import ModelChoice
from assay.inference.prompt_size import PromptSize, SizeChoice, settings_for, settings_of, size_for, size_in_time, size_named
from assay.inference.remote.model import RemoteModel
from assay.inference.stopping.stop import LINE

from ..completion_server import Speech, serving


def test_a_fingerprint_changes_with_everything_that_decides_and_with_nothing_else() -> None:
    settings = [Settings(), Settings(prefix_tokens=1), Settings(suffix_tokens=1), Settings(line_tokens=1), Settings(block_tokens=1)]
    prints = {setting.fingerprint(layout, 1024) for setting in settings for layout in ("psm", "left_to_right")}
    assert len(prints) == 10
    assert all(len(one) == 16 for one in prints)
    assert Settings().fingerprint("psm", 1024) == Settings().fingerprint("psm", 4096)
    # A context that the budgets don't fit into shows the model less.
    assert len({Settings().fingerprint("psm", context) for context in (1024, 963, 10)}) == 3
    # The budget of a function decides only where functions are asked for.
    short = Settings(function_tokens=1)
    assert short.fingerprint("spm", 4096, "block") == Settings().fingerprint("spm", 4096, "block")
    assert short.fingerprint("spm", 4096, "function") != Settings().fingerprint("spm", 4096, "function")
    assert len({Settings().fingerprint("spm", 4096, kind) for kind in ("line", "block", "function")}) == 3
    assert fingerprint(GREEDY) == fingerprint(Sampling(0, 0.5, 7)) == Settings().fingerprint("spm", 964)
    assert fingerprint(GREEDY, heals=False) == Settings().fingerprint("spm", 964, heals=False) != fingerprint(GREEDY)


TEMPERATURES = st.floats(0, 4, exclude_min=True)
TOP_PS = st.floats(0, 1, exclude_min=True)


def fingerprint(sampling: Sampling, *, heals: bool = True) -> str:
    return Settings().fingerprint("spm", 964, sampling=sampling, heals=heals)


@given(TEMPERATURES, TOP_PS, st.integers(0, 99), st.booleans())
def test_sampled_text_never_has_the_fingerprint_of_greedy_text(temperature: float, top_p: float, seed: int, heals: bool) -> None:
    sampled = Sampling(temperature, top_p, seed)
    assert fingerprint(sampled, heals=heals) not in (fingerprint(GREEDY), fingerprint(GREEDY, heals=False))
    assert fingerprint(sampled) == fingerprint(Sampling(temperature, top_p, seed + 1))
    assert fingerprint(sampled) != fingerprint(sampled, heals=False)
    hotter, narrower = replace(sampled, temperature=temperature + 1), replace(sampled, top_p=0.25 if top_p == 0.5 else 0.5)
    assert len({fingerprint(each) for each in (sampled, hotter, narrower)}) == 3


@pytest.mark.parametrize(("temperature", "top_p"), [(-0.1, 1.0), (math.inf, 1.0), (math.nan, 1.0), (0.5, 0.0), (0.5, 1.1), (0.5, math.nan)])
def test_what_no_token_can_be_drawn_by_is_refused(temperature: float, top_p: float) -> None:
    with pytest.raises(ValueError, match="temperature"):
        Sampling(temperature, top_p)


@pytest.mark.parametrize(
    ("prefix", "suffix", "kind", "task"),
    [
        ("", "", "line", "line"),
        ("x\n    ", "  \ny", "line", "line"),
        ("x = ", "", "line", "line_rest"),
        ("print(", ")\n", "line", "line_middle"),
        ("a\rb = ", "", "line", "line_rest"),
        ("print(", ")\n", "block", "block"),
        ("print(", ")\n", "function", "function"),
    ],
)
def test_the_task_is_read_off_the_cursors_line(prefix: str, suffix: str, kind: Kind, task: str) -> None:
    assert task_of(prefix, suffix, kind) == task


def test_the_next_lines_are_those_below_the_cursors_that_are_not_blank() -> None:
    assert next_lines("rest\r\n\r\n  \r\n  a \r\nb\r\nc", 2) == ("  a", "b")
    assert next_lines("rest", 2) == ()
    assert next_lines("\na", 2) == ("a",)
    assert next_lines("\n" * 100_000 + "a", 1) == (), "far below is not next"


TWO_CORES = 1e11


@pytest.mark.parametrize(
    ("parameters", "context_length", "speed", "size"),
    [
        (187_500_000, 4096, TWO_CORES, "normal"),
        (187_500_001, 4096, TWO_CORES, "small"),
        (8_000_000, 4096, TWO_CORES, "large"),
        (494_000_000, 4096, 4 * TWO_CORES, "normal"),
        (7_000_000_000, 2820, math.inf, "large"),
        (7_000_000_000, 2819, math.inf, "normal"),
        (7_000_000_000, 512, TWO_CORES, "normal"),
        (7_000_000_000, 4096, None, "normal"),
    ],
)
def test_a_model_gets_the_largest_size_that_it_can_use(parameters: int, context_length: int, speed: float | None, size: PromptSize) -> None:
    assert size_in_time(parameters, context_length, speed) == size


def test_a_size_is_known_by_its_budgets() -> None:
    sizes: list[PromptSize] = ["small", "normal", "large"]
    assert [size_named(settings_of(size, files=files)) for size in sizes for files in (True, False)] == [s for s in sizes for _ in range(2)]
    assert size_named(Settings(prefix_tokens=300)) is None


def test_the_embedded_model_is_shown_what_its_calibrators_were_fitted_with_unless_the_user_chooses() -> None:
    with ModelChoice().open() as model:
        assert settings_for(model) == Settings()
        choices: list[SizeChoice] = ["auto", "small", "normal", "large"]
        assert [size_named(ModelChoice(prompt_size=size).settings_for(model)) for size in choices] == ["normal", *choices[1:]]
    # A server says not how fast it reads, so its model gets the normal size.
    with serving(Speech(kind="openai")) as address, RemoteModel(address, context_length=8192) as model:
        assert model.context_length == 8192
        assert size_for(model) == "normal"


def test_the_line_stands_between_what_is_before_it_and_the_token_that_asks() -> None:
    before, after = "def larger(a, b):\n    if a > b:\n        ", "\n    return b\n"
    with ModelChoice().open() as model:
        assert can_mend(model)
        prompt = mending_prompt(model, prompt_at(model, before, after), "return b")
        assert prompt.tokens[-1] == model.control(FIX)
        assert prompt.held == ""
        assert model.prompt_text(prompt).endswith(f"{before}return b{FIX}")
        answer = model.generate(prompt, stop=LINE, max_tokens=16).text
        assert answer.strip(), "the line is written from its beginning"
