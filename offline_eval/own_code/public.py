"""The public code that is shipped, so that a model gets numbers on an empty machine: modules of permissively licensed Python projects.

public.toml   name, version, licence and hashes of each project, and the hash of the archive
public.xz     JSON Lines: project, path (as in its source distribution) and text, the licences' texts among them

All are measured projects (`sets/projects.toml`), so no model of ours was trained on them; other people's models may have been.
`python -m training.public_code` makes both files.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import StudyError
from ..sets.projects import SourceFile

MANIFEST, ARCHIVE = Path(__file__).parent / "public.toml", Path(__file__).parent / "public.xz"


@dataclass(frozen=True, slots=True)
class PublicProject:
    """A project of the set. sha256: of the source distribution that its files are from. licence: as SPDX names it."""

    name: str
    version: str
    licence: str
    sha256: str
    files: int


def public_projects() -> list[PublicProject]:
    """What public.toml lists, by name."""
    return [PublicProject(**listed) for listed in _manifest()["project"]]


def public_code() -> dict[str, list[SourceFile]]:
    """The modules by project, each project's in order of path. Raises StudyError where the archive is not the one that was shipped."""
    found: dict[str, list[SourceFile]] = {}
    for file in _files():
        if file.path.endswith(".py"):
            found.setdefault(file.project, []).append(file)
    return found


def licences() -> dict[str, str]:
    """The texts of the licences and notices, by path. Raises StudyError as `public_code`."""
    return {file.path: file.text for file in _files() if not file.path.endswith(".py")}


def _files() -> Iterator[SourceFile]:
    packed = ARCHIVE.read_bytes()
    if hashlib.sha256(packed).hexdigest() != _manifest()["sha256"]:
        raise StudyError(f"{ARCHIVE} is not the file that public.toml names: install Assay again")
    for line in lzma.decompress(packed).splitlines():
        yield SourceFile(**json.loads(line))


def _manifest() -> dict[str, Any]:
    return tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
