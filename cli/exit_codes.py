"""The exit codes of `assay`. Here, and nowhere else, an error becomes an exit code and a message."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable

from ..offline_eval.errors import UsageError as UsageError
from .terminal import say

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def run_to_exit_code(command: Callable[[], int]) -> int:
    """Run a command and return its exit code. An error that a user can act on becomes a line on stderr.

    Any other error is a bug and is raised, because its traceback is needed.
    """
    try:
        code = command()
        print(end="", flush=True)  # not sys.stdout.flush(): stdout is None where it was closed before the start
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return FAILED
    except OSError as error:
        say(f"assay: {_os_message(error)}")
        if error.errno == errno.ENOSPC:
            _discard_output()
        return FAILED
    except Exception as error:
        known = code_of(error)
        if known is None:
            raise
        say(f"assay: {error}")
        return known
    return code


def code_of(error: Exception) -> int | None:
    """USAGE for a mistake of the user, FAILED for a failure of the work, None for a bug."""
    if isinstance(error, UsageError):
        return USAGE
    failures, mistakes = _known_errors()
    if isinstance(error, failures):
        return FAILED
    return USAGE if isinstance(error, mistakes) else None


def _known_errors() -> tuple[tuple[type[Exception], ...], tuple[type[Exception], ...]]:
    """Two lists of errors of the rooms below: those that end with FAILED, and those that otherwise end with USAGE."""
    from ..analysis.oracle.copying import NotCopied
    from ..analysis.oracle.environment import NoEnvironment
    from ..analysis.oracle.interpreter import UnusableInterpreter
    from ..analysis.sandbox.isolation.best_level import NoIsolation
    from ..calibration.calibrator import CalibratorError
    from ..calibration.fitting.checks import FitError
    from ..calibration.held_out import FoldsError
    from ..calibration.log.event_log import EventLogError, EventLogUnavailable
    from ..calibration.samples import SampleError
    from ..inference import errors
    from ..offline_eval.errors import RunError, StudyError

    model_failed = (errors.OutOfMemory, errors.LoadFailed, errors.ComputationFailed)
    server_failed = (*errors.SERVER_FAILURES, errors.NoServerAnswers, errors.RequestRefused)
    study_failed = (StudyError, NoIsolation, NoEnvironment, UnusableInterpreter)
    failures = (
        errors.PackageMissing,
        *model_failed,
        *server_failed,
        errors.ModelClosed,
        *study_failed,
        errors.DownloadFailed,
        EventLogUnavailable,
    )
    return failures, (errors.ModelError, CalibratorError, FitError, FoldsError, SampleError, EventLogError, RunError, NotCopied)


def _os_message(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return f"{error.strerror}: nothing more can be written{f' to {error.filename}' if error.filename else ''}"
    return f"{error.filename}: can't be read or written: {error.strerror}" if error.filename else str(error)


def _discard_output() -> None:
    """Discard what is left in the buffer, so that it does not fail again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
