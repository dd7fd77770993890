"""A project's tests as an oracle: what each way of running them costs, and whether the ways agree.

    python benchmarks/oracle.py [--mutants N] [--seed S] [--environments FOLDER] [--cache FOLDER] [--sandbox LEVEL] PROJECT …

PROJECT: a project's folder or source distribution. Its tests are run by the Python of its own virtual environment, else by the one that
runs this; with --environments by that of an environment that is made for it there, once (needs a network, and runs the project's build
code).

Mutants are small changes of one expression or statement on random covered lines that do not run at import. Each is judged twice: by
the tests that touch it, and by the whole suite. Seconds are medians, each until the first difference, without the controls that are run
once per place. "Profile": all tests that touch it (40 at most), without stopping; its cost is the sum of its seconds over that of the
verdicts.
"""

from __future__ import annotations

import argparse
import ast
import random
import statistics
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.analysis.oracle.copying import NotCopied
from assay.analysis.oracle.environment import NoEnvironment, make_environment
from assay.analysis.oracle.interpreter import UnusableInterpreter, interpreter_of
from assay.analysis.oracle.oracle import NotJudged, Oracle
from assay.analysis.oracle.profile import Profile
from assay.analysis.oracle.report import Verdict, Way
from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.levels import Isolation
from assay.offline_eval.sets.projects import unpack_tar

HEAD = (
    "project | outcomes | left out | tests | suite, s | lines | at import | tests of a line | process, s | whole, s | process = whole "
    "| wrong | profile, s | profile / process | profile = process | crash | wrong alone | counterfeit"
)
COMPARED = {ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A file's text with one place changed, and the lines (from 1) of that place in the original."""

    file: str
    text: str
    lines: range


def mutants_of(file: str, source: str, lines: set[int]) -> Iterator[Mutant]:
    """All mutants of a file that change one of the given lines."""
    data = source.encode()
    starts = [0]
    for line in data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.stmt | ast.expr) or node.end_lineno != node.lineno or node.lineno not in lines:
            continue
        a, b = starts[node.lineno - 1] + node.col_offset, starts[node.lineno - 1] + (node.end_col_offset or 0)
        if (new := changed(node, data[a:b].decode())) is not None:
            yield Mutant(file, (data[:a] + new.encode() + data[b:]).decode(), range(node.lineno, node.lineno + 1))


