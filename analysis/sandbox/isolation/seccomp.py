"""Which system calls a program may make: filters for the kernel's seccomp, assembled as BPF (x86_64 and aarch64).

A filter is a list of instructions over (number, architecture, arguments) of a call: linux/seccomp.h, linux/filter.h. Imports only light
modules, since each start of a launcher imports this.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from . import kernel

# typing and collections.abc cost more than the rest of a launcher's start
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
X32_BIT = 0x40000000
SOCK_STREAM, SOCKET_TYPES = 1, 0xF
AF_UNIX = 1
# What a network namespace of its own holds back: AF_INET, AF_INET6, AF_NETLINK. A socket of the family AF_UNIX could connect to any path
# that the jail shows, on a read-only mount, too; others reach the machine's host (AF_VSOCK) or rarely used parts of the kernel (AF_ALG).
SOCKET_FAMILIES = (2, 10, 16)

# In all tables: the number of each call on x86_64 and on aarch64; None where there is no such call.
Calls = dict[str, tuple[int | None, int | None]]

NEVER: Calls = {
    # other processes' memory and descriptors
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # file systems and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "listmount": (458, 458),
    "statmount": (457, 457),
    "unshare": (272, 97),
    "setns": (308, 268),
    # the machine's state
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "ustat": (136, None),
    "uselib": (134, None),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    # rarely needed ways into the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "lookup_dcookie": (212, 18),
    "fanotify_init": (300, 262),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "personality": (135, 92),
    # memory and slots that no limit counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "io_setup": (206, 0),
}
FORKS: Calls = {
    "fork": (57, None),
    "vfork": (58, None),
}
RUNS: Calls = {
    "execve": (59, 221),
    "execveat": (322, 281),
}
SIGNALS_BY_ID: Calls = {
    "kill": (62, 129),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}
OTHER_SIGNALS: Calls = {
    "tkill": (200, 130),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
}
# what Landlock does not restrict: modes, owners, times and attributes of files
ATTRIBUTES: Calls = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
}
# what Landlock lets a program learn of files that it may not read: the names of what changes in a folder, attributes, where a link leads
WATCHES: Calls = {
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
}
READ_ATTRIBUTES: Calls = {
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "getxattrat": (464, 464),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "listxattrat": (465, 465),
}
# Entering a folder by a link tells where that leads.
READ_LINKS: Calls = {
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "chdir": (80, 49),
    "fchdir": (81, 50),
}
# change limits and priorities of a process
OF_A_PROCESS: Calls = {
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
}
# Their first argument says whether they mean a process, a group or a user; the second which. Of the others the first is the process.
OF_A_KIND = {"setpriority": 0, "ioprio_set": 1}
# calls that are allowed or not by their arguments
BY_ARGUMENTS: Calls = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "mmap": (9, 222),
    "socketpair": (53, 199),
    "ioctl": (16, 29),
    "fcntl": (72, 25),
    "socket": (41, 198),
    "prctl": (157, 167),
}
CALLS = (
    NEVER | FORKS | RUNS | SIGNALS_BY_ID | OTHER_SIGNALS | ATTRIBUTES | WATCHES | READ_ATTRIBUTES | READ_LINKS | OF_A_PROCESS | BY_ARGUMENTS
)

CLONE_THREAD = 0x00010000
CLONE_NAMESPACES = 0x7E020080
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20
# ways to fake input on a terminal, and to have others signalled when a file is ready (TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP)
IOCTLS = (0x5412, 0x541C, 0x8901, 0x8902)
# the same by F_SETOWN, F_SETSIG, F_SETOWN_EX; F_SETLEASE, which lets others wait; F_NOTIFY, which tells of what changes in a folder
FCNTLS = (8, 10, 15, 1024, 1026)
SIGKILL_PROCESS, ALLOW, ERRNO = 0x80000000, 0x7FFF0000, 0x00050000

_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06


class UnsupportedArchitecture(Exception):
    """No filter is known for this machine's processor; the message names it."""


def _instruction(code: int, constant: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, constant & 0xFFFFFFFF)


def _argument(index: int) -> bytes:
    return _instruction(_LOAD, 16 + 8 * index)


_NUMBER = _instruction(_LOAD, 0)
_PERMITTED = _instruction(_RETURN, ALLOW)


def _refusal(error: int) -> bytes:
    return _instruction(_RETURN, ERRNO | error)


