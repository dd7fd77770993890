"""What our maps leave to gradient-boosted trees, on files of samples of at least five projects, as a Markdown table.

    python benchmarks/maps_compared.py RUN/samples/line.jsonl … [--event exact_match] [--measures NAME …]

Each file has two rows: maps of the first measure, and of all. Both maps are judged on the same held-out projects, and what is chosen, our
map's kind and the number and size of the trees, is chosen on others. A difference above 0 in skill is what our maps leave.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from machine import described

from assay.calibration.estimators.comparison import boosted, what_maps_leave
from assay.calibration.estimators.map_classifier import MapClassifier
from assay.calibration.estimators.matrix import matrix_of
from assay.calibration.measures.registry import MEASURES
from assay.calibration.metrics.intervals import Interval
from assay.calibration.samples import EVENTS, Sample, read_samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", type=Path, nargs="+", metavar="SAMPLES")
    parser.add_argument("--event", choices=EVENTS, default="exact_match")
    parser.add_argument(
        "--measures", nargs="+", metavar="NAME", help="by default all that every sample has and that cost no call of a model"
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(f"{described('numpy', 'scikit-learn')}\n")
    print("| samples | measures | n | projects | ours, skill | boosted, skill | boosted − ours, skill | boosted − ours, log loss, nats |")
    print("|:---|:---|---:|---:|---:|---:|---:|---:|")
    for path in arguments.samples:
        try:
            for row in rows(read_samples(path), arguments.event, arguments.measures, arguments.seed):
                print(f"| {path.stem} | {row} |", flush=True)
        except ValueError as error:
            parser.error(f"{path}: {error}")


def rows(samples: Sequence[Sample], event: str, measures: Sequence[str] | None, seed: int) -> Iterator[str]:
    """The rows of one file, without its name."""
    names = list(measures or in_all(samples))
    for used in [names] if len(names) < 2 else [names[:1], names]:
        X, y, groups = matrix_of(samples, used, event)  # noqa: N806
        found = what_maps_leave(MapClassifier(measures=used, random_state=seed), X, y, groups, boosted(seed))
        yield " | ".join(
            [
                used[0] if len(used) == 1 else f"all {len(used)}",
                f"{found.n:,}",
                str(found.groups),
                *(_cell(each) for each in (found.skill, found.richer_skill, found.more_skill, found.more_log_loss)),
            ]
        )


def in_all(samples: Sequence[Sample]) -> list[str]:
    """The measures that cost no call of a model and that all samples have, without agreement, which only several at one place have."""
    return [name for name, m in MEASURES.items() if not m.cost and name != "agreement" and all(name in s.measures for s in samples)]


def _cell(interval: Interval) -> str:
    return f"{interval.value:z.3f} ({interval.low:z.3f} to {interval.high:z.3f})"


if __name__ == "__main__":
    main()
