"""The real projects that calibration is measured on: source distributions named in projects.toml. Assay reads them and never runs them.

They are fetched through pip into a cache and checked by hash. Even for a download pip runs the build backend of a source distribution,
which is the project's own code. So pip is given the hash as well, and runs nothing of an archive with another one.

No model may be trained on them.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from ...analysis.process_group import run_group
from ...suggestion.memory.folder import as_code, is_own_code
from ..errors import StudyError, UsageError

# What tests are called in other languages than Python.
_TEST_FOLDERS = frozenset({"__mocks__", "__tests__", "androidtest", "e2e", "spec", "specs"})
_TEST_FILE = re.compile(r"(?:[._-](?:test|tests|spec)|Tests?|Spec)\.\w+$")


class ProjectError(StudyError):
    """A project's sources can't be fetched, or are not those that the list names; the message says which and what to do."""


@dataclass(frozen=True, slots=True)
class Project:
    """One release of a project; sha256 is of its source distribution. suite: its tests can judge a change."""

    name: str
    version: str
    sha256: str
    suite: bool = False


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a distribution; path is inside the archive, newlines are \\n."""

    project: str
    path: str
    text: str


def measured_projects() -> list[Project]:
    """The list in projects.toml."""
    listed = tomllib.loads((Path(__file__).parent / "projects.toml").read_text())["project"]
    return [Project(p["name"], p["version"], p["sha256"], p.get("suite", False)) for p in listed]


def default_cache() -> Path:
    """Where archives are kept between runs."""
    return platformdirs.user_cache_path("assay") / "projects"


def fetch(name: str, version: str | None, kind: Literal["sdist", "wheel"], folder: Path, sha256: str | None = None) -> Path:
    """The distribution in `folder`, downloaded by pip if it is not there; its dependencies are not, and nothing is installed.

    version: None takes pip's choice. sha256: of the archive, checked by pip where it downloads one; one in the folder is not checked.
    Raises ProjectError with pip's last line.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if hit := _present(name, version, kind, folder):
        return hit
    only = "--only-binary=:all:" if kind == "wheel" else "--no-binary=:all:"
    spec = f"{name}=={version}" if version else name
    command = [sys.executable, "-P", "-m", "pip", "download", "-q", "--no-deps", only, "-d", str(folder)]
    with tempfile.TemporaryDirectory() as temporary:
        wanted = Path(temporary) / "requirements.txt"
        wanted.write_text(f"{spec} --hash=sha256:{sha256}\n" if sha256 else f"{spec}\n", encoding="utf-8")
        done = run_group([*command, "-r", str(wanted)])
    hit = _present(name, version, kind, folder)
    if done.returncode or hit is None:
        if "DO NOT MATCH THE HASHES" in done.stderr:
            raise ProjectError(f"{spec} ({kind}): what pip found has another SHA-256 than {sha256}; nothing of it was kept or run")
        reason = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise ProjectError(f"{spec} ({kind}) could not be downloaded: {reason}. With a network, try: {shlex.join([*command, spec])}")
    return hit


def _present(name: str, version: str | None, kind: str, folder: Path) -> Path | None:
    ending = r"-.*\.whl" if kind == "wheel" else r"\.(tar\.gz|zip)"
    wanted = re.compile(rf"{_normal(name)}-{re.escape(version) if version else '[^-]+'}{ending}", re.IGNORECASE)
    for path in sorted(folder.iterdir()):
        stem, dash, rest = path.name.partition("-")
        while dash and _normal(stem) != _normal(name) and not rest[:1].isdigit():
            more, dash, rest = rest.partition("-")
            stem = f"{stem}-{more}"
        if wanted.fullmatch(f"{_normal(stem)}-{rest}"):
            return path
    return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def is_fetched(project: Project, cache: Path) -> bool:
    """Whether the project's archive is in the cache already."""
    return cache.is_dir() and _present(project.name, project.version, "sdist", cache) is not None


def archive_of(project: Project, cache: Path) -> Path:
    """The project's source distribution, fetched where it is not in the cache.

    Raises ProjectError where it can't be had, or is not the one whose hash the list names.
    """
    archive = fetch(project.name, project.version, "sdist", cache, project.sha256)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != project.sha256:
        raise ProjectError(f"{archive}: its SHA-256 is {digest}, projects.toml names {project.sha256}; delete the file and try again")
    return archive


def sources(project: Project, cache: Path) -> list[SourceFile]:
    """The project's Python files. Raises ProjectError."""
    return list(python_files(archive_of(project, cache), project.name))


def python_files(archive: Path, project: str) -> Iterator[SourceFile]:
    """The .py files of a wheel or source distribution, in order of name, without those that are not UTF-8; nothing is unpacked to disk."""
    for name, data in _members(archive):
        try:
            yield SourceFile(project, name, data.decode().replace("\r\n", "\n"))
        except UnicodeDecodeError:
            continue


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as z:
            yield from ((n, z.read(n)) for n in sorted(z.namelist()) if n.endswith(".py"))
    else:
        with tarfile.open(archive) as t:
            for member in sorted((m for m in t if m.isfile() and m.name.endswith(".py")), key=lambda m: m.name):
                if (f := t.extractfile(member)) is not None:
                    yield member.name, f.read()


def path_in_project(path: str) -> str:
    """The path of a file of a source distribution as its project's folder has it: an archive has one folder at its top."""
    return path.partition("/")[2] or path


def unpacked(project: Project, folder: Path, cache: Path) -> Path:
    """The project's sources below a folder, where they get the project's name. Raises ProjectError."""
    place = folder / project.name
    if place.is_dir():
        return place
    archive = archive_of(project, cache)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as z:
                z.extractall(temporary)
        else:
            unpack_tar(archive, Path(temporary))
        next(iter(Path(temporary).iterdir())).rename(place)
    return place


def unpack_tar(archive: Path, folder: Path) -> None:
    """Unpack an archive that is known to be the one that is meant: Python has a filter for what an archive may do from 3.11.4 on only."""
    with tarfile.open(archive) as t:
        if hasattr(tarfile, "data_filter"):
            t.extractall(folder, filter="data")
        else:
            t.extractall(folder)


def named(names: Sequence[str], *, suite: bool = False) -> list[Project]:
    """The listed projects with these names, all where there are none. suite: of those with a suite alone. Raises UsageError."""
    listed = {project.name: project for project in measured_projects() if project.suite or not suite}
    if unknown := sorted(set(names) - listed.keys()):
        raise UsageError(f"no such project in the list: {', '.join(unknown)}. It has: {', '.join(sorted(listed))}")
    return [listed[name] for name in sorted(set(names) or listed)]


def own_code(project: Project, cache: Path) -> Iterator[tuple[str, str]]:
    """Path and text of the files that an editor's project memory would read, of those that a distribution has. Raises ProjectError."""
    for file in sources(project, cache):
        path = path_in_project(file.path)
        if is_own_code(path) and as_code(file.text) is not None:
            yield path, file.text


def is_test(path: str) -> bool:
    """Whether a file of a distribution belongs to its tests."""
    *folders, name = path.lower().split("/")
    if any(f in ("test", "tests", "testing") for f in folders) or name.startswith(("test_", "conftest")) or name.endswith("_test.py"):
        return True
    return not name.endswith(".py") and (any(f in _TEST_FOLDERS for f in folders) or _TEST_FILE.search(path) is not None)
