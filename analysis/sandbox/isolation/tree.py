"""Everything below a folder, however deep its folders are nested."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path


def entries_below(folder: Path, enters: Callable[[os.DirEntry[str]], bool] = lambda _: True) -> Iterator[os.DirEntry[str]]:
    """The entries of a folder and of those in it. Links are not followed, and what can't be listed is left out.

    enters: whether the entries of a folder are given, too.

    In Python 3.11 os.walk and Path.rglob call themselves for each level, and fail where a stranger has made a thousand.
    """
    todo = [os.fspath(folder)]
    while todo:
        try:
            with os.scandir(todo.pop()) as entries:
                found = list(entries)
        except OSError:
            continue
        yield from found
        todo += [entry.path for entry in found if entry.is_dir(follow_symlinks=False) and enters(entry)]
