"""Folders that the user names, with GGUF files and folders of transformers in them, by their paths.

They are the folders of ASSAY_MODEL_FOLDERS, separated as in PATH, and those named where models are listed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from .candidate import Candidate, Place
from .gguf_files import candidates_of
from .machine import Machine, each_once
from .walk import Notes, walk

VARIABLE = "ASSAY_MODEL_FOLDERS"


def folders(machine: Machine) -> Sequence[Path]:
    """The folders that the environment names."""
    named = (part.strip() for part in machine.environ.get(VARIABLE, "").split(os.pathsep))
    return each_once(replace(machine, environ={"X": part}).variable("X") or Path() for part in named if part)


def candidates(folder: Path, notes: Notes) -> Iterator[Candidate]:
    """The GGUF files and the folders of transformers; the name of each is its path."""
    if not folder.exists():
        notes.append(f"{folder}: no such folder")
    files = list(walk(folder, notes))
    for found in candidates_of(folder, files):
        yield replace(found, name=str(found.path))
    weights = {path.parent for path in files if path.suffix == ".safetensors"}
    for path in files:
        if path.name == "config.json" and path.parent in weights:
            yield Candidate(str(path.parent), path.parent)


PLACE = Place("folder", "your folders", folders, candidates, prefixed=False)
