"""`assay why`: the lines that a failing test runs, the likeliest place of the bug first."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .complete import remember_for
from .exit_codes import DONE, UsageError
from .options import Subparsers, command_parser, model_choice, positive, set_run
from .repair_tests import ask_for_tests
from .terminal import print_json, say, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..analysis.oracle.spectrum import Suspect
    from ..suggestion.memory.scope import Scope
    from ..suggestion.repair.candidate import Lines
    from ..suggestion.repair.localisation import Located


def register(commands: Subparsers) -> None:
    """Add `assay why`."""
    parser = command_parser(
        commands,
        "why",
        "list where the bug behind a failing test may be",
        "Runs the tests of the project in the sandbox, on a copy, to see which lines each runs. Lists the lines of the failing test by how "
        "few other tests run them and how much they surprise the model. You are asked once for each project.",
    )
    parser.add_argument("test", metavar="TEST", help="a failing test: its name, or FILE::TEST, with or without its parameters")
    parser.add_argument("--project", metavar="FOLDER", type=Path, help="the project (default: the one of the current folder)")
    parser.add_argument(
        "--python",
        metavar="FILE",
        type=Path,
        help="the Python that runs the tests (default: that of the activated environment, else of the project's .venv, of poetry's or "
        "uv's, or the one that runs Assay)",
    )
    parser.add_argument("--yes", action="store_true", help="run the tests without asking")
    parser.add_argument("--most", metavar="N", type=positive, default=10, help="how many lines to print (default: 10)")
    set_run(parser, run, "memory", "model", "json")


def run(arguments: argparse.Namespace) -> int:
    """Print the lines. Raises UsageError and ModelError."""
    from ..suggestion.repair.localisation import MAX_LINES
    from ..suggestion.repair.project_tests import NoTests, ProjectTests, default_cache, project_of

    project = arguments.project.absolute() if arguments.project else project_of(Path.cwd() / "file")
    if not project.is_dir():
        raise UsageError(f"{project} is not a folder: name the project whose tests are to be run (--project FOLDER)")
    if not arguments.yes:
        ask_for_tests(project)
    try:
        say(f"running the tests of {project} as they are; what they say is kept until a file changes")
        with ProjectTests(project, python=arguments.python, cache=default_cache(), tell=say) as tests:
            tests.measure()
            for remark in tests.remarks():
                say(remark)
            failing = named(tests.failing(), in_project(arguments.test, tests.project), tests.uncollected())
            suspects = tests.suspects(failing)[:MAX_LINES]
            # of the copy: a path that the tests report must not be opened in the project
            lines = {file: tests.lines_of(file) for file in dict.fromkeys(each.file for each in suspects)}
    except NoTests as error:
        raise UsageError(str(error)) from None
    test = failing[0] if len(failing) == 1 else failing[0].partition("[")[0]
    if not suspects:
        raise UsageError(f"{test} runs no known line of the project: it may fail before that, or run them in another program")
    found = _located(arguments, project, suspects, lines)[: arguments.most]
    if arguments.json:
        print_json({"test": test, "lines": [_as_json(each) for each in found]})
    else:
        show(f"{test} fails. The bug may be here, the likeliest first:")
        show(*report_lines(found, lambda suspect: lines[suspect.file][suspect.line - 1].strip()))
    return DONE


def in_project(name: str, project: Path) -> str:
    """A test's name as in pytest's ids. A path in it may start from here or from the project's root."""
    path, separator, rest = name.partition("::")
    if not separator and not path.endswith(".py"):
        return name
    for place in map(Path, (os.path.abspath(path), os.path.realpath(path), os.path.normpath(project / path))):  # noqa: PTH100
        if place.is_file() and place.is_relative_to(project):
            return place.relative_to(project).as_posix() + separator + rest
    return name


def named(failing: Sequence[str], name: str, uncollected: Mapping[str, str] | None = None) -> list[str]:
    """The failing tests with a name, or that end with it; without parameters in the name, those of all parameters.

    uncollected: the files whose tests are not known, by path, with the error. Raises UsageError for no test, or several.
    """
    ends = f"::{name}", f"/{name}", f".{name}"
    found = [test for test in failing if test == name] or [test for test in failing if test.endswith(ends)]
    found = found or [test for test in failing if (base := test.partition("[")[0]) == name or base.endswith(ends)]
    functions = {test.partition("[")[0] for test in found}
    if len(found) == 1 or len(functions) == 1:
        return found
    if found:
        raise UsageError(f"{len(found)} failing tests end with {name}: {', '.join(found[:5])}; name one")
    own = name.partition("::")[0]
    unknown = uncollected or {}
    if broken := {file: why for file, why in unknown.items() if file == own or file.endswith(f"/{own}")} or unknown:
        errors = "; ".join(f"{file}: {why}" for file, why in list(broken.items())[:5])
        raise UsageError(
            f"no failing test is named {name} among those that can be collected. These files fail before their tests: {errors}"
        )
    those = f"; those that fail are {', '.join(failing[:10])}" if failing else "; no test fails"
    raise UsageError(f"no failing test is named {name}{those}")


def _located(arguments: argparse.Namespace, project: Path, suspects: Sequence[Suspect], lines: Mapping[str, Lines]) -> list[Located]:
    from ..calibration.registry import load_registry
    from ..suggestion.memory.memories import memory_fingerprint
    from ..suggestion.repair.asking import Asking
    from ..suggestion.repair.confidence import purpose_of
    from ..suggestion.repair.localisation import TASK, located, surprises_of
    from ..suggestion.repair.request import request_for
    from ..suggestion.secrets import is_secret_path

    scope: Scope = arguments.memory

    choice = model_choice(arguments)
    with choice.open() as model:
        settings = choice.settings_for(model)

        def asking_of(file: str) -> Asking:
            return Asking(model, settings, remember=remember_for(model, project / file, scope))

        shown = [each for each in suspects if not is_secret_path(project / each.file)]
        surprises = surprises_of(shown, lines.__getitem__, asking_of)
        request = request_for(Asking(model, settings), "x\n", 0, 1, language="python")
        purpose = purpose_of(request, "exact_match", memory=memory_fingerprint(model, scope), file=project / suspects[0].file)
        return located(suspects, surprises, replace(purpose, task=TASK), load_registry(project))


def _as_json(each: Located) -> dict[str, Any]:
    from ..suggestion.repair.localisation import text_of
    from ..suggestion.suggestion import confidence_json

    confidence = confidence_json(each.confidence) | {"text": text_of(each.confidence)}
    return {**asdict(each.suspect), "measures": dict(each.measures), "confidence": confidence}


def report_lines(found: Sequence[Located], code_of: Callable[[Suspect], str]) -> Iterator[str]:
    """The printed lines: how likely the bug is in each, as a range, and its code."""
    width = max(len(each.confidence.short) for each in found)
    for each in found:
        suspect = each.suspect
        others = "1 passing test runs it" if suspect.passing == 1 else f"{suspect.passing} passing tests run it"
        surprise = f"surprise {each.measures['line_surprise']:.1f} nats"
        yield f"{each.confidence.short:{width}}  {suspect.file}:{suspect.line}: {code_of(suspect)}  ({others}; {surprise})"
    if any(each.confidence.probability is not None for each in found):
        yield "Each line is judged by itself, so the numbers need not add up to 100 %."
    for reason in dict.fromkeys(each.confidence.reason for each in found if each.confidence.reason):
        yield f"no evidence: {reason}"
