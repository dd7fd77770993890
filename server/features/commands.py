"""The commands that editors run, but for those of repairs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from ...suggestion.positions import count_line_ends
from ...suggestion.repair.verified import Verification
from ..confidence.stops import SETTING_OF
from ..documents.documents import Document
from ..documents.workspace import path_of, root_of
from ..language_server import AssayServer
from ..protocol.pygls_protocol import request_failed
from ..requests.given import Given
from ..settings.settings import SHOW_ABOVE
from ..settings.table import ShowAbove
from ..user_messages import show
from ..verification.verifications import Acceptance
from .pause import MAX_MINUTES
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
# The editor's edit may come after its command.
_EDIT_S = 1.0


def begin_accepted_tests(ls: AssayServer, given: Given) -> None:
    """Run the tests that touch what was accepted, in the background."""
    ls.accepted_tests.accepted = given
    document, path = ls.protocol.documents.get(given.request.uri), path_of(given.request.uri)
    if ls.settings.tests_after_acceptance and document is not None and path is not None and path.suffix == ".py":
        ls.tasks.start(_begin(ls, given, document))


async def _begin(ls: AssayServer, given: Given, document: Document) -> None:
    texts = texts_of(document, given)
    if texts is None:
        await asyncio.sleep(_EDIT_S)
        texts = texts_of(document, given)
    if texts is not None:
        showing = ls.outcome_tracker.showing_of(given.suggestion.id)
        ls.accepted_tests.begin(Acceptance(showing, given.request.uri, *texts))


def accepted_lines(document: Document, given: Given | None) -> range | None:
    """The lines (from 1) of the suggestion that was accepted last, as long as it stands in the document where it was put in."""
    if given is None or given.request.uri != document.uri or texts_of(document, given) is None:
        return None
    first = count_line_ends(document.text[: given.request.start]) + 1
    return range(first, first + count_line_ends(given.request.selected + given.suggestion.text) + 1)


def texts_of(document: Document, given: Given) -> tuple[str, str] | None:
    """The text without a suggestion, and with it; None where it does not stand there."""
    request, after = given.request, document.text
    inserted = request.selected + given.suggestion.text
    start = request.start
    if not after.startswith(inserted, start):
        return None
    return after[:start] + request.stood + after[start + len(inserted) :], after


async def accepted(ls: AssayServer, *arguments: Any) -> None:
    """The editor inserted a suggestion: the one argument, of which the id is enough."""
    name = _id_in(arguments)
    ls.outcome_tracker.reported("accepted", name)
    given = ls.requests.accepted(name)
    if given is None:
        logger.debug("accepted, but not known: %s", name)
        return
    document = ls.protocol.documents.get(given.request.uri)
    begin_accepted_tests(ls, given)
    start = None if document is None else document.offset(given.suggestion.range.start)
    found = await ls.requests.explain(given, with_context=False)
    if start is not None:
        ls.hover_anchors.add(given.request.uri, start, given.request.selected + given.suggestion.text, found)


def rejected(ls: AssayServer, *arguments: Any) -> None:
    """The user dismissed a suggestion: the argument is as for `accepted`."""
    name = _id_in(arguments)
    ls.outcome_tracker.reported("rejected", name)
    ls.requests.rejected(name)


def shown(ls: AssayServer, *arguments: Any) -> None:
    """The editor shows a suggestion: the argument is as for `accepted`."""
    ls.outcome_tracker.reported("shown", _id_in(arguments))


def accepted_part(ls: AssayServer, *arguments: Any) -> None:
    """The editor inserted a word or a line of a suggestion: the argument is as for `accepted`, the edit next to it says how much."""
    ls.outcome_tracker.reported("part", _id_in(arguments))


def _id_in(arguments: Sequence[Any]) -> str:
    """The id in the one argument of a command; an empty one, which nothing has, where there is none."""
    name = arguments[0].get("id") if arguments and isinstance(arguments[0], dict) else None
    return name if isinstance(name, str) else ""


async def set_dial(ls: AssayServer, *arguments: Any) -> dict[str, Any]:
    """Set the dial to a stop or a level, whatever the setting `assay.showAbove` is, until that changes. null gives the setting back.

    Returns the stop that the dial is at now, and what it does, in words. Raises JsonRpcInvalidParams where the one argument is neither
    {stop} nor {showAbove}.
    """
    ls.dial_override = _wanted(arguments)
    await ls.client_settings.apply()
    return ls.stops.brief()


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


def pause_for_minutes(ls: AssayServer, *arguments: Any) -> str | None:
    """Let suggestions come only when they are invoked, for so many minutes; until when (ISO 8601), None with 0, which ends the pause.

    Raises JsonRpcInvalidParams where the one argument is not {minutes}.
    """
    minutes = arguments[0].get("minutes") if len(arguments) == 1 and isinstance(arguments[0], dict) else None
    if not isinstance(minutes, int | float) or isinstance(minutes, bool):
        raise JsonRpcInvalidParams(f'{PAUSE}: the one argument is {{"minutes": a number from 0 to {MAX_MINUTES:g}}}')
    try:
        ls.pause.begin(minutes)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{PAUSE}: {error}") from error
    return ls.pause.until_iso


async def run_tests(ls: AssayServer, *arguments: Any) -> dict[str, Any]:
    """`assay.runTests` {uri, range}: run the tests that touch these lines, with the text as it is in the editor, and show what they say.

    Without a range the lines are those of the suggestion that was accepted last. Raises JsonRpcInvalidParams, and JsonRpcException where
    that does not stand there any more.
    """
    asked = arguments[0] if len(arguments) == 1 else None
    uri = asked.get("uri") if isinstance(asked, dict) else None
    document = ls.protocol.documents.get(uri) if isinstance(uri, str) else None
    if not isinstance(asked, dict) or document is None:
        raise JsonRpcInvalidParams(f'{RUN_TESTS}: the one argument is an object with the "uri" of an open document and a "range"')
    # The text of now: the user may type while the client is asked for progress.
    lines, text = _lines(ls, document, asked.get("range")), document.text
    end = await shown_progress(ls, "tests", "running the tests that touch this")
    said = Verification(None, 0, 0.0, why="stopped")
    try:
        said = await ls.verifications.run(document.uri, text, lines)
    finally:
        end(said.title)
    show(ls, *_shown(said))
    return said.as_json() | {"title": said.title}


def _lines(ls: AssayServer, document: Document, place: Any) -> range:
    if place is None:
        lines = accepted_lines(document, ls.accepted_tests.accepted)
        if lines is None:
            why = "no suggestion was accepted in this document that still stands where it was put in: select some lines"
            raise request_failed(f"{RUN_TESTS}: {why}")
        return lines
    try:
        span = ls.protocol.structured(place, types.Range)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{RUN_TESTS}: {error}") from error
    last = span.end.line if span.end.character or span.end.line == span.start.line else span.end.line - 1
    return range(span.start.line + 1, last + 2)


async def forbid_tests(ls: AssayServer, *arguments: Any) -> None:
    """`assay.forbidTests` {uri}: the tests of the folder that a document is in are not run any more, until the user says otherwise.

    Raises JsonRpcInvalidParams.
    """
    asked = arguments[0] if len(arguments) == 1 else None
    uri = asked.get("uri") if isinstance(asked, dict) else None
    root = root_of(uri, ls.roots) if isinstance(uri, str) else None
    if root is None:
        raise JsonRpcInvalidParams(f'{FORBID_TESTS}: the one argument is an object with the "uri" of a file in an open folder')
    if await ls.verifications.forbid(root):
        show(ls, f"the tests of {root} are not run any more")


def _shown(said: Verification) -> tuple[str, types.MessageType]:
    if said.passed:
        return said.title, types.MessageType.Info
    if said.passed is None:
        return f"can't say whether tests pass: {said.why}", types.MessageType.Info
    return f"✘ {said.why}", types.MessageType.Warning
