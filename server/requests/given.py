"""The suggestions that an editor was given lately, which it may accept, reject or ask about."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...calibration.measures.agreement import Drawn
from ...calibration.registry import Purpose
from ...inference.completion.prompt import Surroundings
from ...inference.model import Generation
from ...suggestion.suggestion import Suggestion
from .request import GenerationRequest

# Suggestions that an editor may still accept or ask about.
_MAX_GIVEN = 200
# Of the latest of them the texts around are kept, too: what is accepted or explained beyond what is known of it is one of these, for an
# older one is no longer on the screen. Those of one request have the same texts; with a project memory these are up to half a million
# characters in a large file.
_MAX_WITH_TEXTS = 16


@dataclass(frozen=True, slots=True)
class Given:
    """A suggestion that an editor has, and what it was made of. has_texts: the request still has the texts around its place."""

    suggestion: Suggestion
    generation: Generation
    request: GenerationRequest
    purpose: Purpose
    drawn: Drawn
    has_texts: bool = True

    def without_texts(self) -> Given:
        """The same without the texts around its place."""
        place = replace(self.request.place, prefix="", suffix="")
        memory = replace(self.request.memory, before="", after="")
        return replace(self, request=replace(self.request, place=place, surroundings=Surroundings(), memory=memory), has_texts=False)


class GivenSuggestions:
    """The latest of them, by their ids."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, Given] = OrderedDict()
        self._with_texts: deque[str] = deque()

    def add(self, given: Iterable[Given]) -> None:
        """An editor is given these."""
        for each in given:
            self._by_id[each.suggestion.id] = each
            self._with_texts.append(each.suggestion.id)
        while len(self._with_texts) > _MAX_WITH_TEXTS:
            old = self._with_texts.popleft()
            self._by_id[old] = self._by_id[old].without_texts()
        while len(self._by_id) > _MAX_GIVEN:
            self._by_id.popitem(last=False)

    def find(self, suggestion_id: str) -> Given | None:
        """What was given; None where that is not known, or no longer."""
        return self._by_id.get(suggestion_id)
