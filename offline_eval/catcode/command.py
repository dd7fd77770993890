"""`assay eval catcode`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, add_ask_option, add_run_options, checked_pool, names, one_of, positive
from .options import CODES, LANGUAGES, PAIR_KINDS, SETS, STEPS, refuse_what_does_nothing, sort_of

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice
    from ..pool.choice import Pool


_STEPS = tuple(dict.fromkeys(step for steps in STEPS.values() for step in steps))


def _steps(text: str) -> list[str]:
    return one_of(_STEPS, text, "step")


def _kinds(text: str) -> list[str]:
    return one_of(PAIR_KINDS, text, "kind of pair")


def _languages(text: str) -> list[str]:
    return one_of(LANGUAGES, text, "language")


def _codes(text: str) -> list[str]:
    return one_of(CODES, text, "code")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    parser.add_argument("--out", metavar="RUN", type=Path, required=True, help="folder of the run")
    parser.add_argument(
        "--set", choices=SETS,
        help="lines: single lines of 20 projects, scored by the model as they are, with the code around them rewritten so that it does "
        "the same, and themselves rewritten so that they do the same or not, as the projects' own tests say, in a sandbox. pairs: whole "
        "programs of --data and what rules make of them, about which an instruct model is asked whether they do the same. translate: "
        "programs of --data, written in another language. explain: the same, described and written again. Both run in a sandbox on the "
        "tests of --data (default: lines)",
    )  # fmt: skip
    parser.add_argument(
        "--data", metavar="FILE", type=Path, nargs="+",
        help="not with --set lines: files of HumanEval, HumanEval-X, MBPP or mxeval (MBXP, MathQA), or a folder with programs and their "
        "tests; with --set pairs also recorded programs for HumanEval, of which global pairs are made, or instead a file of pairs "
        "(assay/pairs/1); Assay brings none with it",
    )  # fmt: skip
    parser.add_argument(
        "--kinds", metavar="LIST", type=_kinds, default=[],
        help=f"with --set pairs: ask about these alone: {', '.join(PAIR_KINDS)} (default: all)",
    )  # fmt: skip
    parser.add_argument(
        "--language", metavar="LIST", type=_languages, default=[],
        help=f"with --set translate and explain: the programs' languages, of {', '.join(LANGUAGES)} (default: the paper's, java; and for "
        "--set explain python, too)",
    )  # fmt: skip
    parser.add_argument(
        "--to", metavar="LIST", type=_languages, default=[], help="with --set translate: into these (default: all others that --data has)"
    )
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
        "--of", type=_codes, default=[],
        help="with --set lines: what is rewritten, the line that stands there (truth), what the model suggests there and the tests accept "
        "(suggestion), or both, with a comma between (default: both)",
    )  # fmt: skip
    parser.add_argument("--projects", type=names, default=[], help="some of the projects, separated by commas (default: all)")
    parser.add_argument("--per-project", metavar="N", type=positive, help="at most N places of each project (default: 40)")
    parser.add_argument(
        "--limit", metavar="N", type=positive, help="for a quick look: at most N in all, or N programs of each data set, drawn by the seed"
    )
    parser.add_argument(
        "--steps", type=_steps, default=[],
        help=f"do these alone: {'; '.join(f'{name}: {chr(44).join(steps)}' for name, steps in STEPS.items())} (default: all). "
        "The step pairs takes no model, and leaves a file of pairs that can be named with --data",
    )  # fmt: skip
    add_run_options(
        parser,
        seed_of="the draw of places, and of the rewrites",
        python="the Python that the environments of the projects' tests are made with",
    )


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files and report. Raises UsageError, and what each study raises."""
    sort = sort_of(arguments)
    refuse_what_does_nothing(arguments, choice, sort)
    pool = checked_pool(arguments)
    match sort:
        case "lines":
            _run_lines(arguments, choice, pool)
        case "pairs":
            _run_pairs(arguments, choice, pool)
        case "translate" | "explain":
            _run_functors(arguments, choice, pool)


def _run_lines(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from ..sets.projects import named
    from .lines.plan import tell_lines
    from .lines.study import Asked, run_lines

    asked = Asked(
        arguments.out,
        choice,
        tuple(arguments.of or CODES),
        named(arguments.projects, suite=True),
        arguments.per_project,
        arguments.limit,
        arguments.seed,
        pool,
        arguments.cache,
        arguments.python,
        arguments.memory,
        arguments.steps,
        arguments.json,
    )
    if arguments.dry_run:
        tell_lines(asked)
    else:
        run_lines(asked)


def _run_pairs(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from .pairs.asked import Asked
    from .pairs.pair import KINDS
    from .pairs.study import run_pairs, tell_pairs

    asked = Asked(
        arguments.out,
        tuple(arguments.data),
        choice,
        tuple(arguments.recorded or ()),
        tuple(arguments.kinds or KINDS),
        arguments.limit,
        arguments.votes or 10,
        arguments.ask,
        arguments.seed,
        pool,
        tuple(arguments.steps),
        arguments.json,
    )
    if arguments.dry_run:
        tell_pairs(asked)
    else:
        run_pairs(asked)


def _run_functors(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from .functors.study import Asked, run_functors, tell_functors

    asked = Asked(
        arguments.out,
        tuple(arguments.data),
        arguments.set,
        choice,
        tuple(arguments.recorded or ()),
        tuple(arguments.language),
        tuple(arguments.to),
        arguments.limit,
        arguments.draws or 1,
        arguments.ask,
        arguments.seed,
        pool,
        tuple(arguments.steps),
        arguments.json,
    )
    if arguments.dry_run:
        tell_functors(asked)
    else:
        run_functors(asked)


COMMAND = Command(
    group="eval",
    name="catcode",
    summary="rewrite code so that it does the same, or not, and see whether the model and the confidence tell one from the other",
    details="With --set lines the projects' sources are downloaded once, by pip, which checks their hashes, and an environment for each "
    "project's tests is made: both run build code of the project or of others, with your rights. The tests run in the sandbox. The same "
    "command resumes a run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)
