"""Lines that are newer than a model, beside those that it may have been trained on: what its calibrators promise of either.

A line is newer if it stands nowhere in the project's last release before the model's (`BEFORE`).

    python -m training.remake.newer_lines FOLDER        # fetches these releases through pip
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from assay.calibration.calibrator import load
from assay.calibration.confidence import confidence
from assay.calibration.fitting.folds import numbered
from assay.calibration.held_out import folds_path, held_out, load_folds
from assay.calibration.metrics.groups import difference, mean
from assay.calibration.samples import Sample, read_samples
from assay.offline_eval.sets.projects import ProjectError, archive_of, default_cache, fetch, measured_projects, python_files

from .calibrators import SHIPPED, TASKS, Folders
from .cells import code, percents, table

EVENT, MODEL = "exact_match", "qwen2.5-coder-0.5b"
# The last releases before November 2024, when the model was published.
BEFORE = """
    alembic 1.13.3, arrow 1.3.0, attrs 24.2.0, beautifulsoup4 4.12.3, boltons 24.0.0, bottle 0.13.2, cachetools 5.5.0, celery 5.4.0,
    click 8.1.7, dask 2024.10.0, docutils 0.21.2, flask 3.0.3, httpx 0.27.2, intervaltree 3.1.0, invoke 2.2.0, jinja2 3.1.4,
    jsonschema 4.23.0, kombu 5.4.2, lark 1.2.2, luigi 3.5.2, markdown 3.7, marshmallow 3.23.0, mistune 3.0.2, mitmproxy 11.0.0,
    mkdocs 1.6.1, more-itertools 10.5.0, mpmath 1.3.0, networkx 3.4.2, nibabel 5.3.2, nltk 3.9.1, optuna 4.0.0, paramiko 3.5.0,
    pygments 2.18.0, pyparsing 3.2.0, pypdf 5.1.0, pyramid 2.0.2, python-dateutil 2.9.0.post0, redis 5.2.0, requests 2.32.3, rich 13.9.3,
    scrapy 2.11.2, seaborn 0.13.2, sortedcontainers 2.4.0, sphinx 8.1.3, sqlparse 0.5.1, tabulate 0.9.0, toolz 1.0.0, tornado 6.4.1,
    tortoise-orm 0.21.7, tqdm 4.66.6, trio 0.27.0, werkzeug 3.0.6, xlsxwriter 3.2.0
"""


def _releases() -> dict[str, str]:
    return dict(each.split() for each in BEFORE.split(","))


def _archive(name: str, folder: Path) -> Path:
    """Raises ProjectError where there is neither a wheel nor a source distribution."""
    try:
        return fetch(name, _releases()[name], "wheel", folder)
    except ProjectError:
        return fetch(name, _releases()[name], "sdist", folder)


def newer(at: Folders) -> str:
    """By task and age of the line: what is promised, what is right, and the difference."""
    rows = []
    for task in TASKS:
        judged = list(_judged(at, task))
        y = np.array([sample.labels[EVENT] for _, sample, _ in judged], dtype=float)
        p, ages = np.array([p for p, *_ in judged]), np.array([is_newer for *_, is_newer in judged])
        for shown, chosen in (("in an older release", ~ages), ("newer", ages)):
            groups = numbered([sample.project for _, sample, _ in np.array(judged, dtype=object)[chosen]])
            rows.append((
                code(task), shown, f"{chosen.sum()} of {len(set(groups))}", f"{p[chosen].mean():.1%}", f"{y[chosen].mean():.1%}",
                percents(mean((p - y)[chosen], groups)), "",
            ))  # fmt: skip
        of_all = numbered([sample.project for _, sample, _ in judged])
        rows[-1] = (*rows[-1][:-1], percents(difference(p - y, ages, of_all)))
    columns = ("task", "the line is", "n of projects", "promised", "right", "promised too much", "more than of older lines")
    return table(columns, "llrrrcc", rows)


def _judged(at: Folders, task: str) -> Iterator[tuple[float, Sample, bool]]:
    """The number of each sample by a map that did not see its project, the sample, and whether the line is newer than the model."""
    file = at["tree"] / SHIPPED / f"{EVENT}-{task}-{MODEL}.json"
    calibrator = load(file)
    without = held_out(calibrator, load_folds(folds_path(calibrator, file)))
    for run, is_fresh in ((at["models/qwen05"] / "projects", False), (at["models/newer"] / "fresh", True)):
        lines = {item["id"]: item for item in map(json.loads, (run / "items.jsonl").read_text(encoding="utf-8").splitlines())}
        for sample in read_samples([run / "samples" / f"{task}.jsonl"]):
            item = lines[sample.id.rpartition(":")[0]]
            text = _fresh(at, item["file"]) if is_fresh else _measured(sample.project)[item["file"]]
            line = text.splitlines()[item["line"] - 1].strip()
            p = confidence(calibrator, sample.measures).probability if is_fresh else without(sample)
            if p is not None:
                yield p, sample, line not in _older(at["models/newer"] / "older", sample.project)


def _fresh(at: Folders, file: str) -> str:
    return (at["fresh/runs"] / "code" / file).read_text(encoding="utf-8")


@cache
def _measured(name: str) -> dict[str, str]:
    project = next(each for each in measured_projects() if each.name == name)
    return {file.path: file.text for file in python_files(archive_of(project, default_cache()), name)}


@cache
def _older(folder: Path, name: str) -> frozenset[str]:
    return frozenset(line.strip() for file in python_files(_archive(name, folder), name) for line in file.text.splitlines())


if __name__ == "__main__":
    for each in _releases():
        _archive(each, Path(sys.argv[1]))
