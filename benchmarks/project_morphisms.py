"""Morphisms on the functions of real projects, checked by the projects' own tests: the table of docs/morphisms.md, "On real projects".

    python benchmarks/project_morphisms.py PROJECTS --environments FOLDER [--only a,b] [--sites 5] [--seed 0] [--python FILE] [--jobs 2]

PROJECTS: a folder with the sources of the projects in offline_eval/sets/projects.toml, as `benchmarks/repositories.py run
--out` leaves them in `sources`. Each morphism is applied at so many random places of each project where it can be: on lines that stable
tests execute and that do not run at import alone. Equivalent morphisms must keep the outcome of every test that touches the place; any that
does not is printed, with the reason. Not counted, and told: what the tests can give no verdict on.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import platformdirs

from assay.analysis.morphisms.morphism import Morphism, Refused, Site, rewrite
from assay.analysis.morphisms.registry import morphisms
from assay.analysis.oracle.copying import NotCopied
from assay.analysis.oracle.environment import NoEnvironment, make_environment
from assay.analysis.oracle.interpreter import UnusableInterpreter
from assay.analysis.oracle.oracle import Oracle
from assay.analysis.python.source_text import UnreadableSource
from assay.analysis.sandbox.isolation.best_level import best_level
from assay.analysis.sandbox.isolation.jail import Jail
from assay.offline_eval.sets.projects import measured_projects

# Refusals are told without a verdict: a morphism that nearly always refuses is not asked at every place of a large project.
MAX_ASKED = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A site of a morphism in a file of the project."""

    morphism: Morphism
    file: str
    source: str
    site: Site


def places(oracle: Oracle, seed: str) -> Iterator[Place]:
    """Every site on covered lines, those of a morphism in a random order."""
    sources = {file: oracle.source(file) for file in oracle.files()}
    imported = oracle.coverage().imported
    covered = {file: set(oracle.covered(file)) - imported.get(file, frozenset()) for file in sources}
    for one in [*morphisms("python", equivalent=True), *morphisms("python", equivalent=False)]:
        found = []
        for file, source in sources.items():
            try:
                sites = one.sites(source)
            except UnreadableSource:
                continue
            found += [Place(one, file, source, site) for site in sites if source.count("\n", 0, site.start) + 1 in covered[file]]
        yield from random.Random(seed).sample(found, len(found))


def check(oracle: Oracle, name: str, most: int, seed: int) -> tuple[dict[str, Counter[str]], list[str]]:
    """Counts by morphism, and what did not keep the outcome."""
    counts: dict[str, Counter[str]] = {}
    wrong = []
    for place in places(oracle, f"{name}:{seed}"):
        count = counts.setdefault(place.morphism.name, Counter())
        if count["judged"] >= most or count["asked"] >= MAX_ASKED:
            continue
        count["asked"] += 1
        try:
            after = rewrite(place.morphism, place.source, place.site, random.Random(f"{seed}:{place.file}:{place.site.start}")).of(
                place.source
            )
        except Refused:
            count["refused"] += 1
            continue
        verdict = oracle.verdict(place.file, after)
        if verdict.label is None:
            count["unknown"] += 1
            continue
        count["judged"] += 1
        count["kept"] += verdict.label
        if place.morphism.equivalent and not verdict.label:
            line = place.source.count("\n", 0, place.site.start) + 1
            wrong.append(f"{name} {place.file}:{line} {place.morphism.name} {place.site.what}: {verdict.reason}")
    return counts, wrong


def of_project(
    folder: Path, environments: Path, python: Path | None, most: int, seed: int
) -> tuple[str, dict[str, Counter[str]], list[str]]:
    """The project's name, counts by morphism, and counterexamples; or why it has none."""
    name = folder.name
    try:
        interpreter = make_environment(folder, environments, python=python)
        with Oracle(folder, interpreter, Jail(best_level()), cache=platformdirs.user_cache_path("assay") / "oracle") as oracle:
            if trouble := oracle.baseline().trouble or oracle.coverage().trouble:
                return name, {}, [f"{name}: left out: {trouble}"]
            return name, *check(oracle, name, most, seed)
    except (OSError, NoEnvironment, NotCopied, UnusableInterpreter) as error:
        return name, {}, [f"{name}: left out: {error}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", type=Path)
    parser.add_argument("--environments", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--sites", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--python", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    only = set(filter(None, given.only.split(",")))
    listed = {project.name for project in measured_projects()}
    folders = [path for path in sorted(given.projects.absolute().iterdir()) if path.name in (only or listed)]
    total: dict[str, Counter[str]] = {}
    done = failed = 0
    work = partial(of_project, environments=given.environments.absolute(), python=given.python, most=given.sites, seed=given.seed)
    with ProcessPoolExecutor(given.jobs) as pool:
        for name, counts, wrong in pool.map(work, folders):
            done += bool(counts)
            failed += bool(counts and wrong)
            told = ", ".join(f"{one} {count['kept']}/{count['judged']}" for one, count in counts.items())
            print(*wrong, f"{name}: {told}" if counts else "", sep="\n", file=sys.stderr, flush=True)
            for one, count in counts.items():
                total.setdefault(one, Counter()).update(count, projects=int(count["judged"] > 0))
    print(f"\n{done} projects\n\n| morphism | projects | places asked | refused | no verdict | judged | kept |\n|:---|{'---:|' * 6}")
    for one, c in total.items():
        print(f"| `{one}` | {' | '.join(f'{c[key]:,}' for key in ('projects', 'asked', 'refused', 'unknown', 'judged', 'kept'))} |")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
