"""Defects4J: bugs of Java projects (Just et al. 2014), those whose patch replaces one line by another.

A published patch turns the right file into the wrong one. The files themselves are not in it, so what a model is shown is the patch's
few lines around the changed one, and only an exact match can be judged. Bugs that the project no longer lists as active are left out.
"""

from __future__ import annotations

import lzma
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

from .problem import Problem, SetError

_PATCH = re.compile(r"framework/projects/([^/]+)/patches/(\d+)\.src\.patch$")
_ACTIVE = re.compile(r"framework/projects/([^/]+)/active-bugs\.csv$")


def defects4j(path: Path) -> list[Problem]:
    """The problems, by project and number. path: a copy of the project, or an archive of its folder framework/. Raises SetError."""
    try:
        files = dict(_in_archive(path) if path.is_file() else _in_folder(path))
    except (OSError, tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise SetError(f"{path}: can't be read: {error}") from None
    patches = sorted((found[1], int(found[2]), text) for name, text in files.items() if (found := _PATCH.search(name)))
    if not patches:
        raise SetError(f"{path}: it has no framework/projects/PROJECT/patches/NUMBER.src.patch")
    active = {found[1]: re.findall(r"^\d+", text, re.MULTILINE) for name, text in files.items() if (found := _ACTIVE.search(name))}
    listed = [patch for patch in patches if patch[0] not in active or str(patch[1]) in active[patch[0]]]
    return [problem for patch in listed if (problem := _problem(*patch))]


def _in_folder(folder: Path) -> Iterator[tuple[str, str]]:
    for pattern in ("patches/*.src.patch", "active-bugs.csv"):
        for path in folder.glob(f"framework/projects/*/{pattern}"):
            yield path.as_posix(), path.read_text(encoding="latin-1")


def _in_archive(path: Path) -> Iterator[tuple[str, str]]:
    with tarfile.open(path) as archive:
        for member in archive:
            if (_PATCH.search(member.name) or _ACTIVE.search(member.name)) and (file := archive.extractfile(member)):
                yield member.name, file.read().decode("latin-1")


def _problem(project: str, number: int, patch: str) -> Problem | None:
    """The problem of a patch; None where it replaces more than a line, or none."""
    lines = [line for line in patch.splitlines() if not line.startswith(("--- ", "+++ "))]
    right = [at for at, line in enumerate(lines) if line.startswith("-")]
    wrong = [at for at, line in enumerate(lines) if line.startswith("+")]
    if len(right) != 1 or len(wrong) != 1 or wrong[0] != right[0] + 1:
        return None
    start = max(at for at, line in enumerate(lines[: right[0]]) if line.startswith("@@")) + 1
    end = next((at for at in range(wrong[0] + 1, len(lines)) if not lines[at].startswith(" ")), len(lines))
    before, after = ("".join(f"{line[1:]}\n" for line in part) for part in (lines[start : right[0]], lines[wrong[0] + 1 : end]))
    identity = f"defects4j/{project}/{number}"
    return Problem(identity, "defects4j", "repair", "java", project, before, after, lines[right[0]][1:], lines[wrong[0]][1:])
