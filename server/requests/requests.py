"""Requests for suggestions: each is refused, or goes through memory or model to what is shown, and ends in one outcome."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path

from ...calibration.control_characters import unseen_in
from ...calibration.log.evaluation import LABEL
from ...calibration.log.events import RequestEnded, hash_of
from ...calibration.measures.agreement import SINGLE_DRAW, distinct
from ...calibration.plain_number import plain
from ...calibration.registry import Purpose, choose, explain_choice
from ...suggestion.kind import kind_at
from ...suggestion.positions import Position, Range
from ...suggestion.suggest import prompt_mismatch, purpose_at, suggestion_of
from ...suggestion.suggestion import Place, Suggestion
from ..confidence.calibrators import Calibrators
from ..confidence.explanation import Explanation, Seen, SeenBefore, explanation, seen_in
from ..model.live import LiveModel
from ..model.process import LoadedModel, ModelProcessDied, ModelRequestFailed, ModelUnavailable
from ..model.request import GenerationRequest, GenerationResult
from ..model.scheduler import Superseded
from ..settings.settings import LiveSettings
from ..tracking.event_writer import EventWriter
from .offers import HiddenGenerations, Offer, Offers, identity_of
from .policy import Recent, Rules, after, decide, delay_ms, document_refusal, draw_of, place_refusal
from .request_ending import Ending, OngoingRequest, RequestCounts

# Of the time that a request may take, so much is the model's: what it has written by then still arrives.
FOR_THE_MODEL = 0.9
# How many different generations are prepared for the next keystroke, the one that is shown included.
_PREPARED = 4
# Who asks for an explanation waits no longer for the model to say what it was shown: it may be at work on what is asked next.
_SEEN_MS = 500.0

_FAILURES: dict[type[Exception], str] = {
    ModelUnavailable: "there is no model to ask",
    ModelProcessDied: "the model's process ended while it worked on this",
    ModelRequestFailed: "the model answered with an error",
}


class Requests:
    """All requests to one model."""

    def __init__(
        self,
        live: LiveModel,
        calibrators: Calibrators,
        counts: RequestCounts,
        events: EventWriter,
        settings: Callable[[], LiveSettings],
        on_silent: Callable[[str | None], None] = lambda _: None,
        on_hidden: Callable[[], None] = lambda: None,
        on_late: Callable[[str], None] = lambda _: None,
        paused_until: Callable[[], datetime | None] = lambda: None,
        on_asked: Callable[[GenerationRequest], None] = lambda _: None,
        on_given: Callable[[GenerationRequest, Sequence[Suggestion]], str | None] = lambda *_: None,
        show_above: Callable[[str | None], float] = lambda _: 0.0,
    ) -> None:
        """settings: asked for at each request; on_silent: told why no suggestion comes by itself in a document, None where they come;
        on_hidden: told when `hidden` grows; on_late: told, for people, that what was asked for did not come in time; paused_until: when a
        pause ends, None where there is none; on_asked: told of each request; on_given: told what the editor is given, also where that is
        nothing, and gives the id of the showing, None where there is none; show_above: from which probability on what a calibrator judges
        is shown, given its id."""
        self._on_silent = on_silent
        self._on_hidden = on_hidden
        self._on_late = on_late
        self._told_late = False
        self._paused_until = paused_until
        self._on_asked = on_asked
        self._on_given = on_given
        self._show_above = show_above
        self._live = live
        self._calibrators = calibrators
        self._counts = counts
        self._events = events
        self._settings = settings
        self._offers = Offers()
        self._hidden = HiddenGenerations()
        self._recent = Recent()

    @property
    def hidden(self) -> int:
        """How many generations were not shown because of the dial, each counted once."""
        return self._hidden.count

    def refuses(self, request: GenerationRequest, *, secret: bool) -> bool:
        """Whether nothing is suggested in the request's document, of which it needs no text; it has ended then, and the user is told why.

        secret: the file is one that no model is shown. Who invoked a suggestion is told, too, why none comes by itself.
        """
        self._on_asked(request)
        rules = self._rules(request)
        refusal = document_refusal(request.place.language, rules, secret=secret)
        self._on_silent(refusal.sentence if refusal is not None and refusal.is_lasting else None)
        if refusal is None or (request.invoked and not refusal.holds_if_invoked):
            return False
        OngoingRequest(request, self._add).end(Ending.EMPTY, rules.sentence(refusal))
        self._on_given(request, ())
        return True

    async def suggestions(self, request: GenerationRequest, current: Callable[[], bool]) -> tuple[Suggestion, ...]:
        """The suggestions to show, the likeliest first; none where there are none, for whatever reason: the log of events has it.

        current: whether the text is still the one that was asked about. Cancellable.
        """
        ongoing = OngoingRequest(request, self._add)
        try:
            found = await self._in_time(request, current, ongoing)
        except Superseded:  # what took its place says what is shown
            return ongoing.end(Ending.SUPERSEDED)
        if not found and current():
            self._on_given(request, ())
        return found

    async def _in_time(self, request: GenerationRequest, current: Callable[[], bool], ongoing: OngoingRequest) -> tuple[Suggestion, ...]:
        max_ms = self._settings().max_ms
        try:
            async with asyncio.timeout(max_ms / 1e3) as ongoing.limit:
                return await self._decided(request, current, ongoing)
        except Superseded:
            raise
        except asyncio.CancelledError:
            ongoing.end(Ending.CANCELLED)
            raise
        except (ModelUnavailable, ModelProcessDied, ModelRequestFailed) as error:
            return ongoing.end(Ending.FAILED, _FAILURES[type(error)])
        except Exception as error:
            if isinstance(error, TimeoutError) and ongoing.limit.expired():  # and not one of the disk's
                awaited = "the model is still loading" if self._live.process.state == "loading" else ongoing.awaited
                return self._timed_out(request, ongoing, awaited)
            ongoing.end(Ending.FAILED, _own_error(error))
            raise

    def _timed_out(self, request: GenerationRequest, ongoing: OngoingRequest, awaited: str) -> tuple[()]:
        """End a request whose time is over. Who asked for suggestions is told why none come: once, until some have come again."""
        max_ms = self._settings().max_ms
        if request.invoked and not self._told_late:
            self._told_late = True
            self._on_late(f"no suggestion: {awaited} after {plain(max_ms / 1e3, 6)} s (assay.maxMs)")
        return ongoing.end(Ending.TIMED_OUT, f"{awaited} after {max_ms:.0f} ms")

    def nothing(self, uri: str, reason: str, *, invoked: bool) -> None:
        """Note a request that there is no place to answer at."""
        OngoingRequest(_nowhere(uri, invoked), self._add).end(Ending.EMPTY, reason)

    def failed(self, uri: str, error: Exception, *, invoked: bool) -> None:
        """Note a request that an error of Assay's own ended before it was known what is asked."""
        OngoingRequest(_nowhere(uri, invoked), self._add).end(Ending.FAILED, _own_error(error))

    def typed(self, at_s: float) -> None:
        """A document was edited."""
        self._recent = after(self._recent, "typed", at_s)

    def accepted(self, suggestion_id: str) -> Offer | None:
        """The editor inserted a suggestion: what it was, None where that is not known. What may be asked next is prepared."""
        offer = self._offers.find(suggestion_id)
        if offer is None:
            return None
        self._recent = after(self._recent, "accepted", time.monotonic())
        settings, request, place = self._settings(), offer.request, offer.request.place
        # What was read for it is no longer what is to be read, once the setting has changed.
        as_before = request.memory.scope == settings.memory
        if settings.speculate and offer.has_texts and as_before and self._paused_until() is None:
            prefix = place.prefix + offer.suggestion.text
            kind = kind_at(prefix, place.suffix, place.language, cut=request.cut) if settings.kind == "auto" else settings.kind
            behind = replace(request, place=replace(place, prefix=prefix, kind=kind), settings=self._live.settings, count=1)
            self._live.prepare(self._of_kind_with_evidence(behind))
        return offer

    def read_ahead(self, request: GenerationRequest, texts: Callable[[], Iterator[GenerationRequest]], *, secret: bool) -> None:
        """The cursor rests at a place: what may be asked for there is prepared.

        texts: the request with its texts, here and at other places: that of the first counts at which something may come by itself.
        secret: as `refuses`.
        """
        rules = self._rules(request)
        if not self._settings().speculate or document_refusal(request.place.language, rules, secret=secret) is not None:
            return
        for asked in texts():
            place = asked.place
            if place_refusal(place.prefix, place.suffix, place.language, rules, cut=asked.cut) is None:
                self._live.read_ahead(self._of_kind_with_evidence(asked))
                return

    def rejected(self, suggestion_id: str) -> None:
        """The user dismissed a suggestion, says the editor: the next ones that come by themselves wait longer."""
        if self._offers.find(suggestion_id) is not None:
            self._recent = after(self._recent, "rejected", time.monotonic())

    def find(self, suggestion_id: str) -> Offer | None:
        """A suggestion that was given out lately."""
        return self._offers.find(suggestion_id)

    async def explain(self, offer: Offer, *, with_context: bool = True) -> Explanation:
        """Why a suggestion has the confidence that it has. with_context: and what the model is shown at its place, in the text as it was
        then; nothing where the model has no time for it in half a second, or it or its context is another by now."""
        registry, _ = await self._calibrators.of(offer.request.root)
        request, model = offer.request, self._live.process.model
        mismatch = "" if model is None else prompt_mismatch(self._live.settings, model.settings(), model.context_length, request.place.kind)
        choice = explain_choice(registry, offer.purpose, offer.drawn, mismatch)
        seen: tuple[Seen, ...] = ()
        memory = offer.generation.memory
        if with_context and offer.has_texts and model is not None and self._purpose(request.place, model, memory) == offer.purpose:
            with suppress(ModelUnavailable, ModelProcessDied, ModelRequestFailed):
                seen = seen_in(await self._live.context(replace(request, max_ms=_SEEN_MS)))
        return explanation(offer.suggestion, offer.generation, choice, seen, _seen_before(offer))

    async def _decided(self, request: GenerationRequest, current: Callable[[], bool], ongoing: OngoingRequest) -> tuple[Suggestion, ...]:
        place = request.place
        if not request.invoked:
            refusal = place_refusal(place.prefix, place.suffix, place.language, self._rules(request), cut=request.cut)
            if refusal is not None:
                return ongoing.end(Ending.EMPTY, refusal.sentence)
        request = self._of_kind_with_evidence(request)
        result = await self._result(request, ongoing)
        if result.timed_out:
            return self._timed_out(request, ongoing, ongoing.awaited)
        if result.kind != request.place.kind:
            request = replace(request, place=replace(place, kind=result.kind))
        possible = await self._possible(request, result, ongoing)
        found = list(islice(_differing(possible), request.count))
        if not current():
            raise Superseded
        if not found:
            return ongoing.end(Ending.EMPTY, "nothing to suggest")
        if not request.invoked and (unfit := _unfit(found[0])):
            return ongoing.end(Ending.EMPTY, unfit)
        if request.invoked:
            found.sort(key=_for_choice, reverse=True)
        return self._shown_or_hidden(request, result, found, ongoing)

    async def _result(self, request: GenerationRequest, ongoing: OngoingRequest) -> GenerationResult:
        """What is remembered for a request, else what the model writes."""
        remembered, now = self._live.remembered(request), time.monotonic()
        if remembered is not None and (not request.invoked or _is_enough(remembered, request)):
            ongoing.found(remembered)
            return remembered
        settings = self._settings()
        wait_ms = delay_ms(
            self._recent,
            now,
            invoked=request.invoked,
            first_ms=self._live.first_ms,
            setting=settings.delay,
        )
        if (ends := ongoing.limit.when()) is not None:
            ends += wait_ms / 1e3
            ongoing.limit.reschedule(ends)
            ends -= settings.max_ms * (1 - FOR_THE_MODEL) / 1e3
        result = await self._live.generate(replace(request, delay_s=wait_ms / 1e3, ends_at=ends))
        ongoing.found(result, min(wait_ms, result.waited_ms))
        if settings.speculate and not request.invoked and not result.typed and not result.timed_out:
            # Who types on something else has most likely one of these in mind.
            self._live.prepare(replace(request, count=_PREPARED), again=True)
        return result

    async def _possible(self, request: GenerationRequest, result: GenerationResult, ongoing: OngoingRequest) -> Iterator[Offer]:
        """The suggestions that the generations make, in their order."""
        model, place = await self._live.loaded(), request.place
        ongoing.awaited = "the calibrators were not read"
        registry, project = await self._calibrators.of(request.root)
        memory = result.generations[0].memory if result.generations else self._memory(request, model)
        ongoing.purpose = purpose = self._purpose(place, model, memory)
        suggest = partial(
            suggestion_of,
            purpose=purpose,
            registry=registry,
            project=self._project_of(request, project),
            boundaries=self._settings().bands,
            show_refuted=self._settings().show_refuted,
            prompt_mismatch=lambda: prompt_mismatch(self._live.settings, model.settings(), model.context_length, place.kind),
        )
        # What comes by itself is the model's first choice, and was not drawn among others, though the memory may have such, too.
        drawn_here = (
            distinct(result.generations, result.drawn) if request.invoked else [(first, SINGLE_DRAW) for first in result.generations[:1]]
        )
        return (
            Offer(suggestion, generation, request, purpose, drawn)
            for generation, drawn in drawn_here
            if (suggestion := suggest(generation, place, drawn=drawn)) is not None
        )

    def _project_of(self, request: GenerationRequest, project: Path | None) -> str | None:
        """As calibrators name the project of a request: those of the log, for `kept`, by the hash that it has there."""
        if self._settings().event == LABEL:
            return None if request.root is None else hash_of(request.root.as_uri())
        file = request.place.file
        return project.name if project and (file is None or file.is_relative_to(project)) else None

    def _shown_or_hidden(
        self, request: GenerationRequest, result: GenerationResult, found: Sequence[Offer], ongoing: OngoingRequest
    ) -> tuple[Suggestion, ...]:
        settings, first = self._settings(), found[0]
        decision = decide(
            first.suggestion.confidence,
            show_above=self._show_above(first.suggestion.confidence.calibrator),
            show_uncalibrated=settings.show_uncalibrated,
            explore=settings.exploring,
            draw=draw_of(identity_of(request, result, first.generation)) if settings.exploring else 0.0,
            invoked=request.invoked,
        )
        if not decision.shown:
            showing, is_new = self._hidden.add(identity_of(request, result, first.generation), first.suggestion.id)
            if is_new:
                self._on_hidden()
            ongoing.decided(first.suggestion, decision, first.drawn.rank, showing)
            return ()
        self._offers.add(found)
        self._told_late = self._told_late and not request.invoked
        suggestions = tuple(each.suggestion for each in found)
        others = [(each.suggestion, each.drawn.rank) for each in found[1:]]
        ongoing.decided(first.suggestion, decision, first.drawn.rank, self._on_given(request, suggestions), others)
        return suggestions

    def _of_kind_with_evidence(self, request: GenerationRequest) -> GenerationRequest:
        """The request, made one for a line where only lines have a calibrator of the model: what comes without evidence comes last."""
        place, model = request.place, self._live.process.model
        if self._settings().kind != "auto" or place.kind == "line":
            return request
        registry, line = self._calibrators.ready(request.root), replace(place, kind="line")
        if model is None or registry is None:
            return request
        memory = self._memory(request, model)
        if choose(registry, self._purpose(place, model, memory)) is not None:
            return request
        of_line = choose(registry, self._purpose(line, model, memory))
        return request if of_line is None or of_line.calibrator.fitted_on.models else replace(request, place=line)

    def _memory(self, request: GenerationRequest, model: LoadedModel) -> str:
        """The fingerprint of the memory that the model is going to be mixed with."""
        return "" if request.memory.scope == "off" else model.memory

    def _purpose(self, place: Place, model: LoadedModel, memory: str) -> Purpose:
        settings, heals = self._live.settings, model.heals
        return purpose_at(place, model.fingerprint, model.layout, model.context_length, settings, heals=heals, memory=memory)

    def _rules(self, request: GenerationRequest) -> Rules:
        """What the user allows. When the ordinary list of completions comes is the client's choice: it does not tell typing from asking."""
        settings = self._settings()
        automatic = settings.automatic or request.menu
        return Rules(automatic, settings.in_comments, settings.in_strings, settings.disabled_languages, self._paused_until())

    def _add(self, event: RequestEnded, showing: str | None) -> None:
        self._counts.add(event)
        self._events.add(event, showing)


