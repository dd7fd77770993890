"""GPT4All's models.

Layout (nomic-ai/gpt4all: gpt4all-chat, mysettings.cpp, defaultLocalModelsPath; gpt4all-bindings/python, gpt4all.py):

    FOLDER/FILE.gguf    a download is FOLDER/incomplete-FILE.gguf

FOLDER is nomic.ai/GPT4All in the user's folder for programs' data of this machine; of its Python package ~/.cache/gpt4all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .candidate import Place
from .gguf_files import gguf_files
from .machine import Machine


def folders(machine: Machine) -> Sequence[Path]:
    """The folders of models that GPT4All may use."""
    return [machine.local_data / "nomic.ai/GPT4All", machine.home / ".cache/gpt4all"]


PLACE = Place("gpt4all", "GPT4All", folders, gguf_files)
