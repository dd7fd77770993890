"""The command line: what it prints where, its exit codes, and how fast it answers."""

import json
import signal
import socket
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
from assay.cli.main import main
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
def test_wrong_usage_ends_with_2_and_says_how_it_is_used(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    out, err = capsys.readouterr()
    assert (out, err.startswith("usage: assay")) == ("", True)


@pytest.mark.slow
def test_a_file_that_is_no_model_ends_with_2_and_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    for command in (["complete", "a.py:1:1"], ["demo"], ["model", "info"], ["model", "check"]):
        ran = assay(*command, "--model", "a.py", cwd=tmp_path)
        assert ran.returncode == 2, command
        assert "not a model" in ran.stderr
        assert "Traceback" not in ran.stderr


def test_a_reader_that_leaves_early_is_no_error_worth_a_traceback(tiny_gguf: Path) -> None:
    command = [sys.executable, "-m", "assay", "demo", "--model", str(tiny_gguf)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == exit_codes.FAILED


def test_ctrl_c_ends_quietly_with_130() -> None:
    # with the embedded model: a tiny one has done all before the signal comes
    command = [sys.executable, "-u", "-m", "assay", "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (exit_codes.INTERRUPTED, b"")


@pytest.mark.slow
def test_output_survives_a_terminal_that_is_not_utf_8(tiny_gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    ran = assay("complete", "a.py:1:6", "--model", tiny_gguf, "--json", cwd=tmp_path, **environment)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)
    assert assay("doctor", "--model", tiny_gguf, **environment).returncode == 0


@pytest.mark.slow
def test_a_full_disk_is_one_clear_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "assay", "doctor"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "assay: No space left on device: nothing more can be written\n"


@pytest.mark.slow
def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = assay("serve", "--tcp", str(port), cwd=tmp_path)
    assert ran.returncode == 1
    assert f"can't listen on port {port}" in ran.stderr
    assert "Traceback" not in ran.stderr
