from __future__ import annotations

import pytest
from msgspec import structs

from assay.calibration.metrics.bins import wilson
from assay.calibration.samples import Sample
from assay.offline_eval.calibration.report import rate


def sample(project: str, exact: bool) -> Sample:
    return Sample("x", "0" * 16, "0" * 16, "line", "python", project, "f.py", 0, {}, {"exact_match": exact}, "0" * 64)


def test_with_few_projects_the_interval_of_a_rate_is_of_samples_and_with_more_of_projects() -> None:
    samples = [sample("p", True), sample("p", False), sample("q", True)]
    row = rate(samples)
    assert (row["n"], row["projects"]) == (3, 2)
    assert row["value"] == pytest.approx(2 / 3)
    assert row["low"] <= wilson(2, 3)[0]
    assert wilson(2, 3)[1] <= row["high"]
    # five projects that are all alike in themselves: the interval is of projects, wider than of their samples
    many = [structs.replace(samples[0], project=f"p{i % 5}", labels={"exact_match": i % 5 < 2}) for i in range(500)]
    low, high = rate(many)["low"], rate(many)["high"]
    assert high - low > 3 * (wilson(200, 500)[1] - wilson(200, 500)[0])
    assert rate([]) == {"n": 0, "projects": 0, "value": None, "low": None, "high": None}


def test_a_rate_counts_first_choices_alone() -> None:
    samples = [structs.replace(sample(f"p{i}", False), rank=rank) for i in range(5) for rank in (1, 2, 3)]
    assert rate(samples)["n"] == 5
