"""The suggestions that an editor was given lately, which it may accept, reject or ask about."""

from __future__ import annotations

import hashlib
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...calibration.measures.agreement import Drawn
from ...calibration.registry import Purpose
from ...inference.completion.prompt import Surroundings
from ...inference.model import Generation
from ...suggestion.remainder import NEWLINE
from ...suggestion.suggestion import Suggestion
from ..model.request import GenerationRequest, GenerationResult

# Suggestions that an editor may still accept or ask about.
_MAX_GIVEN = 200
# Of the latest of them the texts around are kept, too: what is accepted or explained beyond what is known of it is one of these, for an
# older one is no longer on the screen. Those of one request have the same texts; with a project memory these are up to half a million
# characters in a large file.
_MAX_WITH_TEXTS = 16


@dataclass(frozen=True, slots=True)
class Offer:
    """A suggestion that an editor has, and what it was made of. has_texts: the request still has the texts around its place."""

    suggestion: Suggestion
    generation: Generation
    request: GenerationRequest
    purpose: Purpose
    drawn: Drawn
    has_texts: bool = True

    def without_texts(self) -> Offer:
        """The same without the texts around its place."""
        place = replace(self.request.place, prefix="", suffix="")
        memory = replace(self.request.memory, before="", after="")
        return replace(self, request=replace(self.request, place=place, surroundings=Surroundings(), memory=memory), has_texts=False)


class Offers:
    """The latest of them, by their ids."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, Offer] = OrderedDict()
        self._with_texts: deque[str] = deque()

    def add(self, offers: Iterable[Offer]) -> None:
        """An editor is given these."""
        for each in offers:
            self._by_id[each.suggestion.id] = each
            self._with_texts.append(each.suggestion.id)
        while len(self._with_texts) > _MAX_WITH_TEXTS:
            old = self._with_texts.popleft()
            self._by_id[old] = self._by_id[old].without_texts()
        while len(self._by_id) > _MAX_GIVEN:
            self._by_id.popitem(last=False)

    def find(self, suggestion_id: str) -> Offer | None:
        """What was given; None where that is not known, or no longer."""
        return self._by_id.get(suggestion_id)


# Generations that are known again.
_MAX_KNOWN = 200
# Characters before a generation that tell its place.
_TAIL = 200
# What stands behind the cursor once an editor has put it there is taken from the end of a generation (`suggestion/remainder.py`).
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
