"""What token healing knows of a model's vocabulary, for every backend that computes whole distributions."""

from __future__ import annotations

from collections.abc import Sequence

from .pre_tokens import last_pre_token, pieces_of
from .sorted_vocabulary import SortedVocabulary, Tokens
from .typed_along import TypedAlong


class Healing:
    """A vocabulary by the bytes of its tokens, and what its tokenizer joins to one pre-token. pieces: the tokens' bytes, by their ids."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces_of(pieces)
        self.vocabulary = SortedVocabulary(pieces)

    def split(self, prefix: str) -> tuple[str, str]:
        """What of a prefix goes into the prompt, and what is held back: the last pre-token, unless the vocabulary can't write it."""
        start = last_pre_token(prefix, self._pieces)
        if not self.vocabulary.can_spell(prefix[start:].encode("utf-8", "replace")):
            return prefix, ""
        return prefix[:start], prefix[start:]

    def agreeing(self, held: bytes) -> Tokens:
        """The tokens that may come next where these bytes must be written."""
        return self.vocabulary.agreeing(held)

    def typed_along(self) -> TypedAlong:
        """The shares of a new generation."""
        return TypedAlong(self.vocabulary, self._pieces)
