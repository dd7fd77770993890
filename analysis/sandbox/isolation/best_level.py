"""Which level of isolation works on this machine, found by trying."""

from __future__ import annotations

import sys
from functools import cache

from .jail import Jail
from .levels import Isolation

HOW = (
    "Debian, Ubuntu:  sudo apt install bubblewrap\n"
    "  Fedora:          sudo dnf install bubblewrap\n"
    "  Arch:            sudo pacman -S bubblewrap\n"
    "On macOS and Windows there is none: use Linux, in a virtual machine or WSL 2. In a container, allow user namespaces, or Landlock.\n"
    "--sandbox none runs programs with no isolation, with your rights: only for programs that you trust."
)


class NoIsolation(Exception):
    """Nothing here isolates programs; the message says what was tried, how it failed, and how to get it."""


@cache
def best_level() -> Isolation:
    """The best level that works here, found by running a program in it; the answer is cached. Raises NoIsolation."""
    if sys.platform != "linux":
        raise NoIsolation(f"Nothing isolates untrusted programs on this system ({sys.platform}).\nHow to get it:\n  {HOW}")
    failures = []
    for level in (Isolation.BUBBLEWRAP, Isolation.LANDLOCK):
        reason = Jail(level).defect()
        if not reason:
            return level
        failures.append(f"  {level}: {reason}")
    raise NoIsolation("No isolation for untrusted programs works here:\n" + "\n".join(failures) + "\nHow to get it:\n  " + HOW)
