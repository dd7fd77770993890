"""The candidates of one request, as they come: filtered, scored, and made suggestions with their measures."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...analysis.text_edits import changed_span
from ...calibration.confidence import uncalibrated
from ...calibration.control_characters import unseen_in
from ...calibration.measures.agreement import log_sum
from ...calibration.measures.registry import measures_of
from ...calibration.samples import Event
from ...inference.model import Generation, Token
from ...inference.stopping.cancel_or_timeout import StopCheck
from ..cursor import Cursor
from ..cut.steps import unless_it_repeats_lines
from ..positions import Encoding, Position, Range, column_at
from ..suggestion import Suggestion
from .asking import Asking
from .candidate import Candidate, Change, Lines, around, edit_size, indent_of
from .parsing import Parsing, prose_in
from .request import Repair, Request
from .sources.registry import Source
from .surprise import LineSurprise, TokenSurprise, surprise_within, tokens_of, total_logprob

Order = Callable[[Mapping[str, float]], float]

# A round figure; anything between a half and two orders about as well.
NATS_PER_CHARACTER = 1.0
# What a further source that gives the same speaks for it. On QuixBugs anything between four and ten orders as well.
NATS_PER_SOURCE = 5.0
# What the best repair gains beyond its size where something better is said to be there. At right lines of real projects 3 of 36 do.
_BETTER = 2.0
NOTHING_BETTER = "Nothing better was found: none gains enough for what it changes"


def by_gain(measures: Mapping[str, float]) -> float:
    """By how much likelier the model finds the new lines than the old; what it can't say of comes last."""
    return measures.get("logprob_gain", -math.inf)


def by_gain_and_size(measures: Mapping[str, float]) -> float:
    """The same as a noisy channel has it: a bug is a slip, so that what changes less may gain less (Kernighan, Church & Gale 1990)."""
    return by_gain(measures) - NATS_PER_CHARACTER * measures["edit_size"]


@dataclass(frozen=True, slots=True)
class Written:
    """Lines as the model would write them, one after the other. tokens: of each line, where they stand on it."""

    made: Generation
    tokens: tuple[tuple[TokenSurprise, ...], ...]


@dataclass(frozen=True, slots=True)
class Score:
    """old_logprob: of the lines that stand there. new: the new ones. edited: the log-probabilities of its tokens that the change writes."""

    old_logprob: float
    new: Generation
    edited: tuple[float, ...]

    @property
    def gain(self) -> float:
        """log p of the new lines minus that of the old ones."""
        return total_logprob(self.new) - self.old_logprob


def edited_logprobs(old: Lines, new: Lines, tokens: Sequence[Sequence[TokenSurprise]]) -> tuple[float, ...]:
    """The log-probabilities of the tokens of new lines that a change from the old ones writes.

    Where it only takes text away, that is of the token which follows the cut; of all tokens where none of them is there.
    """
    before, after = "\n".join(old), "\n".join(new)
    start, _, text = changed_span(before, after)
    end = max(start + len(text), start + 1)
    found, at = [], 0
    for line, of_line in zip(new, tokens, strict=True):
        found += [token.logprob for token in of_line if at + token.start < end and at + max(token.end, token.start + 1) > start]
        at += len(line) + 1
    return tuple(found) or tuple(token.logprob for of_line in tokens for token in of_line)


@dataclass(slots=True)
class Scores:
    """Scores the changes of one file; remembers what the model said of the old lines."""

    asking: Asking
    lines: Lines
    _old: dict[tuple[int, int, int, bool], float | None] = field(default_factory=dict)

    def of(self, change: Change) -> Score | None:
        """The score of a change; None where the model can't say. Raises ModelError."""
        old = self.lines[change.first : change.end]
        column, _, _ = changed_span(indent_of(old[0]), indent_of(change.new[0]))
        # A line that a completion would have ended earlier has no end that counts, and then no other has.
        for ends in (True, False):
            before, new = self._of_old(change, column, ends), self._of(change.first, change.end, change.new, column, ends)
            if before is not None and new is not None and math.isfinite(total_logprob(new.made)):
                return Score(before, new.made, edited_logprobs(old, change.new, new.tokens))
        return None

    def _of_old(self, change: Change, column: int, ends: bool) -> float | None:
        key = (change.first, change.end, column, ends)
        if key not in self._old:
            said = self._of(change.first, change.end, self.lines[change.first : change.end], column, ends)
            self._old[key] = None if said is None else total_logprob(said.made)
        return self._old[key]

    def _of(self, first: int, end: int, new: Lines, column: int, ends: bool) -> Written | None:
        """Lines as the model would write them, each given those before it, from a column of the first one on."""
        before, after = around(self.lines, first, end)
        tokens, placed = list[Token](), list[tuple[TokenSurprise, ...]]()
        said = None
        for number, line in enumerate(new):
            start = 0 if number else column
            said = self.asking.given(before + line[:start], after, line[start:].rstrip(), ends=ends)
            if said is None:
                return None
            tokens += said.tokens
            placed.append(tokens_of(said, start))
            before += line + "\n"
        return None if said is None else Written(replace(said, text="\n".join(new)[column:], tokens=tuple(tokens)), tuple(placed))


# What a line of comment begins with, in most languages.
_COMMENTS = ("#", "//", "--", "/*", "*")


@dataclass(frozen=True, slots=True)
class Seen:
    """A file that is changed. prose: the lines that may change and have no code (`parsing.prose_in`)."""

    lines: Lines
    parsing: Parsing
    prose: frozenset[int] = frozenset()


Filter = Callable[[Change, Seen], bool]


