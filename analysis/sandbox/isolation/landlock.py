"""Landlock: the kernel restricts which files a process may use, without privilege. By its three system calls (linux/landlock.h).

Imports only light modules, since each start of a launcher imports this.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

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


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _checked(result: int, doing: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"Landlock could not {doing}: {os.strerror(error)}")
    return int(result)


def abi() -> int:
    """The kernel's version of Landlock; 0 where there is none, or it is off."""
    try:
        return max(0, int(_libc().syscall(ctypes.c_long(CREATE), None, ctypes.c_size_t(0), ctypes.c_uint32(VERSION_FLAG))))
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
    libc = _libc()
    attributes = struct.pack("=QQQ", files, net, scopes)
    rules = _checked(libc.syscall(ctypes.c_long(CREATE), attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)), "make rules")
    runs = EXECUTE if execute else 0
    try:
        for paths, rights in ((readable, READING | runs), (writable, WRITING | runs)):
            for path in paths:
                _allow(libc, rules, path, rights & files)
    except BaseException:
        os.close(rules)
        raise
    return rules


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= OF_FILES
        rule = struct.pack("=Qi", rights, fd)
        _checked(libc.syscall(ctypes.c_long(ADD), ctypes.c_int(rules), ctypes.c_int(1), rule, ctypes.c_uint32(0)), f"allow {path}")
    finally:
        os.close(fd)


def restrict(rules: int) -> None:
    """Restrict the calling thread, and what it starts, to the rules for good. Raises OSError."""
    libc = _libc()
    no_new_privileges = 38
    _checked(libc.prctl(no_new_privileges, 1, 0, 0, 0), "give up privileges")
    _checked(libc.syscall(ctypes.c_long(RESTRICT), ctypes.c_int(rules), ctypes.c_uint32(0)), "put the process under its rules")
