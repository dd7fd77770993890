"""Taking tokens from a network's logits: several generations that grow together, one step for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from ..errors import ForwardFailed
from ..model import StopReason, Token
from ..stopping.continuation import Continuation
from ..stopping.limits import Watch
from .cache import Batch
from .distributions import Choose, exact, facts
from .tokenizer import TextTokenizer


def numbers(path: Path, logprobs: list[float]) -> list[float]:
    """The same log-probabilities. Raises ForwardFailed where one is not a number."""
    if any(map(math.isnan, logprobs)):
        raise ForwardFailed(path, "the model's output is not a number")
    return logprobs


class Growth:
    """Takes tokens and puts them behind texts. path: the model's, for what it has to say of errors."""

    def __init__(self, path: Path, tokenizer: TextTokenizer) -> None:
        self._path, self._tokenizer = path, tokenizer

    def tokens(self, logits: Tensor, choosers: Sequence[Choose]) -> list[Token]:
        """A token for each row of logits (rows, vocabulary), chosen by its own rule. Raises ForwardFailed."""
        rows = exact(logits)
        chosen = torch.stack([choose(row) for choose, row in zip(choosers, rows, strict=True)])
        found = facts(rows, chosen)
        numbers(self._path, [logprob for _, logprob, _, _ in found])
        return [Token(token, self._tokenizer.piece(token), *told) for token, *told in found]

    def add(self, text: Continuation, token: Token) -> StopReason | None:
        """Put a token behind a text; why the text ends with it, or None where it goes on."""
        return text.add(token, token.id in self._tokenizer.ends)

    def together(
        self,
        batch: Batch,
        logits: Tensor,
        choosers: Sequence[Choose],
        texts: Sequence[Continuation],
        watch: Watch,
        done: Callable[[int, int], None] = lambda _number, _row: None,
    ) -> StopReason:
        """Grow every text until each has ended by its own rules or `watch` ends them: why those end that have not.

        done: told each text's number and its row in the batch, while the batch still has it, when nothing more comes behind it.
        """
        live = list(range(len(texts)))
        while True:
            tokens = self.tokens(logits, [choosers[i] for i in live])
            going = [row for row, (i, token) in enumerate(zip(live, tokens, strict=True)) if self.add(texts[i], token) is None]
            stopped = watch() if going else StopReason.CANCELLED
            for row, number in enumerate(live):
                if stopped or row not in going:
                    done(number, row)
            if stopped:
                return stopped
            if len(going) < len(live):
                batch.keep(going)
            live = [live[row] for row in going]
            logits = batch.extend([tokens[row].id for row in going])
