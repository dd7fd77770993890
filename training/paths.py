"""Where training keeps its files, outside of the repository's tracked files."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

CACHE = Path(__file__).parent.parent / ".cache"
MADE_BY = {
    "corpus.jsonl": "training.corpus build",
    "tokenizer.json": "training.tokenizer",
    "guesses.jsonl": "training.guesses",
    "tasks.jsonl": "training.tasks",
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
