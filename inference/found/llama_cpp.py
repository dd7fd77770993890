"""What llama.cpp has downloaded.

Layout (ggml-org/llama.cpp: fs_get_cache_directory in common/common.cpp, common/download.cpp):

    CACHE/OWNER_REPO_FILE.gguf

CACHE is LLAMA_CACHE, else llama.cpp in the user's folder for caches: XDG_CACHE_HOME or ~/.cache, ~/Library/Caches, %LOCALAPPDATA%. Newer
versions download to Hugging Face's cache instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .candidate import Place
from .gguf_files import gguf_files
from .machine import Machine


def folders(machine: Machine) -> Sequence[Path]:
    """The folder of llama.cpp's downloads."""
    return [machine.variable("LLAMA_CACHE") or machine.caches / "llama.cpp"]


PLACE = Place("llama.cpp", "llama.cpp", folders, gguf_files)
