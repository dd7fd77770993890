"""Requests for suggestions: each goes from the editor's question through memory or model to what is shown, and ends in one outcome."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from ...calibration.measures.agreement import SINGLE_DRAW, Drawn, distinct
from ...calibration.registry import Purpose, Registry, choose, explain_choice
from ...inference.completion.prompt import Surroundings
from ...inference.completion.task import Kind, task_of
from ...inference.model import Generation
from ...suggestion.extent import kind_at
from ...suggestion.place import Place
from ...suggestion.positions import Position, Range
from ...suggestion.remainder import NEWLINE
from ...suggestion.suggest import suggestion_of, unlike_usual
from ...suggestion.suggestion import Suggestion
from ..confidence.calibrators import Calibrators
from ..confidence.explanation import Explanation, Seen, explanation, seen_in
from ..model.live import LiveModel, Made
from ..model.process import LoadedModel, ModelProcessDied, ModelRequestFailed, ModelUnavailable
from ..settings.settings import LiveSettings
from ..tracking.event_writer import EventWriter
from .counts import RequestCounts
from .debounce import Recent, Refusal, Rules, after, delay_ms, refusal
from .outcomes import Ending, Outcome
from .policy import decide, draw_of
from .request import Ask, Record
from .scheduler import Priority, Superseded, Want

# Suggestions that an editor may still accept or ask about.
_KEPT = 200
# Of the latest of them the texts around are kept, too, up to 30 KB each: what is accepted or explained beyond what is known of it is one
# of these, for an older one is no longer on the screen.
_WITH_TEXTS = 32
# What keeps a whole document silent, and not a place in it.
_SILENT = (Refusal.LANGUAGE, Refusal.SECRET, Refusal.AUTOMATIC)
# How many different generations are prepared for the next keystroke, the one that is shown included.
_PREPARED = 4
# Who asks for an explanation waits no longer for the model to say what it was shown: it may be at work on what is asked next.
_SEEN_MS = 500.0
# How much the latest answer moves what is known of how long the model takes.
_LATEST = 0.2
# Of the time that a request may take, so much is the model's: what it has written by then still arrives.
_FOR_THE_MODEL = 0.9


@dataclass(frozen=True, slots=True)
class Shown:
    """A suggestion that an editor has, and what it was made of. want: None where the texts around its place are no longer kept."""

    suggestion: Suggestion
    generation: Generation
    ask: Ask
    want: Want | None
    asked_of_calibrators: dict[str, Any]

    def without_texts(self) -> Shown:
        """The same without the texts around its place."""
        return replace(
            self, want=None, ask=replace(self.ask, place=replace(self.ask.place, prefix="", suffix=""), surroundings=Surroundings())
        )


class Requests:
    """All requests to one model. hidden: how many generations were not shown because of the dial, each counted once."""

    def __init__(
        self,
        live: LiveModel,
        calibrators: Calibrators,
        counts: RequestCounts,
        events: EventWriter,
        settings: Callable[[], LiveSettings],
        on_silent: Callable[[str | None], None] = lambda _: None,
        on_hidden: Callable[[], None] = lambda: None,
        paused_until: Callable[[], datetime | None] = lambda: None,
        on_answer: Callable[[Ask, Sequence[Suggestion]], str | None] = lambda *_: None,
    ) -> None:
        """settings: asked for at each request; on_silent: told why no suggestion comes by itself in a document, None where they come;
        on_hidden: told when `hidden` grows; paused_until: when a pause ends, None where there is none; on_answer: told what the editor is
        given, also where that is nothing, and gives the id of the showing, None where there is none."""
        self._on_silent = on_silent
        self._on_hidden = on_hidden
        self._paused_until = paused_until
        self._on_answer = on_answer
        self.hidden = 0
        self._live = live
        self._calibrators = calibrators
        self._counts = counts
        self._events = events
        self._settings = settings
        self._shown: OrderedDict[str, Shown] = OrderedDict()
        self._with_texts: deque[str] = deque()
        self._hidden: OrderedDict[str, str] = OrderedDict()
        self._recent = Recent()
        self._answer_ms: float | None = None

    def use(self, live: LiveModel) -> None:
        """Go on with another model. What editors show, and how the user types, stays known."""
        self._live, self._answer_ms = live, None

    async def answer(self, ask: Ask, current: Callable[[], bool]) -> tuple[Suggestion, ...]:
        """The suggestions to show, the likeliest first; none where there are none, for whatever reason: the log of events has it.

        current: whether the text is still the one that was asked about. Cancellable.
        """
        record = Record(ask, self._add)
        try:
            found = await self._ended(ask, current, record)
        except Superseded:  # what took its place says what is shown
            return record.end(Ending.SUPERSEDED)
        if not found and current():
            self._on_answer(ask, ())
        return found

    async def _ended(self, ask: Ask, current: Callable[[], bool], record: Record) -> tuple[Suggestion, ...]:
        max_ms = self._settings().max_ms
        try:
            async with asyncio.timeout(max_ms / 1e3) as record.limit:
                return await self._answer(ask, current, record)
        except Superseded:
            raise
        except asyncio.CancelledError:
            record.end(Ending.CANCELLED)
            raise
        except (ModelUnavailable, ModelProcessDied, ModelRequestFailed) as error:
            return record.end(Ending.FAILED, _FAILURES[type(error)])
        except Exception as error:
            if isinstance(error, TimeoutError) and record.limit.expired():  # and not one of the disk's
                awaited = "the model is still loading" if self._live.process.state == "loading" else record.awaited
                return record.end(Ending.TIMED_OUT, f"{awaited} after {max_ms:.0f} ms")
            record.end(Ending.FAILED, _own_error(error))
            raise

    def nothing(self, uri: str, reason: str, *, invoked: bool) -> None:
        """Note a request that there is no place to answer at."""
        Record(_nowhere(uri, invoked), self._add).end(Ending.EMPTY, reason)

    def failed(self, uri: str, error: Exception, *, invoked: bool) -> None:
        """Note a request that an error of Assay's own ended before it was known what is asked."""
        Record(_nowhere(uri, invoked), self._add).end(Ending.FAILED, _own_error(error))

    def typed(self, at_s: float) -> None:
        """A document was edited."""
        self._recent = after(self._recent, "typed", at_s)

    def accepted(self, suggestion_id: str) -> Shown | None:
        """The editor inserted a suggestion: what it was, None where that is not known. What may be asked next is prepared."""
        found = self._shown.get(suggestion_id)
        if found is None:
            return None
        self._recent = after(self._recent, "accepted", time.monotonic())
        settings, place = self._settings(), found.ask.place
        if settings.speculate and found.want is not None and self._paused_until() is None:
            prefix, cut = place.prefix + found.suggestion.text, found.ask.cut
            kind = kind_at(prefix, place.suffix, place.language, cut=cut) if settings.kind == "auto" else settings.kind
            ask = replace(found.ask, place=replace(place, prefix=prefix, kind=kind))
            if settings.kind == "auto":
                ask = replace(ask, place=replace(ask.place, kind=self._kind_with_evidence(ask)))
            self._live.prepare(replace(self.want(ask), priority=Priority.SPECULATIVE, count=1))
        return found

    def rejected(self, suggestion_id: str) -> None:
        """The user dismissed a suggestion, says the editor: the next ones that come by themselves wait longer."""
        if suggestion_id in self._shown:
            self._recent = after(self._recent, "rejected", time.monotonic())

    def find(self, suggestion_id: str) -> Shown | None:
        """A suggestion that was given out lately."""
        return self._shown.get(suggestion_id)

    async def explain(self, shown: Shown, *, with_context: bool = True) -> Explanation:
        """Why a suggestion has the confidence that it has. with_context: and what the model is shown at its place, in the text as it was
        then; nothing where the model has no time for it in half a second, or it or its context is another by now."""
        registry, _ = await self._calibrators.of(shown.ask.root)
        asked = shown.asked_of_calibrators
        choice = explain_choice(registry, asked["purpose"], asked["drawn"], asked["prompt_mismatch"])
        seen: tuple[Seen, ...] = ()
        loaded = self._live.process.model
        drawn = shown.asked_of_calibrators["drawn"]
        same = loaded is not None and shown.asked_of_calibrators == _asked_of_calibrators(shown.ask.place, loaded, self._live, drawn)
        if with_context and same and shown.want is not None:
            with suppress(ModelUnavailable, ModelProcessDied, ModelRequestFailed):
                seen = seen_in(await self._live.context(replace(shown.want, max_ms=_SEEN_MS)))
        return explanation(shown.suggestion, shown.generation, choice, seen)

    def want(self, ask: Ask, delay_s: float = 0.0) -> Want:
        """What the model is asked for."""
        settings, place = self._settings(), ask.place
        return Want(
            ask.uri,
            place.prefix,
            place.suffix,
            place.kind,
            Priority.INVOKED if ask.invoked else Priority.AUTOMATIC,
            settings.alternatives if ask.invoked else 1,
            delay_s,
            ask.surroundings,
            settings.max_ms * _FOR_THE_MODEL,
        )

    async def _answer(self, ask: Ask, current: Callable[[], bool], record: Record) -> tuple[Suggestion, ...]:
        settings, place = self._settings(), ask.place
        # Of that list the client alone decides when it comes, and does not tell typing from asking.
        rules = Rules(
            settings.automatic or ask.menu, settings.in_comments, settings.in_strings, settings.disabled_languages, self._paused_until()
        )
        refused = refusal(place.prefix, place.suffix, place.language, invoked=ask.invoked, rules=rules, cut=ask.cut)
        if ask.secret:
            refused = Refusal.SECRET
        # Who invoked is told, too, why nothing comes by itself in the document: whatever its text is.
        silent = refusal("", "", place.language, invoked=False, rules=rules) if ask.invoked and refused is None else refused
        self._on_silent(silent.sentence if silent in _SILENT else None)
        if refused is not None:
            return record.end(Ending.EMPTY, rules.sentence(refused))
        if settings.kind == "auto":
            ask = replace(ask, place=replace(place, kind=self._kind_with_evidence(ask)))
        made = await self._made(ask, record)
        if made.timed_out:
            return record.end(Ending.TIMED_OUT, f"{record.awaited} after {settings.max_ms:.0f} ms")
        loaded = await self._live.loaded()
        record.awaited = "the calibrators were not read"
        registry, project = await self._calibrators.of(ask.root)
        record.model = loaded.fingerprint.id
        record.prompt = self._live.settings.fingerprint(loaded.layout, loaded.context_length, made.kind)
        asked = replace(ask, place=replace(place, kind=made.kind))
        # What comes by itself is the model's first choice, and was not drawn among others, though the memory may have such, too.
        drawn_here = distinct(made.generations, made.drawn) if ask.invoked else [(first, SINGLE_DRAW) for first in made.generations[:1]]
        possible = (
            Shown(suggestion, generation, asked, self.want(ask), _asked_of_calibrators(asked.place, loaded, self._live, drawn))
            for generation, drawn in drawn_here
            if (suggestion := self._suggestion(asked, generation, loaded, registry, project, drawn)) is not None
        )
        found = list(islice(_differing(possible), settings.alternatives))
        if not current():
            raise Superseded
        if not found:
            return record.end(Ending.EMPTY, "nothing to suggest")
        if ask.invoked:
            found.sort(key=_likelihood, reverse=True)
        first = found[0]
        decision = decide(
            first.suggestion.confidence,
            show_above=settings.show_above,
            show_uncalibrated=settings.show_uncalibrated,
            explore=settings.exploring,
            draw=draw_of(_identity(ask, made, first.generation)) if settings.exploring else 0.0,
            invoked=ask.invoked,
        )
        rank, given = first.asked_of_calibrators["drawn"].rank, tuple(each.suggestion for each in found)
        if not decision.shown:
            record.decided(first.suggestion, decision, rank, self._hide(_identity(ask, made, first.generation), first.suggestion.id))
            return ()
        self._keep(found)
        others = [(each.suggestion, each.asked_of_calibrators["drawn"].rank) for each in found[1:]]
        record.decided(first.suggestion, decision, rank, self._on_answer(ask, given), others)
        return given

    def _add(self, outcome: Outcome) -> None:
        self._counts.add(outcome)
        self._events.add(outcome.as_event(), outcome.showing)

    def _kind_with_evidence(self, ask: Ask) -> Kind:
        """The kind that the place asks for; a line where only for lines there is a calibrator: what comes without evidence comes last."""
        place, loaded = ask.place, self._live.process.model
        registry = self._calibrators.ready(ask.root)
        if place.kind == "line" or loaded is None or registry is None:
            return place.kind

        def has_evidence(kind: Kind) -> bool:
            asked = _asked_of_calibrators(replace(place, kind=kind), loaded, self._live)
            return choose(registry, asked["purpose"]) is not None

        return "line" if not has_evidence(place.kind) and has_evidence("line") else place.kind

    async def _made(self, ask: Ask, record: Record) -> Made:
        want, now = self.want(ask), time.monotonic()
        made = self._live.remembered(want)
        if made is not None and (not ask.invoked or _is_enough(made, want)):
            record.made(made)
            return made
        settings = self._settings()
        wait_ms = delay_ms(self._recent, now, invoked=ask.invoked, answer_ms=self._answer_ms, setting=settings.delay)
        if (ends := record.limit.when()) is not None:
            record.limit.reschedule(ends + wait_ms / 1e3)
        made = await self._live.make(replace(want, delay_s=wait_ms / 1e3))
        if made.source == "model" and made.generations:
            timings = made.generations[0].timings
            took_ms = timings.prompt_ms + timings.generate_ms
            known = took_ms if self._answer_ms is None else self._answer_ms
            self._answer_ms = known + _LATEST * (took_ms - known)
        record.made(made, min(wait_ms, made.waited_ms))
        if settings.speculate and not ask.invoked and not made.typed and not made.timed_out:
            # Who types on something else has most likely one of these in mind.
            self._live.prepare(replace(want, priority=Priority.SPECULATIVE, count=_PREPARED), again=True)
        return made

    def _suggestion(
        self, ask: Ask, generation: Generation, loaded: LoadedModel, registry: Registry, project: Path | None, drawn: Drawn
    ) -> Suggestion | None:
        place = ask.place
        return suggestion_of(
            generation,
            place,
            model_id=loaded.fingerprint.id,
            layout=loaded.layout,
            context_length=loaded.context_length,
            settings=self._live.settings,
            registry=registry,
            project=project.name if project and (place.file is None or place.file.is_relative_to(project)) else None,
            boundaries=self._settings().bands,
            drawn=drawn,
        )

    def _hide(self, identity: str, suggestion_id: str) -> str:
        """Count a generation that is hidden, once whatever is typed along it. Gives the id of the first suggestion of it."""
        if identity not in self._hidden:
            self._hidden[identity] = suggestion_id
            if len(self._hidden) > _KEPT:
                self._hidden.popitem(last=False)
            self.hidden += 1
            self._on_hidden()
        return self._hidden[identity]

    def _keep(self, found: list[Shown]) -> None:
        for each in found:
            self._shown[each.suggestion.id] = each
            self._with_texts.append(each.suggestion.id)
        while len(self._with_texts) > _WITH_TEXTS:
            old = self._with_texts.popleft()
            self._shown[old] = self._shown[old].without_texts()
        while len(self._shown) > _KEPT:
            self._shown.popitem(last=False)


