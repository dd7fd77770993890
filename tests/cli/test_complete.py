"""`assay complete`: where it suggests, what it prints, and what it refuses."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from house.running import assay, assay_here

from assay.calibration import registry
from assay.calibration.calibrator import load, save
from assay.calibration.confidence import uncalibrated
from assay.calibration.metrics.intervals import Interval
from assay.calibration.trust import remember
from assay.calibration.validation import table
from assay.calibration.validation.figures import figure
from assay.cli.complete import _print_suggestion, read_text
from assay.cli.exit_codes import UsageError
from assay.inference.completion.prompt import prompt_at
from assay.inference.opening import open_model
from assay.suggestion.memory.folder import code_in
from assay.suggestion.positions import Position, Range
from assay.suggestion.suggestion import Suggestion

AREA = "import os\n\n\ndef area(width, height):\n    return width"


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere.py:1:1", "nowhere.py: No such file"),
        ("three.py:one:1", "not FILE:LINE:COL"),
        ("three.py:0:1", "count from 1"),
        ("three.py:5:1", "the file has 4 lines"),
        ("three.py:2:6", "line 2 has only 4 characters: ask at three.py:2:5 for the end of the line"),
        ("latin.py:1:1", "latin.py: not UTF-8 (byte 0xe9 in line 2)"),
        (".env:1:5", ".env: this file may hold secrets, so the model is not shown it"),
    ],
)
def test_a_place_that_is_not_there_ends_with_2_and_one_clear_line(tmp_path: Path, place: str, message: str) -> None:
    (tmp_path / "three.py").write_text("x = 1\r\ny = \nz = 'é'\n".replace("y = ", "yé= "), encoding="utf-8", newline="")
    (tmp_path / "latin.py").write_bytes("x = 1\ny = 'é'\n".encode("latin-1"))
    (tmp_path / ".env").write_text("KEY=1")
    ran = assay_here("complete", place, cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith("assay: ")
    assert message in ran.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes files that only POSIX has")
def test_a_file_that_never_begins_or_never_ends_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "device.py").symlink_to("/dev/zero")
    for name in ("pipe.py", "device.py"):
        ran = assay("complete", f"{name}:1:1", cwd=tmp_path)
        assert (ran.returncode, ran.stderr) == (2, f"assay: {name}: not a file\n")


def test_a_suggestion_in_json_is_the_documented_format_and_nothing_else_is_on_stdout(tiny_gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "a:b.py").write_text("# 日本 𝒳\nx = \n", encoding="utf-8")
    ran = assay_here("complete", "a:b.py:2:5", "--model", tiny_gguf, "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert set(document) == {"suggestions", "model"}
    (suggestion,) = document["suggestions"]
    assert set(suggestion) == {"id", "text", "range", "kind", "confidence", "measures", "timings_ms"}
    assert suggestion["range"]["start"] == suggestion["range"]["end"] == {"line": 1, "character": 4}
    assert suggestion["confidence"]["status"] == "borrowed"
    assert 0 < suggestion["confidence"]["low"] <= suggestion["confidence"]["probability"] <= suggestion["confidence"]["high"] < 1
    assert suggestion["confidence"]["reason"].startswith("from 5 models; ")


def test_a_file_from_stdin_gives_the_same_suggestion_as_from_disk(tiny_gguf: Path, tmp_path: Path) -> None:
    text = "def area(width, height):\n    return width\n"
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    from_disk = assay_here("complete", "a.py:2:17", "--model", tiny_gguf, cwd=tmp_path)
    from_stdin = assay_here("complete", "unsaved.py:2:17", "--stdin", "--model", tiny_gguf, stdin=text.encode(), cwd=tmp_path)
    assert from_disk.returncode == 0, from_disk.stderr
    assert from_disk.stdout == from_stdin.stdout != ""
    assert "% exact match: borrowed from 5 models; " in from_disk.stderr


def test_a_model_without_a_calibrator_in_the_language_has_no_number(tiny_gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "a.rb").write_text("x = \n", encoding="utf-8")
    ran = assay_here("complete", "a.rb:1:5", "--model", tiny_gguf, cwd=tmp_path)
    assert (
        "no evidence: the calibrators for this model are for C, Go, Java, JavaScript, Python, Rust and TypeScript, not for Ruby"
        in ran.stderr
    )


def test_the_prompt_is_shown_and_the_model_not_asked(tiny_gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"{AREA} * height\n")
    ran = assay_here("complete", "a.py:5:17", "--show-prompt", "--model", tiny_gguf, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    above, line = AREA.removesuffix("    return width"), "    return"
    assert ran.stdout.endswith(f"\n\n<|fim_prefix|>{above}<|fim_suffix|> * height\n<|fim_middle|>{line}\n")
    assert "confidence" not in ran.stdout + ran.stderr
    told = json.loads(assay_here("complete", "a.py:5:17", "--show-prompt", "--json", "--model", tiny_gguf, cwd=tmp_path).stdout)
    assert set(told) == {"size", "extra", "head", "prefix", "suffix", "leftOut", "prompt"}
    assert told["size"] == "normal"
    assert told["prefix"]["text"] == AREA
    assert told["prompt"]["text"] in ran.stdout


@pytest.mark.slow
def test_a_size_of_the_prompt_is_chosen_by_an_option(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("number = 1\n" * 200 + "\n\ndef area(width, height):\n    return width", encoding="utf-8")
    small, normal = (assay_here("complete", "a.py:204:17", *options, cwd=tmp_path) for options in (("--prompt-size", "small"), ()))
    assert "from 5 models; " in small.stderr
    assert (
        "; the model's own are not for what it is shown here: assay.context.size is small, and calibrators are fitted with normal"
        in small.stderr
    )
    assert "assay.context.size" not in normal.stderr


def test_a_text_that_leaves_the_file_broken_is_said_to(capsys: pytest.CaptureFixture[str]) -> None:
    at = Position(0, 0)
    for parses in (0.0, 1.0):
        made = Suggestion("1", "x = (", Range(at, at), "line", uncalibrated("exact_match", "none"), {"parses": parses}, {})
        _print_suggestion(made, registry.Registry((), ()))
        assert ("it leaves the file broken" in capsys.readouterr().err) == (parses == 0)


@pytest.mark.slow
def test_a_number_that_a_study_refutes_is_shown_only_to_who_asks_for_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    refuted = figure("K2", Interval(0.2, 0.1, 0.3), 900, 30, "project", "<= 0.05")
    for file in (Path(registry.__file__).parent / "shipped").glob("exact_match-line*.json"):
        made, mine = load(file), home / "calibrators" / file.name
        save(made, mine)
        rows = table.rows_of([refuted], "calibration", "run", "0" * 64)
        table.save(replace(table.empty(made), figures=rows), table.path_of(made, mine))
    (tmp_path / "a.py").write_text(AREA)
    for option, is_shown in (((), False), (("--show-refuted",), True)):
        ran = assay_here("complete", "a.py:5:17", "--json", *option, cwd=tmp_path, ASSAY_DATA_HOME=str(home))
        confidence = json.loads(ran.stdout)["suggestions"][0]["confidence"]
        assert (confidence["status"] == "refuted") != is_shown
        assert (confidence["probability"] is None) != is_shown
        assert ("The calibration study refutes K2, calibration error: 0.200" in confidence["reason"]) != is_shown


@pytest.mark.slow
def test_a_projects_own_calibrators_are_not_used_until_a_command_says_that_they_are_trusted(tmp_path: Path) -> None:
    folder = tmp_path / ".assay" / "calibrators"
    folder.mkdir(parents=True)
    shipped = Path(registry.__file__).parent / "shipped"
    for file in shipped.glob("exact_match-line*.json"):
        (folder / file.name).write_bytes(file.read_bytes())
    (tmp_path / "a.py").write_text(AREA)
    ran = assay_here("complete", "a.py:5:17", cwd=tmp_path)
    source, said = ran.stderr.splitlines()[-2:]
    assert source.startswith("source: shipped with Assay (exact_match-line")
    assert "exact match" in said or "no evidence" in said
    assert f"to use them: assay calibrate trust {tmp_path.resolve()}" in ran.stderr
    (tmp_path / "src").mkdir()
    assert assay_here("calibrate", "trust", cwd=tmp_path / "src").stderr == f"the calibrators in {folder.resolve()} are used from now on\n"
    ran = assay_here("complete", "a.py:5:17", cwd=tmp_path)
    assert "source: this project's own folder, .assay/calibrators (exact_match-line" in ran.stderr
    assert "to use them" not in ran.stderr
    assert "are not used from now on" in assay_here("calibrate", "trust", ".", "--no", cwd=tmp_path).stderr


def test_trust_in_what_is_no_project_is_refused(tmp_path: Path) -> None:
    ran = assay_here("calibrate", "trust", cwd=tmp_path)
    assert ran.returncode == 2
    assert "has calibrators of its own" in ran.stderr


def test_a_calibrator_file_that_can_not_be_read_is_said_in_one_line(tiny_gguf: Path, tmp_path: Path) -> None:
    folder = tmp_path / ".assay" / "calibrators"
    folder.mkdir(parents=True)
    (folder / "broken.json").write_text("{")
    (tmp_path / "a.py").write_text("x = \n", encoding="utf-8")
    remember(tmp_path, trusted=True)
    ran = assay_here("complete", "a.py:1:5", "--model", tiny_gguf, "--json", cwd=tmp_path)
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["suggestions"]
    assert [line for line in ran.stderr.splitlines() if "broken.json" in line] == [
        f"assay: calibrator skipped: {folder.resolve() / 'broken.json'}:1: not JSON: Expecting property name enclosed in double quotes"
    ]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "shift_jis"])
def test_a_file_is_read_in_the_encoding_that_it_names_and_its_mark_is_no_text(tmp_path: Path, encoding: str) -> None:
    word = "日本" if encoding == "shift_jis" else "Größe"
    head = "" if encoding == "utf-8-sig" else f"# -*- coding: {encoding} -*-\n"
    (tmp_path / "a.py").write_bytes(f"{head}x = '{word}'\r\n".encode(encoding))
    assert read_text(str(tmp_path / "a.py")) == f"{head}x = '{word}'\r\n" == code_in(tmp_path / "a.py")


def test_what_is_not_of_the_encoding_that_it_names_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"# coding: nosuch\nx = 1\n")
    with pytest.raises(UsageError, match="unknown encoding: nosuch"):
        read_text(str(tmp_path / "a.py"))
    (tmp_path / "a.js").write_bytes(b"\xef\xbb\xbflet x\n// coding: latin-1 \xe9\n")
    with pytest.raises(UsageError, match=r"a.js: not UTF-8 \(byte 0xe9 in line 2\)"):
        read_text(str(tmp_path / "a.js"))


def test_a_mark_at_the_start_of_a_document_is_not_in_the_prompt(tiny_gguf: Path) -> None:
    with open_model(str(tiny_gguf)) as model:
        texts = [model.prompt_text(prompt_at(model, f"{mark}x = 1\ny", "\n")) for mark in ("", "\ufeff")]
    assert texts[0] == texts[1] is not None
