"""Remove what a program left, however deep: neither the stack nor a path grows with how its folders lie in one another.

Nothing is imported that costs time, since a launcher reads this at each start.
"""

from __future__ import annotations

import os


def remove(folder: str) -> None:
    """Remove the folder with all in it, links themselves; what resists stays. Nobody may be at work in it any more."""
    number = 0
    while inner := [path for path in _emptied(folder) if path]:
        before = number
        for path in inner:
            for deeper in _emptied(path):
                # up to the top, where the next round meets it
                number += 1
                _tried(os.rename, deeper, f"{folder}/.assay-{number}")
            number += _tried(os.rmdir, path)
        if number == before:
            break
    _tried(os.rmdir, folder)


def _emptied(folder: str) -> list[str]:
    """The folders in a folder, after all else in it was removed."""
    _tried(os.chmod, folder, 0o700)
    folders = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    _tried(os.unlink, entry.path)
    except OSError:
        pass
    return folders


def _tried(call: object, *args: object) -> bool:
    try:
        call(*args)  # type: ignore[operator]
    except OSError:
        return False
    return True
