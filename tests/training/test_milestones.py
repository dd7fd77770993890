from __future__ import annotations

from pathlib import Path

from assay.calibration.samples import Sample
from training.folder import exported
from training.milestones import rows_of
from training.scores import Figure


def test_files_are_in_the_order_of_what_they_have_seen(tmp_path: Path) -> None:
    for name in ("export-120M.gguf", "export-0M.gguf", "export-30M.gguf", "export-0M.txt"):
        (tmp_path / name).touch()
    assert [path.stem for path in exported(tmp_path)] == ["export-0M", "export-30M", "export-120M"]


def sample(name: str, project: str, right: bool | None) -> Sample:
    return Sample(name, "0" * 16, "0" * 16, "line", "python", project, "a.py", 0, {}, {"exact_match": right}, "0" * 64)


def test_a_row_says_how_many_are_exactly_right_of_those_that_are_judged() -> None:
    half = [sample("1", "a", True), sample("2", "b", False), sample("3", "b", None)]
    row, other = rows_of("export-0M", Figure(1.25, 1.125, 1.5, 200, "files", 30), {"off": [half], "project": [half[:1]]})
    assert row[:3] == ("`export-0M`", "1.250 (1.125 to 1.500)", "`off`")
    assert row[3].startswith("50.0% (")
    assert row[3].endswith("n = 2")
    assert other[2] == "`project`"
