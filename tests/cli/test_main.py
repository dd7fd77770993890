"""The command line: what it prints where, its exit codes, and how fast it answers."""

import errno
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from house.running import assay

from assay.calibration.log.event_log import EventLogUnavailable
from assay.calibration.maps.registry import MAPS
from assay.calibration.samples import EVENTS, SampleError
from assay.cli import exit_codes
from assay.cli import options as cli_options
from assay.cli.exit_codes import DONE, FAILED, INTERRUPTED, USAGE, UsageError, run_to_exit_code
from assay.cli.main import main
from assay.cli.terminal import escape_output
from assay.inference.completion.task import Kind, Task
from assay.inference.errors import NoSuchModel
from assay.inference.model import KVType
from assay.offline_eval.errors import StudyError

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
    [[], ["no-such-command"], ["complete"], ["serve", "--tcp", "65536"], ["calibrate"]],
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


def raising(error: BaseException) -> Callable[[], int]:
    def command() -> int:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("no such thing"), USAGE, "no such thing"),
        (SampleError("s.jsonl:1: not JSON"), USAGE, "s.jsonl:1: not JSON"),
        (EventLogUnavailable("log: locked"), FAILED, "log: locked"),
        (StudyError("no worker began"), FAILED, "no worker began"),
        (NoSuchModel(Path("m.gguf"), "Look again."), USAGE, "m.gguf: no such model file. Look again."),
        (PermissionError(errno.EACCES, "Permission denied", "out"), FAILED, "out: can't be read or written: Permission denied"),
        (OSError(errno.ENOSPC, "No space left on device", "out"), FAILED, "No space left on device: nothing more can be written to out"),
        (SampleError("\x1b[2Jcleared"), USAGE, r"\x1b[2Jcleared"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_error_that_a_user_can_act_on_is_one_line_and_a_code(
    error: Exception, code: int, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.cli.exit_codes._discard_output", lambda: None)
    escape_output()
    assert run_to_exit_code(raising(error)) == code
    assert capsys.readouterr() == ("", f"assay: {message}\n")


def test_what_a_command_returns_is_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert [run_to_exit_code(lambda code=code: code) for code in (DONE, FAILED)] == [0, 1]  # type: ignore[misc]
    assert run_to_exit_code(raising(KeyboardInterrupt())) == INTERRUPTED == 130
    assert capsys.readouterr() == ("", "")


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError):
        run_to_exit_code(raising(ZeroDivisionError()))
