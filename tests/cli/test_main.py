"""The command line: what it prints where, its exit codes, and how fast it answers."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from house.running import assay

from assay.calibration.maps.registry import MAPS
from assay.calibration.samples import EVENTS
from assay.cli import exit_codes
from assay.cli import options as cli_options
from assay.inference.completion.task import Kind, Task
from assay.inference.model import KVType

COMMANDS = ("demo", "complete", "serve", "calibrate", "eval", "model", "doctor")


def test_the_words_of_the_command_line_are_those_of_the_rooms_below() -> None:
    assert cli_options.EVENTS == EVENTS
    assert tuple(MAPS) == cli_options.MAPS
    assert get_args(Kind) == cli_options.KINDS
    assert get_args(Task) == cli_options.TASKS
    assert get_args(KVType) == cli_options.KV_TYPES


def test_help_and_version_import_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from assay.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    print(*sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert not {"numpy", "llama_cpp", "pygls", "lsprotocol", "torch", "asyncio", "msgspec", "subprocess", "importlib.metadata"} & set(
        ran.stderr.split()
    )
    assert all(name in ran.stdout for name in COMMANDS)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["no-such-command"],
        ["complete"],
        ["serve", "--tcp", "notaport"],
        ["serve", "--tcp", "65536"],
        ["model"],
        ["calibrate"],
        ["eval"],
    ],
)
def test_wrong_usage_ends_with_2_and_says_how_it_is_used(arguments: list[str]) -> None:
    ran = assay(*arguments)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.startswith("usage: assay")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere.py:1:1", "nowhere.py: No such file"),
        ("three.py", "not FILE:LINE:COL"),
        ("three.py:1", "not FILE:LINE:COL"),
        ("three.py:one:1", "not FILE:LINE:COL"),
        ("three.py:" + "9" * 5000 + ":1", "not FILE:LINE:COL"),
        ("three.py:0:1", "count from 1"),
        ("three.py:5:1", "the file has 4 lines"),
        ("three.py:2:6", "line 2 has 4 characters, so its columns are 1 to 5"),
        ("latin.py:1:1", "latin.py: not UTF-8 (byte 0xe9 in line 2)"),
        (".:1:1", ".: Is a directory"),
        (".env:1:5", ".env: this file may hold secrets, so the model is not shown it"),
        (".ssh/config:1:1", ".ssh/config: this file may hold secrets"),
    ],
)
def test_a_place_that_is_not_there_ends_with_2_and_one_clear_line(tmp_path: Path, place: str, message: str) -> None:
    (tmp_path / "three.py").write_text("x = 1\r\ny = \nz = 'é'\n".replace("y = ", "yé= "), encoding="utf-8", newline="")
    (tmp_path / "latin.py").write_bytes("x = 1\ny = 'é'\n".encode("latin-1"))
    (tmp_path / ".env").write_text("KEY=1")
    for options in ((), ("--show-prompt",)):
        ran = assay("complete", place, *options, cwd=tmp_path)
        assert ran.returncode == 2
        assert ran.stdout == ""
        assert message in ran.stderr
        assert ran.stderr.count("\n") == 1
        assert ran.stderr.startswith("assay: ")


def test_a_suggestion_in_json_is_the_documented_format_and_nothing_else_is_on_stdout(tiny_gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "a:b.py").write_text("# 日本 𝒳\nx = \n", encoding="utf-8")
    ran = assay("complete", "a:b.py:2:5", "--model", tiny_gguf, "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert set(document) == {"suggestions", "model"}
    (suggestion,) = document["suggestions"]
    assert set(suggestion) == {"id", "text", "range", "kind", "confidence", "measures", "timings_ms"}
    assert suggestion["range"]["start"] == suggestion["range"]["end"] == {"line": 1, "character": 4}
    assert suggestion["confidence"]["status"] == "uncalibrated"
    assert suggestion["confidence"]["probability"] is None


def test_a_file_from_stdin_gives_the_same_suggestion_as_from_disk(tiny_gguf: Path, tmp_path: Path) -> None:
    text = "def area(width, height):\n    return width\n"
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    from_disk = assay("complete", "a.py:2:17", "--model", tiny_gguf, cwd=tmp_path)
    from_stdin = assay("complete", "unsaved.py:2:17", "--stdin", "--model", tiny_gguf, stdin=text.encode(), cwd=tmp_path)
    assert from_disk.returncode == 0, from_disk.stderr
    assert from_disk.stdout == from_stdin.stdout != ""
    assert "no evidence: no calibrator is for this model (" in from_disk.stderr


def test_the_prompt_is_shown_and_the_model_not_asked(tiny_gguf: Path, tmp_path: Path) -> None:
    text = "import os\n\n\ndef area(width, height):\n    return width"
    (tmp_path / "a.py").write_text(f"{text} * height\n", encoding="utf-8")
    ran = assay("complete", "a.py:5:17", "--show-prompt", "--model", tiny_gguf, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith(f"\n\n<|fim_prefix|>{text}<|fim_suffix|> * height\n<|fim_middle|>\n")
    assert "confidence" not in ran.stdout + ran.stderr
    told = json.loads(assay("complete", "a.py:5:17", "--show-prompt", "--json", "--model", tiny_gguf, cwd=tmp_path).stdout)
    assert set(told) == {"extra", "head", "prefix", "suffix", "leftOut", "prompt"}
    assert told["prefix"]["text"] == text
    assert told["prompt"]["text"] in ran.stdout


def test_a_calibrator_file_that_can_not_be_read_is_said_in_one_line(tiny_gguf: Path, tmp_path: Path) -> None:
    folder = tmp_path / ".assay" / "calibrators"
    folder.mkdir(parents=True)
    (folder / "broken.json").write_text("{")
    (tmp_path / "a.py").write_text("x = \n", encoding="utf-8")
    ran = assay("complete", "a.py:1:5", "--model", tiny_gguf, "--json", cwd=tmp_path)
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["suggestions"]
    assert [line for line in ran.stderr.splitlines() if "broken.json" in line] == [
        f"assay: calibrator skipped: {folder.resolve() / 'broken.json'}:1: not JSON: Expecting property name enclosed in double quotes"
    ]


def test_a_file_that_is_no_model_ends_with_2_and_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    for command in (["complete", "a.py:1:1"], ["demo"], ["model", "info"], ["model", "check"]):
        ran = assay(*command, "--model", "a.py", cwd=tmp_path)
        assert ran.returncode == 2, command
        assert "not a GGUF" in ran.stderr
        assert "Traceback" not in ran.stderr


def test_a_server_that_is_not_there_ends_with_1_and_a_wrong_address_with_2() -> None:
    for address, code, said in (("http://127.0.0.1:9", 1, "can't be reached"), ("http://", 2, "http://HOST:PORT")):
        ran = assay("model", "info", "--model", address)
        assert (ran.returncode, said in ran.stderr, "Traceback" in ran.stderr) == (code, True, False), ran.stderr


def test_options_that_exclude_each_other_are_refused_in_one_line(tiny_gguf: Path) -> None:
    ran = assay("model", "info", "--model", tiny_gguf, "--kv-cache", "q8_0", "--flash-attention", "off")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "a cache of q8_0 is not possible here" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_model_info_says_what_the_model_is(tiny_gguf: Path) -> None:
    facts = json.loads(assay("model", "info", "--model", tiny_gguf, "--json").stdout)
    assert facts["architecture"] == "llama"
    assert facts["context_length"] == 512
    assert facts["layout"] == "psm"
    assert len(facts["fingerprint"]) == 16
    assert facts["offload"]["total"] >= facts["offload"]["layers"] >= 0
    shown = assay("model", "info", "--model", tiny_gguf).stdout
    assert facts["fingerprint"] in shown
    assert "offload" in shown


def test_model_check_measures_the_speed(tiny_gguf: Path) -> None:
    facts = json.loads(assay("model", "check", "--model", tiny_gguf, "--json").stdout)
    assert facts["prompt_tokens_per_second"] > facts["generated_tokens_per_second"] > 0
    assert facts["first_token_ms"] > 0
    short = json.loads(assay("model", "check", "--model", tiny_gguf, "--context", "32", "--json").stdout)
    assert short["prompt_tokens"] == 16


def test_a_reader_that_leaves_early_is_no_error_worth_a_traceback(tiny_gguf: Path) -> None:
    command = [sys.executable, "-m", "assay", "demo", "--model", str(tiny_gguf)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == exit_codes.FAILED


def test_ctrl_c_ends_quietly_with_130() -> None:
    # with the embedded model: a tiny one has done all before the signal comes
    command = [sys.executable, "-u", "-m", "assay", "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (exit_codes.INTERRUPTED, b"")


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = assay("serve", "--tcp", str(port), cwd=tmp_path)
    assert ran.returncode == 1
    assert f"can't listen on port {port}" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_output_survives_a_terminal_that_is_not_utf_8(tiny_gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    ran = assay("complete", "a.py:1:6", "--model", tiny_gguf, "--json", cwd=tmp_path, **environment)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)
    assert assay("doctor", "--model", tiny_gguf, **environment).returncode == 0


def test_a_full_disk_is_one_clear_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "assay", "doctor"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "assay: No space left on device: nothing more can be written\n"
