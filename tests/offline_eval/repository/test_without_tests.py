"""`assay calibrate repo --event exact_match`, which runs no tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from house.running import assay

FUNCTION = 'def f{n}(items):\n    """Sum."""\n    total = {n}\n    for item in items:\n        total += item\n    return total\n\n\n'


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without tests; the cache is kept beside it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/shop.py").write_text("".join(FUNCTION.format(n=n) for n in range(9)))
    return tmp_path / "shop"


@pytest.mark.slow
def test_a_project_needs_no_tests_for_exact_matches_and_options_of_tests_are_refused(shop: Path, tiny_gguf: Path) -> None:
    begin = ("calibrate", "repo", shop, "--event", "exact_match", "--model", tiny_gguf, "--memory", "off")
    done = assay(*begin, "--samples", "5", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["places"] == {"unknown": 5}
    for option in (("--yes",), ("--make-environment",), ("--sandbox", "none"), ("--tasks", "block")):
        refused = assay(*begin, *option)
        assert refused.returncode == 2
        assert "exact_match" in refused.stderr