def _nowhere(uri: str, invoked: bool) -> GenerationRequest:
    start = Position(0, 0)
    return GenerationRequest(uri, Place("", "", Range(start, start)), invoked)


def _unfit(offer: Offer) -> str:
    """Why a text does not come by itself, however likely it is; empty where nothing speaks against it."""
    place = offer.request.place
    if unseen_in(offer.suggestion.text, place.prefix + place.suffix):
        return "the text has a character that a reader does not see"
    return "what the model wrote would leave the file broken" if offer.generation.parses is False else ""


def _own_error(error: Exception) -> str:
    return f"an error of Assay's own: {type(error).__name__}"


def _for_choice(offer: Offer) -> tuple[bool, float, float]:
    """By what suggestions for one place are ordered: what breaks the file comes last; then by their probability, or where they have none by
    their share of what was drawn."""
    suggestion, breaks = offer.suggestion, offer.generation.parses is False
    return not breaks, suggestion.confidence.probability or 0.0, suggestion.measures.get("agreement", -math.inf)


def _is_enough(remembered: GenerationResult, request: GenerationRequest) -> bool:
    """True if the cache already answers this manual request. Of what was typed along one suggestion may be left: then more are made."""
    if remembered.typed:
        return len(remembered.generations) >= min(request.count, 2)
    return not remembered.generations or remembered.drawn == request.count


def _seen_before(offer: Offer) -> tuple[SeenBefore, ...]:
    """The lines of the user's files that the text of a suggestion was in when it was made; of its own file as long as that is known."""
    place, memory = offer.request.place, offer.request.memory
    seen = [
        SeenBefore(source.path, source.line + (1 + place.range.start.line if source.path is None else 0))
        for source in offer.generation.sources
        if source.path is not None or offer.has_texts
    ]
    # In a notebook the lines of other cells are before the first, or behind the last.
    return tuple(each for each in seen if each.file or 1 <= each.line <= memory.lines)


def _differing(possible: Iterator[Offer]) -> Iterator[Offer]:
    """Of those that show one text, trimmed, the first."""
    texts: set[str] = set()
    for each in possible:
        if each.suggestion.text not in texts:
            texts.add(each.suggestion.text)
            yield each
