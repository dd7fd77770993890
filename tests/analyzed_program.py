"""A program with every shape that the rules for Python look for, and a function to try it by."""

from __future__ import annotations

import signal

PROGRAM = '''\
"""Module."""
import os


def search(items, wanted, /, *, start=0):
    """Where it is.

    Not code:
        if x == 1: pass
    """
    found = False
    n, place = 0, -1   # two at once
    seen = []
    for i in range(start, len(items)):  # é
        if items[i] == 0 and not found:
            place = i
            found = True
        elif i > 3:
            n += 1
        else:
            n = i
        seen.append(f"""{i}
    kept as it is""")
    while n < 2:
        n += 1
    if not items:
        return None
    match place:
        case 0 | 1:
            # the first
            return 'near'
        case int() if n > 9:
            return f"far: {n}"
        case other:
            print(max(other, n))
    return found
'''


def outcomes(source: str) -> dict[str, str]:
    """What the program's function gives for each of four lists; a change may keep it from ending."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    space: dict[str, object] = {}
    exec(source, space)
    results = {}
    for items in ([], [0], [5, 0], [1, 2, 3, 4, 5, 6]):
        signal.setitimer(signal.ITIMER_PROF, 0.3)
        try:
            results[str(items)] = repr(space["search"](items, 1))  # type: ignore[operator]
        except Exception as error:
            results[str(items)] = type(error).__name__
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return results
