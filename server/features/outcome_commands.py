"""The commands by which an editor tells what became of a suggestion: shown, accepted, accepted in part, rejected."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from ..language_server import AssayServer
from .accepted_tests import begin_accepted_tests

logger = logging.getLogger(__name__)

ACCEPTED = "assay.accepted"
REJECTED = "assay.rejected"
SHOWN = "assay.shown"
ACCEPTED_PART = "assay.acceptedPart"


async def accepted(ls: AssayServer, arguments: Sequence[Any]) -> None:
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


def rejected(ls: AssayServer, arguments: Sequence[Any]) -> None:
    """The user dismissed a suggestion: the argument is as for `accepted`."""
    name = _id_in(arguments)
    ls.outcome_tracker.reported("rejected", name)
    ls.requests.rejected(name)


def shown(ls: AssayServer, arguments: Sequence[Any]) -> None:
    """The editor shows a suggestion: the argument is as for `accepted`."""
    ls.outcome_tracker.reported("shown", _id_in(arguments))


def accepted_part(ls: AssayServer, arguments: Sequence[Any]) -> None:
    """The editor inserted a word or a line of a suggestion: the argument is as for `accepted`, the edit next to it says how much."""
    ls.outcome_tracker.reported("part", _id_in(arguments))


def _id_in(arguments: Sequence[Any]) -> str:
    """The id in the one argument of a command; an empty one, which nothing has, where there is none."""
    name = arguments[0].get("id") if arguments and isinstance(arguments[0], dict) else None
    return name if isinstance(name, str) else ""
