"""The commands that editors run, but for those of repairs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from ...suggestion.repair.verified import Verification
from ..confidence.stops import SETTING_OF, Stops
from ..documents.workspace import root_of
from ..protocol.pygls_protocol import request_failed, structured
from ..requests.requests import Requests
from ..session import Session
from ..settings.client_settings import ClientSettings
from ..settings.settings import SHOW_ABOVE
from ..settings.table import ShowAbove
from ..tracking.outcome_tracker import OutcomeTracker
from ..user_messages import show
from ..verification.accepted_tests import AcceptedTests, accepted_lines
from ..verification.verifications import Verifications
from .hover_anchors import HoverAnchors
from .pause import MAX_MINUTES, Pause
from .progress import shown_progress

logger = logging.getLogger(__name__)

ACCEPTED = "assay.accepted"
REJECTED = "assay.rejected"
SHOWN = "assay.shown"
ACCEPTED_PART = "assay.acceptedPart"
SET_DIAL = "assay.setDial"
PAUSE = "assay.pause"
RUN_TESTS = "assay.runTests"
FORBID_TESTS = "assay.forbidTests"


@dataclass(frozen=True, slots=True)
class Reports:
    """What an editor reports of a suggestion: the one argument of each command, of which the id is enough."""

    session: Session
    requests: Requests
    outcomes: OutcomeTracker
    tests: AcceptedTests
    hovers: HoverAnchors

    async def accepted(self, *arguments: Any) -> None:
        """The editor inserted it."""
        name = _id_in(arguments)
        self.outcomes.reported("accepted", name)
        offer = self.requests.accepted(name)
        if offer is None:
            logger.debug("accepted, but not known: %s", name)
            return
        document = self.session.documents.get(offer.request.uri)
        self.tests.begin(offer, document if self.session.settings.tests_after_acceptance else None, self.outcomes.showing_of(name))
        start = None if document is None else document.offset(offer.suggestion.range.start)
        found = await self.requests.explain(offer, with_context=False)
        if start is not None:
            self.hovers.add(offer.request.uri, start, offer.request.selected + offer.suggestion.text, found)

    def rejected(self, *arguments: Any) -> None:
        """The user dismissed it."""
        name = _id_in(arguments)
        self.outcomes.reported("rejected", name)
        self.requests.rejected(name)

    def shown(self, *arguments: Any) -> None:
        """The editor shows it."""
        self.outcomes.reported("shown", _id_in(arguments))

    def accepted_part(self, *arguments: Any) -> None:
        """The editor inserted a word or a line of it: the edit next to it says how much."""
        self.outcomes.reported("part", _id_in(arguments))


def _id_in(arguments: Sequence[Any]) -> str:
    """The id in the one argument of a command; an empty one, which nothing has, where there is none."""
    name = arguments[0].get("id") if arguments and isinstance(arguments[0], dict) else None
    return name if isinstance(name, str) else ""


@dataclass(frozen=True, slots=True)
class Switches:
    """How many suggestions come by themselves, for now."""

    settings: ClientSettings
    stops: Stops
    pause: Pause

    async def set_dial(self, *arguments: Any) -> dict[str, Any]:
        """Set the dial to a stop or a level, whatever the setting `assay.showAbove` is, until that changes. null gives the setting back.

        Returns the stop that the dial is at now, and what it does, in words. Raises JsonRpcInvalidParams where the one argument is neither
        {stop} nor {showAbove}.
        """
        await self.settings.set_dial(_wanted(arguments))
        return self.stops.brief()

    def pause_for_minutes(self, *arguments: Any) -> str | None:
        """Let suggestions come only when they are invoked, for so many minutes; until when (ISO 8601), None with 0, which ends the pause.

        Raises JsonRpcInvalidParams where the one argument is not {minutes}.
        """
        minutes = arguments[0].get("minutes") if len(arguments) == 1 and isinstance(arguments[0], dict) else None
        if not isinstance(minutes, int | float) or isinstance(minutes, bool):
            raise JsonRpcInvalidParams(f'{PAUSE}: the one argument is {{"minutes": a number from 0 to {MAX_MINUTES:g}}}')
        try:
            self.pause.begin(minutes)
        except ValueError as error:
            raise JsonRpcInvalidParams(f"{PAUSE}: {error}") from error
        return self.pause.until_iso


def _wanted(arguments: Sequence[Any]) -> ShowAbove | None:
    given = arguments[0] if len(arguments) == 1 else None
    if isinstance(given, dict) and len(given) == 1:
        ((name, value),) = given.items()
        if name == "stop" and isinstance(value, str) and value in SETTING_OF:
            return SETTING_OF[value]
        if name == "showAbove":
            if value is None:
                return None
            try:
                return SHOW_ABOVE.read(value)  # type: ignore[no-any-return]
            except ValueError:
                pass
    stops = ", ".join(f'"{stop}"' for stop in SETTING_OF)
    raise JsonRpcInvalidParams(
        f'{SET_DIAL}: the one argument is {{"stop": one of {stops}}} or {{"showAbove": {SHOW_ABOVE.values.words}, or null}}'
    )


@dataclass(frozen=True, slots=True)
class TestCommands:
    """Runs the tests of a project where the user asks for it, or no more."""

    editor: LanguageServer
    session: Session
    verifications: Verifications
    accepted: AcceptedTests

    async def run(self, *arguments: Any) -> dict[str, Any]:
        """`assay.runTests` {uri, range}: run the tests that touch these lines, with the text as it is in the editor, and show the result.

        Without a range the lines are those of the suggestion that was accepted last. Raises JsonRpcInvalidParams, and JsonRpcException
        where that does not stand there any more.
        """
        asked = arguments[0] if len(arguments) == 1 else None
        uri = asked.get("uri") if isinstance(asked, dict) else None
        document = self.session.documents.get(uri) if isinstance(uri, str) else None
        if not isinstance(asked, dict) or document is None:
            raise JsonRpcInvalidParams(f'{RUN_TESTS}: the one argument is an object with the "uri" of an open document and a "range"')
        if (place := asked.get("range")) is not None:
            lines = _lines(place)
        elif (accepted := accepted_lines(document, self.accepted.accepted)) is not None:
            lines = accepted
        else:
            why = "no suggestion was accepted in this document that still stands where it was put in: select some lines"
            raise request_failed(f"{RUN_TESTS}: {why}")
        text = document.text  # of now: the user may type while the client is asked for progress
        end = await shown_progress(self.editor, "tests", "running the tests that touch this")
        said = Verification(None, 0, 0.0, why="stopped")
        try:
            said = await self.verifications.run(document.uri, text, lines)
        finally:
            end(said.title)
        show(self.editor, *_shown(said))
        return said.as_json() | {"title": said.title}

    async def forbid(self, *arguments: Any) -> None:
        """`assay.forbidTests` {uri}: the tests of the folder that a document is in are not run any more, until the user says otherwise.

        Raises JsonRpcInvalidParams.
        """
        asked = arguments[0] if len(arguments) == 1 else None
        uri = asked.get("uri") if isinstance(asked, dict) else None
        root = root_of(uri, self.session.roots) if isinstance(uri, str) else None
        if root is None:
            raise JsonRpcInvalidParams(f'{FORBID_TESTS}: the one argument is an object with the "uri" of a file in an open folder')
        if await self.verifications.forbid(root):
            show(self.editor, f"the tests of {root} are not run any more")


def _lines(place: Any) -> range:
    try:
        span = structured(place, types.Range)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{RUN_TESTS}: {error}") from error
    last = span.end.line if span.end.character or span.end.line == span.start.line else span.end.line - 1
    return range(span.start.line + 1, last + 2)


def _shown(said: Verification) -> tuple[str, types.MessageType]:
    if said.passed:
        return said.title, types.MessageType.Info
    if said.passed is None:
        return f"can't say whether tests pass: {said.why}", types.MessageType.Info
    return f"✘ {said.why}", types.MessageType.Warning
