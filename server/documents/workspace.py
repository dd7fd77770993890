"""The workspace folders, and which of them a document is in. Pure functions on URIs."""

from __future__ import annotations

import ntpath
import os
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from urllib.parse import unquote_to_bytes

from lsprotocol import types

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?([^?#]*)", re.DOTALL)  # scheme, authority, path: RFC 3986, appendix B
# JSON can hold these.
_UNUSABLE = re.compile(r"[\x00\ud800-\udfff]")
_DRIVE = re.compile(r"/[A-Za-z]:(?=/|$)")
# In VS Code the URI of a notebook's cell has the second scheme, the path of the notebook, and a fragment.
_FILE_SCHEMES = ("file", "vscode-notebook-cell")


@dataclass(frozen=True, slots=True)
class Roots:
    """Root folders: absolute, in the client's order, without duplicates."""

    paths: tuple[Path, ...] = ()
    _known: frozenset[Path] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", frozenset(self.paths))

    def innermost(self, path: Path) -> Path | None:
        """The innermost root that a path is at or below, None if it is in none."""
        return next((folder for folder in (path, *path.parents) if folder in self._known), None)

    def changed(self, event: types.WorkspaceFoldersChangeEvent) -> Roots:
        """The roots after a change by the client."""
        removed = {path_of(folder.uri) for folder in event.removed}
        return _roots([*(path for path in self.paths if path not in removed), *(path_of(folder.uri) for folder in event.added)])


def roots_of(params: types.InitializeParams) -> Roots:
    """The roots at the start: the client's workspace folders, or its root if it names none (as old clients do)."""
    if params.workspace_folders:
        return _roots([path_of(folder.uri) for folder in params.workspace_folders])
    if params.root_uri is not None:
        return _roots([path_of(params.root_uri)])
    if params.root_path and Path(params.root_path).is_absolute():
        return _roots([Path(os.path.normpath(params.root_path))])
    return Roots()


def leave_out_unusable(params: types.InitializeParams) -> None:
    """Take out the folders whose names no file can have: pygls and Python's own functions fail on them."""
    folders = params.workspace_folders or []
    params.workspace_folders = [folder for folder in folders if not _UNUSABLE.search(folder.uri + folder.name)]
    if _UNUSABLE.search(params.root_uri or ""):
        params.root_uri = None
    if _UNUSABLE.search(params.root_path or ""):
        params.root_path = None


def root_of(uri: str, roots: Roots) -> Path | None:
    """The innermost root of a document, None if it is in none or is no file. Symbolic links are not followed."""
    path = path_of(uri)
    return None if path is None else roots.innermost(path)


def below_root(uri: str, roots: Roots) -> tuple[str, str]:
    """The innermost root of a document and the document's path below it, with slashes; no root and its name where it is in none."""
    path, root = path_of(uri), root_of(uri, roots)
    if path is None:
        return "", uri
    return ("", path.name) if root is None else (str(root), path.relative_to(root).as_posix())


# Called at each keystroke.
@lru_cache(maxsize=1024)
def path_of(uri: str) -> Path | None:
    """The absolute path of a document, or of the notebook of a cell. None if it is no file of this machine (such as `untitled:`)."""
    path = pure_path(uri, windows=os.name == "nt")
    return None if path is None else Path(path)


def pure_path(uri: str, *, windows: bool) -> PurePath | None:
    """`path_of` for either system. On Windows the drive is in upper case, and a host name gives a network path."""
    match = _URI.match(uri)
    if match is None or match[1].lower() not in _FILE_SCHEMES:
        return None
    host = _decoded(match[2] or "")
    path = _decoded(match[3])
    if not path.startswith("/") or "\0" in path + host:
        return None
    local = host.lower() in ("", "localhost")
    if not windows:
        return PurePosixPath(posixpath.normpath("/" + path.lstrip("/"))) if local else None
    if not local:
        return PureWindowsPath(ntpath.normpath(f"//{host}{path}"))
    return PureWindowsPath(ntpath.normpath(path[1].upper() + path[2:] + "/")) if _DRIVE.match(path) else None


def _decoded(text: str) -> str:
    # a name that is not UTF-8 becomes what Python's own functions call it; a lone surrogate in the URI breaks nothing
    return unquote_to_bytes(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogateescape")


def _roots(paths: Sequence[Path | None]) -> Roots:
    return Roots(tuple(dict.fromkeys(path for path in paths if path is not None)))
