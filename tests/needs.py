"""What some machines lack: of the tests that need it one is skipped there, which says so for all."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "shared" / "data"


def needs(missing: str, *, fixture: str | None = None) -> pytest.MarkDecorator:
    """Marks tests that need what a machine may lack.

    missing: why they can't run here, "" where they can. fixture: only those that use it.
    """
    return pytest.mark.needs(missing, fixture)


def needs_data(*names: str, fixture: str | None = None) -> pytest.MarkDecorator:
    """Marks tests that read files or folders of the published data, which are no part of the repository."""
    if not DATA.is_dir():
        return needs("the published data are not beside this checkout: shared/data", fixture=fixture)
    missing = [name for name in names if not (DATA / name).exists()]
    return needs(f"not in shared/data: {', '.join(missing)}" if missing else "", fixture=fixture)


def leave_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """Take from items what this machine can't run, but for one of each reason, which is skipped; gives what was taken."""
    lacking: dict[str, list[pytest.Item]] = {}
    for item in items:
        reasons = [mark.args[0] for mark in item.iter_markers("needs") if mark.args[1] is None or mark.args[1] in item.fixturenames]
        if reason := next(filter(None, reasons), ""):
            lacking.setdefault(reason, []).append(item)
    for reason, (first, *others) in lacking.items():
        first.add_marker(pytest.mark.skip(reason=f"{reason}, which {1 + len(others)} of these tests need"))
    taken = [item for _, *others in lacking.values() for item in others]
    left = set(taken)
    items[:] = [item for item in items if item not in left]
    return taken
