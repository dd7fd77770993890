"""The copy of a project that a run works from, and what the user is told about it."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ...analysis.oracle.copying import MAX_NAMED, NotCopied, copy_project
from ...analysis.oracle.scratch_folder import ScratchFolder

_LINK_OUT = "a link out of the project"


@contextmanager
def frozen(project: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder that holds the project as it is now, until the block ends, and what it lacks of the project, by path with the reason.

    Workers copy that folder, so they all see the same, whatever is saved in an editor meanwhile. A project with files that are too large to
    be copied is used as it is. Raises NotCopied.
    """
    place = ScratchFolder()
    try:
        copied = copy_project(project, place.path / "project")
        yield project if copied.linked else copied.folder, copied.left_out
    finally:
        place.close()


def changed_since(project: Path, frozen: Path) -> list[str]:
    """Paths of the files that differ between the project as it is now and its frozen copy.

    Empty where the project itself was used, and where it can no longer be copied.
    """
    if frozen == project:
        return []
    place = ScratchFolder()
    try:
        now = place.path / "now"
        copy_project(project, now)
        paths = {path.relative_to(root) for root in (frozen, now) for path in root.rglob("*") if path.is_symlink() or path.is_file()}
        return sorted(str(path) for path in paths if not _same(frozen / path, now / path))
    except NotCopied:
        return []
    finally:
        place.close()


def _same(one: Path, other: Path) -> bool:
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink()
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


def advice_on_links(left_out: Mapping[str, str]) -> str:
    """What to do about links out of the project; empty where there are none."""
    links = [path for path, reason in left_out.items() if reason == _LINK_OUT]
    if not links:
        return ""
    named = ", ".join(links[:MAX_NAMED]) + (" and others" if len(links) > MAX_NAMED else "")
    return f". Links out of the project are not followed ({named}): where the tests need one, put what it leads to in its place"
