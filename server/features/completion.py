"""What an editor asks of the language server, and how its answers look on the wire."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from ...inference.completion.context import head_characters
from ...inference.completion.prompt import Surroundings
from ...suggestion.extent import kind_at
from ...suggestion.place import Place
from ...suggestion.positions import Position, Range, bare_lines
from ...suggestion.suggestion import Suggestion
from ..confidence.explanation import hover_markdown
from ..context.secrets import is_secret_path
from ..documents.documents import Document
from ..documents.workspace import path_of, root_of
from ..language_server import AssayServer
from ..model.process import ModelProcessDied, ModelRequestFailed, ModelUnavailable
from ..protocol.keystroke_messages import InlineAsked
from ..requests.debounce import Refusal
from ..requests.request import Ask
from .pause import MAX_MINUTES
from .plain_completion import Cursor, completion_list

logger = logging.getLogger(__name__)

ACCEPTED = "assay.accepted"
REJECTED = "assay.rejected"
SHOWN = "assay.shown"
ACCEPTED_PART = "assay.acceptedPart"
PAUSE = "assay.pause"
STATUS = "assay/status"
EXPLAIN = "assay/explain"
CONTEXT = "assay/context"

_INVOKED = types.InlineCompletionTriggerKind.Invoked.value
_UNKNOWN = "The document is not open, or an edit of it could not be read."

# How far before the cursor its line is looked at for the word that a menu filters by.
_LINE_BEFORE = 1_000
# Of code, about; what is too much is left out where tokens are counted.
_CHARACTERS_PER_TOKEN = 3


async def inline_completion(ls: AssayServer, asked: InlineAsked) -> dict[str, Any]:
    """The suggestions at the cursor: one, or on invoke up to `alternatives`; none also when the text changes while the model works."""
    nothing: dict[str, Any] = {"items": []}
    invoked = asked.context.trigger_kind == _INVOKED
    document = ls.protocol.documents.get(asked.text_document.uri)
    if document is None:
        ls.requests.nothing(asked.text_document.uri, _UNKNOWN, invoked=invoked)
        return nothing
    at = document.clamp(Position(asked.position.line, asked.position.character))
    replaced, before = Range(at, at), ""
    if (selected := asked.context.selected_completion_info) is not None:
        # The menu's selected item counts as typed: what is suggested goes on behind it, and puts it in, too.
        start, end = selected.range.start, selected.range.end
        replaced = Range(document.clamp(Position(start.line, start.character)), document.clamp(Position(end.line, end.character)))
        if replaced.start.line != at.line or replaced.end != at or replaced.start > at:
            ls.requests.nothing(document.uri, "What is selected in the menu does not end at the cursor, on its line.", invoked=invoked)
            return nothing
        before = selected.text
    suggestions = await _answer(ls, document, at, invoked=invoked, replaced=replaced, selected=before)
    whole = [replace(suggestion, text=before + suggestion.text) for suggestion in suggestions] if before else suggestions
    return {"items": [inline_item(each, line_feeds=ls.is_neovim) for each in whole]}


async def completion(ls: AssayServer, params: types.CompletionParams) -> types.CompletionList:
    """The suggestion as an item of the menu, for clients without inline completion."""
    document = ls.protocol.documents.get(params.text_document.uri)
    if document is None or not ls.menu.is_wanted:
        why = _UNKNOWN if document is None else "The ordinary list of completions holds no suggestions (assay.plainCompletion)."
        ls.requests.nothing(params.text_document.uri, why, invoked=False)
        return types.CompletionList(is_incomplete=False, items=[])
    at = document.clamp(_position(params.position))
    suggestions = await _answer(ls, document, at, invoked=False, menu=True)
    before = document.before(at, _LINE_BEFORE)
    cursor = Cursor(at, before[max(before.rfind("\n"), before.rfind("\r")) + 1 :], document.encoding)
    evidence = ""
    if suggestions and (shown := ls.requests.find(suggestions[0].id)) is not None:
        evidence = hover_markdown(await ls.requests.explain(shown, with_context=False))
    return completion_list(
        suggestions[0] if suggestions else None,
        cursor,
        language=document.language,
        evidence=evidence,
        accepted=ACCEPTED,
        as_snippet=ls.is_neovim,
    )


def hover(ls: AssayServer, params: types.HoverParams) -> types.Hover | None:
    """Why the suggestion that was accepted on this line had the confidence that it had."""
    document = ls.protocol.documents.get(params.text_document.uri)
    found = None if document is None else ls.accepted.at(document, params.position.line)
    return None if found is None else types.Hover(types.MarkupContent(types.MarkupKind.Markdown, hover_markdown(found)))


async def explain(ls: AssayServer, params: Any) -> dict[str, Any]:
    """`assay/explain` {id}: all that is known of a suggestion's confidence. Raises JsonRpcInvalidParams for an id that is not known."""
    name = _field(params, "id", EXPLAIN)
    shown = ls.requests.find(name)
    if shown is None:
        raise JsonRpcInvalidParams(f"{EXPLAIN}: no suggestion {name!r} was given out lately")
    return (await ls.requests.explain(shown)).as_json()


