"""A run in one file, to publish or send: what it asked and what came of it, from which samples and report are made again."""

from __future__ import annotations

import lzma
import tarfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from .errors import RunError, UsageError
from .run import ITEMS, LOST, RUN, Run, Step, is_free

SUFFIX = ".tar.xz"
# A file may come from anywhere, and unpack to far more than it has.
_MAX_BYTES = 1 << 30


def pack(run: Run, steps: Iterable[Step], path: Path) -> None:
    """Write a run's question, items and records, the same bytes for the same run. Raises UsageError for another kind of name."""
    if not path.name.endswith(SUFFIX):
        raise UsageError(f"{path}: a packed run is a file *{SUFFIX}")
    names = [RUN, ITEMS, LOST, *(f"{step.name}.jsonl" for step in steps)]
    with tarfile.open(path, "w:xz") as archive:
        for name in names:
            if (file := run.folder / name).exists():
                content = file.read_bytes()
                about = tarfile.TarInfo(name)
                about.size = len(content)
                archive.addfile(about, BytesIO(content))


def unpacked(path: Path, folder: Path) -> Run:
    """The run of a packed file, in a folder that is new, or that the same file was unpacked into before. Raises RunError."""
    found, size = dict[str, bytes](), 0
    try:
        with tarfile.open(path, "r|xz") as archive:
            for member in archive:
                size += member.size
                if size > _MAX_BYTES:
                    raise RunError(f"{path} unpacks to more than {_MAX_BYTES >> 30} GiB: no run does")
                file = archive.extractfile(member) if member.isfile() and "/" not in member.name else None
                if file is None:
                    raise RunError(f"{path} is not a packed run: it has {member.name!r}, which is no file of one folder")
                found[member.name] = file.read()
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise RunError(f"{path}: can't be unpacked: {error}") from None
    if RUN not in found:
        raise RunError(f"{path} is not a packed run: it has no {RUN}")
    if not is_free(folder) and not all((folder / name).is_file() and (folder / name).read_bytes() == found[name] for name in found):
        raise RunError(f"{folder} holds something else than {path}: name another folder with --out")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # run.toml last: a folder without it is no run
    for name in sorted(found, key=lambda name: name == RUN):
        (folder / name).write_bytes(found[name])
    return Run.opened(folder)
