"""`assay eval catcode`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

# Of programs.
LANGUAGES = ("python", "java", "javascript")
# The kinds of pairs (`pairs.pair` says what each is).
PAIR_KINDS = ("1-eq", "2-eq", "2-eq-chain", "3-eq-chain", "1-neq", "identity", "global-eq", "global-neq")
_OF_PROGRAMS, _FUNCTORS = ("pairs", "translate", "explain"), ("translate", "explain")
SORTS = Sorts(
    {**{name: f"--set {name}" for name in ("lines", *_OF_PROGRAMS)}, "code": "--code"},
    only={
        **dict.fromkeys(("of", "projects", "cache", "python"), ("lines",)),
        **dict.fromkeys(("per_project", "memory", "older"), ("lines", "code")),
        "task": ("code",),
        **dict.fromkeys(("data", "recorded", "ask"), _OF_PROGRAMS),
        **dict.fromkeys(("kinds", "votes"), ("pairs",)),
        **dict.fromkeys(("language", "draws"), _FUNCTORS),
        "to": ("translate",),
    },
    steps={
        "lines": ("answers", "rewrite", "score", "regenerate", "label"),
        "code": ("answers", "rewrite", "score", "regenerate"),
        "pairs": ("pairs", "answers"),
        "translate": ("sources", "write", "labels"),
        "explain": ("sources", "describe", "write", "labels"),
    },
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    add_run_options(parser, seed_of="the draw of places, and of the rewrites", most="40", steps=SORTS.all_steps)
    parser.add_argument(
        "--set", choices=("lines", *_OF_PROGRAMS), default="lines",
        help="lines: single lines of 20 projects, scored by the model as they are, with the code around them rewritten so that it does "
        "the same, and themselves rewritten so that they do the same or not, as the projects' own tests say, in a sandbox. pairs: whole "
        "programs of --data and what rules make of them, about which an instruct model is asked whether they do the same; its step pairs "
        "takes no model, and leaves a file of pairs that can be named with --data. translate: programs of --data, written in another "
        "language. explain: the same, described and written again. Both run in a sandbox on the tests of --data (default: %(default)s)",
    )  # fmt: skip
    add_code_options(
        parser,
        "lines of Python in your own folders, each a project. No test confirms a rewrite, so only the code around a line is rewritten",
    )
    parser.add_argument(
        "--task", choices=("line", "line_rest", "line_middle"), help="with --code: what of a line is asked about (default: line)"
    )
    parser.add_argument(
        "--data", metavar="FILE", type=Path, nargs="+",
        help="not with --set lines: files of HumanEval, HumanEval-X, MBPP or mxeval (MBXP, MathQA), or a folder with programs and their "
        "tests; with --set pairs also recorded programs for HumanEval, of which global pairs are made, or instead a file of pairs "
        "(assay/pairs/1); Assay brings none with it",
    )  # fmt: skip
    parser.add_argument(
        "--kinds", metavar="LIST", type=listed("kind of pair", PAIR_KINDS), default=[],
        help=f"with --set pairs: ask about these alone: {', '.join(PAIR_KINDS)} (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--language", metavar="LIST", type=listed("language", LANGUAGES), default=[],
        help=f"with --set translate and explain: the programs' languages, of {', '.join(LANGUAGES)} (default: the paper's, java; and for "
        "--set explain python, too)",
    )  # fmt: skip
    parser.add_argument(
        "--to", metavar="LIST", type=listed("language", LANGUAGES), default=[],
        help="with --set translate: into these (default: all others that --data has)",
    )  # fmt: skip
    parser.add_argument(
        "--draws", metavar="N", type=positive,
        help="with --set translate and explain: answers to each question; one is greedy, several are drawn at temperature 0.2 (default: 1)",
    )  # fmt: skip
    parser.add_argument("--votes", metavar="N", type=positive, help="answers to each question about a pair (default: 10)")
    add_ask_option(parser)
    parser.add_argument(
        "--recorded", metavar="FILE", type=Path, nargs="+", help="ask no model: take these answers about programs (assay/answers/1)"
    )
    parser.add_argument(
        "--of", type=listed("code", ".catcode.lines.study:CODES"), default=[],
        help="with --set lines: what is rewritten, the line that stands there (truth), what the model suggests there and the tests accept "
        "(suggestion), or both, with a comma between (default: both)",
    )  # fmt: skip


def _check(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Raises UsageError for options that lack something, or would do nothing."""
    sort = arguments.set
    if arguments.code:
        refuse_beside_code(arguments, "lines")
        SORTS.refuse_what_does_nothing(arguments, choice, "code")
        return
    if sort != "lines" and not arguments.data:
        from ..sets.programs import HOW

        raise UsageError(f"{SORTS.words[sort]} needs programs with tests: {HOW}. Assay brings none with it")
    SORTS.refuse_what_does_nothing(arguments, choice, sort)
    if sort == "pairs" and arguments.steps == ["pairs"]:
        asked = {"--model": choice.where is not None or choice.options, "--recorded": arguments.recorded, "--ask": arguments.ask}
        if useless := next((flag for flag, value in (asked | {"--votes": arguments.votes}).items() if value), None):
            raise UsageError(f"the step pairs asks no model: leave {useless} out, or name the step answers, too")
    if arguments.recorded and (arguments.draws or arguments.ask):
        raise UsageError("with --recorded no model is asked: leave --draws and --ask out")


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files and report. Raises UsageError, and what each study raises."""
    _check(arguments, choice)
    shared: dict[str, Any] = {"choice": choice, "pool": checked_pool(arguments)}
    if arguments.set == "lines":
        from ..sets.code import folders_at
        from ..sets.projects import named
        from .lines.study import Options, run_lines

        of: dict[str, Any] = {"projects": named(arguments.projects, suite=True)}
        if arguments.code:
            of = {"folders": folders_at(arguments.code), "tasks": (arguments.task or "line",)}
        run_lines(options_from(Options, arguments, **shared, **of))
    elif arguments.set == "pairs":
        from .pairs.asking import Options as PairOptions
        from .pairs.study import run_pairs

        run_pairs(options_from(PairOptions, arguments, **shared, form=arguments.ask))
    else:
        from .functors.labelling import Options as FunctorOptions
        from .functors.study import run_functors

        shared |= {"form": arguments.ask, "sources": arguments.language, "targets": arguments.to}
        run_functors(options_from(FunctorOptions, arguments, **shared))


COMMAND = Command(
    group="eval",
    name="catcode",
    summary="rewrite code so that it does the same, or not, and see whether the model and the confidence tell one from the other",
    details="With --set lines the projects' sources are downloaded once, by pip, which checks their hashes, and an environment for each "
    "project's tests is made: both run build code of the project or of others, with your rights. The tests run in the sandbox. Code of "
    "--code is only read. The same command resumes a run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)
