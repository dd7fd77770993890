"""The candidates of one request, as they come: filtered, scored, and made suggestions with their measures."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...analysis.morphisms.text_edits import changed_span
from ...calibration.confidence import uncalibrated
from ...calibration.measures.agreement import log_sum
from ...calibration.measures.registry import measures_of
from ...calibration.samples import Event
from ...inference.stopping.cancel_or_timeout import StopCheck
from ..positions import Encoding, Position, Range, column_at
from ..suggestion import Suggestion
from .candidate import Candidate, Change, Lines, edit_size
from .filters import Seen, is_kept
from .order import Order, in_turns
from .parsing import Parsing, prose_in
from .repairs import Repair
from .request import Request
from .score import Score, Scores
from .sources.registry import Source
from .surprise import LineSurprise, surprise_within

# As long as nobody asks for it (`confidence.with_confidence`).
_UNCALIBRATED = "its probability was not asked for"


@dataclass(slots=True)
class Found:
    """A kept change, and who gave it. draws: how many drawn texts are it."""

    change: Change
    score: Score | None
    mends: bool
    sources: dict[str, None] = field(default_factory=dict)
    rules: dict[str, None] = field(default_factory=dict)
    draws: int = 0


@dataclass(slots=True)
class Gathering:
    """The candidates of one request, as they come: by what repeats of a change have in common, None for what a filter drops."""

    request: Request
    parsing: Parsing
    _found: dict[Change, Found | None] = field(default_factory=dict)
    _scores: Scores = field(init=False)
    _answered: dict[str, None] = field(default_factory=dict)
    _draws: int = 0
    _seen: Seen = field(init=False)

    def __post_init__(self) -> None:
        request = self.request
        # Lines that are put in change together with one beside them.
        first, end = max(0, request.first - 1), min(len(request.lines), request.end + 1)
        self._seen = Seen(request.lines, self.parsing, prose_in(request.lines, first, end, request.language))
        self._scores = Scores(self.request.asking, self.request.lines)

    def take(self, source: Source, check: StopCheck) -> None:
        """Ask a source, and score what is kept of its candidates, until `check` says why no more is wanted."""
        for candidate in source.candidates(self.request):
            self._answered[source.name] = None
            self._draws += candidate.is_drawn
            same = self._same(candidate.change)
            if same not in self._found:
                self._found[same] = self._kept(candidate.change)
            if (found := self._found[same]) is not None:
                _add(found, candidate)
            if check() is not None:
                return

    def _kept(self, change: Change) -> Found | None:
        if not is_kept(change, self._seen):
            return None
        return Found(change, self._scores.of(change), self.parsing.mends(change))

    def _same(self, change: Change) -> Change:
        """What is alike for all that repeat a change: where white space before a line says nothing, they may differ in it."""
        if self.parsing.indents:
            return change
        return replace(change, new=tuple(map(str.strip, change.new)))

    def repairs(self, most: int, order: Order, event: Event, encoding: Encoding) -> tuple[Repair, ...]:
        """The best of what was kept: first what mends a file that does not parse; then the best by rules and by the model, in turns."""
        kept = [found for found in self._found.values() if found is not None]
        gains = [found.score.gain for found in kept if found.score is not None]
        total = log_sum(gains) if gains else 0.0
        measured = [(found, self._measures(found, total)) for found in kept]
        ordered = sorted(measured, key=lambda each: -order(each[1]))
        best = [each for mends in (True, False) for each in _in_turns([one for one in ordered if one[0].mends is mends])][:most]
        return tuple(self._repair(found, measures | {"rank": rank}, event, encoding) for rank, (found, measures) in enumerate(best, 1))

    def _repair(self, found: Found, measures: dict[str, float], event: Event, encoding: Encoding) -> Repair:
        change, lines = found.change, self.request.lines
        last = lines[change.end - 1]
        suggestion = Suggestion(
            id=uuid.uuid4().hex[:12],
            text=self.request.newline.join(change.new),
            range=Range(Position(change.first, 0), Position(change.end - 1, column_at(last, len(last), encoding))),
            kind="repair",
            confidence=uncalibrated(event, _UNCALIBRATED),
            measures=measures,
            timings_ms={},
        )
        old = self.request.newline.join(lines[change.first : change.end])
        return Repair(suggestion, old, tuple(found.sources), tuple(found.rules), found.mends)

    def _measures(self, found: Found, total: float) -> dict[str, float]:
        """Those of the new lines, and those of the kind "repair", as far as the model can say. total: log of the sum of all exp(gain)."""
        change, old = found.change, self.request.lines[found.change.first : found.change.end]
        measures = {
            "edit_size": float(edit_size(old, change.new)),
            "source_agreement": len(found.sources) / len(self._answered),
            "draw_agreement": found.draws / self._draws if self._draws else 0.0,
            "by_rule": float(bool(found.rules)),
        }
        if found.score is not None:
            gain = found.score.gain
            measures |= measures_of(found.score.new)
            # By rounding, the share could be slightly more than 1.
            measures |= {"old_logprob": found.score.old_logprob, "logprob_gain": gain, "agreement": min(0.0, gain - total)}
        if self.request.suspects:
            changed = [suspect.surprise for suspect in self.request.suspects if change.first <= suspect.line < change.end]
            measures["surprise"] = _surprise(change, self.request.lines, self.request.suspects)
            measures["line_surprise"] = max(changed, default=0.0)
        return measures


def _in_turns(ordered: Sequence[tuple[Found, dict[str, float]]]) -> Iterator[tuple[Found, dict[str, float]]]:
    by_rules = [each for each in ordered if each[0].rules]
    by_model = [each for each in ordered if each[0].sources.keys() != {"rules"}]
    return in_turns(by_rules, by_model)


def _add(found: Found, candidate: Candidate) -> None:
    found.sources[candidate.source] = None
    found.draws += candidate.is_drawn
    if candidate.rule:
        found.rules[candidate.rule] = None


def _surprise(change: Change, lines: Lines, suspects: Sequence[LineSurprise]) -> float:
    """The surprise of the most surprising token that a change touches, of the suspects; 0 where it touches none of them."""
    told = []
    for suspect in suspects:
        if change.first <= suspect.line < change.end:
            old, alone = lines[suspect.line], change.end - change.first == len(change.new) == 1
            start, end = changed_span(old, change.new[0])[:2] if alone else (0, len(old) + 1)
            told.append(surprise_within(suspect, start, end))
    return max((one for one in told if one is not None), default=0.0)
