"""From lines of a document to their repairs: what code actions, commands and requests have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...suggestion.positions import Position
from ...suggestion.repair.parsing import PROSE, why_not_parsed
from ...suggestion.zones import is_prose
from ..documents.documents import Document
from ..documents.workspace import below_root, path_of, root_of
from ..language_server import AssayServer
from ..repairs.found import Found
from ..repairs.lines import Lines, found_again
from ..repairs.repairing import Asked, NoRepairs
from ..repairs.request import RepairRequest
from ..requests.refusal import Rules, document_refusal
from ..requests.request import ReadAlong
from .repair_tests import with_tests
from .suggestions_at import UNKNOWN_DOCUMENT, is_secret_document, surroundings_at

# A text is parsed, and while it is, a completion waits.
_MAX_CHARACTERS = 1_000_000
# So many characters of prose are read, each line from the beginning of the string that it is in. Of more, the model's process tells.
_MAX_PROSE = 10_000
# Of so many the tests choose those that are shown.
_MAX_CANDIDATES = 200
# How often lines are asked about whose document changes meanwhile.
_TRIES = 3
GONE = "The text has changed, and the lines are not there any more, or no longer once. Ask for the repair again."


def why_none(ls: AssayServer, document: Document | None) -> str:
    """Why nothing in a document is repaired, in a sentence; empty where something may be. Looks at no text."""
    if not ls.settings.repair_enabled:
        return "Repairs are turned off (assay.repair.enabled)."
    if document is None:
        return UNKNOWN_DOCUMENT
    rules = Rules(disabled_languages=ls.settings.disabled_languages)
    refusal = document_refusal(document.language, rules, secret=is_secret_document(document.uri, path_of(document.uri)))
    return "" if refusal is None else refusal.sentence


def why_unchecked(ls: AssayServer, document: Document, lines: Lines) -> str:
    """Why nothing is repaired in lines that a document has, in a sentence: nothing could check it. Empty where something may be.

    Of the text the lines are looked at, and as much before them as a completion sees.
    """
    if why := why_not_parsed(document.language):
        return why
    read = 0
    prefix, _, cut = ls.protocol.notebooks.around(document, Position(lines.first, 0), ls.live.window)
    for number in range(lines.first, lines.end):
        line = document.line(number)
        read += len(line)
        if line.strip() and (read > _MAX_PROSE or not is_prose(prefix, line, document.language, cut=cut)):
            return ""
        prefix += line
    return PROSE


async def found_for(
    ls: AssayServer, lines: Lines, tell: Callable[[str], None] = lambda _: None, *, verify: bool = True, passing: int | None = None
) -> Found:
    """The repairs of lines, of the text as it is when they are given. Where it changed meanwhile, they are asked for anew.

    verify: whether the tests of the project are waited for, where they may be run, and passing: until so many repairs pass; None: all that
    are shown.

    Raises NoRepairs, and Superseded where a later request for the document came.
    """
    for _ in range(_TRIES):
        asked, document = asked_for(ls, lines), ls.protocol.documents.get(lines.uri)
        assert document is not None
        if why := why_unchecked(ls, document, asked.lines):
            raise NoRepairs(why)
        found = await ls.repairs.find(asked, tell, partial(_verified, ls, document, tell, passing) if verify else None)
        if _is_of(ls, found, document):
            return found
    raise NoRepairs("The text changes faster than repairs are found. Ask for them again when you have stopped typing.")


async def _verified(ls: AssayServer, document: Document, tell: Callable[[str], None], passing: int | None, found: Found) -> Found:
    return await with_tests(ls, found, document, tell, passing) if _is_of(ls, found, document) else found


def _is_of(ls: AssayServer, found: Found, document: Document) -> bool:
    """Whether a document is what it was when that was found. One that was closed and opened again counts its versions anew."""
    return ls.protocol.documents.get(found.lines.uri) is document and document.version == found.lines.version


def asked_for(ls: AssayServer, lines: Lines) -> Asked:
    """What is asked for lines, of the text as it is now. Raises NoRepairs."""
    document = ls.protocol.documents.get(lines.uri)
    if (why := why_none(ls, document)) or document is None:
        raise NoRepairs(why)
    now = found_again(document, lines)
    if now is None:
        raise NoRepairs(GONE)
    text, above = ls.protocol.notebooks.whole(document)
    if len(text) > _MAX_CHARACTERS:
        raise NoRepairs(f"The file has {len(text):,} characters. Only those with up to {_MAX_CHARACTERS:,} are repaired.")
    ls.edited_files.tell(document.uri)
    root, path = below_root(document.uri, ls.roots)
    prefix, suffix, _ = ls.protocol.notebooks.around(document, Position(now.first, 0), ls.live.window)
    request = RepairRequest(
        text=text,
        first=above + now.first,
        end=above + now.end,
        language=document.language,
        encoding=document.encoding,
        most=_MAX_CANDIDATES if ls.settings.repair_verify else ls.settings.repair_candidates,
        max_ms=ls.settings.repair_max_ms,
        message=now.message,
        instruct=ls.settings.repair_instruct or "",
        surroundings=surroundings_at(ls, document, now.first, prefix, suffix),
        settings=ls.live.settings,
        memory=ReadAlong(ls.settings.memory, root=root, path=path),
    )
    own = root_of(document.uri, ls.roots) or next(iter(ls.roots.paths), None)
    return Asked(now, request, ls.settings.repair_candidates, above, document.line_count, own, path_of(document.uri))
