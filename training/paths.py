"""Where training keeps its files: in the user's cache, so that every checkout finds them."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import platformdirs

CACHE = platformdirs.user_cache_path("assay") / "training"
MADE_BY = {"corpus.jsonl": "training.corpus", "tokenizer.json": "training.tokenizer"}


def there(text: str) -> Path:
    """An existing file, as a type for argparse. (A default is checked too where it is a string.)"""
    path = Path(text)
    if not path.is_file():
        program = MADE_BY.get(path.name)
        raise ArgumentTypeError(f"{path} is not there" + (f"; python -m {program} makes it" if program else ""))
    return path
