"""Which files of a project belong to its tests: they are never changed, and not asked for coverage."""

from __future__ import annotations

from pathlib import PurePath

_TEST_FOLDERS = frozenset({"test", "tests"})


def is_test_file(path: str) -> bool:
    """Whether a path inside a project names a test, what tests share, or a file beside them, by pytest's customary names."""
    parts = PurePath(path).parts
    name = parts[-1]
    return (
        name == "conftest.py"
        or name.startswith("test_")
        or name.endswith(("_test.py", "_tests.py"))
        or not _TEST_FOLDERS.isdisjoint(parts[:-1])
        or name in ("test.py", "tests.py")
    )
