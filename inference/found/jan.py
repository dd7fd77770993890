"""Jan's models.

Layout (janhq/jan: extensions/llamacpp-extension; its documentation of the data folder):

    DATA/llamacpp/models/MODEL/model.gguf    with a model.yml beside it; MODEL may be several folders
    DATA/models/MODEL/FILE.gguf              older versions

DATA is Jan/data in a user's folder for programs' data, of which some systems have two; in old versions it is ~/jan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from .candidate import Candidate, Place
from .gguf_files import gguf_files
from .machine import Machine, each_once
from .walk import Notes


def folders(machine: Machine) -> Sequence[Path]:
    """The folders of models that Jan may use."""
    data = each_once([machine.roaming_data / "Jan/data", machine.local_data / "Jan/data", machine.home / "jan"])
    return [folder / below for folder in data for below in ("llamacpp/models", "models")]


def candidates(folder: Path, notes: Notes) -> Iterator[Candidate]:
    """The GGUF files, each by the model's name, which is that of its folder."""
    for found in gguf_files(folder, notes):
        yield replace(found, name=found.name.removesuffix("/model"))


PLACE = Place("jan", "Jan", folders, candidates)