_FAILURES: dict[type[Exception], str] = {
    ModelUnavailable: "there is no model to ask",
    ModelProcessDied: "the model's process ended while it worked on this",
    ModelRequestFailed: "the model answered with an error",
}


def _nowhere(uri: str, invoked: bool) -> Ask:
    start = Position(0, 0)
    return Ask(uri, Place("", "", Range(start, start)), invoked)


def _own_error(error: Exception) -> str:
    return f"an error of Assay's own: {type(error).__name__}"


def _likelihood(shown: Shown) -> tuple[float, float]:
    """By what suggestions for one place are ordered: their probability, or where they have none their share of what was drawn."""
    return shown.suggestion.confidence.probability or 0.0, shown.suggestion.measures.get("agreement", -math.inf)


def _is_enough(made: Made, want: Want) -> bool:
    """Whether who invoked suggestions need not wait for more of them than are remembered."""
    if made.typed:
        return bool(made.generations)
    return not made.generations or made.drawn == want.count


def _differing(possible: Iterator[Shown]) -> Iterator[Shown]:
    """Of those that show one text, trimmed, the first."""
    texts: set[str] = set()
    for each in possible:
        if each.suggestion.text not in texts:
            texts.add(each.suggestion.text)
            yield each


def _asked_of_calibrators(place: Place, loaded: LoadedModel, live: LiveModel, drawn: Drawn = SINGLE_DRAW) -> dict[str, Any]:
    return {
        "purpose": Purpose(
            loaded.fingerprint.id,
            live.settings.fingerprint(loaded.layout, loaded.context_length, place.kind),
            place.event,
            task_of(place.prefix, place.suffix, place.kind),
            place.language,
            place.file,
        ),
        "drawn": drawn,
        "prompt_mismatch": unlike_usual(live.settings, loaded.context_length, place.kind),
    }


def _identity(ask: Ask, made: Made, generation: Generation) -> str:
    """The same for one generation at each keystroke along its text, however the document ends its lines and whatever the editor closes."""
    typed = NEWLINE.sub("\n", made.typed)
    before = NEWLINE.sub("\n", ask.place.prefix[-2 * (_TAIL + len(typed)) :])
    whole = NEWLINE.sub("\n", made.typed + generation.text).rstrip(_CLOSED_BY_EDITORS)
    return hashlib.sha256(f"{ask.uri}\0{before[: len(before) - len(typed)][-_TAIL:]}\0{whole}".encode("utf-8", "surrogatepass")).hexdigest()


# Characters before a generation that tell its place.
_TAIL = 200
# What stands behind the cursor once an editor has put it there is taken from the end of a generation (`memory.py`).
_CLOSED_BY_EDITORS = ")]}>\"'` \t\n"
