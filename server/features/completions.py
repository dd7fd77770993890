"""From a place in a document to its suggestions: for `textDocument/inlineCompletion` and `textDocument/completion`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types

from ...inference.completion.context import head_characters
from ...inference.completion.prompt import Surroundings
from ...suggestion.kind import kind_at
from ...suggestion.memory.memories import REACH
from ...suggestion.positions import Position, Range, bare_lines
from ...suggestion.secrets import is_secret_path
from ...suggestion.suggestion import Place, Suggestion
from ..confidence.explanation import hover_markdown
from ..documents.documents import Document
from ..documents.workspace import below_root, path_of
from ..model.request import GenerationRequest, ReadAlong
from ..protocol.keystroke_messages import InlineParams
from ..requests.requests import FOR_THE_MODEL, Requests
from ..session import Session
from .commands import ACCEPTED
from .menu_item import Cursor, completion_list
from .menu_registration import MenuRegistration

UNKNOWN_DOCUMENT = "The document is not open, or an edit of it could not be read."
_INVOKED = types.InlineCompletionTriggerKind.Invoked.value
# How far before the cursor its line is looked at for the word that a menu filters by.
_LINE_BEFORE = 1_000
# Of code, about; what is too much is left out where tokens are counted.
_CHARACTERS_PER_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Completions:
    """Answers requests for completions, in either form."""

    session: Session
    requests: Requests
    menu: MenuRegistration

    async def inline(self, asked: InlineParams) -> dict[str, Any]:
        """The suggestions at the cursor: one, or on invoke up to `alternatives`; none also when the text changes while the model works."""
        nothing: dict[str, Any] = {"items": []}
        invoked = asked.context.trigger_kind == _INVOKED
        document = self.session.documents.get(asked.text_document.uri)
        if document is None:
            self.requests.nothing(asked.text_document.uri, UNKNOWN_DOCUMENT, invoked=invoked)
            return nothing
        at = document.clamp(Position(asked.position.line, asked.position.character))
        replaced, before = Range(at, at), ""
        if (selected := asked.context.selected_completion_info) is not None:
            # The menu's selected item counts as typed: what is suggested goes on behind it, and puts it in, too.
            start, end = selected.range.start, selected.range.end
            replaced = Range(document.clamp(Position(start.line, start.character)), document.clamp(Position(end.line, end.character)))
            if replaced.start.line != at.line or replaced.end != at or replaced.start > at:
                why = "What is selected in the menu does not end at the cursor, on its line."
                self.requests.nothing(document.uri, why, invoked=invoked)
                return nothing
            before = selected.text
        suggestions = await self._at(document, at, invoked=invoked, replaced=replaced, selected=before)
        whole = [replace(suggestion, text=before + suggestion.text) for suggestion in suggestions] if before else suggestions
        return {"items": [inline_item(each, line_feeds=self.session.is_neovim) for each in whole]}

    async def plain(self, params: types.CompletionParams) -> types.CompletionList:
        """The suggestion as an item of the menu, for clients without inline completion."""
        document = self.session.documents.get(params.text_document.uri)
        if document is None or not self.menu.is_wanted:
            why = UNKNOWN_DOCUMENT if document is None else "The ordinary list of completions holds no suggestions (assay.plainCompletion)."
            self.requests.nothing(params.text_document.uri, why, invoked=False)
            return types.CompletionList(is_incomplete=False, items=[])
        at = document.clamp(Position(params.position.line, params.position.character))
        suggestions = await self._at(document, at, invoked=False, menu=True)
        before = document.before(at, _LINE_BEFORE)
        cursor = Cursor(at, before[max(before.rfind("\n"), before.rfind("\r")) + 1 :], document.encoding)
        evidence = ""
        if suggestions and (offer := self.requests.find(suggestions[0].id)) is not None:
            evidence = hover_markdown(await self.requests.explain(offer, with_context=False))
        return completion_list(
            suggestions[0] if suggestions else None,
            cursor,
            language=document.language,
            evidence=evidence,
            accepted=ACCEPTED,
            as_snippet=self.session.is_neovim,
        )

    async def _at(self, document: Document, at: Position, *, invoked: bool, **how: Any) -> Sequence[Suggestion]:
        """As `Requests.suggestions` at a place of a document; none where none may come. how: as of `request_at`."""
        session = self.session
        try:
            request = request_at(session, document, at, invoked=invoked, **how)
            if self.requests.refuses(request, secret=is_secret(request)):
                return ()
            request = with_texts(session, document, at, request)
        except Exception as error:
            self.requests.failed(document.uri, error, invoked=invoked)
            raise
        version = document.version
        return await self.requests.suggestions(
            request, lambda: session.documents.get(document.uri) is document and document.version == version
        )


def inline_item(suggestion: Suggestion, *, line_feeds: bool) -> dict[str, Any]:
    """An InlineCompletionItem. line_feeds: its lines end so, whatever the document's do: the editor mends that."""
    return {
        "insertText": "\n".join(bare_lines(suggestion.text)) if line_feeds else suggestion.text,
        "range": suggestion.range.as_json(),
        "command": {"title": "Suggestion accepted", "command": ACCEPTED, "arguments": [suggestion.as_json()]},
    }


