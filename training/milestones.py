"""How good each file is that the background training made: python -m training.milestones --out FOLDER [FILE ...]

For each file: bits per byte of held-out projects' files, and exact match of the three tasks at held-out places, as the editor asks, without
and with the memory of the project. The memory's weights are fitted to each file first, on other projects (`assay model memory`), unless
FOLDER has them. A study that is there already is not made again.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.calibration.samples import Sample, read_samples
from assay.inference.errors import ModelError
from assay.offline_eval.sets.projects import ProjectError
from assay.suggestion.memory.weights import own_weights

from .corpus import held_out_files
from .evaluate import language_figures, opened
from .folder import exported
from .paths import CACHE, there
from .remake.pages.cells import code, table
from .remake.pages.memory import exact_match
from .remake.steps import TASKS
from .scores import Figure

FILES = 200
SCOPES = ("off", "project")


def bits_per_byte(file: Path) -> tuple[str, Figure]:
    """The id of a model, and how many bits it needs for a byte of held-out projects, as in the model card."""
    texts = list(held_out_files())
    random.Random(0).shuffle(texts)
    with opened(file, threads=2) as model:
        return model.fingerprint.id, language_figures(model, None, texts[:FILES])["bits per byte"]


def assay(*arguments: str) -> None:
    """Run a command of Assay's; what it prints goes to stderr. Raises CalledProcessError."""
    subprocess.run([sys.executable, "-m", "assay", *arguments], check=True, stdout=sys.stderr)


def rows_of(name: str, bits: Figure, samples: Mapping[str, Sequence[Sequence[Sample]]]) -> list[tuple[str, ...]]:
    """A row for each scope. samples: by scope, those of each task."""
    first = (code(name), f"{bits.value:.3f} ({bits.low:.3f} to {bits.high:.3f})")
    cells = {scope: [f"{rate}, n = {count:,}" for count, rate in map(exact_match, tasks)] for scope, tasks in samples.items()}
    return [(*first, code(scope), *rates) for scope, rates in cells.items()]


def measured(file: Path, out: Path, per_project: int, workers: int) -> list[tuple[str, ...]]:
    """The rows of a file. Raises CalledProcessError."""
    model, bits = bits_per_byte(file)
    if not own_weights(model).exists():
        assay("model", "memory", "--model", str(file))
    samples = {}
    for scope in SCOPES:
        run = out / f"{file.stem}-{scope}-{per_project}"
        size = ("--per-project", str(per_project), "--workers", str(workers))
        assay("eval", "calibration", "--model", str(file), "--memory", scope, "--out", str(run), *size)
        samples[scope] = [read_samples(run / "samples" / f"{task}.jsonl") for task in TASKS]
    return rows_of(file.stem, bits, samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", nargs="*", type=there, help="(default: all that the background training has made)")
    parser.add_argument("--out", metavar="FOLDER", type=Path, required=True, help="where runs and weights are kept")
    parser.add_argument("--per-project", metavar="N", type=int, default=20, help="functions of each project (default: %(default)s)")
    parser.add_argument("--workers", metavar="N", type=int, default=2, help="(default: %(default)s)")
    args = parser.parse_args()
    files = args.files or exported(CACHE / "background")
    if not files:
        parser.error("no FILE is named, and the background training has made none")
    # So that the user's own weights stay as they are.
    os.environ["ASSAY_DATA_HOME"] = str((args.out / "data").absolute())
    try:
        rows = [row for file in files for row in measured(file, args.out, args.per_project, args.workers)]
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd[1:])} ended with code {error.returncode}")
    except (ModelError, ProjectError) as error:
        sys.exit(str(error))
    print(table(("file", "bits per byte", "memory", *map(code, TASKS)), "lclccc", rows))


if __name__ == "__main__":
    main()
