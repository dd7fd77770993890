"""From a place in a document to its suggestions: what inline completion and the ordinary list of completions have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from ...inference.completion.context import head_characters
from ...inference.completion.prompt import Surroundings
from ...suggestion.kind import kind_at
from ...suggestion.memory.memories import REACH
from ...suggestion.positions import Position, Range
from ...suggestion.secrets import is_secret_path
from ...suggestion.suggestion import Place, Suggestion
from ..documents.documents import Document
from ..documents.workspace import below_root, path_of, root_of
from ..language_server import AssayServer
from ..requests.request import GenerationRequest, ReadAlong

UNKNOWN_DOCUMENT = "The document is not open, or an edit of it could not be read."
# Of code, about; what is too much is left out where tokens are counted.
_CHARACTERS_PER_TOKEN = 3
# Of the time that a request may take, so much is the model's: what it has written by then still arrives.
_FOR_THE_MODEL = 0.9


async def suggestions_at(
    ls: AssayServer,
    document: Document,
    at: Position,
    *,
    invoked: bool,
    replaced: Range | None = None,
    selected: str = "",
    menu: bool = False,
) -> Sequence[Suggestion]:
    """As `Requests.suggestions` at a place of a document, as if `selected` stood in `replaced`, which ends there; none where none may come.

    menu: it is for the ordinary list of completions.
    """
    if ls.asked_in != document.uri:
        ls.asked_in = document.uri
        ls.status.changed()  # the words of the dial are those of the document's language
    ls.edited_files.tell(document.uri)
    try:
        request = request_at(ls, document, at, invoked=invoked, replaced=replaced, selected=selected, menu=menu)
        ls.outcome_tracker.asked(request)
        if ls.requests.refuses(request, secret=is_secret(request)):
            return ()
        request = with_texts(ls, document, at, request)
    except Exception as error:
        ls.requests.failed(document.uri, error, invoked=invoked)
        raise
    version = document.version

    def current() -> bool:
        return ls.protocol.documents.get(document.uri) is document and document.version == version

    return await ls.requests.suggestions(request, current)


def request_at(
    ls: AssayServer,
    document: Document,
    at: Position,
    *,
    invoked: bool,
    replaced: Range | None = None,
    selected: str = "",
    menu: bool = False,
) -> GenerationRequest:
    """What is asked at a place, without the texts around it: whether it is refused is known before they are looked for."""
    settings, replaced = ls.settings, replaced or Range(at, at)
    end = document.offset(at)
    start = end if replaced.start == at else document.offset(replaced.start)
    return GenerationRequest(
        document.uri,
        Place(
            "", "", replaced, "line" if settings.kind == "auto" else settings.kind, document.language, settings.event, path_of(document.uri)
        ),
        invoked,
        # A text that is in no folder that is worked on may become one of the first.
        root_of(document.uri, ls.roots) or next(iter(ls.roots.paths), None),
        menu=menu,
        selected=selected,
        start=start,
        stood=document.between(start, end) if start < end else "",
        count=settings.alternatives if invoked else 1,
        max_ms=settings.max_ms * _FOR_THE_MODEL,
    )


def is_secret(request: GenerationRequest) -> bool:
    """Whether no model is shown the document, by its path."""
    return is_secret_document(request.uri, request.place.file)


def is_secret_document(uri: str, file: Path | None) -> bool:
    """Whether no model is shown a document, by its path, or else by what its URI has in the place of one."""
    return is_secret_path(file or _path_in(uri))


def with_texts(ls: AssayServer, document: Document, at: Position, request: GenerationRequest) -> GenerationRequest:
    """The request with the texts around its place, and the kind that is asked for there."""
    place = request.place
    prefix, suffix, cut = ls.protocol.notebooks.around(document, at, ls.live.window)
    prefix = prefix[: max(0, len(prefix) - len(request.stood))] + request.selected
    kind = kind_at(prefix, suffix, place.language, cut=cut) if ls.settings.kind == "auto" else place.kind
    return replace(
        request,
        place=replace(place, prefix=prefix, suffix=suffix, kind=kind),
        cut=cut,
        surroundings=surroundings_at(ls, document, at.line, prefix, suffix),
        memory=_read_along(ls, document, at, len(prefix) + len(request.stood) - len(request.selected), len(suffix)),
        settings=ls.live.settings,
    )


def surroundings_at(ls: AssayServer, document: Document, line: int, prefix: str, suffix: str) -> Surroundings:
    """What the model is shown besides the texts around a place, as far as the user gives that a budget."""
    budget = ls.live.settings
    head = ls.protocol.notebooks.head(document, head_characters(budget.head_tokens)) if budget.head_tokens else ""
    if not budget.extra_tokens:
        return Surroundings(head)
    characters = budget.extra_tokens * _CHARACTERS_PER_TOKEN
    return Surroundings(head, ls.others.path(document), ls.others.pieces(document, line, prefix, suffix, characters))


def _read_along(ls: AssayServer, document: Document, at: Position, shown_before: int, shown_after: int) -> ReadAlong:
    """What a memory reads there, given how much of the text around the place the request has already."""
    if ls.settings.memory == "off":
        return ReadAlong("off")
    before, after, _ = ls.protocol.notebooks.around(document, at, REACH)
    root, path = below_root(document.uri, ls.roots)
    rest = before[: max(0, len(before) - shown_before)]
    return ReadAlong(ls.settings.memory, rest, after[shown_after:], root, path, document.line_count)


def _path_in(uri: str) -> str:
    """The path in a URI of whatever scheme."""
    return unquote(uri.partition(":")[2].partition("?")[0].partition("#")[0])
