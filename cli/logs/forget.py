"""`assay logs forget`: delete events for good."""

from __future__ import annotations

import argparse
import os
import posixpath
import re
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from ..exit_codes import DONE, FAILED, UsageError
from ..options import Subparsers, command_parser, date, set_run
from ..terminal import agrees, is_terminal, say
from .log import count, opened

if TYPE_CHECKING:
    from ...calibration.log.event_log import EventLog

# The characters that editors do not quote in the path of a URI: VS Code and pathlib quote all but letters, Neovim leaves the delimiters of
# RFC 3986 as they are, browsers' libraries more, and some clients everything (None).
_UNQUOTED = ("/", "/!$&'()*+,;=:@", "/!$&'()*+,;=:@[]|^", None)
# One letter before a colon is a drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)
_FILE = re.compile(r"(?://(?:localhost)?(?=/))?((/[^?#]*).*)", re.IGNORECASE | re.DOTALL)
_DRIVE = re.compile(r"/?([A-Za-z])(?::|%3[Aa])(?=[/\\])")
_PLACE = re.compile(r"(?::[0-9]+){1,2}$")


def register(actions: Subparsers) -> None:
    """Add `assay logs forget`."""
    parser = command_parser(actions, "forget", "delete events for good", "What is deleted is also overwritten in the file.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--all", action="store_true", help="all events")
    what.add_argument("--document", metavar="PATH|URI", help="all events about one file")
    what.add_argument("--before", metavar="DATE", type=date, help="all events before a date, such as 2026-11-22 or 2026-11-22T08:00")
    what.add_argument("--text", action="store_true", help="all logged code; other events stay")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    set_run(parser, run, "log")


def run(arguments: argparse.Namespace) -> int:
    """Delete events. Raises EventLogError and UsageError.

    FAILED if the user does not agree, if no event is about the document, or if another process reads the log, so that remains may stay.
    """
    with opened(arguments.log) as log:
        if not arguments.yes and not _agreed(f"Delete {_what(arguments)} from {log.path}?"):
            say("nothing was deleted")
            return FAILED
        deleted = _delete(log, arguments)
        unknown = arguments.document is not None and not deleted
        if unknown:
            say(f"nothing was deleted: no event in {log.path} is about {arguments.document}. Give its whole path, as the editor has it")
        else:
            say(f"{count(deleted, 'event')} deleted: {log.path}")
        # even if nothing was deleted now, because remains of earlier events may still be there
        if log.overwritten():
            return FAILED if unknown else DONE
        say(f"another process reads the log, so remains stay in {log.path}-wal until it ends; then run this again")
        return FAILED


def _delete(log: EventLog, arguments: argparse.Namespace) -> int:
    from ...calibration.log.events import hash_of

    if arguments.document is not None:
        return log.forget_documents(map(hash_of, uris_of(arguments.document)))
    if arguments.before is not None:
        return log.forget_before(int(arguments.before.timestamp() * 1e3))
    return log.forget_texts() if arguments.text else log.forget_all()


def uris_of(document: str) -> set[str]:
    """The URIs that editors may have written for a document, from its path or URI in any spelling. Raises UsageError."""
    address = _SCHEME.fullmatch(document.strip())
    if address is None or _DRIVE.match(document):
        return _of_paths({document, document.strip(), _PLACE.sub("", document)}) | {document}
    scheme, rest = address[1].lower(), address[2]
    if scheme == "file":
        found = _FILE.match(rest)
        paths = {os.fsdecode(unquote_to_bytes(os.fsencode(part))) for part in found.groups()} if found else set[str]()
        if any("\0" in path for path in paths):
            raise UsageError(f"--document {document}: no file has a null character (%00) in its path")
        return {document} | _of_paths(paths)
    # NAME:LINE looks like an address, too
    return {document, *_spelled(f"{scheme}:", unquote_to_bytes(os.fsencode(rest))), *_of_paths({document, _PLACE.sub("", document)})}


def _of_paths(paths: Iterable[str]) -> set[str]:
    found = set[str]()
    for path in paths:
        if drive := _DRIVE.match(path):
            rest = path[drive.end() :].replace("\\", "/")
            whole = {f"/{letter}:{posixpath.normpath(rest)}" for letter in (drive[1].lower(), drive[1].upper())}
        else:
            # The folder that a shell is in may be reached by a link, which editors keep.
            logical = Path(os.environ.get("PWD", ""), path)
            seen = (path, os.path.realpath(path), *([logical] if logical.is_absolute() else ()))
            whole = {_with_slash(Path(os.path.normpath(Path.cwd() / each)).as_posix()) for each in seen}
        forms = {unicodedata.normalize(form, each) for each in whole for form in ("NFC", "NFD")} | whole
        found |= {uri for each in forms for uri in _spelled("file://", os.fsencode(each))}
    return found


def _with_slash(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"


def _spelled(before: str, raw: bytes) -> set[str]:
    """Quoted in each way, with large and small digits."""
    quoted = {os.fsdecode(raw) if unquoted is None else quote(raw, safe=unquoted) for unquoted in _UNQUOTED}
    small = {re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), each) for each in quoted}
    return {f"{before}{each}" for each in quoted | small}


def _agreed(question: str) -> bool:
    if not is_terminal(sys.stdin):
        say(f"{question} There is nobody to ask; add --yes to agree.")
        return False
    say(f"{question} [y/N]")
    return agrees()


def _what(arguments: argparse.Namespace) -> str:
    if arguments.document is not None:
        return f"all events about {arguments.document}"
    if arguments.before is not None:
        return f"all events before {arguments.before.isoformat(sep=' ', timespec='minutes')}"
    return "all code" if arguments.text else "all events"
