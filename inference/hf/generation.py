"""The loop that generates tokens with a transformers model, one or several generations at a time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ..errors import ForwardFailed
from ..healing.healing import Tokens, TypedAlong, Weights
from ..model import Generation, MemoryReader, Prompt, StopReason, Timings, Token
from ..stopping.cancel_or_timeout import StopCheck
from ..stopping.continuation import Continuation
from .cache import Batch
from .tokenizer import TextTokenizer

Choose = Callable[[Tensor], Tensor]


def widest_float(logits: Tensor) -> Tensor:
    """Logits in the widest float that their device has: float64, or float32 on mps."""
    return logits.to(torch.float32 if logits.device.type == "mps" else torch.float64)


def token_statistics(logits: Tensor, chosen: Tensor) -> list[tuple[int, float, float, float]]:
    """For each row its chosen token, the log p of that and of the best other token, and the entropy, in nats.

    Parameters
        logits: shape (rows, vocabulary), as `widest_float` gives them. In a vocabulary of one the best other has -inf.
        chosen: shape (rows).
    """
    shifted = logits - logits.amax(-1, keepdim=True)
    weights = shifted.exp()
    total = weights.sum(-1)
    log_total = total.log()
    index = chosen[:, None]
    own = shifted.gather(-1, index)[:, 0] - log_total
    other = shifted.scatter(-1, index, -torch.inf).amax(-1) - log_total
    # A token of probability 0 adds 0, not 0 times infinity.
    entropy = (log_total - (weights * shifted.clamp(min=-1e30)).sum(-1) / total).clamp(min=0)
    # One transfer for all. Ids are exact in a float too, because no vocabulary has 2^24 tokens.
    rows = torch.stack([chosen.to(own.dtype), own, other, entropy], -1).tolist()
    return [(int(token), logprob, best_other, spread) for token, logprob, best_other, spread in rows]


def only(row: Tensor, tokens: Tensor) -> Tensor:
    """The logits of these tokens; all others have probability 0."""
    return torch.full_like(row, -torch.inf).index_copy(0, tokens, row[tokens])


def logprobs_of(logits: Tensor, tokens: Tensor) -> list[float]:
    """log p of one token for each row, in nats; shapes as in `token_statistics`."""
    values: list[float] = torch.log_softmax(logits, -1).gather(-1, tokens[:, None])[:, 0].tolist()
    return values


def sample(row: Tensor, temperature: float, top_p: float, uniform: float) -> Tensor:
    """The token that `uniform` chooses at `temperature`, from the smallest set of tokens that reaches `top_p`.

    Parameters
        row: shape (vocabulary), as `widest_float` gives it.
        uniform: a number drawn evenly from [0, 1). It chooses the same token as in llamacpp/generation.py.
    """
    weights = torch.exp((row - row.max()) / temperature)
    if top_p >= 1.0:
        return _draw(weights, uniform)
    order = torch.argsort(weights, descending=True, stable=True)
    reached = weights[order].cumsum(-1)
    count = torch.searchsorted(reached, top_p * reached[-1:]) + 1
    nucleus = order[: int(count)]
    return nucleus[_draw(weights[nucleus], uniform)]


def chooser(temperature: float, top_p: float, seed: int) -> Choose:
    """The rule that chooses a token from a row of logits: at a temperature above 0 it draws, at 0 it takes the most likely."""
    if temperature == 0:
        return lambda row: row.argmax()
    random = np.random.default_rng(seed)
    return lambda row: sample(row, temperature, top_p, random.random())


def _draw(weights: Tensor, uniform: float) -> Tensor:
    reached = weights.cumsum(-1)
    index = torch.searchsorted(reached, uniform * reached[-1:], right=True)[0]
    return torch.minimum(index, torch.nonzero(weights)[-1, 0])


def best_other(row: Tensor, token: int) -> int:
    """The most likely of all tokens but one, from a row of logits; that one where all others have probability 0."""
    others = row.clone()
    others[token] = -math.inf
    found = int(others.argmax())
    return token if others[found] == -math.inf else found


def check_numbers(path: Path, logprobs: list[float]) -> list[float]:
    """Give back the log-probabilities, or raise ForwardFailed where one is not a number."""
    if any(map(math.isnan, logprobs)):
        raise ForwardFailed(path, "the model's output is not a number")
    return logprobs


@dataclass(slots=True)
class Generating:
    """One generation while it is made: its text, the rule that chooses its tokens, its shares for who types along, and its memory.

    ended: when it ended, in seconds of time.perf_counter.
    """

    text: Continuation
    choose: Choose
    typed_along: TypedAlong
    memory: MemoryReader | None = None
    ended: float | None = None

    def generation(self, otherwise: StopReason, timings: Timings) -> Generation:
        """What was made. otherwise: why it ended where none of its own rules ended it."""
        made = self.text.generation(otherwise, timings, self.typed_along.shares)
        return made if self.memory is None else replace(made, sources=self.memory.sources())


class GenerationLoop:
    """Chooses tokens and adds them to texts. path: the model's, for error messages."""

    def __init__(self, path: Path, tokenizer: TextTokenizer) -> None:
        self._path, self._tokenizer = path, tokenizer

    def generating(self, prompt: Prompt, text: Continuation, choose: Choose) -> Generating:
        """A generation that has not begun."""
        memory = None if prompt.memory is None else prompt.memory.reader(prompt.held)
        return Generating(text, choose, self._tokenizer.healing.typed_along(), memory)

    def rows(self, logits: Tensor, several: Sequence[Generating]) -> Tensor:
        """The logits, shape (rows, vocabulary), among the tokens that agree with what each generation holds back.

        What the prompt's memory says of them is mixed in.
        """
        rows = widest_float(logits)
        if not any(each.text.held or each.memory for each in several):
            return rows
        return torch.stack([self._agreeing(row, each) for row, each in zip(rows, several, strict=True)])

    def add(self, rows: Tensor, several: Sequence[Generating], chosen: Tensor | None = None) -> tuple[list[int], list[StopReason | None]]:
        """Add a token to each generation, from its row. Returns the tokens, and why each text ends with it or None. Raises ForwardFailed.

        chosen: these tokens, instead of those that the generations choose.
        """
        if chosen is None:
            chosen = torch.stack([each.choose(row) for each, row in zip(several, rows, strict=True)])
        found = token_statistics(rows, chosen)
        check_numbers(self._path, [logprob for _, logprob, _, _ in found])
        reasons: list[StopReason | None] = []
        for row, each, (token, logprob, best_other, entropy) in zip(rows, several, found, strict=True):
            piece = self._tokenizer.piece(token)
            # Relative to the chosen token, no weight is lost where its own is not.
            each.typed_along.step(partial(_weights, row, token), math.exp(-logprob), piece)
            if each.memory is not None:
                each.memory.take(token)
            reasons.append(each.text.add(Token(token, piece, logprob, best_other, entropy), token in self._tokenizer.ends))
            if reasons[-1] is not None:
                each.ended = time.perf_counter()
        return [token for token, *_ in found], reasons

    def add_first(
        self, row: Tensor, several: Sequence[Generating], chosen: Tensor | None = None
    ) -> tuple[list[int], list[StopReason | None]]:
        """`add` from one row, shape (1, vocabulary), which is the first one's, and that of all while they have the same text."""
        if several[0].memory is not None:
            for each in several[1:]:
                each.memory = several[0].memory.copy()
        return self.add(row.expand(len(several), -1), several, chosen)

    def only_holds(self, row: Tensor, text: Continuation) -> bool:
        """Whether the most likely token writes nothing but what is held back."""
        return bool(text.held) and len(self._tokenizer.piece(int(row.argmax()))) <= len(text.held)

    def together(
        self,
        batch: Batch,
        last: Sequence[int],
        several: Sequence[Generating],
        stop_check: StopCheck,
        done: Callable[[int, int], None] = lambda _number, _row: None,
    ) -> StopReason:
        """Continue all generations until each has ended or `stop_check` ends them. Returns why those ended that have no own reason.

        Parameters
            last: the token of each that is not read yet; a generation that has ended with it is done.
            done: called with a generation's number and its row when it has ended, while the batch still has the row.
        """
        live, tokens = list(range(len(several))), list(last)
        while True:
            unfinished = [row for row, number in enumerate(live) if several[number].text.stopped is None]
            stopped = stop_check() if unfinished else StopReason.CANCELLED
            for row, number in enumerate(live):
                if stopped or row not in unfinished:
                    done(number, row)
            if stopped:
                return stopped
            if len(unfinished) < len(live):
                batch.keep(unfinished)
            live = [live[row] for row in unfinished]
            growing = [several[number] for number in live]
            logits = batch.extend([tokens[row] for row in unfinished])
            tokens, _ = self.add(self.rows(logits, growing), growing)

    def _agreeing(self, row: Tensor, one: Generating) -> Tensor:
        if one.text.held:
            row = only(row, torch.from_numpy(self._tokenizer.healing.agreeing(one.text.held)).to(row.device))
        if one.memory is None:
            return row
        return torch.from_numpy(one.memory.mix(row.float().cpu().numpy())).to(row)


def _weights(row: Tensor, chosen: int, tokens: Tokens) -> Weights:
    weights: Weights = (row[torch.from_numpy(tokens).to(row.device)] - row[chosen]).exp().cpu().numpy()
    return weights
