"""Which files of a folder are asked about, and in which order: the user's own first, newest first.

A model may have been trained on what others published, and then gives it back word for word more often than new code. So files that the
user changed go first: those that git has a commit of theirs for (`user.email`), and those that it does not know yet. What packages brought
along (site-packages, node_modules, environments, what git ignores) is left out, as in the project memory.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import shutil
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from ...analysis.corpora.git_history import GitError, changed_by, committed, open_repository
from ...analysis.lines.generated import looks_generated
from ...inference.project_memory.project import ProjectTooLarge
from ...suggestion.languages import language_of
from ...suggestion.memory.folder import code_in, files_in, listing
from ..errors import StudyError, UsageError
from ..sets.projects import SourceFile, is_test

MANIFEST, ARCHIVE = Path(__file__).parent / "public.toml", Path(__file__).parent / "public.xz"


def public_code() -> dict[str, list[SourceFile]]:
    """The modules by project, each project's in order of path. Raises StudyError where the archive is not the one that was shipped."""
    found: dict[str, list[SourceFile]] = {}
    for file in _files():
        if file.path.endswith(".py"):
            found.setdefault(file.project, []).append(file)
    return found


def _files() -> Iterator[SourceFile]:
    packed = ARCHIVE.read_bytes()
    if hashlib.sha256(packed).hexdigest() != _manifest()["sha256"]:
        raise StudyError(f"{ARCHIVE} is not the file that public.toml names: install Assay again")
    for line in lzma.decompress(packed).splitlines():
        yield SourceFile(**json.loads(line))


def _manifest() -> dict[str, Any]:
    return tomllib.loads(MANIFEST.read_text(encoding="utf-8"))


Author = Literal["you", "others", "unknown"]
# Further back nobody's code is as they write it today.
_MAX_COMMITS = 3_000
_GIT_S = 20.0
_ASKED_S = 5.0
# A file gives at most 12 places, and a language is known from 120 on.
MIN_FILES = 10
_INSTALLED = frozenset({"site-packages", "dist-packages", "node_modules"})


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder whose code is asked about. name: its project in samples; two folders have two names."""

    root: Path

    @property
    def name(self) -> str:
        """The folder's own name and a part of a hash of its path."""
        return f"{self.root.name or 'root'}-{hashlib.sha256(os.fsencode(self.root)).hexdigest()[:6]}"

    def code(self) -> Iterator[tuple[str, str]]:
        """Path and text of the files that a project memory reads. Raises ProjectTooLarge."""
        return files_in(self.root)

    @property
    def is_installed(self) -> bool:
        """Whether it is of an installed package: code that models were trained on."""
        return not _INSTALLED.isdisjoint(self.root.parts)


@dataclass(frozen=True, slots=True)
class Authorship:
    """Files of a folder by who wrote them, each newest first. email: of the user; why_unknown: why nothing is known of authors."""

    yours: tuple[str, ...]
    others: tuple[str, ...]
    email: str = ""
    why_unknown: str = ""

    @property
    def languages(self) -> frozenset[str]:
        """Those of enough files without tests to be judged by them."""
        files = Counter(language_of(path) for path in (*self.yours, *self.others) if not is_test(path))
        return frozenset(language for language, count in files.items() if count >= MIN_FILES)

    @property
    def in_order(self) -> Iterator[tuple[str, Author]]:
        """All of them, as they are asked about."""
        yield from ((path, "you") for path in self.yours)
        yield from ((path, "unknown" if self.why_unknown else "others") for path in self.others)


def authorship(folder: Folder, languages: tuple[str, ...]) -> Authorship:
    """The files of a folder in some languages. Raises UsageError for one with too much in it."""
    try:
        found = listing(folder.root).files
    except ProjectTooLarge as error:
        raise UsageError(f"{folder.root} is too large ({error}): name a project's folder") from None
    # In the order of the project's memory where two are as old, so that the order is the same each time.
    newest = sorted((path for path in found if language_of(path) in languages), key=lambda path: (-found[path][0], path))
    if folder.is_installed:
        return Authorship((), tuple(newest), "", "it is of an installed package")
    email = _email(folder.root)
    if not email:
        return Authorship((), tuple(newest), "", "git does not know who you are (user.email)")
    try:
        repository = open_repository(folder.root, timeout_s=_GIT_S)
        when, known = changed_by(repository, email, _MAX_COMMITS), committed(repository)
    except GitError as error:
        return Authorship((), tuple(newest), email, str(error))
    # What stands in a repository of its own, such as a submodule, this one knows nothing of.
    nested = {str(path) for path in newest if _is_nested(folder.root, path)}
    new = [path for path in newest if path not in known and path not in nested]
    yours = sorted((path for path in newest if path in known and path in when), key=lambda path: -when[path])
    others = [path for path in newest if path in nested or (path in known and path not in when)]
    return Authorship((*new, *yours), tuple(others), email)


def _is_nested(root: Path, path: str) -> bool:
    return any((root / parent / ".git").exists() for parent in PurePosixPath(path).parents if parent.name)


def source_file(folder: Folder, path: str) -> SourceFile | None:
    """A file as one of a source distribution: the folder's name is at the top of its path. None where it is no code that people write."""
    text = code_in(folder.root / path)
    if text is None or looks_generated(text):
        return None
    return SourceFile(folder.name, f"{folder.name}/{path}", text.replace("\r\n", "\n"))


def current_folder() -> Folder | None:
    """The project that the current folder is in: up to the nearest repository. None for a home folder, or what home folders are in."""
    here, home = Path.cwd(), Path.home().resolve()
    tops = [folder for folder in (here, *here.parents) if (folder / ".git").exists() and not home.is_relative_to(folder)]
    root = tops[0] if tops else here
    return None if home.is_relative_to(root) else Folder(root)


def _email(root: Path) -> str:
    """What git signs the user's commits in a folder with."""
    git = shutil.which("git")
    if git is None:
        return ""
    with suppress(OSError, subprocess.SubprocessError):
        asked = [git, "-C", str(root), "config", "--get", "user.email"]
        said = subprocess.run(asked, capture_output=True, timeout=_ASKED_S, check=True, stdin=subprocess.DEVNULL)
        return said.stdout.decode("utf-8", "replace").strip()
    return ""
