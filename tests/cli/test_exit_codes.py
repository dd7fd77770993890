"""Errors become exit codes and messages in one place."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.analysis.oracle.environment import NoEnvironment
from assay.calibration.calibrator import CalibratorError
from assay.calibration.fitting.checks import FitError
from assay.calibration.held_out import FoldsError
from assay.calibration.log.event_log import EventLogError, EventLogUnavailable
from assay.calibration.samples import SampleError
from assay.cli.exit_codes import DONE, FAILED, INTERRUPTED, USAGE, UsageError, run_to_exit_code
from assay.cli.terminal import escape_output
from assay.inference.errors import ModelClosed, NoSuchModel
from assay.offline_eval.errors import RunError, StudyError


def raising(error: BaseException) -> Callable[[], int]:
    def command() -> int:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("no such thing"), USAGE, "no such thing"),
        (SampleError("s.jsonl:1: not JSON"), USAGE, "s.jsonl:1: not JSON"),
        (CalibratorError("c.json: not UTF-8"), USAGE, "c.json: not UTF-8"),
        (FitError("too few"), USAGE, "too few"),
        (FoldsError("f.json: not UTF-8"), USAGE, "f.json: not UTF-8"),
        (EventLogError("log: not a file"), USAGE, "log: not a file"),
        (EventLogUnavailable("log: locked"), FAILED, "log: locked"),
        (RunError("run.toml: missing"), USAGE, "run.toml: missing"),
        (StudyError("no worker began"), FAILED, "no worker began"),
        (NoEnvironment("pip failed"), FAILED, "pip failed"),
        (NoSuchModel(Path("m.gguf"), "Look again."), USAGE, "m.gguf: no such model file. Look again."),
        (ModelClosed(Path("m.gguf")), FAILED, str(ModelClosed(Path("m.gguf")))),
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
