"""Which size of prompt a model gets, and what the sizes are."""

import math

import pytest

from assay.inference.completion.prompt_size import PromptSize, SizeChoice, settings_for, settings_of, size_for, size_in_time, size_named
from assay.inference.completion.settings import Settings
from assay.inference.opening import ModelChoice
from assay.inference.remote.model import RemoteModel

from ..completion_server import Speech, serving

TWO_CORES = 1e11


@pytest.mark.parametrize(
    ("parameters", "context_length", "speed", "size"),
    [
        (8_000_000, 1024, TWO_CORES, "normal"),
        (135_000_000, 4096, TWO_CORES, "normal"),
        (187_500_000, 4096, TWO_CORES, "normal"),
        (187_500_001, 4096, TWO_CORES, "small"),
        (494_000_000, 4096, TWO_CORES, "small"),
        (7_000_000_000, 4096, TWO_CORES, "small"),
        (8_000_000, 4096, TWO_CORES, "large"),
        (494_000_000, 4096, 4 * TWO_CORES, "normal"),
        (7_000_000_000, 4096, math.inf, "large"),
        (7_000_000_000, 2820, math.inf, "large"),
        (7_000_000_000, 2819, math.inf, "normal"),
        (7_000_000_000, 512, TWO_CORES, "normal"),
        (7_000_000_000, 4096, None, "normal"),
    ],
)
def test_a_model_gets_the_largest_size_that_is_read_in_time_and_that_its_context_holds(
    parameters: int, context_length: int, speed: float | None, size: PromptSize
) -> None:
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


def test_a_server_says_not_how_fast_it_reads_so_its_model_gets_the_normal_size() -> None:
    with serving(Speech(kind="openai")) as address, RemoteModel(address, context_length=8192) as model:
        assert model.context_length == 8192
        assert size_for(model) == "normal"
