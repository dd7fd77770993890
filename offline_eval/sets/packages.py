"""Packages in other languages than Python, named in packages.toml: fetched through npm or apt-get into a cache, and checked by hash.

Assay reads them and never runs them: `npm pack` and `apt-get download` fetch an archive and run nothing of it.
"""

from __future__ import annotations

import hashlib
import io
import shlex
import shutil
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...analysis.process_group import run_group
from ...suggestion.languages import is_code
from ..errors import UsageError
from .projects import ProjectError

Registry = Literal["npm", "debian"]


@dataclass(frozen=True, slots=True)
class Package:
    """One release of a package. sha256: of its archive. below: the folder of the archive that its sources are in."""

    name: str
    version: str
    sha256: str
    language: str
    registry: Registry
    licence: str
    below: str

    @property
    def languages(self) -> tuple[str, ...]:
        """The language that it is listed for, and the dialect of it with tags."""
        return self.language, f"{self.language}react"

    @property
    def file(self) -> str:
        """The name of its archive."""
        stem = self.name.removeprefix("@").replace("/", "-")
        return f"{stem}-{self.version}.tgz" if self.registry == "npm" else f"{stem}_{self.version}.deb".replace(":", "%3a")

    @property
    def fetching(self) -> list[str]:
        """The command that puts its archive into the current folder."""
        if self.registry == "npm":
            return ["npm", "pack", "--silent", "--ignore-scripts", f"{self.name}@{self.version}"]
        return ["apt-get", "-q", "download", f"{self.name}={self.version}"]


def listed_packages() -> list[Package]:
    """The list in packages.toml."""
    listed = tomllib.loads((Path(__file__).parent / "packages.toml").read_text(encoding="utf-8"))["package"]
    return [Package(**each) for each in listed]


def named(names: Sequence[str], languages: Sequence[str] = ()) -> list[Package]:
    """The listed packages with these names, in these languages; all where there are none. Raises UsageError."""
    listed = {package.name: package for package in listed_packages()}
    if unknown := sorted(set(names) - listed.keys()):
        raise UsageError(f"no such package in the list: {', '.join(unknown)}. It has: {', '.join(sorted(listed))}")
    of = [listed[name] for name in sorted(set(names) or listed)]
    if found := [package for package in of if not languages or set(languages) & set(package.languages)]:
        return found
    raise UsageError(f"no listed package is in {', '.join(languages)}, only in {', '.join(sorted({package.language for package in of}))}")


def is_fetched(package: Package, cache: Path) -> bool:
    """Whether the package's archive is in the cache already."""
    return (cache / package.file).is_file()


def archive_of(package: Package, cache: Path) -> Path:
    """The package's archive, fetched where it is not in the cache.

    Raises ProjectError where it can't be had, or is not the one whose hash the list names.
    """
    path = cache / package.file
    if not path.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            shutil.move(_fetched(package, Path(temporary)), path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != package.sha256:
        raise ProjectError(f"{path}: its SHA-256 is {digest}, packages.toml names {package.sha256}; delete the file and try again")
    return path


def _fetched(package: Package, folder: Path) -> Path:
    command = package.fetching
    wanted = f"{package.name} {package.version}"
    if shutil.which(command[0]) is None:
        raise ProjectError(f"{wanted} is fetched with {command[0]}, which is not installed: install it, or leave the package out")
    done = run_group(command, cwd=folder)
    found = [path for path in folder.iterdir() if path.is_file()]
    if done.returncode or len(found) != 1:
        reason = (done.stderr.strip().splitlines() or [f"{command[0]} said nothing"])[-1]
        raise ProjectError(f"{wanted} could not be downloaded: {reason}. With a network, try: {shlex.join(command)}")
    return found[0]


def files_of(package: Package, cache: Path) -> Iterator[tuple[str, str]]:
    """Path below the package's sources, and text with newlines as \\n, of each file of code, in order of name. Raises ProjectError."""
    archive = archive_of(package, cache)
    with tarfile.open(fileobj=io.BytesIO(_data_of(archive))) as opened:
        for member in sorted((member for member in opened if member.isfile()), key=lambda member: member.name):
            path = member.name.removeprefix("./")
            if not path.startswith(f"{package.below}/") or not is_code(path) or (file := opened.extractfile(member)) is None:
                continue
            try:
                yield path.removeprefix(f"{package.below}/"), file.read().decode().replace("\r\n", "\n")
            except UnicodeDecodeError:
                continue


def _data_of(archive: Path) -> bytes:
    """The tar archive in a package's: itself, or the member data.tar of a Debian package, which is an archive of ar."""
    data = archive.read_bytes()
    at = len(b"!<arch>\n")
    while archive.suffix == ".deb":
        name, size = data[at : at + 16].strip(), data[at + 48 : at + 58]
        if not name:
            raise ProjectError(f"{archive}: no Debian package: it has no data.tar; delete the file and try again")
        if name.startswith(b"data.tar"):
            return data[at + 60 : at + 60 + int(size)]
        at += 60 + int(size) + int(size) % 2
    return data
