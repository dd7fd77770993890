"""What `assay eval repairs` refuses, and what it would do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from needs import DATA, needs_data

from assay.cli.main import main


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "x"], "--data does nothing for --set lines, but for quixbugs and defects4j: leave it out"),
        (["--set", "quixbugs"], "--set quixbugs needs --data"),
        (["--set", "quixbugs", "--data", "x", "--per-project", "3"], "--per-project does nothing for --set quixbugs"),
        (["--set", "quixbugs", "--data", "x", "--steps", "bug"], "--set quixbugs has no step bug (there are propose, label, loop)"),
        (["--projects", "no-such-project"], "no-such-project"),
        (["--set", "quixbugs", "--data", "nowhere"], "nowhere is missing. Assay brings no set with it"),
        (["--set", "defects4j", "--data", "x", "--steps", "label"], "--set defects4j has no step label (there are propose)"),
    ],
)
def test_what_does_nothing_is_refused_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["eval", "repairs", "--out", str(tmp_path / "run"), *options]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@needs_data("quixbugs")
def test_a_dry_run_says_what_would_be_asked_and_asks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--set", "quixbugs", "--data", str(DATA / "quixbugs"), "--dry-run", "--json"]
    assert main(["eval", "repairs", "--out", str(tmp_path / "run"), *options]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["programs"], plan["tested_programs"]) == (35, 34)
    assert not (tmp_path / "run").exists()