def changed(node: ast.AST, text: str) -> str | None:
    """What replaces a node in its mutant; None for a node that has no mutant."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and (other := COMPARED.get(type(node.ops[0]))):
        return f"({ast.unparse(node.left)} {other} {ast.unparse(node.comparators[0])})"
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return f"({text} + 1)"
    if isinstance(node, ast.BoolOp):
        return f"(not ({text}))"
    if isinstance(node, ast.Return) and node.value is not None:
        return "return None"
    if isinstance(node, ast.Assign | ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return "pass"
    return None


def sampled(oracle: Oracle, count: int, seed: int) -> list[Mutant]:
    """At most `count` mutants at random places of the whole project."""
    found: list[Mutant] = []
    for file in oracle.files():
        lines = set(oracle.covered(file)) - oracle.coverage().imported.get(file, frozenset())
        try:
            found += mutants_of(file, oracle.source(file), lines)
        except (SyntaxError, NotJudged):
            continue
    return random.Random(seed).sample(found, min(count, len(found)))


def row(name: str, oracle: Oracle, count: int, seed: int) -> str:
    baseline = oracle.baseline()
    coverage = oracle.coverage()
    if trouble := baseline.trouble or coverage.trouble:
        return f"{name} | unknown: {trouble}"
    by_line = [tests for file in coverage.tests for tests in coverage.tests[file].values()]
    judged: dict[Way, list[Verdict]] = {"process": [], "whole": []}
    profiles: list[Profile] = []
    for mutant in sampled(oracle, count, seed):
        for way, verdicts in judged.items():
            verdicts.append(oracle.verdict(mutant.file, mutant.text, mutant.lines, ways=(way,)))
        profiles.append(oracle.profile(mutant.file, mutant.text, mutant.lines, ways=("process",)))
        last = {way: verdicts[-1] for way, verdicts in judged.items()}
        if len({verdict.label for verdict in last.values()}) > 1:
            told = "; ".join(f"{way}: {verdict.label} ({verdict.reason})" for way, verdict in last.items())
            print(f"  {name} {mutant.file}:{mutant.lines.start}: {told}", file=sys.stderr, flush=True)
    outcomes = ", ".join(f"{n} {outcome}" for outcome, n in Counter(baseline.outcomes.values()).most_common())
    whole = judged["whole"]
    cells = [
        name,
        outcomes,
        f"{len(baseline.flaky)} tests, {len(baseline.broken)} files",
        len(baseline.outcomes),
        f"{baseline.start_wall_s + sum(baseline.wall_s.values()):.1f}",
        len(by_line),
        sum(len(lines) for lines in coverage.imported.values()),
        statistics.median(len(tests) for tests in by_line) if by_line else 0,
        *(seconds(verdicts) for verdicts in judged.values()),
        agreement(judged["process"], whole),
        sum(verdict.label is False for verdict in whole),
        *profile_cells(profiles, judged["process"]),
    ]
    return " | ".join(map(str, cells))


def seconds(verdicts: list[Verdict]) -> str:
    told = [verdict.seconds for verdict in verdicts if verdict.way != "none"]
    return f"{statistics.median(told):.3f}" if told else "–"


def agreement(some: list[Verdict], whole: list[Verdict]) -> str:
    both = [(a.label, b.label) for a, b in zip(some, whole, strict=True) if a.label is not None and b.label is not None]
    return f"{sum(a == b for a, b in both)}/{len(both)}"


def profile_cells(profiles: list[Profile], verdicts: list[Verdict]) -> list[str | int]:
    both = [(p, v) for p, v in zip(profiles, verdicts, strict=True) if p.way == v.way == "process"]
    spent = sum(v.seconds for _, v in both)
    known = [(p.tests_pass, v.label) for p, v in both if p.tests_pass is not None and v.label is not None]
    return [
        f"{statistics.median(p.seconds for p, _ in both):.3f}" if both else "–",
        f"{sum(p.seconds for p, _ in both) / spent:.1f}" if spent else "–",
        f"{sum(a == b for a, b in known)}/{len(known)}",
        sum(p.error == "crash" for p in profiles),
        sum(p.error == "wrong" for p in profiles),
        sum(p.is_counterfeit is True for p in profiles),
    ]


def unpacked(project: Path, folder: Path) -> Path:
    """The project's folder. An archive is unpacked into `folder`."""
    if project.is_dir():
        return project
    unpack_tar(project, folder)
    return next(path for path in sorted(folder.iterdir()) if path.is_dir())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("projects", nargs="+", type=Path, metavar="PROJECT")
    parser.add_argument("--mutants", type=int, default=60, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--environments", type=Path, metavar="FOLDER")
    parser.add_argument("--cache", type=Path, metavar="FOLDER")
    parser.add_argument("--python", type=Path, metavar="PYTHON", help="what environments are made with")
    parser.add_argument("--sandbox", choices=[*Isolation], metavar="LEVEL")
    options = parser.parse_args()
    try:
        jail = Jail(Isolation(options.sandbox) if options.sandbox else best_level())
    except NoIsolation as error:
        parser.error(str(error))
    print(HEAD, flush=True)
    for project in options.projects:
        with tempfile.TemporaryDirectory() as temporary:
            name = project.name.removesuffix(".tar.gz")
            try:
                folder = unpacked(project, Path(temporary))
                made = options.environments and make_environment(folder, options.environments, python=options.python)
                with Oracle(folder, made or interpreter_of(folder), jail, cache=options.cache) as oracle:
                    print(row(name, oracle, options.mutants, options.seed), flush=True)
            except (OSError, tarfile.TarError, NoEnvironment, NotCopied, UnusableInterpreter) as error:
                print(f"{name} | {error}", flush=True)


if __name__ == "__main__":
    main()
