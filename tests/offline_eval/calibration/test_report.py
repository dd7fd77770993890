from __future__ import annotations

import pytest
from msgspec import structs

from assay.calibration.metrics.bins import wilson
from assay.calibration.samples import Sample
from assay.offline_eval.calibration.report import rate


def sample(project: str, exact: bool) -> Sample:
    return Sample("x", "0" * 16, "0" * 16, "line", "python", project, "f.py", 0, {}, {"exact_match": exact}, "0" * 64)


def test_with_fewer_than_five_projects_the_rate_has_wilsons_interval_and_with_more_one_of_projects() -> None:
    samples = [sample("p", True), sample("p", False), sample("q", True)]
    row = rate(samples)
    assert (row["n"], row["projects"]) == (3, 2)
    assert row["value"] == pytest.approx(2 / 3)
    assert (row["low"], row["high"]) == pytest.approx(wilson(2, 3))
    # five projects that are all alike in themselves: the interval is of projects, wider than of their samples
    many = [structs.replace(samples[0], project=f"p{i % 5}", labels={"exact_match": i % 5 < 2}) for i in range(500)]
    low, high = rate(many)["low"], rate(many)["high"]
    assert high - low > 3 * (wilson(200, 500)[1] - wilson(200, 500)[0])
    assert rate([]) == {"n": 0, "projects": 0, "value": None, "low": None, "high": None}
