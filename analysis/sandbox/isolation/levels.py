"""The levels of isolation."""

from __future__ import annotations

from enum import StrEnum


class Isolation(StrEnum):
    """How untrusted programs are kept apart, best first. NONE is never chosen for the user, only asked for."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    NONE = "none"
