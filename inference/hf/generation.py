"""The loop that generates tokens with a transformers model, one or several generations at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from ..errors import ForwardFailed
from ..model import StopReason, Token
from ..stopping.cancel_or_timeout import StopCheck
from ..stopping.continuation import Continuation
from .cache import Batch
from .distributions import Choose, token_statistics, widest_float
from .tokenizer import TextTokenizer


def check_numbers(path: Path, logprobs: list[float]) -> list[float]:
    """Give back the log-probabilities, or raise ForwardFailed where one is not a number."""
    if any(map(math.isnan, logprobs)):
        raise ForwardFailed(path, "the model's output is not a number")
    return logprobs


class GenerationLoop:
    """Chooses tokens and adds them to texts. path: the model's, for error messages."""

    def __init__(self, path: Path, tokenizer: TextTokenizer) -> None:
        self._path, self._tokenizer = path, tokenizer

    def tokens(self, logits: Tensor, choosers: Sequence[Choose]) -> list[Token]:
        """A token for each row of logits, shape (rows, vocabulary), each chosen by its own rule. Raises ForwardFailed."""
        rows = widest_float(logits)
        chosen = torch.stack([choose(row) for choose, row in zip(choosers, rows, strict=True)])
        found = token_statistics(rows, chosen)
        check_numbers(self._path, [logprob for _, logprob, _, _ in found])
        return [Token(token, self._tokenizer.piece(token), *told) for token, *told in found]

    def add(self, text: Continuation, token: Token) -> StopReason | None:
        """Add a token to a text. Returns why the text ends with it, or None."""
        return text.add(token, token.id in self._tokenizer.ends)

    def together(
        self,
        batch: Batch,
        logits: Tensor,
        choosers: Sequence[Choose],
        texts: Sequence[Continuation],
        stop_check: StopCheck,
        done: Callable[[int, int], None] = lambda _number, _row: None,
    ) -> StopReason:
        """Continue all texts until each has ended or `stop_check` ends them. Returns the reason of those that have not ended by themselves.

        done: called with a text's number and its row when it has ended, while the batch still has the row.
        """
        live = list(range(len(texts)))
        while True:
            tokens = self.tokens(logits, [choosers[i] for i in live])
            unfinished = [row for row, (i, token) in enumerate(zip(live, tokens, strict=True)) if self.add(texts[i], token) is None]
            stopped = stop_check() if unfinished else StopReason.CANCELLED
            for row, number in enumerate(live):
                if stopped or row not in unfinished:
                    done(number, row)
            if stopped:
                return stopped
            if len(unfinished) < len(live):
                batch.keep(unfinished)
            live = [live[row] for row in unfinished]
            logits = batch.extend([tokens[row].id for row in unfinished])
