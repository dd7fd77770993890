"""`assay eval report FILE…`: a run about recorded answers. What they say tells which run it is."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ...command import add_pool_options, checked_pool, positive, seed
from ...errors import UsageError

if TYPE_CHECKING:
    from ...recorded.source import AnswerFile

# By how the names of its problems begin, or else by what the answers are to.
_NAMED = {"humaneval/": "humaneval", "mbpp/": "mbpp"}
# What a set is called whose problems have other names: whatever the file itself says of them is taken.
_ANY = "answers"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options for recorded answers."""
    parser.add_argument(
        "--data", metavar="BENCHMARK", type=Path,
        help="with FILE: the benchmark's file, such as HumanEvalPlus.jsonl.gz: programs are run on its inputs in the sandbox, and votes on "
        "CRUXEval compared with its outputs. Without it the labels of FILE count",
    )  # fmt: skip
    parser.add_argument("--limit", metavar="N", type=positive, help="with FILE: the first N problems alone")
    parser.add_argument("--seed", type=seed, help="with FILE: seed of the report's folds (default: 0)")
    parser.add_argument("--dry-run", action="store_true", help="with FILE: say what would be run")
    add_pool_options(parser)


def refuse_options(arguments: argparse.Namespace) -> None:
    """Raises UsageError for an option that does something for files alone."""
    if named := [name for name in ("data", "limit", "seed", "dry_run", "workers", "ray") if getattr(arguments, name)]:
        raise UsageError(
            f"--{named[0].replace('_', '-')} is for files of recorded answers, and {arguments.runs[0]} is not one: leave it out"
        )


def run(arguments: argparse.Namespace, paths: list[Path]) -> None:
    """Make, or go on with, the run about these files. Raises UsageError, and what the studies raise."""
    from ...recorded.records import stem
    from ...recorded.source import read
    from . import labelled, study

    files = read(paths)
    arguments.out = arguments.out or Path(f"{stem(paths[0])}-report")
    pool, of = checked_pool(arguments), set_of(files)
    common = {"limit": arguments.limit, "seed": arguments.seed or 0, "as_json": arguments.json, "dry_run": arguments.dry_run}
    common |= {"pool": pool, "files": files, "set": of}
    if arguments.data is not None and of == _ANY:
        raise UsageError(
            f"{paths[0]}: its problems, such as {files[0].answers.items()[0]}, are of no set that is run here: leave --data out"
        )
    if arguments.data is None or of == "cruxeval":
        answers = labelled.Options(arguments.out, data=arguments.data, **common)
        labelled.run_labelled(answers)
    else:
        programs = study.Options(arguments.out, data=arguments.data, **common)
        study.run_recorded(programs)


def set_of(files: list[AnswerFile]) -> str:
    """The set that the first file's answers are to. Raises UsageError for a file without one."""
    answer = next(iter(files[0].answers.answers.values()), None)
    if answer is None:
        raise UsageError(f"{files[0].path} has no answers")
    if answer.step == "execute":
        return "cruxeval"
    return next((of for begin, of in _NAMED.items() if answer.item.lower().startswith(begin)), _ANY)
