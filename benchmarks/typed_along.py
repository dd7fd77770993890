"""What calibrators predict for the rest of a suggestion while its beginning is typed: the table of docs/calibration.md.

    python benchmarks/typed_along.py [--per-project N] [--workers N] [--cache DIR] [--calibrators FOLDER]

At each place of `assay eval calibration` four alternatives are drawn, as for an invoked request. Then the first one to six characters of
the real text are typed (the place decides how many), and the server's cache is asked what is left. Each text that is left is judged by the
shipped calibrator that the registry chooses for it: a single one by that for first choices, else by that for one of four. "Whole tokens":
what was typed ends where a token of the text ends. FOLDER: calibrators (default: the shipped ones). Prints Markdown.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from alternatives import promised_and_seen
from alternatives import row as cells

from assay.analysis.python.lines import Gap
from assay.calibration.confidence import confidence
from assay.calibration.fitting.folds import numbered
from assay.calibration.measures.agreement import distinct
from assay.calibration.measures.registry import measures_of
from assay.calibration.registry import Purpose, Registry, choose, read_registry
from assay.inference.completion.settings import Settings
from assay.inference.completion.task import task_of
from assay.inference.model import Model
from assay.inference.opening import ModelChoice
from assay.offline_eval.memory import StudyMemory
from assay.offline_eval.sets.lines import Place, places_of
from assay.offline_eval.sets.projects import default_cache, measured_projects, own_code, path_in_project
from assay.offline_eval.suggested import FileWithGap
from assay.server.requests.cache import GenerationCache
from assay.suggestion.complete import complete_several
from assay.suggestion.memory.scope import DEFAULT_SCOPE

ROOT = Path(__file__).parents[1]
DRAWN = 4
MAX_TYPED = 6
URI = "file:///typed.py"
SHIPPED = ROOT / "calibration" / "shipped"


@dataclass(frozen=True, slots=True)
class Left:
    """A text that is left. probability: None without a number. whole: whether its first token is a whole one."""

    project: str
    alone: bool
    rank: int
    whole: bool
    probability: float | None
    right: bool


_worker: tuple[Model, StudyMemory, Registry] | None = None


def start(cache: Path, calibrators: Path) -> None:
    global _worker
    projects = {project.name: project for project in measured_projects()}
    model = ModelChoice().on_one_thread().open()
    memory = StudyMemory(model, DEFAULT_SCOPE, lambda name: own_code(projects[name], cache))
    _worker = model, memory, read_registry([("shipped", calibrators)])


def left_in(place: Place) -> list[Left]:
    """What is left at one place."""
    assert _worker is not None
    return [one for task, gap in place.gaps for one in left_at(*_worker, place, f"{place.id}:{task}", gap)]


def left_at(model: Model, memory: StudyMemory, registry: Registry, place: Place, name: str, gap: Gap) -> Iterator[Left]:
    before, truth, after = place.text[: gap.start], place.text[gap.start : gap.end], place.text[gap.end :]
    if len(truth) < 3:
        return
    typed = truth[: random.Random(name).randint(1, min(MAX_TYPED, len(truth) - 2))]
    settings = Settings()
    task = task_of(before, after, "line")
    seen = memory.at(FileWithGap(place.text, gap, task, settings), place.project, path_in_project(place.path))
    made = complete_several(model, before, after, settings=settings, memory=seen, count=DRAWN)
    cache = GenerationCache()
    cache.keep(URI, before, after, "line", made)
    found = cache.find(URI, before + typed, after, "line")
    if found is None:
        return
    heals, mixed = model.capabilities.heals, made[0].memory
    prompt, task = (
        settings.fingerprint(model.layout, model.context_length, heals=heals, memory=mixed),
        task_of(before + typed, after, "line"),
    )
    tokens = {token.text for one in made for token in one.tokens}
    for generation, drawn in distinct(found.generations, found.drawn):
        entry = choose(registry, Purpose(model.fingerprint.id, prompt, "exact_match", task, "python"), drawn)
        said = confidence(entry.calibrator, measures_of(generation) | drawn.measures) if entry else None
        yield Left(
            place.project,
            len(found.generations) == 1,
            drawn.rank,
            generation.tokens[0].text in tokens,
            said.probability if said else None,
            generation.text.rstrip() == truth[len(typed) :].rstrip(),
        )


COLUMNS = ("left", "n", "without a number", "promised", "exact match", "exact - promised, points", "Kuiper's p")


def row(name: str, found: list[Left]) -> str:
    numbers = [(one.probability, one.right, one.project) for one in found if one.probability is not None]
    without = len(found) - len(numbers)
    if len({project for _, _, project in numbers}) < 2:
        return cells(name, len(numbers), without, "", "", "", "")
    p, right, projects = zip(*numbers, strict=True)
    n, *seen = promised_and_seen(np.array(p), np.array(right), numbered(projects))
    return cells(name, n, without, *seen)


def main() -> None:
    """Make and judge the texts that are left, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-project", metavar="N", type=int, default=60)
    parser.add_argument("--workers", metavar="N", type=int, default=2)
    parser.add_argument("--cache", metavar="DIR", type=Path, default=default_cache())
    parser.add_argument("--calibrators", metavar="FOLDER", type=Path, default=SHIPPED)
    arguments = parser.parse_args()
    places = [place for project in measured_projects() for place in places_of(project, arguments.cache, arguments.per_project, seed=0)]
    with ProcessPoolExecutor(arguments.workers, get_context("spawn"), start, (arguments.cache, arguments.calibrators)) as pool:
        found = [one for several in pool.map(left_in, places, chunksize=8) for one in several]
    if not any(one.probability is not None for one in found):
        sys.exit(f"{arguments.calibrators}: no calibrator is for this model as it is asked now")
    print("### Typed along\n", cells(*COLUMNS), "|:---|---:|---:|---:|---:|:---:|---:|", sep="\n")
    for whole, tokens in ((True, "whole tokens"), (False, "a part of a token first")):
        of_these = [one for one in found if one.whole == whole]
        print(row(f"one alone, {tokens}", [one for one in of_these if one.alone]))
        print(row(f"first of several, {tokens}", [one for one in of_these if not one.alone and one.rank == 1]))
        print(row(f"the others, {tokens}", [one for one in of_these if not one.alone and one.rank > 1]))


if __name__ == "__main__":
    main()
