"""How much more often the embedded model is exactly right in code that it was trained on: python -m training.contamination

Who calibrates a model on such code gets numbers that are too high for other code. Here lines of functions are asked for as in the study of
calibration, with the memory of the project: in files of the corpus, and in files of the held-out projects. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.calibration.fitting.folds import numbered
from assay.calibration.metrics.intervals import rate_interval
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Model
from assay.inference.opening import EMBEDDED
from assay.inference.prompt_size import settings_for
from assay.offline_eval.asked_line import StudyMemory
from assay.offline_eval.sets.lines import TASKS, FileWithGap, Place, places_in
from assay.offline_eval.sets.projects import ProjectError, SourceFile, path_in_project

from .corpus import held_out_files
from .paths import CACHE, there
from .remake.cells import percents, table

Files = Mapping[str, Sequence[SourceFile]]
PACKAGES, PER_PROJECT = 60, 10


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
    return (name, *(_cell([one for one in found if one.task == task]) for task in TASKS))


def _cell(found: Sequence[Filled]) -> str:
    groups = numbered([one.project for one in found])
    share = rate_interval([one.exact for one in found], groups)
    return f"{percents(share)}, n = {len(found):,}, {len(set(groups))} projects" if share else "not defined"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=there, default=str(CACHE / "corpus.jsonl"))
    corpus = by_project(of_corpus(parser.parse_args().corpus))
    names = random.Random(0).sample(sorted(corpus), min(PACKAGES, len(corpus)))
    try:
        held_out = by_project(held_out_files())
    except ProjectError as error:
        sys.exit(str(error))
    rows = list[tuple[str, ...]]()
    with LlamaModel(EMBEDDED) as model:
        for name, files, path in (
            ("held-out projects", held_out, path_in_project),
            ("corpus", {each: corpus[each] for each in names}, str),
        ):
            memory, found = StudyMemory(model, "project", texts_of(files)), list[Filled]()
            for project in files:
                found += filled(model, memory, places_in(project, files[project], PER_PROJECT, 0), path)
                print(f"{name}: {project}, {len(found):,} gaps", file=sys.stderr)
            rows.append(row(name, found))
    print(f"{model.fingerprint.name}, fingerprint {model.fingerprint.id}\n")
    print(table(("files", *(f"`{task}`" for task in TASKS)), "l" + "c" * len(TASKS), rows))


if __name__ == "__main__":
    main()
