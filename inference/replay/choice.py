"""Which token a given text goes on with, of a model whose whole distribution and vocabulary are here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import NotReplayable
from ..healing.healing import SortedVocabulary
from .given_text import GivenText

Row = NDArray[np.float32] | NDArray[np.float64]


class Choice:
    """Chooses the tokens of a given text by the rule of `given_text`.

    Parameters
        piece: a token's bytes. ends: whether the model ends a text by it. tokenize: a text's tokens.
    """

    def __init__(
        self,
        given: GivenText,
        vocabulary: SortedVocabulary,
        piece: Callable[[int], bytes],
        ends: Callable[[int], bool],
        tokenize: Callable[[str], Sequence[int]],
    ) -> None:
        self._given, self._vocabulary = given, vocabulary
        self._piece, self._ends, self._tokenize = piece, ends, tokenize

    def choose(self, row: Row) -> int:
        """The next token, from the logits or log-probabilities of all. Raises NotReplayable where no token fits."""
        token = int(row.argmax())
        if not self._fits(token):
            token = self._within(row) if self._given.left else self._behind(row)
        self._given.take(self._piece(token), self._ends(token))
        return token

    def _within(self, row: Row) -> int:
        """The tokenizer's token for what is left. Where that is the last one, another may write it together with the end."""
        left = self._given.left
        own = [token for token in self._given.tokens_of(left, self._tokenize)[:1] if self._fits(token)]
        found = own or self._vocabulary.beginnings(left)
        if not own or self._piece(own[0]) == left:
            found += filter(self._fits, self._vocabulary.longer(left))
        if not found:
            raise NotReplayable(left.decode("utf-8", "replace"), "the model has no tokens that write this")
        return _likeliest(row, found)

    def _behind(self, row: Row) -> int:
        for token in np.argsort(-row, kind="stable").tolist():
            if self._fits(token) and row[token] > -np.inf:
                return int(token)
        raise NotReplayable("", "the model has no token that ends it")

    def _fits(self, token: int) -> bool:
        return self._given.fits(self._piece(token), self._ends(token))


def _likeliest(row: Row, tokens: Iterable[int]) -> int:
    return max(sorted(tokens), key=row.__getitem__)
