"""CRUXEval: a function and an input; the output is asked for (Gu et al. 2024, arXiv 2401.03065)."""

from __future__ import annotations

from pathlib import Path

from ..recorded.answers import RecordedError
from ..recorded.records import records, wanted
from .problem import Problem, SetError


def cruxeval(path: Path) -> list[Problem]:
    """The problems. Raises SetError."""
    made = []
    try:
        for number, record in records(path):
            code, given, output, name = (wanted(path, number, record, field, str) for field in ("code", "input", "output", "id"))
            made.append(Problem(name, "cruxeval", "execution", "python", name, f"{code}\nassert f({given}) == ", "", output, "", "", "f"))
    except RecordedError as error:
        raise SetError(str(error)) from None
    return made
