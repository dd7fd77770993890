"""Remove a folder tree of any depth: neither the stack nor a path grows with how deep its folders are nested.

Imports only light modules, since each start of a launcher imports this.
"""

from __future__ import annotations

import os

# typing and collections.abc cost more than the rest of a launcher's start
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def remove(folder: str) -> None:
    """Remove the folder with all in it. Links are removed, not followed. What can't be removed stays. No process may use it any more."""
    number, progress = 0, True
    while progress and (inner := _remove_files(folder)):
        progress = False
        for path in inner:
            for deeper in _remove_files(path):
                # moved to the top, where the next round finds it; moving a folder requires write permission on it
                number += 1
                _succeeds(os.chmod, deeper, 0o700)
                progress |= _succeeds(os.rename, deeper, f"{folder}/.assay-{number}")
            progress |= _succeeds(os.rmdir, path)
    _succeeds(os.rmdir, folder)


def _remove_files(folder: str) -> list[str]:
    """Remove all but the folders in a folder; those folders."""
    _succeeds(os.chmod, folder, 0o700)
    folders = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    _succeeds(os.unlink, entry.path)
    except OSError:
        pass
    return folders


def _succeeds(call: Callable[..., None], *arguments: object) -> bool:
    try:
        call(*arguments)
    except OSError:
        return False
    return True
