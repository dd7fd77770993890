"""The generations that the dial hid, each counted once however far the user types along it."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

from ...inference.model import Generation
from ...suggestion.remainder import NEWLINE
from .request import GenerationRequest, GenerationResult

# Generations that are known again.
_MAX_KNOWN = 200
# Characters before a generation that tell its place.
_TAIL = 200
# What stands behind the cursor once an editor has put it there is taken from the end of a generation (`rest.py`).
_CLOSED_BY_EDITORS = ")]}>\"'` \t\n"


class HiddenGenerations:
    """count: how many were hidden."""

    def __init__(self) -> None:
        self.count = 0
        self._first: OrderedDict[str, str] = OrderedDict()

    def add(self, identity: str, suggestion_id: str) -> tuple[str, bool]:
        """A suggestion of a generation is hidden. Gives the id of the first suggestion of it, and whether this is that one."""
        is_new = identity not in self._first
        if is_new:
            self._first[identity] = suggestion_id
            if len(self._first) > _MAX_KNOWN:
                self._first.popitem(last=False)
            self.count += 1
        return self._first[identity], is_new


def identity_of(request: GenerationRequest, result: GenerationResult, generation: Generation) -> str:
    """The same for one generation at each keystroke along its text, however the document ends its lines and whatever the editor closes.

    generation: one of the result's, of which `result.typed` was typed.
    """
    typed = NEWLINE.sub("\n", result.typed)
    before = NEWLINE.sub("\n", request.place.prefix[-2 * (_TAIL + len(typed)) :])
    whole = NEWLINE.sub("\n", result.typed + generation.text).rstrip(_CLOSED_BY_EDITORS)
    place = before[: len(before) - len(typed)][-_TAIL:]
    return hashlib.sha256(f"{request.uri}\0{place}\0{whole}".encode("utf-8", "surrogatepass")).hexdigest()
