"""The memory as one generation reads it: it follows the text token by token, and mixes what was seen into each distribution."""

from __future__ import annotations

import copy
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from .evidence import Evidence, Gathered, evidence_of, gathered
from .index import MAX_MATCHED
from .lookup import Lookup, Numbered, Seen, Written
from .mixture import MIN_LOGPROB, Row, logprobs_of, mix, normalised
from .source import Source
from .spelling import Spelling
from .weights import Gains
from .words import being_written, columns, line_end, split

# So much of the text before the prompt's end is read, in characters: more than the words that are compared have.
TAIL = 600
_MAX_PLACES_OF_A_TOKEN = 8
# Of lines that are indented by spaces alone.
_INDENTATION = re.compile(r"^ +(?=\S)", re.MULTILINE)
# A line is named where so much of the text was carried from there.
_MIN_CARRIED = 0.5


@dataclass(frozen=True, slots=True)
class _Step:
    """What the last distribution was mixed from."""

    seen: tuple[Seen, ...]
    numbers: Numbered
    evidence: Evidence
    gains: Row


@dataclass(frozen=True, slots=True)
class _Found:
    """What was seen behind the text so far, before the model says anything. events: the candidates, of what was gathered."""

    seen: tuple[Seen, ...]
    numbers: Numbered
    events: Sequence[int]
    gathered: Gathered
    written: Written


