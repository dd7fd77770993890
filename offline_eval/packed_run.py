"""A run in one file, to publish or send: what it asked and what came of it, from which samples and report are made again."""

from __future__ import annotations

import lzma
import re
import shutil
import tarfile
from io import BytesIO
from pathlib import Path

from ..calibration.atomic_write import write_atomically
from .errors import RunError, UsageError
from .run import GENERATIONS, ITEMS, RUN, TIMINGS, WANTED, Run

SUFFIX = ".tar.xz"
_NAME = re.compile(r"[a-z_]{1,40}\.(toml|json|jsonl)")
_MADE_AGAIN = {GENERATIONS, TIMINGS, WANTED}
# A file may come from anywhere, and unpack to far more than it has.
_MAX_BYTES = 1 << 28


def check_pack(run: Run, path: Path) -> None:
    """Raises UsageError where a run can't be packed, or not into a file of this name."""
    if not path.name.endswith(SUFFIX):
        raise UsageError(f"{path}: a packed run is a file *{SUFFIX}")
    if not (run.folder / ITEMS).exists():
        raise UsageError(f"{run.folder} has no items of its own: pack each of the runs in it")


def pack(run: Run, path: Path) -> None:
    """Write what a run asked and what came of it, the same bytes for the same run. Raises OSError."""
    with write_atomically(path) as file, tarfile.open(fileobj=file, mode="w:xz") as archive:
        for name in sorted(each.name for each in run.folder.iterdir() if _NAME.fullmatch(each.name) and each.name not in _MADE_AGAIN):
            content = (run.folder / name).read_bytes()
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, BytesIO(content))


def unpack(path: Path, folder: Path) -> Run:
    """The run of a packed file, in a folder that is new, or that the same file was unpacked into before. Raises RunError."""
    found = dict[str, bytes]()
    try:
        with lzma.open(path) as packed:
            content = packed.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise RunError(f"{path} unpacks to more than {_MAX_BYTES >> 20} MiB: no run does")
        with tarfile.open(fileobj=BytesIO(content), mode="r:") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() and _NAME.fullmatch(member.name) else None
                if file is None:
                    raise RunError(f"{path} is not a packed run: it has {member.name[:100]!r}, which is no file of one")
                found[member.name] = file.read()
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise RunError(f"{path}: can't be unpacked: {error}") from None
    if RUN not in found:
        raise RunError(f"{path} is not a packed run: it has no {RUN}")
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder} is not a folder: name another with --out")
    there = {each.name for each in folder.iterdir()} if folder.exists() else set()
    # an interrupted unpacking leaves some of these files
    same = all((folder / name).is_file() and (folder / name).read_bytes() == found[name] for name in there & found.keys())
    if not same or (RUN not in there and not there <= found.keys()):
        raise RunError(f"{folder} holds something other than {path}: name another folder with --out")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # run.toml last: a folder without it is no run
    for name in sorted(found.keys() - there, key=lambda name: name == RUN):
        with write_atomically(folder / name) as out:
            out.write(found[name])
    run = Run.opened(folder)
    try:
        run.question()
    except RunError:
        if not there:
            shutil.rmtree(folder)
        raise
    return run
