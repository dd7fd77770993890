"""The commands and requests of repairs, for clients that choose among them, and for those without code actions that are resolved.

A client shows a list of repairs (`assay/repairs`) and has the chosen one put in (`assay.repair` with its id). Where it has no list of its
own, `assay.chooseRepair` asks the user through the protocol's own message.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from ...suggestion.positions import Encoding, Position, Range, column_at
from ...suggestion.repair.request import Repair
from ..features.progress import cancellable_progress
from ..model.scheduler import Superseded
from ..protocol.pygls_protocol import fields_of, request_failed, structured, token_of
from ..session import Session
from ..user_messages import show
from .edits import text_edit
from .failing_tests import mended
from .found import Found
from .lines import MAX_CHARACTERS, MAX_LINES, Lines, found_again, lines_at, lines_in
from .repairing import NoRepairs
from .work import CHANGED, CHOOSE, REPAIR, RepairWork

REPAIRS = "assay/repairs"
SURPRISE = "assay/surprise"
REPAIR_TESTS = "assay.repairTests"


@dataclass(frozen=True, slots=True)
class RepairCommands:
    """Finds repairs for a client that shows them itself, and puts the chosen one in."""

    editor: LanguageServer
    session: Session
    work: RepairWork

    async def repairs(self, params: Any) -> dict[str, Any]:
        """`assay/repairs`: what was found for lines, each with its title and its edit. Raises JsonRpcException."""
        lines = self._lines_of(params, REPAIRS)
        try:
            async with cancellable_progress(self.editor, "repair", "looking for repairs", token_of(params)) as tell:
                found = await self.work.found_for(lines, tell)
        except NoRepairs as error:
            raise request_failed(str(error)) from error
        except Superseded:
            raise JsonRpcException(f"{REPAIRS}: a later request took its place", types.LSPErrorCodes.ServerCancelled.value) from None
        return self.repairs_json(found)

    def repairs_json(self, found: Found) -> dict[str, Any]:
        """The answer to `assay/repairs`: docs/formats.md."""
        answer = found.as_json()
        for each, (title, repair) in zip(answer["repairs"], found.titled, strict=True):
            place, text = text_edit(repair, self.session.documents.encoding)
            each |= {"title": title, "edit": {"range": place.as_json(), "newText": text}}
        return {**answer, "lines": found.lines.as_json()}

    async def surprise(self, params: Any) -> dict[str, Any]:
        """`assay/surprise`: the tokens of lines in whose place the model finds others likelier. Raises JsonRpcException."""
        lines = self._lines_of(params, SURPRISE, math.inf)
        try:
            asked = self.work.asked_for(lines)
            async with cancellable_progress(self.editor, "surprise", "looking for surprising tokens", token_of(params)):
                told = await self.work.requests.surprises(asked)
        except NoRepairs as error:
            raise request_failed(str(error)) from error
        found = [_in_document(line, asked.above, asked.request.encoding) for line in told["lines"]]
        return {"version": asked.lines.version, "lines": found, "stopped_by": told["stopped_by"]}

    async def repair(self, *arguments: Any) -> bool:
        """`assay.repair` {uri, version, range, lines, id?}: put in the best repair of lines, or that of an id. Whether it was put in.

        Raises JsonRpcInvalidParams where the one argument is not what the server gave the client.
        """
        lines = _argument(arguments, REPAIR)
        found = await self.work.repair_for(lines, arguments[0].get("id"))
        return found is not None and await self._put_in([found[0]], found[1])

    async def choose(self, *arguments: Any) -> bool:
        """`assay.chooseRepair` {uri, version, range, lines}: have the user choose a repair, and put it in. Whether one was put in.

        Raises JsonRpcInvalidParams as `repair`.
        """
        found = await self.work.repairs_for(_argument(arguments, CHOOSE))
        if found is None:
            return False
        of_title = dict(reversed(found.titled))
        first, outcomes = found.repairs.found[0].suggestion.id, self.work.outcomes
        outcomes.reported("shown", first)
        items = [types.MessageActionItem(title) for title in reversed(of_title)]
        not_verified = f" (not verified: {found.not_verified})" if found.not_verified else ""
        better = "nothing better was found; " if found.nothing_better else ""
        told = f"Assay: {better}repairs of this {found.lines.name}{not_verified}"
        question = types.ShowMessageRequestParams(types.MessageType.Info, told, items)
        answer = await self.editor.window_show_message_request_async(question)
        chosen = None if answer is None else of_title.get(answer.title)
        if chosen is None:
            outcomes.reported("rejected", first)
            return False
        return await self._put_in([chosen], found.lines)

    async def repair_tests(self, *arguments: Any) -> bool:
        """`assay.repairTests` {uri}: repair the tests that fail and run a document's file, as far as that goes, in one edit.

        Whether one was made. Raises JsonRpcInvalidParams.
        """
        asked = arguments[0] if len(arguments) == 1 else None
        uri = asked.get("uri") if isinstance(asked, dict) else None
        document = self.session.documents.get(uri) if isinstance(uri, str) else None
        if document is None:
            raise JsonRpcInvalidParams(f'{REPAIR_TESTS}: the one argument is an object with the "uri" of an open document')
        try:
            async with cancellable_progress(self.editor, "repair", "running the tests of this file") as tell:
                found = await mended(self.work, document, tell)
        except NoRepairs as error:
            show(self.editor, f"No repair: {error}")
            return False
        if not await self._put_in(found.repairs, found.lines):
            return False
        show(self.editor, found.title)
        return True

    async def _put_in(self, repairs: Sequence[Repair], lines: Lines) -> bool:
        """Have the client make the edit of repairs. Where the text has changed, nothing is made, and the user is told."""
        document = self.session.documents.get(lines.uri)
        # A document that was closed and opened again counts its versions anew.
        if document is None or document.version != lines.version or found_again(document, lines) != lines:
            show(self.editor, CHANGED)
            return False
        edit = types.ApplyWorkspaceEditParams(self.work.edit(repairs, lines), "Assay: repair")
        answer = await self.editor.workspace_apply_edit_async(edit)
        if not answer.applied:
            show(self.editor, f"The editor did not make the edit: {answer.failure_reason or 'it does not say why'}.")
        return answer.applied

    def _lines_of(self, params: Any, method: str, max_characters: float = MAX_CHARACTERS) -> Lines:
        """The lines of {textDocument: {uri, version?}, range, lines?, message?}: of the document as it is, or as a code action has them."""
        fields = fields_of(params)
        named = fields.get("textDocument")
        if not isinstance(named, dict) or not isinstance(uri := named.get("uri"), str):
            raise JsonRpcInvalidParams(f'{method}: "textDocument" is an object with the string "uri"')
        try:
            if "lines" in fields:
                return lines_in({"uri": uri, "version": named.get("version"), **fields})
            span = structured(fields.get("range"), types.Range)
        except ValueError as error:
            raise JsonRpcInvalidParams(f"{method}: {error}") from error
        document = self.session.documents.get(uri)
        if (why := self.work.why_none(document)) or document is None:
            raise request_failed(why)
        if named.get("version") not in (None, document.version):
            raise request_failed(CHANGED)
        place = Range(Position(span.start.line, span.start.character), Position(span.end.line, span.end.character))
        lines = lines_at(document, place, max_characters=max_characters)
        if lines is None:
            longest = f", none longer than {max_characters:,} characters" if max_characters < math.inf else ""
            raise request_failed(f"choose 1 to {MAX_LINES} lines that have text{longest}")
        return lines


def _argument(arguments: Sequence[Any], command: str) -> Lines:
    try:
        return lines_in(arguments[0] if len(arguments) == 1 else None)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{command}: {error}") from error


def _in_document(line: dict[str, Any], above: int, encoding: Encoding) -> dict[str, Any]:
    """A line that surprises, with its number in the document and the columns of its tokens as the client counts them."""

    def token_in(token: dict[str, Any]) -> dict[str, Any]:
        return token | {end: column_at(line["text"], token[end], encoding) for end in ("start", "end")}

    return line | {"line": line["line"] - above, "tokens": [token_in(token) for token in line["tokens"]]}
