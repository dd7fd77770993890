"""Read commits, changes and contents from a git repository that may be hostile, and the edits of Python files in its history.

No program that its configuration names is run.

Only commands that read the object database are called (rev-parse, rev-list, log, diff-tree, ls-tree, cat-file). They run without the
system's and the user's configuration; without external diffs, textconv, filters, hooks, pager, monitor or replaced objects; with every
transport forbidden, so that objects which a partial clone lacks are not fetched; and with limits on time and output.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..python.source_text import UnreadableSource, decoded, lines_of

TIMEOUT_S = 120.0
_MAX_OUTPUT = 1 << 26
_REGULAR_FILES = (b"100644", b"100755")

_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": os.devnull,
    "LC_ALL": "C",
    "PATH": os.defpath,
}
_SETTINGS = (
    "core.attributesFile=/dev/null",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    # git refuses other users' repositories since their settings may run programs; here none does
    "safe.directory=*",
)


class GitError(Exception):
    """A repository could not be read; the message says why, and what to do."""


class GitRefused(GitError):
    """git ended with an error."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A readable repository. path: as it was given. git: the program. timeout_s: of each call of it."""

    path: Path
    git: str
    git_dir: str
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Change:
    """A regular file that a commit changed, and maybe renamed. old, new: object ids of its contents."""

    commit: str
    path: str
    old: str
    new: str


def open_repository(path: Path, *, timeout_s: float = TIMEOUT_S) -> Repository:
    """The repository that a folder is in. Raises GitError where git is not installed, or there is no repository, or a shallow clone."""
    git = shutil.which("git")
    if git is None:
        raise GitError("git is not on the path; install it to read a history")
    if not path.is_dir():
        raise GitError(f"{path} is not a folder")
    repository = Repository(path, git, "", timeout_s)
    try:
        said = _run(repository, ["-C", str(path.absolute()), "rev-parse", "--absolute-git-dir", "--is-shallow-repository"])
    except GitRefused as error:
        if "not a git repository" in str(error):
            raise GitError(f"{path} is not in a git repository") from None
        raise
    git_dir, shallow = os.fsdecode(said).rstrip("\n").rsplit("\n", 1)
    if shallow == "true":
        raise GitError(f"{path} is a shallow clone, whose history is cut off; complete it with: git fetch --unshallow")
    return Repository(path, git, git_dir, timeout_s)


def commits(repository: Repository, count: int) -> list[str]:
    """The ids of the last commit and its ancestors, at most `count`, newest first, without merges. Raises GitError."""
    return _read(repository, ["rev-list", "--no-merges", f"--max-count={count}", "HEAD", "--"]).decode("ascii").split()


def changes(repository: Repository, ids: Iterable[str], suffix: str) -> list[Change]:
    """The changes of commits in regular files with this suffix, without added and removed files. Raises GitError."""
    options = ["--stdin", "-r", "-z", "--raw", "--no-abbrev", "-M", "--diff-filter=MR", "--ignore-submodules=all"]
    said = _read(repository, ["diff-tree", *options, "--no-ext-diff", "--no-textconv", "--", f":(glob)**/*{suffix}"], _lines(ids))
    fields = iter(said.split(b"\0")[:-1])
    found, commit = [], ""
    for field in fields:
        if not field.startswith(b":"):
            commit = field.decode("ascii").strip()
            continue
        old_mode, new_mode, old, new, status = field[1:].split()
        path = next(fields)
        if status.startswith(b"R"):
            path = next(fields)
        if old != new and old_mode in _REGULAR_FILES and new_mode in _REGULAR_FILES:
            found.append(Change(commit, _name(path), old.decode("ascii"), new.decode("ascii")))
    return found


def sizes(repository: Repository, ids: Iterable[str]) -> dict[str, int]:
    """The sizes in bytes of the objects that exist. Raises GitError."""
    said = _read(repository, ["cat-file", "--batch-check=%(objectname) %(objectsize)"], _lines(ids))
    fields = (line.split() for line in said.decode("ascii", "replace").splitlines())
    return {name: int(size) for name, size in fields if size.isdecimal()}


def contents(repository: Repository, ids: Iterable[str]) -> dict[str, bytes]:
    """The contents of the objects that exist, by id; all of them are held in memory. Raises GitError."""
    said = _read(repository, ["cat-file", "--batch=%(objectname) %(objectsize)"], _lines(ids))
    found, place = {}, 0
    while place < len(said):
        line_end = said.index(b"\n", place)
        name, size = said[place:line_end].decode("ascii", "replace").split()
        place = line_end + 1
        if size.isdecimal():
            found[name] = said[place : place + int(size)]
            place += int(size) + 1
    return found


def committed(repository: Repository) -> set[str]:
    """The files below the repository's path that its last commit has, relative to it; none before the first. Raises GitError."""
    try:
        said = _run(repository, ["-C", str(repository.path.absolute()), "ls-tree", "-r", "-z", "--name-only", "HEAD"])
    except GitRefused:
        return set()
    return {_name(path) for path in said.split(b"\0") if path}


