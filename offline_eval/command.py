"""A study on the command line, and how the values of its options are read. Light: every `assay --help` imports it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..suggestion.memory.scope import DEFAULT_SCOPE, SCOPES

if TYPE_CHECKING:
    from ..inference.opening import ModelChoice
    from .pool.choice import Pool


@dataclass(frozen=True, slots=True)
class Command:
    """`assay GROUP NAME`. summary, details: of its help.

    add_arguments: declares its own options. The command line adds those that every study has: --workers, --ray, --json and the model's.
    run: does the work, with what was parsed. It raises what went wrong; the command line turns that into an exit code.
    """

    group: str
    name: str
    summary: str
    details: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, ModelChoice], None]


def add_memory_option(parser: argparse.ArgumentParser) -> None:
    """Add --memory."""
    parser.add_argument(
        "--memory",
        choices=SCOPES,
        default=DEFAULT_SCOPE,
        help="which files are read beside the model: the open one and its project's, the open one alone, or none (default: %(default)s)",
    )


def add_run_options(parser: argparse.ArgumentParser, *, seed_of: str, python: str, memory: bool = True) -> None:
    """Add the options that every study of projects has. seed_of: what the seed decides. python: help of --python.

    memory: whether what is read beside the model can be chosen.
    """
    parser.add_argument("--seed", type=seed, default=0, help=f"seed of {seed_of} (default: %(default)s)")
    parser.add_argument("--cache", metavar="DIR", type=Path, help="where the projects' archives are kept (default: your cache folder)")
    parser.add_argument("--python", metavar="FILE", type=Path, help=python)
    parser.add_argument("--dry-run", action="store_true", help="say what would be asked and run, with counts of calls and tokens")
    if memory:
        add_memory_option(parser)


def checked_pool(arguments: argparse.Namespace) -> Pool:
    """The pool that the options ask for.

    Raises UsageError where the run's folder can't be written to, and PoolError where nobody listens at the cluster's address: a dry run
    refuses these as the run does.
    """
    from .pool.choice import Pool
    from .run import check_writable

    check_writable(arguments.out, "the run is kept there")
    pool = Pool(arguments.workers, arguments.ray)
    pool.check()
    return pool


def add_ask_option(parser: argparse.ArgumentParser) -> None:
    """Add --ask, of the studies that ask a model in words."""
    parser.add_argument(
        "--ask",
        choices=("chat", "text"),
        help="how the model is asked in words: in chat, by its server or its own template, or in plain text (default: chat, if it can be)",
    )


def names(text: str) -> list[str]:
    """Names separated by commas. Raises ArgumentTypeError, as all below."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of names separated by commas")
    return names


def one_of(known: Sequence[str], text: str, what: str) -> list[str]:
    """Known names, in their own order, from a text with commas between."""
    given = names(text)
    if unknown := set(given) - set(known):
        raise argparse.ArgumentTypeError(f"no such {what}: {', '.join(sorted(unknown))} (there are {', '.join(known)})")
    return [name for name in known if name in given]


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def seed(text: str) -> int:
    """A whole number of at least 0: numpy's generators take no other."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def minutes(text: str) -> float:
    """Minutes above 0."""
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes above 0")
    return minutes
