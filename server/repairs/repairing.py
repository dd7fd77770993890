"""Requests for repairs: each goes to the model's process, gets its confidence, and ends in one outcome."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from ...calibration.log.events import RequestEnded, hash_of
from ...calibration.plain_number import plain
from ...calibration.registry import Purpose, Registry
from ...calibration.samples import Event
from ...inference.model import StopReason
from ...suggestion.positions import Position, Range
from ...suggestion.repair.confidence import TASK, prompt_of, with_confidence
from ...suggestion.repair.request import Repair, Repairs
from ...suggestion.repair.sources.registry import SOURCES
from ..confidence.calibrators import Calibrators
from ..model.live import LiveModel
from ..model.process import LoadedModel, ModelProcessDied, ModelRequestFailed, ModelUnavailable
from ..model.request import RepairRequest, Source
from ..model.scheduler import Superseded
from ..requests.request_ending import Ending, Spent, ended, logged_text, other
from ..settings.settings import LiveSettings
from .found import Found, FoundRepairs
from .lines import Lines
from .trial import Trial

# A repair is for code that is wrong, and what is right is what its tests say.
EVENT: Event = "tests_pass"


def judged(
    repairs: Repairs,
    registry: Registry,
    *,
    model: str,
    line_prompt: str,
    language: str,
    file: Path | None,
    project: Path | None,
    settings: LiveSettings,
) -> Repairs:
    """With their confidence, the likeliest first, but behind what mends a file that does not parse.

    model, line_prompt: the ids of the model and of how it is asked for a line. file: the document's. project: that of the calibrators.
    """
    asked = [source.name for source in SOURCES if source.name not in repairs.not_asked]
    own = project is not None and (file is None or file.is_relative_to(project))
    return with_confidence(
        repairs,
        Purpose(model, prompt_of(line_prompt, asked), EVENT, TASK, language, file),
        registry,
        project=project.name if project is not None and own else None,
        boundaries=settings.bands,
        show_refuted=settings.show_refuted,
    )


# What the answer of the model's process may take beyond the model's time: it may be reading a long prompt, or completing what is typed.
_GRACE_S = 5.0


class NoRepairs(Exception):
    """There are no repairs, and why, in a sentence for people."""


@dataclass(frozen=True, slots=True)
class EditorRequest:
    """Repairs that an editor asks for.

    request: as the model's process is asked. most: how many repairs are shown. above: how many lines of the request's text stand above
    the document's, as other cells of its notebook. count: how many lines the document has. root: the workspace folder whose calibrators
    are used. file: the document's.
    """

    lines: Lines
    request: RepairRequest
    most: int
    above: int
    count: int
    root: Path | None
    file: Path | None


class RepairRequests:
    """All requests for repairs of an editor. One runs for a document, the latest."""

    def __init__(
        self,
        live: LiveModel,
        calibrators: Calibrators,
        settings: Callable[[], LiveSettings],
        log: Callable[[RequestEnded], None],
        on_found: Callable[[str, int, Sequence[Repair]], None],
    ) -> None:
        """log: takes the end of each request; on_found: told what was found for a document's version."""
        self._live = live
        self._calibrators = calibrators
        self._settings = settings
        self._log = log
        self._on_found = on_found
        self._running: dict[str, asyncio.Task[Repairs]] = {}
        self.found = FoundRepairs()

    async def find(
        self,
        asked: EditorRequest,
        tell: Callable[[str], None] = lambda _: None,
        trial: Trial | None = None,
        choose: Callable[[Found], Awaitable[Found]] | None = None,
    ) -> Found:
        """The repairs, those that were found before or new ones.

        tell: told in words what was found so far. trial: the tests that are run meanwhile; when enough repairs pass, no more are looked
        for. choose: which are shown of all.

        Raises NoRepairs where the model can't be asked, or was not in time. Raises Superseded where a later request for the document came.
        Cancellable.
        """
        began = time.perf_counter()
        before = self.found.of(asked.lines)
        if before is not None and trial is not None:
            trial.know(before)
            if before.repairs.stopped_by is StopReason.CANCELLED and not trial.is_enough:
                before = None
        found = await self._new(asked, tell, trial, began) if before is None else before
        try:
            chosen = found if choose is None else await choose(found)
        except asyncio.CancelledError:
            if found.logged is None:
                self._ended(asked, Ending.CANCELLED, began, found.names)
            raise
        return self._shown(asked, chosen, began, "model" if before is None else "memory")

    def _shown(self, asked: EditorRequest, found: Found, began: float, source: Source) -> Found:
        """Log which repairs are shown, if one is among them that was not logged yet. Gives what is kept."""
        shown = frozenset(repair.suggestion.id for repair in found.repairs.found)
        if found.logged is None or not shown <= found.logged:
            ending = Ending.PRODUCED if shown else _nothing(found)
            reason = "the tests refuse all" if found.refused and not shown else ""
            self._on_found(found.lines.uri, found.lines.version, found.repairs.found)
            self._ended(asked, ending, began, found.names, reason, found.repairs.found, source)
            found = replace(found, logged=shown | (found.logged or frozenset()))
        if self.found.of(found.lines) is not None:  # else the text has changed, or the settings
            self.found.add(found)
        return found

    async def _new(self, asked: EditorRequest, tell: Callable[[str], None], trial: Trial | None, began: float) -> Found:
        max_ms = asked.request.max_ms
        names: tuple[str, str] | None = None
        try:
            async with asyncio.timeout(max_ms / 1e3 + _GRACE_S):
                names = self._names(asked, await self._loaded(max_ms))
                left_ms = max(1.0, max_ms - (time.perf_counter() - began) * 1e3)
                repairs = await self._latest(replace(asked, request=replace(asked.request, max_ms=left_ms)), tell, trial)
                registry, project = await self._calibrators.of(asked.root)
        except Superseded:
            self._ended(asked, Ending.SUPERSEDED, began, names)
            raise
        except asyncio.CancelledError:
            self._ended(asked, Ending.CANCELLED, began, names)
            raise
        except TimeoutError:
            why = "the model is still loading" if names is None else "the model found nothing"
            self._ended(asked, Ending.TIMED_OUT, began, names, f"{why} in time")
            raise NoRepairs(f"{why} after {plain(max_ms / 1e3, 6)} s (assay.repair.maxMs)") from None
        except (ModelUnavailable, ModelProcessDied, ModelRequestFailed) as error:
            self._ended(asked, Ending.FAILED, began, names, "there is no model to ask")
            raise NoRepairs(str(error)) from error
        model_id, line_prompt = names
        # What is shown is in the same order as if there were no more.
        repairs, more = (
            judged(
                part, registry, model=model_id, line_prompt=line_prompt, language=asked.request.language, file=asked.file,
                project=project, settings=self._settings(),
            )
            for part in (replace(repairs, found=repairs.found[: asked.most]), replace(repairs, found=repairs.found[asked.most :]))
        )  # fmt: skip
        found = Found(asked.lines, repairs, candidates=(*repairs.found, *more.found), names=names)
        self.found.add(found)
        return found

    def shown(self, lines: Lines) -> Found | None:
        """What a request has given for these lines: while the tests choose, it is not known yet what is shown."""
        found = self.found.of(lines)
        return None if found is None or found.logged is None else found

    async def surprises(self, asked: EditorRequest) -> dict[str, Any]:
        """How much lines surprise, as the model's process tells it (`surprises_of`). Raises what `find` raises, but Superseded."""
        max_ms = self._settings().repair_max_ms
        try:
            await self._loaded(max_ms)
            return await self._live.process.surprise(asked.request)
        except TimeoutError:
            raise NoRepairs(f"the model is still loading after {plain(max_ms / 1e3, 6)} s (assay.repair.maxMs)") from None
        except (ModelUnavailable, ModelProcessDied, ModelRequestFailed) as error:
            raise NoRepairs(str(error)) from error

    async def _loaded(self, max_ms: float) -> LoadedModel:
        self._live.process.try_again_if_due()
        async with asyncio.timeout(max_ms / 1e3):
            return await self._live.loaded()

    async def _latest(self, asked: EditorRequest, tell: Callable[[str], None], trial: Trial | None) -> Repairs:
        """What the model's process answers; what it had found when enough of it passed the tests.

        An older request for the document raises Superseded.
        """
        uri, sofar = asked.lines.uri, Repairs((), (), {}, StopReason.CANCELLED)

        def told(found: Repairs) -> None:
            nonlocal sofar
            sofar = replace(found, stopped_by=StopReason.CANCELLED)
            tell(f"{len(found.found)} found")
            if trial is not None:
                trial.offer(found.found)

        if (older := self._running.get(uri)) is not None:
            older.cancel()
        mine = self._running[uri] = asyncio.create_task(self._ask(asked, told))
        if trial is not None:
            trial.when_enough(mine.cancel)
        try:
            return await mine
        except asyncio.CancelledError:
            if self._running.get(uri) is not mine:
                raise Superseded from None
            task = asyncio.current_task()
            if trial is not None and trial.is_enough and task is not None and not task.cancelling():
                return sofar
            raise
        finally:
            if self._running.get(uri) is mine:
                del self._running[uri]

    async def _ask(self, asked: EditorRequest, tell: Callable[[Repairs], None]) -> Repairs:
        def read(answer: dict[str, Any]) -> Repairs:
            return _in_document(msgspec.convert(answer, Repairs), asked)

        return read(await self._live.process.repair(asked.request, on_found=lambda found: tell(read(found))))

    def _names(self, asked: EditorRequest, model: LoadedModel) -> tuple[str, str]:
        """The ids of the model and of its prompt."""
        settings, memory = asked.request.settings, "" if asked.request.memory.scope == "off" else model.memory
        return model.fingerprint.id, settings.fingerprint(model.layout, model.context_length, "line", heals=model.heals, memory=memory)

    def _ended(
        self,
        asked: EditorRequest,
        ending: Ending,
        began: float,
        names: tuple[str, str] | None,
        reason: str = "",
        found: Sequence[Repair] = (),
        source: Source = "model",
    ) -> None:
        model, prompt = names or (None, None)
        first = found[0].suggestion if found else None
        more: dict[str, Any] = {"id": uuid.uuid4().hex[:12]}
        if first is not None:
            others = tuple(other(repair.suggestion, rank) for rank, repair in enumerate(found[1:], 2))
            more = {"id": first.id, "source": source, "propensity": 1.0, "confidence": first.confidence, "measures": first.measures}
            more |= {"others": others, **logged_text(first.text)}
        self._log(
            ended(
                ending,
                Spent((time.perf_counter() - began) * 1e3),
                document=hash_of(asked.lines.uri),
                project="" if asked.root is None else hash_of(asked.root.as_uri()),
                language=asked.request.language,
                trigger="invoked",
                kind=TASK,
                task=TASK,
                reason=reason,
                model=model,
                prompt=prompt,
                **more,
            )
        )


def _nothing(found: Found) -> Ending:
    return Ending.TIMED_OUT if not found.candidates and found.repairs.stopped_by is StopReason.TIME else Ending.EMPTY


def _in_document(repairs: Repairs, asked: EditorRequest) -> Repairs:
    """The same with ranges of the document; without what reaches beyond it, into another cell."""
    moved = tuple(_moved(repair, asked.above) for repair in repairs.found if _is_within(repair, asked))
    return replace(repairs, found=moved)


def _is_within(repair: Repair, asked: EditorRequest) -> bool:
    place = repair.suggestion.range
    return asked.above <= place.start.line and place.end.line < asked.above + asked.count


def _moved(repair: Repair, above: int) -> Repair:
    start, end = repair.suggestion.range.start, repair.suggestion.range.end
    place = Range(Position(start.line - above, start.character), Position(end.line - above, end.character))
    return replace(repair, suggestion=replace(repair.suggestion, range=place))