def changed_by(repository: Repository, email: str, count: int) -> dict[str, int]:
    """The files below the repository's path that an author changed in the last `count` of their commits, relative to it.

    Returns for each the time of the newest of these commits, in seconds since 1970. Raises GitError.
    """
    # No path begins with a slash.
    shown = ["--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-renames", "--name-only", "-z", "--format=/%ct"]
    chosen = ["--no-merges", f"--max-count={count}", "--fixed-strings", f"--author=<{email}>", "--relative"]
    try:
        said = _run(repository, ["-C", str(repository.path.absolute()), "log", *shown, *chosen, "HEAD", "--", "."])
    except GitRefused:  # there is no commit yet
        return {}
    found: dict[str, int] = {}
    when = 0
    for field in said.split(b"\0"):
        part = field.lstrip(b"\n")
        if part.startswith(b"/"):
            when = int(part[1:])
        elif part:
            found.setdefault(_name(part), when)
    return found


def _lines(ids: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in ids).encode("ascii")


def _name(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")


def _read(repository: Repository, command: Sequence[str], stdin: bytes = b"") -> bytes:
    return _run(repository, [f"--git-dir={repository.git_dir}", *command], stdin)


def _run(repository: Repository, arguments: Sequence[str], stdin: bytes = b"") -> bytes:
    """The output of a git command. Raises GitRefused with git's message, and GitError where it takes too long or is too much."""
    argv = [repository.git, "--no-pager", *(part for setting in _SETTINGS for part in ("-c", setting)), *arguments]
    late = threading.Event()
    # files, not pipes, so that neither side waits for the other
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen(argv, stdin=given, stdout=subprocess.PIPE, stderr=complaints, env=_ENVIRONMENT, start_new_session=True)

        def stop() -> None:
            late.set()
            _kill_group(process)

        timer = threading.Timer(repository.timeout_s, stop)
        timer.start()
        try:
            with process:
                said = process.stdout.read(_MAX_OUTPUT + 1) if process.stdout else b""
                if len(said) > _MAX_OUTPUT:
                    _kill_group(process)
        finally:
            timer.cancel()
        complaints.seek(0)
        words = complaints.read(2000).decode("utf-8", "replace").strip()
    if late.is_set():
        raise GitError(f"{repository.path}: git had not finished reading after {repository.timeout_s:g} s")
    if len(said) > _MAX_OUTPUT:
        raise GitError(f"{repository.path}: git wrote more than {_MAX_OUTPUT >> 20} MiB")
    if process.returncode != 0:
        raise GitRefused(f"{repository.path}: git can't read it: {words or f'status {process.returncode}'}")
    return said


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill git and all that it may have started, where it still runs."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


MAX_BYTES = 1 << 18
_MAX_COMMITS = 10_000
# The contents of their edits are in memory together.
_COMMITS_AT_ONCE = 64
# lines of one text times lines of the other, without their common beginning and end
_MAX_PAIRS_OF_LINES = 1_000_000


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A commit's change of one file from old to new. Line ends, a byte order mark and all else are as they were."""

    commit: str
    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Whole lines of the old file, from old_line (counted from 1) on, that whole lines of the new one replace; either may be empty."""

    old_line: int
    old: str
    new: str


def single_edits(folder: Path, *, counts: Callable[[str], bool] = lambda _: True) -> Iterator[FileEdit]:
    """The edits of commits that change one Python file, in the history of the repository that a folder is in, newest first.

    counts: whether a path counts, and is given. Merges are left out, and files that a commit adds or removes do not count. Nor is there
    an edit where a version has more than MAX_BYTES, is no text of its encoding, or is missing.

    Raises: GitError where git is not installed, or there is no repository, a shallow clone, or no commit that git can read.
    """
    repository = open_repository(folder)
    ids = commits(repository, _MAX_COMMITS)
    for i in range(0, len(ids), _COMMITS_AT_ONCE):
        found = [change for change in changes(repository, ids[i : i + _COMMITS_AT_ONCE], ".py") if counts(change.path)]
        files = Counter(change.commit for change in found)
        alone = [change for change in found if files[change.commit] == 1]
        size = sizes(repository, (name for change in alone for name in (change.old, change.new)))
        small = [change for change in alone if max(size.get(name, MAX_BYTES + 1) for name in (change.old, change.new)) <= MAX_BYTES]
        there = _contents(repository, small)
        for change in small:
            with contextlib.suppress(KeyError, UnreadableSource):
                yield FileEdit(change.commit, change.path, decoded(there[change.old])[0], decoded(there[change.new])[0])


def _contents(repository: Repository, of: Sequence[Change]) -> dict[str, bytes]:
    """The contents that git can read. A damaged one makes git stop, so then those of each change are read alone."""
    try:
        return contents(repository, (name for change in of for name in (change.old, change.new)))
    except GitRefused:
        if len(of) == 1:
            return {}
    return {name: data for change in of for name, data in _contents(repository, [change]).items()}


def hunks(edit: FileEdit) -> list[Hunk]:
    """The lines that an edit changed, in the file's order, as few as difflib finds; a very large change is one hunk."""
    old, new = lines_of(edit.old), lines_of(edit.new)
    shortest = min(len(old), len(new))
    head = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    tail = next((i for i in range(shortest - head) if old[-1 - i] != new[-1 - i]), shortest - head)
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(old_middle) * len(new_middle) > _MAX_PAIRS_OF_LINES:
        places = [(0, len(old_middle), 0, len(new_middle))]
    else:
        codes = difflib.SequenceMatcher(None, old_middle, new_middle).get_opcodes()
        places = [(a, b, c, d) for tag, a, b, c, d in codes if tag != "equal"]
    return [Hunk(head + a + 1, "".join(old_middle[a:b]), "".join(new_middle[c:d])) for a, b, c, d in places]
