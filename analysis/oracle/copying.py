"""Make a private copy of a project. Its tests see only the copy; the project itself is never written to."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ..sandbox.isolation.tree import entries_below

# Version control, environments, and what tools can make again.
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".tox", ".nox", ".eggs", ".assay", "node_modules", "__pycache__"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints", ".idea", ".vscode"}
)
# What a run with coverage leaves in a project's root; it differs from run to run.
_COVERAGE = (".coverage", "coverage.xml", "htmlcov")
# A larger file is data, and is linked to instead of copied.
MAX_COPIED_BYTES = 1 << 24
# Of all that is copied. Files may be larger than the disk space that they take.
_MAX_TOTAL_BYTES = 4 << 30
_NOTHING: Mapping[str, bytes] = MappingProxyType({})
# Paths that are named.
MAX_NAMED = 5
# Reasons for what every project has and no test misses.
_USUAL = frozenset({"made by a tool", "a virtual environment"})
# Folders in folders.
_MAX_DEPTH = 100


class NotCopied(Exception):
    """A project that can't be copied; the message says which and why."""


@dataclass(frozen=True, slots=True)
class ProjectCopy:
    """A copy of a project.

    folder: where the copy is. sha256: of all paths and contents. linked: large files of the project that the copy links to, to be mounted
    read-only. left_out: what is not in the copy, by path, with the reason. files: the regular files in it, by path.
    """

    folder: Path
    sha256: str
    linked: tuple[Path, ...]
    left_out: dict[str, str]
    files: frozenset[str]


def copy_project(project: Path, folder: Path, instead: Mapping[str, bytes] = _NOTHING) -> ProjectCopy:
    """Copy what a project's tests may need into a new folder, readable for every user.

    instead: what files have in the copy in place of their content, by path inside the project.

    Links inside the project are kept. Links out of it, version control, virtual environments, caches, and what can't be read are left out.

    Raises: NotCopied where there is no folder to copy, or far too much in it.
    """
    project = project.resolve()
    if not project.is_dir():
        raise NotCopied(f"{project}: no such folder; name a project's root")
    copying = _Copying(project, folder, instead)
    folder.mkdir(parents=True)
    copying.copy(project)
    for each in (folder, *(Path(entry.path) for entry in entries_below(folder) if entry.is_dir(follow_symlinks=False))):
        each.chmod(0o755)
    return ProjectCopy(folder, copying.digest.hexdigest(), tuple(copying.linked), copying.left_out, frozenset(copying.files))


def left_out_notes(left_out: Mapping[str, str]) -> Iterator[str]:
    """Lines about files that the copy lacks and tests may miss; left_out: by path, with the reason."""
    missed = [(path, reason) for path, reason in left_out.items() if reason not in _USUAL]
    for path, reason in missed[:MAX_NAMED]:
        yield f"not in the copy that the tests see: {path} ({reason})"
    if len(missed) > MAX_NAMED:
        yield f"nor are {len(missed) - MAX_NAMED:,} more"


def files_of(project: Path) -> Iterator[Path]:
    """The files of a project whose copies tests see, and links to files; what can't be read is left out."""
    for entry in entries_below(project, lambda folder: not _why_left_out(project, Path(folder.path))):
        path = Path(entry.path)
        # unlike Path.is_file, this takes a link that leads in a circle, or where nothing can be read
        if os.path.isfile(path) and (path.parent != project or not _is_of_coverage(path.name)):  # noqa: PTH113
            yield path


def _why_left_out(project: Path, folder: Path) -> str:
    """Why a folder of a project is not copied; empty where it is."""
    if folder.name in _LEFT_OUT:
        return "made by a tool"
    if len(folder.relative_to(project).parts) > _MAX_DEPTH:
        return f"nested more than {_MAX_DEPTH} folders deep"
    # unlike Path.exists, this takes a folder that can't be entered
    return "a virtual environment" if os.path.exists(folder / "pyvenv.cfg") else ""  # noqa: PTH110


def _is_of_coverage(name: str) -> bool:
    return name in _COVERAGE or name.startswith(".coverage.")


class _Copying:
    def __init__(self, project: Path, folder: Path, instead: Mapping[str, bytes]) -> None:
        self.digest = hashlib.sha256()
        self.linked: list[Path] = []
        self.left_out: dict[str, str] = {}
        self.files: set[str] = set()
        self._project, self._folder, self._instead = project, folder, instead
        self._total = 0

    def copy(self, folder: Path) -> None:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            self._leave_out(folder, f"can't be read: {error.strerror}")
            return
        for entry in entries:
            path = Path(entry.path)
            if folder == self._project and _is_of_coverage(path.name):
                self._leave_out(path, "made by a tool")
                continue
            target = self._folder / path.relative_to(self._project)
            try:
                if entry.is_symlink():
                    self._link(path, target)
                elif entry.is_dir():
                    self._enter(path, target)
                elif entry.is_file():
                    self._file(path, target, entry.stat())
                else:
                    self._leave_out(path, "neither a file nor a folder")
            except RuntimeError:  # raised before Python 3.13 for links that lead to one another
                self._leave_out(path, "a link that leads nowhere")
            except OSError as error:
                self._leave_out(path, f"can't be read: {error.strerror}")

    def _enter(self, path: Path, target: Path) -> None:
        if why := _why_left_out(self._project, path):
            self._leave_out(path, why)
        else:
            target.mkdir()
            self.copy(path)

    def _link(self, path: Path, target: Path) -> None:
        aims = path.resolve()
        if not aims.is_relative_to(self._project) or not aims.exists():
            self._leave_out(path, "a link that leads nowhere" if not aims.exists() else "a link out of the project")
            return
        target.symlink_to(os.path.relpath(aims, path.parent.resolve()))
        self._add(path, b"link", str(aims.relative_to(self._project)).encode())

    def _file(self, path: Path, target: Path, status: os.stat_result) -> None:
        if status.st_size > MAX_COPIED_BYTES:
            path.open("rb").close()
            target.symlink_to(path)
            self.linked.append(path)
            self._add(path, b"large", f"{status.st_size} {status.st_mtime_ns}".encode())
            return
        self._total += status.st_size
        if self._total > _MAX_TOTAL_BYTES:
            raise NotCopied(f"{self._project}: more than {_MAX_TOTAL_BYTES >> 30} GiB of files would be copied")
        if (content := self._instead.get(path.relative_to(self._project).as_posix())) is None:
            shutil.copyfile(path, target)
        else:
            target.write_bytes(content)
        target.chmod(0o755 if status.st_mode & stat.S_IXUSR else 0o644)
        self.files.add(path.relative_to(self._project).as_posix())
        self._add(path, b"file", target.read_bytes())

    def _add(self, path: Path, kind: bytes, content: bytes) -> None:
        name = os.fsencode(path.relative_to(self._project))
        self.digest.update(b"%s %d %s %d " % (kind, len(name), name, len(content)) + content)

    def _leave_out(self, path: Path, reason: str) -> None:
        self.left_out[str(path.relative_to(self._project))] = reason
