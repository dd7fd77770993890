"""Whether a test failed because the program broke, or because it did not say what the test expects."""

from __future__ import annotations

import builtins
import os
from collections.abc import Collection, Iterator
from typing import Any

import pytest

from .files import is_test_file

_GROUPS: Any = getattr(builtins, "BaseExceptionGroup", ())  # Python 3.10 has none
_ASSERTIONS = (AssertionError, pytest.fail.Exception)


def is_crash(error: BaseException, root: str, modules: Collection[str]) -> bool:
    """Whether an error that ended a test came out of the project's code.

    root: the project's folder. modules: the files that hold tests, by their paths in it.

    An assertion that a test makes did not, also where the project's code has called the test's. Nor did an error in the test's own lines,
    which trip over what the program gave them.
    """
    if any(is_crash(part, root, modules) for part in _parts(error)):
        return True
    of_program = list(_frames(error, root, modules))
    return of_program[-1:] == [True] if isinstance(error, _ASSERTIONS) else any(of_program)


def _parts(error: BaseException) -> list[BaseException]:
    """The errors that one stands for: those of a group, and what ended an example in a docstring."""
    if isinstance(error, _GROUPS):
        return list(error.exceptions)
    kind, fields = type(error).__name__, vars(error)
    if kind == "MultipleDoctestFailures":
        return list(fields["failures"])
    return [fields["exc_info"][1]] if kind == "UnexpectedException" else []


def _frames(error: BaseException, root: str, modules: Collection[str]) -> Iterator[bool]:
    """Of each frame in a file of the project, from the outermost: whether that is its code, and no test."""
    prefix, step = f"{root}{os.sep}", error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if file.startswith(prefix):
            inside = file[len(prefix) :]
            yield not (is_test_file(inside) or inside in modules)
        step = step.tb_next
