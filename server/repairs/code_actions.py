"""`textDocument/codeAction` and `codeAction/resolve`: repairs as code actions. Nothing is computed until one is resolved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ...suggestion.positions import Position, Range
from ..documents.documents import Document
from ..protocol.pygls_protocol import as_json
from ..session import Session
from .edits import actions_of
from .lines import Lines, lines_at, lines_in
from .work import CHOOSE, REPAIR, RepairWork

KINDS = (types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite)
# Of the diagnostics of one request, so many places are offered a repair.
_MAX_PLACES = 3


@dataclass(frozen=True, slots=True)
class CodeActions:
    """Offers repairs as code actions, and finds the edit of the one that the user takes."""

    editor: LanguageServer
    session: Session
    work: RepairWork

    def offered(self, params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        """The repairs that can be asked for. Answered at once: no model is asked, and no more text is looked at than a model sees."""
        document = self.session.documents.get(params.text_document.uri)
        if document is None or self.work.why_none(document):
            return []
        places = [place for place in _places(document, params) if not self.work.why_unchecked(document, place[1])]
        can = actions_of(self.editor.client_capabilities)
        actions = [action for place in places for action in self._offered(*place, resolves=can.resolves)]
        return [action if can.literals else _command_of(action) for action in actions]

    async def resolved(self, action: types.CodeAction) -> types.CodeAction:
        """`codeAction/resolve`: the action with its edit. Where there is none, the user is told why, and the action does nothing."""
        data = as_json(action.data)
        if data is None:
            return action
        try:
            lines = lines_in(data)
        except ValueError:
            return action
        found = await self.work.repair_for(lines, data.get("id"))
        if found is not None:
            repair, now = found
            action.edit = self.work.edit([repair], now)
        return action

    def _offered(
        self, kind: types.CodeActionKind, lines: Lines, told: list[types.Diagnostic], *, resolves: bool
    ) -> Iterator[types.CodeAction]:
        """The actions for some lines: to repair them, to choose how, and what is known of how."""
        data = lines.as_json()
        found = self.work.requests.shown(lines)
        for title, repair in () if found is None else found.titled:
            yield _action(f"Assay: {title}", kind, {**data, "id": repair.suggestion.id}, told, resolves=resolves)
        yield _action(f"Assay: repair this {lines.name}", kind, data, told, resolves=resolves)
        choose = f"Assay: choose a repair of this {lines.name}…"
        yield types.CodeAction(choose, kind, told or None, command=types.Command(choose, CHOOSE, arguments=[data]))


def _action(
    title: str, kind: types.CodeActionKind, data: dict[str, Any], told: list[types.Diagnostic], *, resolves: bool
) -> types.CodeAction:
    if resolves:
        return types.CodeAction(title, kind, told or None, data=data)
    return types.CodeAction(title, kind, told or None, command=types.Command(title, REPAIR, arguments=[data]))


def _places(document: Document, params: types.CodeActionParams) -> Iterator[tuple[types.CodeActionKind, Lines, list[types.Diagnostic]]]:
    """The lines that may be repaired, each with the kind of its action and what other tools say of them."""
    only, place = params.context.only, _range(params.range)
    diagnostics = params.context.diagnostics
    if diagnostics and _is_wanted(types.CodeActionKind.QuickFix, only):
        told: dict[tuple[int, int], tuple[Lines, list[types.Diagnostic]]] = {}
        for diagnostic in diagnostics:
            lines = lines_at(document, _range(diagnostic.range), _message(diagnostic))
            if lines is not None:
                told.setdefault((lines.first, lines.end), (lines, []))[1].append(diagnostic)
        for lines, own in list(told.values())[:_MAX_PLACES]:
            yield types.CodeActionKind.QuickFix, lines, own
        if told and only is None:
            return
    if not _is_wanted(types.CodeActionKind.RefactorRewrite, only):
        return
    # Offered unasked, they would light the bulb on every line.
    unasked = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic and place.start == place.end
    lines = None if unasked and only is None else lines_at(document, place)
    if lines is not None:
        yield types.CodeActionKind.RefactorRewrite, lines, []


def _command_of(action: types.CodeAction) -> types.Command:
    """The action for a client that knows commands alone."""
    assert action.command is not None
    return action.command


def _is_wanted(kind: types.CodeActionKind, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Kinds are a tree: who wants "refactor" wants "refactor.rewrite"."""
    name = kind.value
    return only is None or any(each in ("", name) or name.startswith(f"{each}.") for each in (getattr(o, "value", o) for o in only))


def _message(diagnostic: types.Diagnostic) -> str:
    """What another tool says is wrong, and which tool."""
    message = getattr(diagnostic.message, "value", diagnostic.message)
    return f"{diagnostic.source}: {message}" if diagnostic.source else str(message)


def _range(place: types.Range) -> Range:
    start, end = place.start, place.end
    return Range(Position(start.line, start.character), Position(end.line, end.character))
