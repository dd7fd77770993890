"""From a place in a document to its suggestions: what inline completion and the ordinary list of completions have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import unquote

from ...inference.completion.context import head_characters
from ...inference.completion.prompt import Surroundings
from ...suggestion.extent import kind_at
from ...suggestion.place import Place
from ...suggestion.positions import Position, Range
from ...suggestion.suggestion import Suggestion
from ..context.secrets import is_secret_path
from ..documents.documents import Document
from ..documents.workspace import path_of, root_of
from ..language_server import AssayServer
from ..requests.request import Ask

UNKNOWN_DOCUMENT = "The document is not open, or an edit of it could not be read."
# Of code, about; what is too much is left out where tokens are counted.
_CHARACTERS_PER_TOKEN = 3


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

    ls.outcome_tracker.asked(ask)
    return await ls.requests.answer(ask, current)


def _path_in(uri: str) -> str:
    """The path in a URI of whatever scheme."""
    return unquote(uri.partition(":")[2].partition("?")[0].partition("#")[0])
