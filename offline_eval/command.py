"""The studies, their commands, and how the values of options are read. Light: every `assay --help` imports it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..suggestion.memory.scope import DEFAULT_SCOPE, SCOPES
from .errors import UsageError

if TYPE_CHECKING:
    from ..inference.opening import ModelChoice
    from .pool.pool import Pool
    from .run import Run
    from .study import Study

ENVIRONMENTS = "the Python that the environments of the projects' tests are made with"
AnyOptions = TypeVar("AnyOptions")


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


@dataclass(frozen=True, slots=True)
class Sorts:
    """The sorts of run that a command makes, and what does something in which.

    words: of each sort, for people. only: the options that are for some sorts alone, by their names in the namespace. steps: of each sort,
    for a command with --steps. unasked: the sorts that ask no model.
    """

    words: Mapping[str, str]
    only: Mapping[str, Collection[str]]
    steps: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unasked: Collection[str] = ()

    @property
    def all_steps(self) -> list[str]:
        """The steps of any sort."""
        return list(dict.fromkeys(step for steps in self.steps.values() for step in steps))

    def refuse_what_does_nothing(self, arguments: argparse.Namespace, choice: ModelChoice, sort: str) -> None:
        """Raises UsageError for an option, a step or a model that would do nothing in this sort of run."""
        for option, sorts in self.only.items():
            value = getattr(arguments, option)
            if value and sort not in sorts and not (option == "memory" and value == DEFAULT_SCOPE):
                there = ", ".join(words for name, words in self.words.items() if name in sorts)
                raise UsageError(f"--{option.replace('_', '-')} does nothing for {self.words[sort]}, but for {there}: leave it out")
        if self.steps and (unknown := [step for step in arguments.steps if step not in self.steps[sort]]):
            there = ", ".join(self.steps[sort]) or "none to choose from"
            raise UsageError(f"{self.words[sort]} has no step {', '.join(unknown)} (there are {there})")
        recorded = sort in self.unasked or getattr(arguments, "recorded", None)
        if recorded and (choice.where is not None or choice.options):
            raise UsageError("with --recorded no model is asked: leave --model and its options out")


def add_pool_options(parser: argparse.ArgumentParser) -> None:
    """Add --workers and --ray."""
    parser.add_argument(
        "--workers",
        metavar="N",
        type=positive,
        help="processes of one thread each (default: 1; on a cluster: one for each CPU but one); with a server: calls at the same time "
        "(default: 4, and up to 32 while that is faster)",
    )
    parser.add_argument("--ray", metavar="ADDRESS", help="work on a Ray cluster instead: host:port, or auto (needs the extra ray)")


def add_memory_option(parser: argparse.ArgumentParser) -> None:
    """Add --memory."""
    parser.add_argument(
        "--memory",
        choices=SCOPES,
        default=DEFAULT_SCOPE,
        help="which files are read beside the model: the open one and its project's, the open one alone, or none (default: %(default)s)",
    )


def add_run_options(
    parser: argparse.ArgumentParser,
    *,
    seed_of: str,
    most: str = "",
    steps: Sequence[str] = (),
    python: str = ENVIRONMENTS,
    memory: bool = True,
) -> None:
    """Add the options of every study of projects.

    seed_of: what the seed decides. most: what --per-project is where it is left out; empty where the study finds that out. steps: those
    that can be done alone. python: help of --python. memory: whether what is read beside the model can be chosen.
    """
    parser.add_argument("--out", metavar="RUN", type=Path, required=True, help="folder of the run")
    parser.add_argument("--projects", type=names, default=[], help="some of the projects, separated by commas (default: all)")
    if most:
        parser.add_argument(
            "--per-project", metavar="N", type=positive, help=f"at most N places of each project (default: {most})"
        )  # fmt: skip
        parser.add_argument(
            "--limit", metavar="N", type=positive,
            help="for a quick look: at most N places in all, or N programs of each data set, drawn by the seed; or the first N problems",
        )  # fmt: skip
    if steps:
        known = f"do these alone: {', '.join(steps)} (default: all)"
        parser.add_argument("--steps", metavar="LIST", type=listed("step", steps), default=[], help=known)
    parser.add_argument("--seed", type=seed, default=0, help=f"seed of {seed_of} (default: %(default)s)")
    parser.add_argument("--cache", metavar="DIR", type=Path, help="where the projects' archives are kept (default: your cache folder)")
    parser.add_argument("--python", metavar="FILE", type=Path, help=python)
    parser.add_argument(
        "--dry-run", action="store_true",
        help="say what would be asked and run, with calls, tokens and hours; the model is asked a question of each kind, to time it",
    )  # fmt: skip
    if memory:
        add_memory_option(parser)


def add_code_options(parser: argparse.ArgumentParser, drawn: str, with_older: str = "--code or --set lines") -> None:
    """Add --code and --older, of the studies that ask about lines of any code. drawn: which lines, and how they are judged."""
    parser.add_argument("--code", metavar="DIR", type=Path, nargs="+", help=f"instead of a set: {drawn}")
    parser.add_argument(
        "--older", metavar="DIR", type=Path,
        help=f"with {with_older}: draw only lines that stand nowhere in DIR/NAME, the older release of each project: code that a model "
        "published in between was not trained on",
    )  # fmt: skip


def refuse_beside_code(arguments: argparse.Namespace, default_set: str) -> None:
    """Raises UsageError for a set beside --code, or files of one."""
    others = [name for name in ("set", "data", "recorded") if getattr(arguments, name, None) not in (None, default_set)]
    if others:
        raise UsageError(f"--code is of your own folders, instead of a set: leave --{' and --'.join(others)} out")


def add_ask_option(parser: argparse.ArgumentParser) -> None:
    """Add --ask, of the studies that ask a model in words."""
    parser.add_argument(
        "--ask",
        choices=("chat", "text"),
        help="how the model is asked in words: in chat, by its server or its own template, or in plain text (default: chat, if it can be)",
    )


def checked_pool(arguments: argparse.Namespace) -> Pool:
    """The pool that the options ask for.

    Raises UsageError where the run's folder can't be written to, and PoolError where nobody listens at the cluster's address: a dry run
    refuses these as the run does.
    """
    from .pool.pool import Pool
    from .run import check_writable

    check_writable(arguments.out, "the run is kept there")
    pool = Pool(arguments.workers, arguments.ray)
    pool.check()
    return pool


def options_from(kind: type[AnyOptions], arguments: argparse.Namespace, **more: Any) -> AnyOptions:
    """What the user wants, as a study takes it: each of its fields from the option of that name, or with its own default.

    more: the fields that no option gives as they are.
    """
    options = {each.name: getattr(arguments, each.name, None) for each in fields(kind)}  # type: ignore[arg-type]
    told = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items() if value is not None}
    return kind(**{"as_json": arguments.json, **{name: value for name, value in told.items() if value != ()}, **more})


def listed(what: str, known: Sequence[str] | str) -> Callable[[str], list[str]]:
    """The type of an option that takes known names with commas between. known: or MODULE:NAME that has them, imported when it is used."""

    def read(text: str) -> list[str]:
        if not isinstance(known, str):
            return one_of(known, text, what)
        module, _, name = known.partition(":")
        return one_of(tuple(getattr(import_module(module, __package__), name)), text, what)

    return read


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


# The studies, by the name in run.toml: the module with STUDY, or MODULE:NAME, which the driver is given. A new one is a folder here, a line
# here and its package in pyproject.toml. The folder's command.py has COMMAND, its place on the command line: light, for every
# `assay --help` imports it.
STUDIES = {
    "all": "all_studies.study",
    "calibration": "calibration.study",
    "catcode": "catcode.lines.study",
    "catcode_pairs": "catcode.pairs.study",
    "catcode_functors": "catcode.functors.study",
    "counterfeit": "counterfeit.lines.study",
    "counterfeit_problems": "counterfeit.problems.study",
    "counterfeit_file": "counterfeit.problems.study:OF_FILE",
    "counterfeit_recorded": "counterfeit.problems.recorded",
    "own_code": "own_code.study",
    "problems": "calibration.problems",
    "recorded": "calibration.recorded.study",
    "recorded_labelled": "calibration.recorded.labelled",
    "repairs": "repairs.lines.study",
    "repairs_programs": "repairs.programs",
    "repository": "repository.study",
    "rtc_problems": "rtc.study",
    "rtc_recorded": "rtc.recorded",
}


def commands(group: str) -> Iterator[Command]:
    """The studies' commands `assay GROUP …`."""
    for folder in dict.fromkeys(module.partition(".")[0] for module in STUDIES.values()):
        command: Command = import_module(f".{folder}.command", __package__).COMMAND
        if command.group == group:
            yield command


def study_of(run: Run) -> Study:
    """The study that a run is one of. Raises RunError where no study has that name."""
    from .errors import RunError

    name = run.question()["study"]
    if name not in STUDIES:
        raise RunError(f"{run.folder / 'run.toml'}: no such study: {name!r} (there are {', '.join(STUDIES)})")
    module, _, other = STUDIES[name].partition(":")
    study: Study = getattr(import_module(f".{module}", __package__), other or "STUDY")
    return study
