"""The sets by name. A new one is a module like its neighbours, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .functions import cruxeval, human_eval, mbpp, odex
from .problem import Problem, SetError
from .repairs import defects4j, quixbugs


@dataclass(frozen=True, slots=True)
class ProblemSet:
    """A set. read: its problems from a file or folder. what, whence: what is to be had, and the project that has it, for people."""

    read: Callable[[Path], list[Problem]]
    what: str
    whence: str


SETS = {
    "humaneval": ProblemSet(
        human_eval, "HumanEval.jsonl.gz or HumanEvalPlus.jsonl.gz", "openai/human-eval or evalplus/humanevalplus_release"
    ),
    "mbpp": ProblemSet(mbpp, "mbpp.jsonl or MbppPlus.jsonl.gz", "google-research (mbpp/) or evalplus/mbppplus_release"),
    "quixbugs": ProblemSet(quixbugs, "a copy of the project", "jkoppel/QuixBugs"),
    "defects4j": ProblemSet(defects4j, "a copy of the project, or an archive of its folder framework/", "rjust/defects4j"),
    "odex": ProblemSet(odex, "en_test.jsonl", "zorazrw/odex"),
    "cruxeval": ProblemSet(cruxeval, "data/cruxeval.jsonl", "facebookresearch/cruxeval"),
}


def problems(name: str, path: Path, limit: int | None = None) -> list[Problem]:
    """The problems of a set, in its order; with a limit the first so many. Raises SetError, which says where to get it."""
    if name not in SETS:
        raise SetError(f"no set {name!r}; there are {', '.join(SETS)}")
    known = SETS[name]
    if not path.exists():
        raise SetError(f"{path} is missing. Assay brings no set with it: {name} is {known.what}, of the project {known.whence}")
    try:
        return known.read(path)[:limit]
    except SetError as error:
        raise SetError(f"{error}. The set {name} is {known.what}, of the project {known.whence}") from None
