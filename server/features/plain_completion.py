"""`textDocument/completion`: the suggestion in the ordinary list of completions, for editors without inline completion."""

from __future__ import annotations

from lsprotocol import types

from ...suggestion.positions import Position
from ..confidence.explanation import hover_markdown
from ..language_server import AssayServer
from .menu_item import Cursor, completion_list
from .outcome_commands import ACCEPTED
from .suggestions_at import UNKNOWN_DOCUMENT, suggestions_at

# How far before the cursor its line is looked at for the word that a menu filters by.
_LINE_BEFORE = 1_000


async def plain_completion(ls: AssayServer, params: types.CompletionParams) -> types.CompletionList:
    """The suggestion as an item of the menu, for clients without inline completion."""
    document = ls.protocol.documents.get(params.text_document.uri)
    if document is None or not ls.menu.is_wanted:
        why = UNKNOWN_DOCUMENT if document is None else "The ordinary list of completions holds no suggestions (assay.plainCompletion)."
        ls.requests.nothing(params.text_document.uri, why, invoked=False)
        return types.CompletionList(is_incomplete=False, items=[])
    at = document.clamp(Position(params.position.line, params.position.character))
    suggestions = await suggestions_at(ls, document, at, invoked=False, menu=True)
    before = document.before(at, _LINE_BEFORE)
    cursor = Cursor(at, before[max(before.rfind("\n"), before.rfind("\r")) + 1 :], document.encoding)
    evidence = ""
    if suggestions and (given := ls.requests.find(suggestions[0].id)) is not None:
        evidence = hover_markdown(await ls.requests.explain(given, with_context=False))
    return completion_list(
        suggestions[0] if suggestions else None,
        cursor,
        language=document.language,
        evidence=evidence,
        accepted=ACCEPTED,
        as_snippet=ls.is_neovim,
    )
