"""LM Studio's models.

Layout (lmstudio.ai/docs/app/advanced/import-model; lmstudio-ai/lmstudio.js, findLMStudioHome; lmstudio-ai/lms):

    HOME/models/PUBLISHER/MODEL/FILE.gguf

HOME is what ~/.lmstudio-home-pointer names, else ~/.cache/lm-studio (old versions) or ~/.lmstudio. Another folder of models that the user
chose is "downloadsFolder" in HOME/settings.json.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ..regular_file import read_regular_file
from .candidate import Place
from .gguf_files import gguf_files
from .machine import Machine, each_once

_MAX_BYTES = 1 << 20


def folders(machine: Machine) -> Sequence[Path]:
    """The folders of models that LM Studio may use."""
    homes = [machine.home / ".lmstudio", machine.home / ".cache/lm-studio"]
    if pointed := _text(machine.home / ".lmstudio-home-pointer").strip():
        homes.insert(0, Path(pointed))
    found: list[Path] = []
    for home in homes:
        if chosen := _chosen(home):
            found.append(chosen)
        found.append(home / "models")
    return each_once(found)


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


PLACE = Place("lm-studio", "LM Studio", folders, gguf_files)
