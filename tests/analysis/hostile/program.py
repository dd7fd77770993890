"""What a hostile program is, and the tests that it is put to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# The task that most have: square(n), which the prelude solves wrongly. TOKEN stands for a text that is drawn anew for each run.
SQUARE = """
def check(candidate):
    assert candidate(3) == 9
    assert candidate(-4) == 16
    assert [candidate(n) for n in (0, 1, 12)] == [0, 1, 144]
"""
TOKEN = """
def check(candidate):
    expected = "@TOKEN@"
    assert candidate(1) == expected
"""

# What every hostile program begins with: where the scene is, and the words for telling of what it did there.
PRELUDE = """
import os, sys

def square(n):
    return n + 1

def tell(text):
    # by both ways, as either may be closed
    try:
        os.write(1, f"{text}\\n".encode("utf-8", "replace"))
    except BaseException:
        pass
    try:
        print(text, flush=True)
    except BaseException:
        pass

def harm(what):
    tell(f"HARM: {what}")

def marked():
    # the name that the process is found by from outside
    import ctypes
    ctypes.CDLL(None).prctl(15, MARK.encode(), 0, 0, 0)

def syscall(*arguments):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
"""


@dataclass(frozen=True, slots=True)
class Hostile:
    """A wrong solution that tries to do harm, or to be counted as a pass.

    `source` follows PRELUDE and the scene's constants: OUTSIDE (a folder that is not its own), HOME, PORT (of TCP and UDP on the
    loopback), ABSTRACT (a socket's name), VICTIMS (process ids), MARK (a name for files and processes), MEMORY and DISK (bytes that it may
    have), ROUND (which run of the scene it is). `then` is a second program, run right after it.
    """

    name: str
    kind: Literal["harm", "forgery"]
    tries: str
    source: str = field(repr=False)
    test: str = field(default=SQUARE, repr=False)
    entry_point: str | None = "square"
    then: str = field(default="", repr=False)
    # It does not end by itself.
    hangs: bool = False
    # Where nothing contains it, it hurts processes or files that are not its own. Even so it aims at the scene and its own forebears
    # only: the list is run on machines with other work on them, by root, too.
    rough: bool = False

    def text(self, constants: str) -> str:
        return f"{constants}{PRELUDE}{self.source}"


def harm(name: str, tries: str, source: str, **more: object) -> Hostile:
    return Hostile(name, "harm", tries, source, **more)  # type: ignore[arg-type]


def forgery(name: str, tries: str, source: str, **more: object) -> Hostile:
    return Hostile(name, "forgery", tries, source, **more)  # type: ignore[arg-type]
