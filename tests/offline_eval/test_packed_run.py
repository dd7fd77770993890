"""Runs in one file, and those that are published with the calibrators that they are the evidence of."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from recorded_answers import write
from study_runs import files_of

from assay.calibration.calibrator import load
from assay.calibration.samples import read_samples, samples_sha256
from assay.cli.main import main
from assay.offline_eval.recorded.answers import Recorded, RecordedAnswer

ROOT = Path(__file__).parents[2]
PUBLISHED, SHIPPED = ROOT / "published", ROOT / "calibration" / "shipped"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    made = [
        RecordedAnswer(f"I/{n % 6}", "draw", n // 6, f"{n}", (-0.1 * (n % 4), -0.2), labels={"tests_pass": n % 4 < 2}) for n in range(24)
    ]
    write(tmp_path / "some.jsonl", Recorded("some", "some-7b", "", "", {answer.key: answer for answer in made}))
    assert main(["eval", "report", str(tmp_path / "some.jsonl"), "--out", str(tmp_path / "run")]) == 0
    return tmp_path / "run"


def test_a_packed_run_is_the_same_run_elsewhere(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["eval", "report", "run", "--pack", "mine.tar.xz"]) == 0
    assert main(["eval", "report", "mine.tar.xz", "--out", "there/run"]) == 0
    assert files_of(tmp_path / "there" / "run") == files_of(run)
    first = (tmp_path / "mine.tar.xz").read_bytes()
    assert main(["eval", "report", "there/run", "--pack", "mine.tar.xz"]) == 0
    assert (tmp_path / "mine.tar.xz").read_bytes() == first
    assert main(["eval", "report", "mine.tar.xz", "--out", "there/run"]) == 0, "unpacked again over itself"


def packed(path: Path, **members: Any) -> Path:
    with tarfile.open(path, "w:xz") as archive:
        for name, content in members.items():
            about = tarfile.TarInfo(name)
            if isinstance(content, str):
                about.type, about.linkname = tarfile.SYMTYPE, content
            about.size = 0 if isinstance(content, str) else len(content)
            archive.addfile(about, None if isinstance(content, str) else io.BytesIO(content))
    return path


def test_what_is_no_packed_run_is_refused_and_leaves_nothing(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "torn.tar.xz").write_bytes(b"\xfd7zXZ\x00torn")
    packed(tmp_path / "empty.tar.xz", **{"items.jsonl": b""})
    packed(tmp_path / "out.tar.xz", **{"run.toml": b"", "../../escaped": b"x"})
    packed(tmp_path / "link.tar.xz", **{"run.toml": "/etc/passwd"})
    packed(tmp_path / "up.tar.xz", **{"run.toml": b"", "..": "x"})
    reasons = {
        "torn": "can't be unpacked", "empty": "it has no run.toml", "out": "'../../escaped'", "link": "'run.toml', which is", "up": "'..'",
    }  # fmt: skip
    for name, reason in reasons.items():
        assert main(["eval", "report", f"{name}.tar.xz"]) == 2
        assert reason in capsys.readouterr().err
        assert not (tmp_path / name).exists()
    assert main(["eval", "report", str(run), "--pack", "run.zip"]) == 2
    assert "a packed run is a file *.tar.xz" in capsys.readouterr().err
    assert main(["eval", "report", str(run), "--pack", "some.tar.xz"]) == 0
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("kept")
    assert main(["eval", "report", "some.tar.xz", "--out", "other"]) == 2
    assert "holds something other than some.tar.xz" in capsys.readouterr().err
    assert files_of(tmp_path / "other") == {"mine.txt": b"kept"}


@pytest.mark.slow
def test_shipped_calibrators_are_fitted_and_validated_again_from_the_published_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for archive in PUBLISHED.glob("*.tar.xz"):
        if "embedded" in archive.name or "0.5b" in archive.name or archive.name == "fresh-qwen05.tar.xz":
            assert main(["eval", "report", str(archive)]) == 0
    for of, event, tasks in (
        ("", "tests_pass", ("line", "line_rest", "line_middle")),
        ("-qwen2.5-coder-0.5b", "tests_pass", ("line_rest", "line_middle")),
        ("-qwen2.5-coder-0.5b", "exact_match", ("line", "line_rest", "line_middle")),
    ):
        for task in tasks:
            samples = read_samples(tmp_path / f"{event}{of or '-embedded'}" / "samples" / f"{task}.jsonl")
            shipped = load(SHIPPED / f"{event}-{task}{of}.json")
            known = [sample for sample in samples if sample.labels.get(event) is not None]
            assert samples_sha256(known) == shipped.fitted_on.samples_sha256
    at = "exact_match-qwen2.5-coder-0.5b/samples/line_middle.jsonl"
    assert main(["calibrate", "fit", at, "--event", "exact_match", "--features", "free", "--out", "again.json"]) == 0
    again, shipped = load(Path("again.json")), load(SHIPPED / "exact_match-line_middle-qwen2.5-coder-0.5b.json")
    assert (again.map, again.evidence, again.ranges) == (shipped.map, shipped.evidence, shipped.ranges)
    shutil.copytree(SHIPPED, tmp_path / "shipped")
    kept = tmp_path / "shipped" / "validation" / f"{shipped.id}.json"
    before = values_in(kept)
    kept.unlink()
    assert main(["calibrate", "validate", "shipped/exact_match-line_middle-qwen2.5-coder-0.5b.json", "fresh-qwen05"]) == 0
    after = values_in(kept)
    assert {"K1", "K2", "K3"} <= after.keys() <= before.keys()
    assert {name: before[name] for name in ("K1", "K2", "K3", "K4", "K6")} == {name: after[name] for name in ("K1", "K2", "K3", "K4", "K6")}


def values_in(path: Path) -> dict[str, tuple[Any, ...]]:
    """Value, interval and n of each figure of a validation table."""
    figures = json.loads(path.read_text())["figures"]
    return {figure["id"]: tuple(figure.get(name) for name in ("value", "low", "high", "n")) for figure in figures}


@pytest.mark.parametrize(
    ("run", "figure", "digits"),
    [
        ("rtc-qwen05", "T2/tests_pass/all/rtc", 1),
        ("rtc-qwen05", "T2/tests_pass/all/baseline", 1),
        ("judged-qwen05", "J/vote/strict/balanced_accuracy", 0),
        ("translate-qwen05", "T4/humaneval/java-python", 1),
        ("own-qwen05", "J/vote/strict/balanced_accuracy", 0),
        ("rtc-qwen15", "T2/tests_pass/all/rtc", 1),
    ],
)
def test_the_page_of_the_four_studies_has_the_figures_of_the_published_runs(run: str, figure: str, digits: int, tmp_path: Path) -> None:
    assert main(["eval", "report", str(PUBLISHED / f"{run}.tar.xz"), "--out", str(tmp_path / run)]) == 0
    figures = json.loads((tmp_path / run / "report" / "figures.json").read_text())["figures"]
    (found,) = (each for each in figures if each["id"] == figure)
    value, low, high = (100 * found[name] for name in ("value", "low", "high"))
    page = " ".join((PUBLISHED.parent / "docs" / "four_studies.md").read_text().split())
    assert f"{value:.{digits}f} % ({low:.0f} to {high:.0f})" in page
