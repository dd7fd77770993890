"""`assay repair --verify`: checks repairs by the tests of the project."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..calibration.control_characters import escaped_line
from ..calibration.plain_number import plain
from .exit_codes import UsageError
from .terminal import is_terminal, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..suggestion.repair.request import Failure, Repair, Repairs
    from ..suggestion.repair.verified import Verified


def add_verify_options(parser: argparse.ArgumentParser) -> None:
    """Add --verify, and what goes with it."""
    parser.add_argument(
        "--verify", metavar="PROJECT", nargs="?", const="",
        help="run the project's tests that touch the lines, in the sandbox, and leave out repairs that fail them. The best are tried "
        "first, until as many pass as are printed (default: the project of the file). You are asked once for each project",
    )  # fmt: skip
    parser.add_argument(
        "--python", metavar="FILE", type=Path,
        help="with --verify: the Python that runs the tests (default: that of the activated environment, else of the project's .venv, "
        "of poetry's or uv's, or the one that runs Assay)",
    )  # fmt: skip
    parser.add_argument("--yes", action="store_true", help="with --verify: run the tests without asking")


def project_to_verify_in(arguments: argparse.Namespace, name: str) -> Path | None:
    """The project whose tests run, with the user's consent; None without --verify. Raises UsageError."""
    if arguments.verify is None:
        if arguments.yes or arguments.python:
            raise UsageError("--yes and --python go with --verify")
        return None
    from ..suggestion.repair.project_tests import project_of

    project = Path(arguments.verify).absolute() if arguments.verify else project_of(Path(name))
    if not project.is_dir():
        raise UsageError(f"{project} is not a folder: name the project whose tests are to be run (--verify PROJECT)")
    if not arguments.yes:
        ask_for_tests(project)
    return project


def ask_for_tests(project: Path) -> None:
    """Ask for consent unless there is an answer, and remember the answer. Raises UsageError if it is no."""
    from ..calibration.trust import TESTS, remember, remembered

    trust = remembered(project, TESTS)
    if trust.counts:
        return
    if not trust.is_open:
        raise UsageError(f"{trust.why_not}, or say --yes")
    question = f"May Assay run the tests of {escaped_line(str(project))}, in the sandbox?"
    if not is_terminal(sys.stdin):
        raise UsageError(f"{question} There is nobody to ask: say --yes")
    say(f"{question} The answer is remembered. [y/N]")
    answer = sys.stdin.readline().strip().lower()
    if answer in ("y", "yes", "n", "no"):
        remember(project, trusted=answer in ("y", "yes"), about=TESTS)
    if answer not in ("y", "yes"):
        raise UsageError("no tests were run")


def failure_at(project: Path, python: Path | None, name: str, text: str, lines: range) -> Failure | None:
    """What a failing test says that touches some lines (from 1) of the text; None where none fails, or none can be run."""
    from ..suggestion.repair.project_tests import NoTests, ProjectTests, default_cache, in_place_of
    from ..suggestion.repair.request import Failure

    if in_place_of(Path(name), ["pass"]):
        return None  # it doesn't parse as it is saved, so no test says which lines it touches
    try:
        with ProjectTests(project, python=python, cache=default_cache(), tell=lambda _: None) as tests:  # verifying tells
            tests.judge(Path(name), text)  # a file whose tests can't be known is refused before any runs
            _say_that_tests_run(project)
            tests.measure()
            said = tests.run(Path(name), text, lines)
    except NoTests:
        return None  # verifying says why
    return Failure(message=said.why) if said.failing or said.breaks else None


@cache
def _say_that_tests_run(project: Path) -> None:
    """Once for each project."""
    say(f"running the tests of {project} as they are; what they say is kept until a file changes")


def verify(
    project: Path, python: Path | None, name: str, text: str, proposals: Iterator[Repairs], most: int, max_ms: float
) -> tuple[Repairs, Verified]:
    """All repairs, and the tests' verdicts on them, which run while they are found, until `most` pass; only why, if they can't run."""
    from ..suggestion.repair.project_tests import NoTests, ProjectTests, default_cache, in_place_of
    from ..suggestion.repair.request import Repairs
    from ..suggestion.repair.verified import Verified, verified, with_lines

    last, file = Repairs((), (), {}, None), Path(name)

    def found() -> Iterator[Sequence[Repair]]:
        nonlocal last
        for last in proposals:
            yield last.found

    early: Iterable[Sequence[Repair]] = found()
    instead: Mapping[Path, str] = {}
    if in_place_of(file, ["pass"]):  # it doesn't parse as it is saved: its tests run with a repair that does
        early = [repairs := [*early][-1]]
        if not repairs:
            return last, Verified()
        instead = in_place_of(file, (with_lines(text, repair.suggestion) for repair in repairs))
    try:
        with ProjectTests(project, python=python, cache=default_cache(), instead=instead, tell=say) as tests:
            judge = tests.judge(file, text)
            _say_that_tests_run(project)
            tests.measure()
            for remark in tests.remarks():
                say(remark)
            said = verified(early, text, judge, most=most, max_ms=max_ms)
            return last, said
    except NoTests as error:
        *_, repairs = [last.found, *early]
        return last, Verified(left=tuple(repairs), why=str(error))


def verdict_lines(verified: Verified, most: int, max_ms: float) -> Iterator[str]:
    """The tests' verdicts in sentences: how many repairs they judged, and why not the others."""
    left, passing = len(verified.left), verified.passing
    unknown = Counter(each.why for _, each in verified.shown(most) if each.passed is None)
    shown = len(verified.shown(most))
    for reason, count in unknown.items():
        why = reason.removeprefix("not run: ")
        yield f"not verified: {why}" if count == shown else f"{count} of these {'is' if count == 1 else 'are'} not verified: {why}"
    if not verified.judged:
        return
    counts = [f"{passing} {'passes' if passing == 1 else 'pass'}"] if verified.known else []
    counts += [f"{verified.refused} do{'es' if verified.refused == 1 else ''} not"] if verified.refused else []
    if unknown_count := len(verified.judged) - verified.known:
        counts.append(f"{unknown_count} can't be judged")
    yield f"the tests judged {verified.known} of {verified.total} repairs: {', '.join(counts)}"
    if left and verified.why:
        yield f"{left} {'was' if left == 1 else 'were'} not tried: {plain(max_ms / 1e3, 6)} s were over (--max-ms)"
    elif left and passing >= most:
        yield f"{left} {'was' if left == 1 else 'were'} not tried: enough pass (--most {most})"
    if not shown:
        yield (
            "No repair passes the tests. Try another line (assay why TEST lists where the bug may be), several lines together "
            "(FILE:LINE-LINE), or an instruct model as well (--instruct URL)."
        )
