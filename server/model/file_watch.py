"""A model's file, or its folder, as it changes on the disk.

It is looked at once a second and not by file events: none come from a network drive, a model is replaced once in months, and a look costs
a few system calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

LOOK_S = 1.0

# What changes whenever a file does; empty where nothing is there.
Version = tuple[tuple[str, int, int, int], ...]


def version_of(where: Path) -> Version:
    """The version of a file, or of all files of a folder."""
    try:
        files = sorted(where.iterdir()) if where.is_dir() else [where]
        found = [(file.name, file.stat()) for file in files]
    except (OSError, ValueError):  # a name with a NUL byte is no file's
        return ()
    return tuple((name, seen.st_size, seen.st_mtime_ns, seen.st_ino) for name, seen in found)


async def changes(where: Path) -> AsyncIterator[Literal["gone", "changed"]]:
    """ "gone" when nothing is there any more; "changed" when another version is there and has not changed for a look: so it is whole."""
    known = before = await asyncio.to_thread(version_of, where)
    while True:
        await asyncio.sleep(LOOK_S)
        now = await asyncio.to_thread(version_of, where)
        if now == before and now != known:
            known = now
            yield "changed" if now else "gone"
        before = now
