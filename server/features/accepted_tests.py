"""Begins to run the tests that touch an accepted suggestion, where the user wants that."""

from __future__ import annotations

import asyncio

from ...suggestion.positions import count_line_ends
from ..documents.documents import Document
from ..documents.workspace import path_of
from ..language_server import AssayServer
from ..requests.given import Given
from ..verification.acceptances import Acceptance

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