def _when(number: int, *body: bytes) -> bytes:
    """Instructions that run the body for the call of that number. The body has to return in every case."""
    joined = b"".join(body)
    return _instruction(_EQUAL, number, 0, len(joined) // 8) + joined


def _column() -> tuple[int, int]:
    machine = os.uname().machine
    if machine not in ARCHITECTURES:
        raise UnsupportedArchitecture(f"no filter of system calls for the processor {machine}: there is one for x86_64 and for aarch64")
    return ARCHITECTURES[machine]


def _filter(refused: Iterable[str], rules: Sequence[tuple[str, Sequence[bytes]]]) -> bytes:
    """A filter that refuses some calls, applies rules to others, and allows the rest. Calls of another architecture kill the process."""
    column, architecture = _column()
    parts = [_instruction(_LOAD, 4), _instruction(_EQUAL, architecture, 1, 0), _instruction(_RETURN, SIGKILL_PROCESS), _NUMBER]
    if column == 0:
        parts += [_instruction(_AT_LEAST, X32_BIT, 0, 1), _instruction(_RETURN, SIGKILL_PROCESS)]
    for name in refused:
        number = CALLS[name][column]
        parts += [] if number is None else [_when(number, _refusal(errno.EPERM))]
    for name, body in rules:
        number = CALLS[name][column]
        parts += [] if number is None else [_when(number, *body)]
    return b"".join([*parts, _PERMITTED])


def _none_of(index: int, values: Sequence[int]) -> list[bytes]:
    """Instructions that refuse some values of an argument."""
    last = len(values) - 1
    found = (_instruction(_EQUAL, value, last - number, int(number == last)) for number, value in enumerate(values))
    return [_argument(index), *found, _refusal(errno.EPERM)]


def _rules(fork: bool, threads: bool = True) -> list[tuple[str, Sequence[bytes]]]:
    """Rules on a call's arguments.

    They refuse new namespaces, processes, shared anonymous memory, pairs of sockets that reach others, and some of ioctl and fcntl.
    """
    clone = [_argument(0), _instruction(_ANY_BIT, CLONE_NAMESPACES, 0, 1), _refusal(errno.EPERM)]
    if not threads:
        clone = [_refusal(errno.EAGAIN)]
    elif not fork:
        clone += [_instruction(_ANY_BIT, CLONE_THREAD, 1, 0), _refusal(errno.EPERM)]
    shared = [
        _argument(3),
        _instruction(_AND, MAP_SHARED | MAP_ANONYMOUS),
        _instruction(_EQUAL, MAP_SHARED | MAP_ANONYMOUS, 0, 1),
        _refusal(errno.EPERM),
    ]
    pair = [
        *(_argument(0), _instruction(_EQUAL, AF_UNIX, 1, 0), _refusal(errno.EAFNOSUPPORT)),
        # a datagram socket of a pair could send to any socket that has a path
        *(_argument(1), _instruction(_AND, SOCKET_TYPES), _instruction(_EQUAL, SOCK_STREAM, 1, 0), _refusal(errno.EPERM)),
    ]
    return [
        ("clone", [*clone, _PERMITTED]),
        # its flags lie in memory, where no filter can read them; without it the C library uses clone
        ("clone3", [_refusal(errno.ENOSYS)]),
        ("mmap", [*shared, _PERMITTED]),
        ("socketpair", [*pair, _PERMITTED]),
        ("ioctl", [*_none_of(1, IOCTLS), _PERMITTED]),
        ("fcntl", [*_none_of(1, FCNTLS), _PERMITTED]),
    ]


def jail_filter() -> bytes:
    """The filter for a program in namespaces of its own, which may start processes and run other programs."""
    allowed = [_instruction(_EQUAL, family, len(SOCKET_FAMILIES) - number, 0) for number, family in enumerate(SOCKET_FAMILIES)]
    families = ("socket", [_argument(0), *allowed, _refusal(errno.EAFNOSUPPORT), _PERMITTED])
    return _filter(NEVER, [*_rules(fork=True), families])


def process_filter(*, fork: bool, execute: bool, attributes: bool, own_id: int | None, threads: bool = True) -> bytes:
    """The filter for a process that shares its namespaces with others. It also gets no socket, and can't escape its parent's supervision.

    Parameters:
        fork, execute: whether it may start processes, and run other programs.
        attributes: whether it may change modes, owners and times of files, which Landlock does not restrict.
        own_id: its process id where the filter has to keep it from signalling others; None where something else does.
        threads: whether it may start threads; a process that may start processes may.
    """
    refused = [*NEVER, "socket", *WATCHES]
    refused += [] if attributes else ATTRIBUTES
    refused += [] if fork else FORKS
    # the loader of another program reads where links lead
    refused += [] if execute else [*RUNS, *READ_LINKS]
    rules = _rules(fork, threads or fork)
    stays = [
        _argument(0),
        _instruction(_EQUAL, kernel.PDEATHSIG, 1, 0),
        _instruction(_EQUAL, kernel.CHILD_SUBREAPER, 0, 1),
        _refusal(errno.EPERM),
    ]
    rules.append(("prctl", [*stays, _PERMITTED]))
    # as on a file system that has none: programs that copy files expect that answer
    rules += [(name, [_refusal(errno.ENOTSUP)]) for name in READ_ATTRIBUTES]
    for name in OF_A_PROCESS:
        of_one = [_argument(0), _instruction(_EQUAL, OF_A_KIND[name], 1, 0), _refusal(errno.EPERM)] if name in OF_A_KIND else []
        itself = [_argument(1 if of_one else 0), _instruction(_EQUAL, 0, 1, 0), _refusal(errno.EPERM), _PERMITTED]
        rules.append((name, [*of_one, *itself]))
    if own_id is not None:
        refused += OTHER_SIGNALS
        itself = [_argument(0), _instruction(_EQUAL, own_id, 1, 0), _refusal(errno.EPERM), _PERMITTED]
        rules += [(name, itself) for name in SIGNALS_BY_ID]
    return _filter(refused, rules)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def install(filter_: bytes) -> None:
    """Apply the filter to the calling thread, and what it starts, for good. Raises OSError where the kernel refuses."""
    mode_filter = 2
    kernel.prctl(kernel.NO_NEW_PRIVILEGES, 1)
    kernel.prctl(kernel.SECCOMP, mode_filter, ctypes.byref(_Program(len(filter_) // 8, filter_)), doing="take a filter of system calls")
