"""Where training keeps its files: in the user's cache, so that no checkout has to be kept for them and all share them."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from pathlib import Path

# As platformdirs has it on Linux; elsewhere.py runs where there is no platformdirs.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay" / "training"
SHIPPED = Path(__file__).parent.parent / "inference" / "embedded" / "assay.gguf"
MADE_BY = {
    "corpus.jsonl": "training.corpus build",
    "tokenizer.json": "training.tokenizer",
}


def there(text: str) -> Path:
    """An existing file, as a type for argparse. (A default is checked too where it is a string.)"""
    path = Path(text)
    if not path.is_file():
        program = MADE_BY.get(path.name)
        raise ArgumentTypeError(f"{path} is not there" + (f"; python -m {program} makes it" if program else ""))
    return path


def run_folder(text: str) -> Path:
    """A run's folder with saved weights, as a type for argparse."""
    path = Path(text)
    if missing := [name for name in ("weights.safetensors", "shape.json") if not (path / name).is_file()]:
        raise ArgumentTypeError(f"{path} has no {' and no '.join(missing)}: it is no folder of training.train, or nothing was saved yet")
    return path
