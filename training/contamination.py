"""How much more often a model is exactly right in code that it was trained on: python -m training.contamination

Who calibrates a model on such code gets numbers that are too high for other code. Here lines of functions are asked for as in the study of
calibration, with the memory of the project: in files of the corpus, and in files of the held-out projects. With --every-other the corpus is
two groups, for a model that was trained on its second, fourth … file alone: the packages are then the same. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.inference.completion.prompt_size import settings_for
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Model
from assay.offline_eval.memory import StudyMemory
from assay.offline_eval.sets.lines import TASKS, Place, places_in
from assay.offline_eval.sets.projects import ProjectError, SourceFile, path_in_project
from assay.offline_eval.suggested import FileWithGap

from .corpus import held_out_files
from .paths import CACHE, SHIPPED, there
from .remake.pages.cells import table
from .scores import Figure, ratio

Files = Mapping[str, Sequence[SourceFile]]


@dataclass(frozen=True, slots=True)
class Filled:
    """Whether one gap was filled with exactly what had stood there."""

    project: str
    task: str
    exact: bool


def of_corpus(corpus: Path) -> Iterator[SourceFile]:
    """The files of a corpus."""
    with corpus.open(encoding="utf-8") as lines:
        for made in map(json.loads, lines):
            yield SourceFile(made["project"], made["path"], made["text"])


def by_project(files: Iterable[SourceFile]) -> dict[str, list[SourceFile]]:
    """Files by the name of their project."""
    found: dict[str, list[SourceFile]] = {}
    for file in files:
        found.setdefault(file.project, []).append(file)
    return found


def filled(model: Model, memory: StudyMemory, places: Iterable[Place], path: Callable[[str], str]) -> Iterator[Filled]:
    """Each gap of some places, where the editor would show something. path: of a file in its project."""
    for place in places:
        memory.forget()
        for task, gap in place.gaps:
            shown = FileWithGap(place.text, gap, task, settings_for(model))
            for made in shown.suggestions(model, 1, memory.at(shown, place.project, path(place.path))):
                if made.inserted is not None and made.generation.text.strip():
                    yield Filled(place.project, task, shown.is_exact(made.inserted))


def texts_of(files: Files) -> Callable[[str], Iterator[tuple[str, str]]]:
    """Path and text of each file of a project, by the project's name."""
    return lambda project: ((file.path, file.text) for file in files[project])


def row(name: str, found: Sequence[Filled]) -> tuple[str, ...]:
    """A row of the table."""
    return (name, *(_cell(name, [one for one in found if one.task == task]) for task in TASKS))


def _cell(name: str, found: Sequence[Filled]) -> str:
    figure: Figure = ratio([one.exact for one in found], [1] * len(found), [one.project for one in found], name)
    return f"{figure.value:.1%} ({figure.low:.1%} to {figure.high:.1%}), n = {figure.n:,}, {figure.projects} projects"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=there, default=str(CACHE / "corpus.jsonl"))
    parser.add_argument("--model", type=there, default=str(SHIPPED), help="(default: the embedded model)")
    parser.add_argument("--every-other", action="store_true", help="only every other file of the corpus was trained on")
    parser.add_argument("--packages", type=int, default=60, help="of the corpus (default: %(default)s)")
    parser.add_argument("--per-project", type=int, default=10, help="functions in each group (default: %(default)s)")
    args = parser.parse_args()
    files = list(of_corpus(args.corpus))
    try:
        held_out = by_project(held_out_files())
    except ProjectError as error:
        sys.exit(str(error))
    groups: list[tuple[str, Files, Files, Callable[[str], str]]] = [("held-out projects", held_out, held_out, path_in_project)]
    everything = by_project(files)
    halves = by_project(files[1::2]), by_project(files[::2])
    # With files on both sides, so that the two groups differ in nothing else.
    names = sorted(halves[0].keys() & halves[1].keys())
    names = random.Random(0).sample(names, min(args.packages, len(names)))
    parts = (("trained on", halves[0]), ("others of the same packages", halves[1])) if args.every_other else (("corpus", everything),)
    groups += [(name, {each: part[each] for each in names}, everything, str) for name, part in parts]
    rows = list[tuple[str, ...]]()
    with LlamaModel(args.model) as model:
        for name, group, within, path in groups:
            memory, found = StudyMemory(model, "project", texts_of(within)), list[Filled]()
            for project in group:
                found += filled(model, memory, places_in(project, group[project], args.per_project, 0), path)
                print(f"{name}: {project}, {len(found):,} gaps", file=sys.stderr)
            rows.append(row(name, found))
    print(f"{model.fingerprint.name}, fingerprint {model.fingerprint.id}\n")
    print(table(("files", *(f"`{task}`" for task in TASKS)), "l" + "c" * len(TASKS), rows))


if __name__ == "__main__":
    main()
