from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
import torch

from training.data import Row
from training.model import Llama, Shape
from training.steps import MAX_NORM, Steps

SHAPE = Shape(vocabulary=300, width=32, layers=2, heads=2, kv_heads=1, hidden=48, context=32)
RNG = random.Random(0)
ROWS = [Row([RNG.randrange(300) for _ in range(33)], [1.0] * 33) for _ in range(6)]


@pytest.fixture(autouse=True)
def one_thread_each() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def steps_of(threads: int) -> Steps:
    torch.manual_seed(0)
    model = Llama(SHAPE)
    return Steps(model, [torch.optim.SGD(model.parameters(), lr=0.1)], threads, compiled=False)


def test_threads_that_share_a_step_do_what_one_does_alone() -> None:
    alone, shared = steps_of(1), steps_of(3)
    given = itertools.cycle(ROWS)
    losses = [steps.step(lambda _: next(given), len(ROWS), 0.5) for steps in (alone, shared)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    for a, b in zip(alone.parameters, shared.parameters, strict=True):
        assert torch.allclose(a, b, atol=1e-4)


def test_a_step_goes_down_the_mean_gradient_of_its_rows_by_the_share_of_the_rate() -> None:
    steps = steps_of(2)
    before = [p.detach().clone() for p in steps.parameters]
    gradients = [steps.gradient(row)[1] for row in ROWS]
    mean = [torch.stack(g).mean(0) for g in zip(*gradients, strict=True)]
    norm = torch.sqrt(sum((g.square().sum() for g in mean), start=torch.zeros(())))
    given = iter(ROWS)
    steps.step(lambda _: next(given), len(ROWS), 0.5)
    for old, new, gradient in zip(before, steps.parameters, mean, strict=True):
        assert torch.allclose(new, old - 0.5 * 0.1 * gradient * min(1.0, MAX_NORM / float(norm)), atol=1e-4)


def test_an_error_in_a_thread_ends_the_step() -> None:
    def draw(_: int) -> Row:
        raise RuntimeError("no text")

    with pytest.raises(RuntimeError, match="no text"):
        steps_of(2).step(draw, 4, 1.0)


@pytest.mark.slow
def test_the_same_rows_are_learned_by_heart() -> None:
    steps = steps_of(2)
    given = itertools.cycle(ROWS)
    first = steps.validate(ROWS)
    for _ in range(30):
        steps.step(lambda _: next(given), len(ROWS), 5.0)
    assert steps.validate(ROWS) < 0.7 * first
