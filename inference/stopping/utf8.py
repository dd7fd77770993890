"""Bytes that arrive in pieces, as text: a character is given out when its last byte is there."""

from __future__ import annotations

import codecs


class IncrementalText:
    """The text of a stream of bytes.

    Bytes of an unfinished character are held back; bytes that can't be UTF-8 become U+FFFD.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""

    def add(self, piece: bytes) -> str:
        """The whole text so far, without an unfinished last character."""
        self.text += self._decoder.decode(piece)
        return self.text
