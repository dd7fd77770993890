"""The places where models are looked for: what programs call their folders, and how they name what is in them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..embedded_model import EMBEDDED, EMBEDDED_NAME
from ..regular_file import read_regular_file
from . import huggingface, ollama
from .candidate import Candidate, Machine, Notes, Place, walk
from .gguf_files import candidates_of, gguf_files


def _in_assay(folder: Path, _: Notes) -> Iterator[Candidate]:
    """The model; nothing where the package was installed without it."""
    if (folder / EMBEDDED.name).is_file():
        yield Candidate(EMBEDDED_NAME, folder / EMBEDDED.name)


ASSAY = Place("embedded", "Assay", lambda _: [EMBEDDED.parent], _in_assay, prefixed=False)


_MAX_BYTES = 1 << 20


def _lm_studio_folders(machine: Machine) -> Sequence[Path]:
    """HOME/models, of HOME/models/PUBLISHER/MODEL/FILE.gguf.

    HOME is what ~/.lmstudio-home-pointer names, else ~/.cache/lm-studio (old versions) or ~/.lmstudio. Another folder that the user chose
    is "downloadsFolder" in HOME/settings.json (lmstudio.ai/docs/app/advanced/import-model; lmstudio-ai/lmstudio.js, findLMStudioHome).
    """
    homes = [machine.home / ".lmstudio", machine.home / ".cache/lm-studio"]
    if pointed := _text(machine.home / ".lmstudio-home-pointer").strip():
        homes.insert(0, Path(pointed))
    found: list[Path] = []
    for home in homes:
        if chosen := _chosen(home):
            found.append(chosen)
        found.append(home / "models")
    return found


def _chosen(home: Path) -> Path | None:
    try:
        settings = json.loads(_text(home / "settings.json") or "{}")
    except (ValueError, RecursionError):
        return None
    folder = settings.get("downloadsFolder") if isinstance(settings, dict) else None
    return Path(folder) if isinstance(folder, str) and folder else None


def _text(path: Path) -> str:
    try:
        return read_regular_file(path, _MAX_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


LM_STUDIO = Place("lm-studio", "LM Studio", _lm_studio_folders, gguf_files)


def _llama_cpp_folders(machine: Machine) -> Sequence[Path]:
    """CACHE, of CACHE/OWNER_REPO_FILE.gguf (ggml-org/llama.cpp: fs_get_cache_directory in common/common.cpp, common/download.cpp).

    Newer versions download to Hugging Face's cache instead.
    """
    return [machine.variable("LLAMA_CACHE") or machine.caches / "llama.cpp"]


LLAMA_CPP = Place("llama.cpp", "llama.cpp", _llama_cpp_folders, gguf_files)


VARIABLE = "ASSAY_MODEL_FOLDERS"


def _named_folders(machine: Machine) -> Sequence[Path]:
    """The folders of ASSAY_MODEL_FOLDERS, separated as in PATH. Others are named where models are listed."""
    named = (part.strip() for part in machine.environ.get(VARIABLE, "").split(os.pathsep))
    return [replace(machine, environ={"X": part}).variable("X") or Path() for part in named if part]


def _in_named(folder: Path, notes: Notes) -> Iterator[Candidate]:
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


NAMED = Place("folder", "your folders", _named_folders, _in_named, prefixed=False)


# In the order in which a list of models names them. To add one, write it here, or beside this file where its layout takes a page.
PLACES: tuple[Place, ...] = (ASSAY, ollama.PLACE, LM_STUDIO, LLAMA_CPP, huggingface.PLACE, NAMED)