def request_at(
    session: Session,
    document: Document,
    at: Position,
    *,
    invoked: bool,
    replaced: Range | None = None,
    selected: str = "",
    menu: bool = False,
) -> GenerationRequest:
    """What is asked at a place, as if `selected` stood in `replaced`, which ends there; menu: for the ordinary list of completions.

    It is without the texts around the place: whether it is refused is known before they are looked for.
    """
    settings, replaced = session.settings, replaced or Range(at, at)
    end = document.offset(at)
    start = end if replaced.start == at else document.offset(replaced.start)
    return GenerationRequest(
        document.uri,
        Place(
            "", "", replaced, "line" if settings.kind == "auto" else settings.kind, document.language, settings.event, path_of(document.uri)
        ),
        invoked,
        session.root_of(document),
        menu=menu,
        selected=selected,
        start=start,
        stood=document.between(start, end) if start < end else "",
        count=settings.alternatives if invoked else 1,
        max_ms=settings.max_ms * FOR_THE_MODEL,
    )


def is_secret(request: GenerationRequest) -> bool:
    """Whether no model is shown the document, by its path."""
    return is_secret_document(request.uri, request.place.file)


def is_secret_document(uri: str, file: Path | None) -> bool:
    """Whether no model is shown a document, by its path, or else by what its URI has in the place of one."""
    return is_secret_path(file or _path_in(uri))


def with_texts(session: Session, document: Document, at: Position, request: GenerationRequest) -> GenerationRequest:
    """The request with the texts around its place, and the kind that is asked for there."""
    place = request.place
    prefix, suffix, cut = session.notebooks.around(document, at, session.live.window)
    prefix = prefix[: max(0, len(prefix) - len(request.stood))] + request.selected
    kind = kind_at(prefix, suffix, place.language, cut=cut) if session.settings.kind == "auto" else place.kind
    return replace(
        request,
        place=replace(place, prefix=prefix, suffix=suffix, kind=kind),
        cut=cut,
        surroundings=surroundings_at(session, document, at.line, prefix, suffix),
        memory=_read_along(session, document, at, len(prefix) + len(request.stood) - len(request.selected), len(suffix)),
        settings=session.live.settings,
    )


def surroundings_at(session: Session, document: Document, line: int, prefix: str, suffix: str) -> Surroundings:
    """What the model is shown besides the texts around a place, as far as the user gives that a budget."""
    budget = session.live.settings
    head = session.notebooks.head(document, head_characters(budget.head_tokens)) if budget.head_tokens else ""
    if not budget.extra_tokens:
        return Surroundings(head)
    characters = budget.extra_tokens * _CHARACTERS_PER_TOKEN
    return Surroundings(head, session.others.path(document), session.others.pieces(document, line, prefix, suffix, characters))


def _read_along(session: Session, document: Document, at: Position, shown_before: int, shown_after: int) -> ReadAlong:
    """What a memory reads there, given how much of the text around the place the request has already."""
    if session.settings.memory == "off":
        return ReadAlong("off")
    session.edited_files.tell(document.uri)
    before, after, _ = session.notebooks.around(document, at, REACH)
    root, path = below_root(document.uri, session.roots)
    rest = before[: max(0, len(before) - shown_before)]
    return ReadAlong(session.settings.memory, rest, after[shown_after:], root, path, document.line_count)


def _path_in(uri: str) -> str:
    """The path in a URI of whatever scheme."""
    return unquote(uri.partition(":")[2].partition("?")[0].partition("#")[0])
