"""Remove what a program left, however deep: neither the stack nor a path grows with how its folders lie in one another.

Nothing is imported that costs time, since a launcher reads this at each start.
"""

from __future__ import annotations

import os

# typing and collections.abc cost more than the rest of a launcher's start
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def remove(folder: str) -> None:
    """Remove the folder with all in it, links themselves; what resists stays. Nobody may be at work in it any more."""
    number, progress = 0, True
    while progress and (inner := _emptied(folder)):
        progress = False
        for path in inner:
            for deeper in _emptied(path):
                # up to the top, where the next round meets it; who moves a folder elsewhere has to be allowed to write in it
                number += 1
                _done(os.chmod, deeper, 0o700)
                progress |= _done(os.rename, deeper, f"{folder}/.assay-{number}")
            progress |= _done(os.rmdir, path)
    _done(os.rmdir, folder)


def _emptied(folder: str) -> list[str]:
    """The folders in a folder, after all else in it was removed."""
    _done(os.chmod, folder, 0o700)
    folders = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    _done(os.unlink, entry.path)
    except OSError:
        pass
    return folders


def _done(call: Callable[..., None], *arguments: object) -> bool:
    try:
        call(*arguments)
    except OSError:
        return False
    return True
