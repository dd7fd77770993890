"""The index of the open file, on both sides of the cursor, made for each request from what has not changed since the last."""

from __future__ import annotations

from .index import Index
from .words import Ids, Words, being_written, columns, cut_of, pieces, raw_ids

# Words of an edited file that no longer stand in it are forgotten when there are so many times as many as it has.
_MAX_STALE = 4
_MIN_WORDS = 20_000


class OpenFile:
    """Makes the indexes of one file while it is edited. Not for two threads at once; the indexes are."""

    def __init__(self) -> None:
        self._words = Words(shortest=1)
        self._known: dict[str, Ids] = {}

    def index(self, before: str, after: str) -> Index:
        r"""The index of the text before the cursor, without its last word, and of the text behind it. Lines end with `\n`."""
        start = before.rfind("\n") + 1
        line = before[start:].lstrip(" \t")
        complete, _ = being_written(line)
        before = before[: len(before) - len(line)] + "".join(complete)
        if len(self._words) > max(_MIN_WORDS, _MAX_STALE * sum(map(len, self._known.values()))):
            self._words, self._known = Words(shortest=1), {}
        words, known = self._words, dict[str, Ids]()
        cuts = []
        for text, from_the_end in ((before, False), (after, True)):
            body = text.lstrip(" \t")
            raw = []
            for piece in pieces(body, from_the_end=from_the_end):
                ids = self._known.get(piece)
                known[piece] = ids = raw_ids(piece, words) if ids is None else ids
                raw.append(ids)
            cuts.append(cut_of(raw, columns(text[: len(text) - len(body)]), words))
        self._known = known
        return Index(words, cuts)
