"""`assay eval counterfeit`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import (
    Command,
    Sorts,
    add_ask_option,
    add_code_options,
    add_run_options,
    checked_pool,
    listed,
    options_from,
    positive,
    refuse_beside_code,
)
from ..errors import UsageError

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice
    from ..pool.pool import Pool

PROBLEMS = ("humaneval", "mbpp", "odex")
# Sets whose recorded programs are labelled here.
_DRAWN = ("humaneval", "mbpp")
SORTS = Sorts(
    {
        "lines": "--set lines",
        "code": "--code",
        "problems": "a set of problems",
        "file": "a file of counterfeits, or cruxeval",
        "draws": "recorded programs",
    },
    only={
        **dict.fromkeys(("projects", "cache", "python"), ("lines",)),
        **dict.fromkeys(("per_project", "tasks", "memory", "older"), ("lines", "code")),
        **dict.fromkeys(("draws", "temperature"), ("lines", "code", "problems")),
        **dict.fromkeys(("votes", "repairs", "reasoning", "ask"), ("problems", "file")),
        "data": ("problems", "file", "draws"),
        "recorded": ("file", "draws"),
    },
    steps={
        "lines": ("draw", "label", "judge", "repair"),
        "code": ("draw", "judge"),
        "problems": ("draw", "label", "judge", "execute", "repair"),
        "file": ("judge", "execute", "repair"),
        "draws": (),
    },
)


def temperature(text: str) -> float:
    """A temperature above 0: at 0 all draws are one text."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 10:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, and at most 10")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    seed_of = "the places, of what is drawn there, and of what is repaired"
    add_run_options(parser, seed_of=seed_of, most="60", steps=SORTS.all_steps)
    parser.add_argument(
        "--set", metavar="SET", default="lines",
        help="lines: of 20 projects, judged by their own tests in a sandbox. humaneval, mbpp, odex: programs for the problems of --data. "
        "cruxeval: its functions, executed in words. FILE: a set of counterfeits (assay/counterfeits/1), or the published one "
        "(default: %(default)s)",
    )  # fmt: skip
    add_code_options(
        parser,
        "lines of Python in your own folders, each a project. No test says what is right: that is what stood there alone, and a "
        "counterfeit is anything else that parses",
    )
    parser.add_argument("--data", metavar="FILE", type=Path, help="the benchmark's file; Assay brings none with it")
    parser.add_argument(
        "--recorded", metavar="FILE", type=Path, nargs="+",
        help="ask no model: programs for humaneval or mbpp, and perhaps a file of the model's own tests, are labelled in the sandbox; "
        "answers to cruxeval, or to the programs of a file of counterfeits, are taken as they are",
    )  # fmt: skip
    add_ask_option(parser)
    parser.add_argument("--votes", metavar="N", type=positive, help="answers to each question about a program (default: 10)")
    parser.add_argument("--repairs", metavar="N", type=positive, help="repairs of each counterfeit program (default: 10)")
    parser.add_argument(
        "--reasoning", choices=("with", "without"), help="judge programs with reasoning alone, or without alone (default: both ways)"
    )
    parser.add_argument(
        "--tasks", type=listed("task", ".counterfeit.lines.draw:TASKS"),
        help="what the model is asked for at each line of a project (default: line,line_rest; line_middle is for --code alone)",
    )  # fmt: skip
    parser.add_argument("--draws", metavar="N", type=positive, help="texts drawn at each place, or for each problem (default: 10, or 50)")
    parser.add_argument("--temperature", metavar="T", type=temperature, help="the temperature at which they are drawn (default: 0.6)")


def sort_of(arguments: argparse.Namespace) -> str:
    """Which sort of run is asked for. Raises UsageError for a set that there is not, or that lacks its file."""
    name = arguments.set
    if arguments.code:
        refuse_beside_code(arguments, "lines")
        return "code"
    if name == "lines":
        return "lines"
    if name in (*PROBLEMS, "cruxeval") and arguments.data is None:
        from ..sets.problems import SETS

        raise UsageError(SETS[name].needed(name))
    if name in PROBLEMS:
        if not arguments.recorded:
            return "problems"
        if name not in _DRAWN:
            raise UsageError(f"recorded programs for {name} are not run: name another set ({', '.join(_DRAWN)})")
        return "draws"
    if name == "cruxeval" or Path(name).exists():
        return "file"
    raise UsageError(f"no such set: {name} (there are lines, {', '.join(PROBLEMS)}, cruxeval, and files of counterfeits)")


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files and report. Raises UsageError, and what each study raises."""
    sort = sort_of(arguments)
    SORTS.refuse_what_does_nothing(arguments, choice, sort)
    if arguments.repairs and sort == "file" and arguments.data is None:
        raise UsageError(
            "--repairs does nothing without --data: repairs are judged by the tests of the benchmark that the programs are for; name its "
            "file, or leave --repairs out"
        )
    if arguments.repairs and arguments.set == "cruxeval":
        raise UsageError("--repairs does nothing for cruxeval, whose functions are all right: leave it out")
    if sort == "lines" and "line_middle" in (arguments.tasks or ()):
        raise UsageError("line_middle is for --code alone: name other tasks")
    pool = checked_pool(arguments)
    if sort in ("lines", "code"):
        _run_lines(arguments, choice, pool)
    else:
        _run_problems(arguments, choice, pool, sort)


def _run_lines(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from ..sets.code import folders_at
    from ..sets.projects import named
    from .lines.study import Options, run_lines

    of = {"folders": folders_at(arguments.code)} if arguments.code else {"projects": named(arguments.projects, suite=True)}
    run_lines(options_from(Options, arguments, choice=choice, pool=pool, **of))


def _run_problems(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool, sort: str) -> None:
    from ..calibration.recorded.study import Options as OfDraws
    from ..recorded.source import read
    from .problems.asking import Options
    from .problems.recorded import run_recorded
    from .problems.study import run_problems

    if sort == "draws":
        draws = options_from(OfDraws, arguments, pool=pool, files=read(arguments.recorded))
        run_recorded(draws)
        return
    name = arguments.set if sort == "problems" or arguments.set == "cruxeval" else Path(arguments.set)
    options = options_from(Options, arguments, choice=choice, pool=pool, set=name, data=arguments.data, form=arguments.ask)
    run_problems(options)


COMMAND = Command(
    group="eval",
    name="counterfeit",
    summary="draw lines from a model, and see whether it tells its own right ones from wrong ones that look right",
    details="Places of real projects are completed as in the editor, once greedily and several times at a temperature. The projects' own "
    "tests, in the sandbox, say of each text how much of them it keeps: a counterfeit is wrong and keeps some. Then the model is asked to "
    "judge its texts and to repair counterfeits. With a set of problems whole programs are drawn, judged, executed in words and repaired; "
    "what a model wrote runs in the sandbox alone. The projects' sources and their tests' environments are made by pip, which runs build "
    "code with your rights; code of --code is only read. The same command resumes a run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)
