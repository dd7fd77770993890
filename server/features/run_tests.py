"""The commands "run the tests that touch this" and "don't run the tests of this project"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from ...suggestion.repair.verified import Verification
from ..documents.documents import Document
from ..documents.workspace import root_of
from ..language_server import AssayServer
from .accepted_tests import accepted_lines
from .progress import progress_token

RUN_TESTS = "assay.runTests"
FORBID_TESTS = "assay.forbidTests"


async def run(ls: AssayServer, arguments: Sequence[Any]) -> dict[str, Any]:
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
    token = await progress_token(ls, "tests")
    if token is not None:
        ls.work_done_progress.begin(token, types.WorkDoneProgressBegin(title="Assay", message="running the tests that touch this"))
    said = Verification(None, 0, 0.0, why="stopped")
    try:
        said = await ls.verifications.run(document.uri, text, lines)
    finally:
        if token is not None:
            ls.work_done_progress.end(token, types.WorkDoneProgressEnd(message=said.title))
    kind, words = _shown(said)
    ls.window_show_message(types.ShowMessageParams(kind, f"Assay: {words}"))
    return said.as_json() | {"title": said.title}


def _lines(ls: AssayServer, document: Document, place: Any) -> range:
    if place is None:
        lines = accepted_lines(document, ls.accepted_tests.accepted)
        if lines is None:
            why = "no suggestion was accepted in this document that still stands where it was put in: select some lines"
            raise JsonRpcException(f"{RUN_TESTS}: {why}", types.LSPErrorCodes.RequestFailed.value)
        return lines
    try:
        span = ls.protocol.structured(place, types.Range)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{RUN_TESTS}: {error}") from error
    last = span.end.line if span.end.character or span.end.line == span.start.line else span.end.line - 1
    return range(span.start.line + 1, last + 2)


async def forbid(ls: AssayServer, arguments: Sequence[Any]) -> None:
    """`assay.forbidTests` {uri}: the tests of the folder that a document is in are not run any more, until the user says otherwise.

    Raises JsonRpcInvalidParams.
    """
    asked = arguments[0] if len(arguments) == 1 else None
    uri = asked.get("uri") if isinstance(asked, dict) else None
    root = root_of(uri, ls.roots) if isinstance(uri, str) else None
    if root is None:
        raise JsonRpcInvalidParams(f'{FORBID_TESTS}: the one argument is an object with the "uri" of a file in an open folder')
    if await ls.verifications.forbid(root):
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"Assay: the tests of {root} are not run any more"))


def _shown(said: Verification) -> tuple[types.MessageType, str]:
    if said.passed:
        return types.MessageType.Info, said.title
    if said.passed is None:
        return types.MessageType.Info, f"can't say whether tests pass: {said.why}"
    return types.MessageType.Warning, f"✘ {said.why}"
