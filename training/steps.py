"""Training steps for processors without a GPU: the cores share a step's rows, and none waits long for another.

Each thread takes the next row, computes its gradient on one core, and adds it to its own sum. PyTorch's own way, where all cores share each
operation, has them meet some thousand times a step. Beside other programs one core is then always late.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from .data import Row
from .model import Llama

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
MAX_NORM = 1.0  # of a step's gradient


def on_one_core(row: Row) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs, targets and the targets' weights, each of shape (1, length)."""
    tokens, weights = torch.tensor([row.tokens]), torch.tensor([row.weights])
    return tokens[:, :-1], tokens[:, 1:], weights[:, 1:]


class Steps:
    """A model with its optimisers, and one thread for each core. Call `torch.set_num_threads(1)` before.

    optimizers: of disjoint parameters; they step side by side.
    """

    def __init__(self, model: Llama, optimizers: Sequence[torch.optim.Optimizer], threads: int, *, compiled: bool = True) -> None:
        self.model, self.optimizers, self.threads = model, optimizers, threads
        self.parameters = list(model.parameters())
        self.loss: Loss = torch.compile(model.loss, dynamic=False) if compiled else model.loss
        self._pool = ThreadPoolExecutor(threads)

    def gradient(self, row: Row) -> tuple[float, tuple[Tensor, ...]]:
        """The loss of a row in nats per token, and its gradient."""
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = self.loss(*on_one_core(row))
        return loss.item(), torch.autograd.grad(loss, self.parameters)

    def step(self, draw: Callable[[int], Row], rows: int, rate: float) -> float:
        """One step over so many rows. Returns their mean loss in nats per token.

        draw: gives a row to a thread, by its number. rate: share of the learning rates that the optimisers began with.
        """
        numbers = itertools.count()  # taking the next one is atomic

        def worker(thread: int) -> tuple[float, list[Tensor]]:
            total, sums = 0.0, list[Tensor]()
            while next(numbers) < rows:
                loss, gradient = self.gradient(draw(thread))
                total += loss / rows
                if sums:
                    torch._foreach_add_(sums, gradient)
                else:
                    sums = list(gradient)
            return total, sums

        done = list(self._pool.map(worker, range(self.threads)))
        sums = [sums for _, sums in done if sums]
        for more in sums[1:]:
            torch._foreach_add_(sums[0], more)
        for parameter, total in zip(self.parameters, sums[0], strict=True):
            parameter.grad = total.div_(rows)
        torch.nn.utils.clip_grad_norm_(self.parameters, MAX_NORM)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate * group.setdefault("peak", group["lr"])
        list(self._pool.map(lambda optimizer: optimizer.step(), self.optimizers))
        for parameter in self.parameters:
            parameter.grad = None
        return sum(loss for loss, _ in done)

    @torch.no_grad()
    def validate(self, rows: Sequence[Row]) -> float:
        """The mean −log p per token of rows, in nats."""

        def loss(row: Row) -> float:
            with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
                return self.model.loss(*on_one_core(row)).item()

        return sum(self._pool.map(loss, rows)) / len(rows)