class Reader:
    """Reads a memory along one text. Alternatives of one prompt each have a copy.

    Parameters
        before: the text that the prompt ends with; its last `TAIL` characters are enough.
        held: what stands between the prompt's end and the cursor, with which the generated text must begin.
    """

    def __init__(self, lookups: Sequence[Lookup], spelling: Spelling, gains: Gains, before: str, held: str = "") -> None:
        self._lookups, self._spelling, self._gains = tuple(lookups), spelling, gains
        self._text = before[-TAIL:]
        self._cut = len(before) > TAIL
        self._given = len(self._text) + len(held)
        self._unfinished = b""
        self._held = held.encode("utf-8", "replace")
        # The line that is written, by where it begins and how it is indented, and for each index the last words before it.
        self._line: tuple[int, str] | None = None
        self._earlier: tuple[list[int], ...] = ()
        # Of the text so far, where that is looked up already.
        self._found: _Found | None = None
        self._is_looked_up = False
        self._step: _Step | None = None
        # The tokens of the text behind the cursor, each with what it was taken from.
        self._taken: tuple[tuple[int, _Step | None], ...] = ()

    def copy(self) -> Self:
        """A reader of the same text so far, that goes its own way."""
        return copy.copy(self)

    def look_ahead(self) -> None:
        """Look up now what `mix` needs of the text so far. Another thread may do it, while no other method is called."""
        self._found, self._is_looked_up = self._look(), True

    def mix(self, row: Row) -> Row:
        """The log-probabilities of the next token, normalised, from a row of logits or log-probabilities; -inf stays -inf."""
        logprobs = np.empty_like(row)
        self._step = step = self._seen(row, logprobs)
        if step is not None:
            mix(logprobs, step.evidence, step.gains, self._spelling)
        return logprobs

    def sources(self) -> tuple[Source, ...]:
        """The lines that carried at least half of the text, most first; none where the model wrote it itself."""
        parts: defaultdict[tuple[str | None, int], float] = defaultdict(float)
        for token, step in self._taken:
            part, places = (0.0, set[tuple[int, int]]()) if step is None else _carried(step, int(self._spelling.event_of[token]))
            for line in {self._lookups[index].line_of(place) for index, place in places}:
                parts[line] += part
        count = len(self._taken)
        found = [Source(path, line, part / count) for (path, line), part in parts.items() if part >= _MIN_CARRIED * count]
        return tuple(sorted(found, key=lambda source: (-source.part, source.path or "", source.line)))

    def evidence(self, row: Row, event: int) -> tuple[float, Evidence | None]:
        """The log-probability of an event by the model alone, and what the mixture would be made of; None where nothing was seen."""
        logprobs = np.empty_like(row)
        self._step = step = self._seen(row, logprobs)
        own = logprobs_of([event], logprobs, self._spelling)
        return float(own[0]), None if step is None else step.evidence

    def take(self, token: int) -> None:
        """Follow the text with the token that was taken."""
        piece = self._spelling.bytes_of(token)
        if not self._held or len(piece) > len(self._held):
            self._taken += ((token, self._step),)
        if self._held:
            self._held = self._held[len(piece) :] if self._held.startswith(piece) else b""
        self._is_looked_up = False
        data = self._unfinished + piece
        whole = _whole_characters(data)
        self._text += data[:whole].decode("utf-8", "replace")
        self._unfinished = data[whole:]

    def _seen(self, row: Row, logprobs: Row) -> _Step | None:
        state = normalised(row, logprobs)
        if math.isnan(state.entropy):
            return None
        if not self._is_looked_up:
            self.look_ahead()
        if (found := self._found) is None:
            return None
        events, written = found.events, found.written
        evidence = evidence_of(found.gathered, np.array(events), logprobs_of(events, logprobs, self._spelling), state, written)
        return _Step(found.seen, found.numbers, evidence, self._gains.of(evidence)) if len(evidence.events) else None

    def _look(self) -> _Found | None:
        place = self._written()
        if place is None:
            return None
        complete, written = place
        numbers = Numbered()
        seen = []
        for lookup, earlier in zip(self._lookups, self._earlier, strict=True):
            context = [*earlier, *lookup.ids(complete)][-MAX_MATCHED:]
            seen.append(lookup.seen(context, written, numbers))
        events = numbers.events
        if not events:
            return None
        together = gathered(seen, len(events))
        return _Found(tuple(seen), numbers, [events[number] for number in together.kept.tolist()], together, written)

    def _written(self) -> tuple[list[str], Written] | None:
        """The complete words of the line, and the next; None in the middle of a character, and where the indentation is not known yet."""
        try:
            ahead = self._held.decode()
        except UnicodeDecodeError:
            return None
        if self._unfinished:
            return None
        text = self._text + ahead
        start = text.rfind("\n") + 1
        line = text[start:]
        body = line.lstrip(" \t")
        indentation = line[: len(line) - len(body)]
        if not body and start > self._given:
            if not indentation:
                return None
            if self._lacks_a_space(indentation):
                # The last space of an indentation mostly is of the next word's token.
                ahead = " "
                indentation += " "
        if self._line != (start, indentation):
            words = self._words_before(text, start, columns(indentation))
            self._earlier = tuple(lookup.ids(words) for lookup in self._lookups)
            self._line = (start, indentation)
        complete, begun = being_written(body)
        return complete, Written(begun, ahead)

    def _lacks_a_space(self, indentation: str) -> bool:
        """Whether one more space is to come before the first word of a line: where lines before are indented so, or by an even number."""
        known = {len(spaces) for spaces in _INDENTATION.findall(self._text)}
        size = len(indentation)
        if not indentation.strip(" ") and known & {size, size + 1}:
            return size not in known
        return indentation.endswith(" ") and size % 2 == 1

    def _words_before(self, text: str, start: int, indentation: int) -> list[str | int]:
        """The last words before a line that is indented so far."""
        head = len(text) - len(text.lstrip(" \t"))
        # Where the text began earlier, its first word may be a part of one, and its first line's indentation is not known.
        before = None if self._cut else columns(text[:head])
        found = split(text[head:start])[self._cut :]
        words: list[str | int] = []
        for number, word in enumerate(found, start=1):
            if "\n" not in word:
                words.append(word)
                continue
            after = indentation if number == len(found) else columns(word[word.rindex("\n") + 1 :])
            if before is None:
                words.clear()
            else:
                words.append(line_end(before, after))
            before = after
        return words[-MAX_MATCHED:]


def _carried(step: _Step, event: int) -> tuple[float, set[tuple[int, int]]]:
    """The part of an event's probability that is not the model's own, and the places where it was seen: number of the index, and where."""
    places = set[tuple[int, int]]()
    among = np.flatnonzero(step.evidence.events == event).tolist()
    if not among:
        return 0.0, places
    own, gain = float(step.evidence.logprobs[among[0]]), float(step.gains[among[0]])
    part = 1.0 - math.exp(min(0.0, own - max(own, MIN_LOGPROB) - gain))
    if part > 0:
        for index, seen in enumerate(step.seen):
            here = seen.of == step.numbers[event]
            if here.any():
                best = seen.at[here][seen.matched[here] == seen.matched[here].max()]
                places |= {(index, place) for place in np.sort(best)[:_MAX_PLACES_OF_A_TOKEN].tolist()}
    return part, places


def _whole_characters(data: bytes) -> int:
    """How many of the bytes are whole characters, or can't be any."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if back < needed else len(data)
        if byte < 0x80:
            break
    return len(data)
