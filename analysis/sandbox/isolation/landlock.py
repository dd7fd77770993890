"""Landlock: the kernel restricts which files a process may use, without privilege. By its three system calls (linux/landlock.h).

Imports only light modules, since each start of a launcher imports this.
"""

from __future__ import annotations

import os
import stat
import struct

from . import kernel

# typing and collections.abc cost more than the rest of a launcher's start
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CREATE, ADD, RESTRICT = 444, 445, 446  # the numbers are the same on every architecture
VERSION_FLAG = 1
# before this version a file can be emptied by whoever may write it by its mode, whatever the rules say
TRUNCATE_ABI = 3
SCOPED_SIGNALS_ABI = 6

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(4, 13))
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1
SCOPE_ABSTRACT_UNIX, SCOPE_SIGNAL = 1 << 0, 1 << 1

OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READING = READ_FILE | READ_DIR
WRITING = READING | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE


def abi() -> int:
    """The kernel's version of Landlock; 0 where there is none, or it is off."""
    try:
        return kernel.call(CREATE, None, 0, VERSION_FLAG, doing="say what Landlock it has")
    except (OSError, AttributeError):
        return 0


def ruleset(*, readable: Iterable[str], writable: Iterable[str], execute: bool) -> int:
    """Make a set of rules. All that they do not allow is refused: TCP, and signals to processes outside, where the kernel can (ABI 6).

    Parameters:
        readable, writable: files and folders that may be read, or read and written. Paths that do not exist are left out.
        execute: whether these files may be run.

    Returns: a descriptor of the rules.
    Raises: OSError where the kernel has no Landlock.
    """
    version = abi()
    if version < 1:
        raise OSError("this kernel has no Landlock, or it is off")
    files = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    net = BIND_TCP | CONNECT_TCP if version >= 4 else 0
    scopes = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL if version >= SCOPED_SIGNALS_ABI else 0
    attributes = struct.pack("=QQQ", files, net, scopes)
    rules = kernel.call(CREATE, attributes, len(attributes), 0, doing="make rules of Landlock")
    runs = EXECUTE if execute else 0
    try:
        for paths, rights in ((readable, READING | runs), (writable, WRITING | runs)):
            for path in paths:
                _allow(rules, path, rights & files)
    except BaseException:
        os.close(rules)
        raise
    return rules


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= OF_FILES
        kernel.call(ADD, rules, 1, struct.pack("=Qi", rights, fd), 0, doing=f"allow {path} by Landlock")
    finally:
        os.close(fd)


def restrict(rules: int) -> None:
    """Restrict the calling thread, and what it starts, to the rules for good. Raises OSError."""
    kernel.prctl(kernel.NO_NEW_PRIVILEGES, 1)
    kernel.call(RESTRICT, rules, 0, doing="put the process under rules of Landlock")
