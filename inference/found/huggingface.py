"""Hugging Face's cache: GGUF files, and folders that transformers opens.

Layout (the Hub's documentation, "Hub Local Cache"; huggingface_hub, guides/manage-cache):

    HUB/models--OWNER--REPO/refs/main                  the commit that "main" was at
    HUB/models--OWNER--REPO/snapshots/COMMIT/FILE      a link to ../../blobs/HASH (a file where the system has no links)
    HUB/models--OWNER--REPO/blobs/HASH                 large files by their SHA-256, small ones by git's SHA-1; HASH.incomplete: a download

HUB is HF_HUB_CACHE, else HF_HOME/hub, else huggingface/hub in XDG_CACHE_HOME or ~/.cache, on every system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..regular_file import read_regular_file
from .candidate import Candidate, Machine, Notes, Place, walk
from .gguf_files import candidates_of
from .model import describe

_REPOSITORY = "models--"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MAX_REF_BYTES = 1 << 10


def folders(machine: Machine) -> Sequence[Path]:
    """The folder of the cache."""
    caches = machine.variable("XDG_CACHE_HOME") or machine.home / ".cache"
    home = machine.variable("HF_HOME") or caches / "huggingface"
    return [machine.variable("HF_HUB_CACHE") or machine.variable("HUGGINGFACE_HUB_CACHE") or home / "hub"]


def candidates(folder: Path, notes: Notes) -> Iterator[Candidate]:
    """The models of each repository: OWNER/REPO/FILE for a GGUF file, OWNER/REPO for a folder; another snapshot with @COMMIT behind."""
    repositories: dict[str, dict[str, list[Path]]] = {}
    unfinished = set[str]()
    for path in walk(folder, notes, enter=lambda path: path.parent != folder or path.name.startswith(_REPOSITORY)):
        repository, *inside = path.relative_to(folder).parts
        if not repository.startswith(_REPOSITORY):
            continue
        if inside[0] == "snapshots" and len(inside) > 2:
            repositories.setdefault(repository, {}).setdefault(inside[1], []).append(path)
        elif inside[0] == "blobs" and path.name.endswith(".incomplete"):
            unfinished.add(repository)
    for repository, snapshots in repositories.items():
        newest, owner_and_name = _newest(folder / repository, snapshots), repository.removeprefix(_REPOSITORY).replace("--", "/", 1)
        versions: dict[str, dict[str, Candidate]] = {}
        for commit in sorted(snapshots, key=lambda commit: commit != newest):
            for found in _of_snapshot(folder / repository / "snapshots" / commit, snapshots[commit]):
                versions.setdefault("/".join(filter(None, (owner_and_name, found.name))), {})[commit] = found
        for name, by_commit in versions.items():
            usual = _usual(by_commit, newest)
            for commit, found in by_commit.items():
                yield replace(found, name=name if commit == usual else f"{name}@{commit[:8]}")
    for repository in sorted(unfinished):
        notes.append(f"{folder / repository}: a download that was not finished")


def _usual(versions: Mapping[str, Candidate], newest: str) -> str:
    """The snapshot that a name without one means: the newest, unless only an older one can be used."""
    if len(versions) > 1 and newest in versions and _problem(versions[newest]):
        return next((commit for commit, found in versions.items() if not _problem(found)), newest)
    return newest


def _problem(candidate: Candidate) -> str:
    described = describe(candidate, "", ())
    return "it writes no text" if described is None else described.problem


def _of_snapshot(root: Path, files: Sequence[Path]) -> Iterator[Candidate]:
    for found in candidates_of(root, files):
        yield found if found.parts else replace(found, sha256=_hash(found.path))
    names = {path.name for path in files if path.parent == root}
    if "config.json" in names and any(name.endswith((".safetensors", ".bin", ".index.json")) for name in names):
        yield Candidate("", root)


def _hash(path: Path) -> str:
    """The SHA-256 of a large file, which is the name of its blob; empty where it is none."""
    try:
        name = path.resolve().name
    except (OSError, RuntimeError):
        return ""
    return name if _SHA256.fullmatch(name) else ""


def _newest(repository: Path, snapshots: dict[str, list[Path]]) -> str:
    """The snapshot of "main", else the one with the last name."""
    try:
        commit = read_regular_file(repository / "refs" / "main", _MAX_REF_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        commit = ""
    return commit if commit in snapshots else max(snapshots)


PLACE = Place("hf", "Hugging Face", folders, candidates)
