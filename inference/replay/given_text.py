"""A text that is given, and which tokens may write it.

A text does not say which tokens it is made of, nor how it ended. The rule for both: where the text can go on with the model's likeliest
token, it goes on with that, else with the token that the tokenizer makes of what is left of the text. Behind the text comes the likeliest
of the tokens that end it there. So what a model wrote greedily is replayed with its own tokens, whatever its tokenizer makes of the text,
and a text that it did not write has the tokens that such texts had in training.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import ContextTooLong, NotReplayable
from ..healing.healing import SortedVocabulary
from ..model import StopReason
from ..stopping.rules import find_stop, text_before_stop
from ..stopping.stop import NONE, Stop

_LINE_END = re.compile(r"\r\n|\r|\n")
_NEWLINES = (b"\n", b"\r")
# White space that may stand behind a block before the line that ends it, in bytes. Beyond it only the model's own end is left.
_MAX_BLANK = 256
# A text that ends by these is cut back or dropped, and has no end of its own.
_NO_END = "repetition"


class GivenText:
    """A text as it is written token by token.

    Attributes
        left: its bytes that are not written yet, with those that the prompt holds back.

    Parameters
        stop: the rule that ends the text; None for a text whose end does not count.
        repeated: what may stand behind the text before it ends, and is no part of it.
        held: what the prompt holds back (`Prompt.held_bytes`).

    Raises NotReplayable for a text that `stop` would end earlier.
    """

    def __init__(self, text: str, stop: Stop | None, repeated: Sequence[str] = (), held: bytes = b"") -> None:
        data = text.encode("utf-8", "replace")
        self._text, self._stop = data.decode(), stop or NONE
        self._repeated = tuple(more.encode("utf-8", "replace") for more in repeated)
        self._wholes = {self._text, *(self._text + more.decode() for more in self._repeated)}
        if (kept := text_before_stop(self._text, self._stop)) != self._text:
            raise NotReplayable(text, f'with the stopping rule "{self._stop.kind}" it would end after {len(kept):,} characters')
        self._ends = stop is not None
        self.left = held + data
        self._behind = b""
        self._ended = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to write, the end included."""
        return not self.left and (self._ended or not self._ends)

    def stop_check(self) -> StopReason | None:
        """Why a generation ends that has written the text: of one whose end does not count no rule says so."""
        return StopReason.TOKENS if self.is_whole else None

    def check_whole(self, length: int, context_length: int) -> None:
        """Raises ContextTooLong where the text did not fit. length: the tokens of the prompt and of the text so far."""
        if not self.is_whole:
            raise ContextTooLong(length + 1, context_length, f"a given text, of which {len(self.left):,} bytes and its end are left")

    def fits(self, piece: bytes, ends: bool) -> bool:
        """Whether a token may be the next. ends: whether the model ends a text by it."""
        if ends:
            return self._ends and not self.left and self._may_end()
        if len(piece) <= len(self.left):
            return bool(piece) and self.left.startswith(piece)
        return piece.startswith(self.left) and self._may_stand_behind(self._behind + piece[len(self.left) :])

    @staticmethod
    def tokens_of(left: bytes, tokenize: Callable[[str], Sequence[int]]) -> Sequence[int]:
        """The tokenizer's tokens of what is left; none where that begins within a character."""
        try:
            return tokenize(left.decode())
        except UnicodeDecodeError:
            return ()

    def take(self, piece: bytes, ends: bool) -> None:
        """Go on behind a token that fits."""
        if not ends:
            self._behind += piece[len(self.left) :]
            self.left = self.left[len(piece) :]
        self._ended = ends or (bool(self._behind) and find_stop(self._with(self._behind), self._stop, len(self._text)) is not None)

    def _with(self, behind: bytes) -> str:
        return self._text + behind.decode("utf-8", "ignore")

    def _may_end(self) -> bool:
        return text_before_stop(self._with(self._behind), self._stop, len(self._text)) in self._wholes

    def _may_stand_behind(self, behind: bytes) -> bool:
        """Whether the text may end, or can still end, where these bytes stand behind it."""
        if not self._ends:  # it was cut off at the end of a line, within a token perhaps
            return behind[:1] in _NEWLINES
        written = self._with(behind)
        if (point := find_stop(written, self._stop, len(self._text))) is not None:
            return point.by != _NO_END and written[: point.offset] in self._wholes
        if any(more.startswith(behind) for more in self._repeated):
            return True
        return self._stop.kind == "block" and (_is_blank(behind) or self._begins_what_follows(written[len(self._text) :]))

    def _begins_what_follows(self, behind: str) -> bool:
        """Whether this begins the lines behind the cursor again, at which a block ends."""
        first, *whole = _LINE_END.split(behind)
        lines = [line.rstrip() for line in whole[:-1] if line.strip()]
        expected, following = self._stop.behind[: len(lines)], self._stop.behind[len(lines) :]
        return not first and lines == list(expected) and bool(following) and following[0].startswith(whole[-1].rstrip())


def _is_blank(behind: bytes) -> bool:
    return behind[:1] in _NEWLINES and len(behind) <= _MAX_BLANK and not behind.strip(b" \t\f\r\n")


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