async def context(ls: AssayServer, params: Any) -> dict[str, Any]:
    """`assay/context` {textDocument, position}: what the model would be shown there. Raises JsonRpcInvalidParams, JsonRpcInternalError."""
    try:
        structured: types.TextDocumentPositionParams = ls.protocol.structured(params, types.TextDocumentPositionParams)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{CONTEXT}: {error}") from error
    document = ls.protocol.documents.get(structured.text_document.uri)
    if document is None:
        raise JsonRpcInvalidParams(f"{CONTEXT}: {structured.text_document.uri} is not open")
    ask = ask_at(ls, document, document.clamp(_position(structured.position)), invoked=True)
    if ask.secret:
        raise JsonRpcInvalidParams(f"{CONTEXT}: {Refusal.SECRET.sentence}")
    try:
        return await ls.live.context(ls.requests.want(ask))
    except (ModelUnavailable, ModelProcessDied, ModelRequestFailed) as error:
        raise JsonRpcInvalidParams(f"{CONTEXT}: {error}") from error


async def accepted(ls: AssayServer, arguments: Sequence[Any]) -> None:
    """The editor inserted a suggestion: the one argument, of which the id is enough."""
    name = _id_in(arguments)
    ls.follow_up.told("accepted", name)
    shown = ls.requests.accepted(name)
    if shown is None:
        logger.debug("accepted, but not known: %s", name)
        return
    document = ls.protocol.documents.get(shown.ask.uri)
    start = None if document is None else document.offset(shown.suggestion.range.start)
    found = await ls.requests.explain(shown, with_context=False)
    if start is not None:
        ls.accepted.add(shown.ask.uri, start, shown.ask.selected + shown.suggestion.text, found)


def rejected(ls: AssayServer, arguments: Sequence[Any]) -> None:
    """The user dismissed a suggestion: the argument is as for `accepted`."""
    name = _id_in(arguments)
    ls.follow_up.told("rejected", name)
    ls.requests.rejected(name)


def shown(ls: AssayServer, arguments: Sequence[Any]) -> None:
    """The editor shows a suggestion: the argument is as for `accepted`."""
    ls.follow_up.told("shown", _id_in(arguments))


def accepted_part(ls: AssayServer, arguments: Sequence[Any]) -> None:
    """The editor inserted a word or a line of a suggestion: the argument is as for `accepted`, the edit next to it says how much."""
    ls.follow_up.told("part", _id_in(arguments))


def pause(ls: AssayServer, arguments: Sequence[Any]) -> str | None:
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


def status(ls: AssayServer, _: Any) -> dict[str, Any]:
    """What the server has and does: docs/formats.md."""
    return ls.status.full()