def changes_something(change: Change, seen: Seen) -> bool:
    """Not what stands there."""
    return change.new != seen.lines[change.first : change.end]


def changes_code(change: Change, seen: Seen) -> bool:
    """Not white space or comments alone."""
    says_the_same = seen.parsing.says_the_same(change)
    if says_the_same is not None:
        return not says_the_same
    old = seen.lines[change.first : change.end]
    # Where a file of Python does not parse, how far a line is indented may be what is wrong.
    same = _with_indentation if seen.parsing.indents else _without_space
    return [same(line) for line in _code(old)] != [same(line) for line in _code(change.new)]


def breaks_nothing(change: Change, seen: Seen) -> bool:
    """Not a mistake of syntax where there was none."""
    return not seen.parsing.breaks(change)


def leaves_prose_alone(change: Change, seen: Seen) -> bool:
    """Not what a comment, a docstring or a text of several lines says: nothing can check what it makes of that."""
    return all(seen.lines[number] in change.new for number in range(change.first, change.end) if number in seen.prose)


def repeats_no_neighbour(change: Change, seen: Seen) -> bool:
    """Not the lines again that stand right above or below."""
    before, after = around(seen.lines, change.first, change.end)
    return unless_it_repeats_lines("\n".join(change.new), Cursor(before, after)) is not None


def hides_nothing(change: Change, seen: Seen) -> bool:
    """Not with a character that is not seen, unless the file has it there."""
    return not unseen_in("\n".join(change.new), "\n".join(seen.lines[change.first : change.end]))


# The cheapest first.
FILTERS: tuple[Filter, ...] = (
    changes_something,
    leaves_prose_alone,
    hides_nothing,
    repeats_no_neighbour,
    breaks_nothing,
    changes_code,
)


def is_kept(change: Change, seen: Seen) -> bool:
    """Whether no filter drops a change."""
    return all(keeps(change, seen) for keeps in FILTERS)


def _code(lines: Lines) -> list[str]:
    return [line for line in lines if line.strip() and not line.lstrip().startswith(_COMMENTS)]


def _with_indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())] + _without_space(line)


def _without_space(line: str) -> str:
    return "".join(line.split())


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
    _stays: dict[str, None] = field(default_factory=dict)
    _stay_draws: int = 0
    _seen: Seen = field(init=False)

    def __post_init__(self) -> None:
        request = self.request
        # Lines that are put in change together with one beside them.
        first, end = max(0, request.first - 1), min(len(request.lines), request.end + 1)
        self._seen = Seen(request.lines, self.parsing, prose_in(request.lines, first, end, request.language))
        self._scores = Scores(self.request.asking, self.request.lines)

    def taken(self, source: Source, check: StopCheck) -> Iterator[Candidate]:
        """Ask a source, and score what is kept of its candidates, until `check` says why no more is wanted; each that is new and kept."""
        for candidate in source.candidates(self.request):
            self._answered[source.name] = None
            self._draws += candidate.is_drawn
            if not changes_something(candidate.change, self._seen):
                self._stays[source.name] = None
                self._stay_draws += candidate.is_drawn
            same = self._same(candidate.change)
            if is_new := same not in self._found:
                self._found[same] = self._kept(candidate.change)
            if (found := self._found[same]) is not None:
                _add(found, candidate)
                if is_new:
                    yield candidate
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
        """The best of what was kept: first what mends a file that does not parse, then by `order` and by how many sources gave it.

        What has no score comes last, by its size and its sources.
        """
        kept = [found for found in self._found.values() if found is not None]
        gains = [found.score.gain for found in kept if found.score is not None]
        total = log_sum(gains) if gains else 0.0

        def worth(each: tuple[Found, dict[str, float]]) -> tuple[bool, bool, float]:
            found, measures = each
            value, sources = order(measures), NATS_PER_SOURCE * len(found.sources)
            is_scored = math.isfinite(value)
            return found.mends, is_scored, sources + (value if is_scored else -NATS_PER_CHARACTER * measures["edit_size"])

        best = sorted(((found, self._measures(found, total)) for found in kept), key=worth, reverse=True)[:most]
        return tuple(self._repair(found, measures | {"rank": rank}, event, encoding) for rank, (found, measures) in enumerate(best, 1))

    @property
    def nothing_better(self) -> bool:
        """Whether what stands there is to stay, as far as the model alone can say; False where it can't say of a repair."""
        kept = [found for found in self._found.values() if found is not None]
        scores = [by_gain_and_size(self._measures(found, 0.0)) for found in kept if not found.mends]
        is_known = bool(kept) and self.request.failure is None and len(scores) == len(kept)
        return is_known and all(map(math.isfinite, scores)) and max(scores) <= _BETTER

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
            "stay_agreement": len(self._stays) / len(self._answered),
            "stay_draws": self._stay_draws / self._draws if self._draws else 0.0,
            "by_rule": float(bool(found.rules)),
            "by_chat": float("instruct" in found.sources),
        }
        if found.score is not None:
            gain = found.score.gain
            measures |= measures_of(found.score.new)
            # By rounding, the share could be slightly more than 1.
            measures |= {"old_logprob": found.score.old_logprob, "logprob_gain": gain, "agreement": min(0.0, gain - total)}
            if found.score.edited:
                measures |= {"edit_logprob": math.fsum(found.score.edited), "edit_min_logprob": min(found.score.edited)}
        if self.request.suspects:
            changed = [suspect.surprise for suspect in self.request.suspects if change.first <= suspect.line < change.end]
            measures["surprise"] = _surprise(change, self.request.lines, self.request.suspects)
            measures["line_surprise"] = max(changed, default=0.0)
        return measures


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
