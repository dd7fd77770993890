"""Which measure tells how much, and whether maps by project bring anything: each fitted by the product's own `fit`, held out by project.

    python -m training.remake.pages.measures TREE RUN

RUN: a run of `assay eval calibration`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from assay.calibration.fitting.fit import Fit, fit
from assay.calibration.measures.registry import MEASURES
from assay.calibration.metrics.intervals import paired
from assay.calibration.samples import Sample, read_samples

from ..evidence import fill
from ..present import present
from ..steps import TASKS
from .cells import code, interval, table

EVENT = "exact_match"
# Only the interval of the calibration error takes resamples, and no table here has it.
FEW = 20

Samples = dict[str, list[Sample]]


def free(samples: Sequence[Sample]) -> tuple[str, ...]:
    """The measures that cost no call of the model and that every sample has."""
    return tuple(name for name, measure in MEASURES.items() if not measure.cost and all(name in sample.measures for sample in samples))


def one_by_one(samples: Samples) -> str:
    """Platt on each measure alone, and all together against the first."""
    names = free([sample for found in samples.values() for sample in found])
    fits = {(task, name): fit(found, EVENT, (name,), kind="platt", resamples=FEW) for task, found in samples.items() for name in names}
    rows = [(code(name), *(_skill_and_auc(fits[task, name]) for task in samples)) for name in names]
    alone = table(("measure", *map(code, samples)), "l" + "c" * len(samples), rows)
    compared = []
    for task, found in samples.items():
        one, all_of_them = fits[task, "total_logprob"], fit(found, EVENT, names, resamples=FEW)
        difference = paired(one.held_out, all_of_them.held_out, one.labels, one.groups)
        evidence = [interval(made.calibrator.evidence.skill) for made in (one, all_of_them)]
        compared.append((code(task), *evidence, interval(difference.skill, 4, "+"), interval(difference.log_loss, 4, "+")))
    columns = ("task", "skill score, `total_logprob`", f"all {len(names)}", "difference", "difference in log loss, nats")
    between = (
        "Means per token are of a line that is right only if all of its tokens are. The next table compares what model selection\n"
        "makes of all measures with Platt on `total_logprob` alone, both held out, as a paired difference:"
    )
    return f"{alone}\n\n{between}\n\n{table(columns, 'lcccc', compared)}"


def _skill_and_auc(made: Fit) -> str:
    evidence = made.calibrator.evidence
    return f"{interval(evidence.skill)}, " + ("not defined" if evidence.auc is None else f"{evidence.auc.value:.3f}")


def levels(samples: Samples) -> str:
    """What a map for each project brings."""
    rows = []
    for task, found in samples.items():
        made = fit(found, EVENT, ("total_logprob",), levels=("project",), resamples=FEW)
        note = next(note for note in made.notes if note.startswith("levels"))
        rows.append((code(task), note.partition(": ")[2], "kept" if made.calibrator.levels else "left out"))
    return table(("task", "a map for each project, of `total_logprob`", "levels are"), "lll", rows)


def main() -> None:
    """Fill the blocks."""
    tree, run = map(Path, sys.argv[1:])
    samples = {task: read_samples([run / "samples" / f"{task}.jsonl"]) for task in TASKS}
    named = present().named(*TASKS)
    fill(tree, "docs/calibration.md", {"measures": one_by_one(samples)}, named)
    fill(tree, "docs/maps.md", {"levels": levels(samples)}, named)


if __name__ == "__main__":
    main()