def ask_at(ls: AssayServer, document: Document, at: Position, *, invoked: bool, replaced: Range | None = None, selected: str = "") -> Ask:
    """What is asked at a place of a document, as if `selected` stood in `replaced`, which ends there."""
    settings, replaced = ls.settings, replaced or Range(at, at)
    prefix, suffix, cut = ls.protocol.notebooks.around(document, at, ls.live.window)
    end = document.offset(at)
    start = end if replaced.start == at else document.offset(replaced.start)
    stood = document.between(start, end) if start < end else ""
    prefix = prefix[: max(0, len(prefix) - len(stood))] + selected
    file = path_of(document.uri)
    kind = kind_at(prefix, suffix, document.language, cut=cut) if settings.kind == "auto" else settings.kind
    place = Place(prefix, suffix, replaced, kind, document.language, settings.event, file)
    # A text that is in no folder that is worked on may become one of the first.
    root = root_of(document.uri, ls.roots) or next(iter(ls.roots.paths), None)
    surroundings = _surroundings(ls, document, at.line, place)
    return Ask(
        document.uri,
        place,
        invoked,
        root,
        surroundings,
        is_secret_path(file or _path_in(document.uri)),
        cut,
        selected=selected,
        start=start,
        stood=stood,
    )


def _surroundings(ls: AssayServer, document: Document, line: int, place: Place) -> Surroundings:
    budget = ls.live.settings
    head = ls.protocol.notebooks.head(document, head_characters(budget.head_tokens)) if budget.head_tokens else ""
    if not budget.extra_tokens:
        return Surroundings(head)
    characters = budget.extra_tokens * _CHARACTERS_PER_TOKEN
    return Surroundings(head, ls.others.path(document), ls.others.pieces(document, line, place.prefix, place.suffix, characters))


async def _answer(
    ls: AssayServer,
    document: Document,
    at: Position,
    *,
    invoked: bool,
    replaced: Range | None = None,
    selected: str = "",
    menu: bool = False,
) -> Sequence[Suggestion]:
    """As `Requests.answer` for what is asked there. menu: it is for the ordinary list of completions."""
    ls.asked_in = document.uri
    try:
        ask = replace(ask_at(ls, document, at, invoked=invoked, replaced=replaced, selected=selected), menu=menu)
    except Exception as error:
        ls.requests.failed(document.uri, error, invoked=invoked)
        raise
    version = document.version

    def current() -> bool:
        return ls.protocol.documents.get(document.uri) is document and document.version == version

    ls.follow_up.asked(ask)
    return await ls.requests.answer(ask, current)


def inline_item(suggestion: Suggestion, *, line_feeds: bool) -> dict[str, Any]:
    """An InlineCompletionItem. line_feeds: its lines end so, whatever the document's do: the editor mends that."""
    return {
        "insertText": "\n".join(bare_lines(suggestion.text)) if line_feeds else suggestion.text,
        "range": suggestion.range.as_json(),
        "command": {"title": "Suggestion accepted", "command": ACCEPTED, "arguments": [suggestion.as_json()]},
    }


def _id_in(arguments: Sequence[Any]) -> str:
    """The id in the one argument of a command; an empty one, which nothing has, where there is none."""
    name = arguments[0].get("id") if arguments and isinstance(arguments[0], dict) else None
    return name if isinstance(name, str) else ""


def _position(position: types.Position) -> Position:
    return Position(position.line, position.character)


def _path_in(uri: str) -> str:
    """The path in a URI of whatever scheme."""
    return unquote(uri.partition(":")[2].partition("?")[0].partition("#")[0])


def _field(params: Any, name: str, method: str) -> str:
    """A field of params that pygls left as they came: a dictionary, or an object made of one."""
    value = params.get(name) if isinstance(params, dict) else getattr(params, name, None)
    if not isinstance(value, str):
        raise JsonRpcInvalidParams(f'{method}: "{name}" is a string')
    return value
