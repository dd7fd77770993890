"""Synthetic worlds whose truth is known: samples with measures and labels drawn from it."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
from scipy.special import expit  # type: ignore[import-untyped]

from assay.calibration.arrays import Floats
from assay.calibration.calibrator import Calibrator
from assay.calibration.measures.registry import enter
from assay.calibration.samples import Sample

MODEL, PROMPT = "0123456789abcdef", "fedcba9876543210"


def made_for(calibrator: Calibrator, model: str, prompt: str, task: str) -> Calibrator:
    """The calibrator as one of this model's, whatever is measured."""
    ranges = ((-1e3, 0.0),) * len(calibrator.features)
    return replace(calibrator, task=task, ranges=ranges, fitted_on=replace(calibrator.fitted_on, model=model, prompt=prompt))


def sample(number: int = 0, *, label: bool | None = True, project: str = "p0", file: str = "a.py", **measures: float) -> Sample:
    return Sample(
        id=f"s{number}",
        model=MODEL,
        prompt=PROMPT,
        task="line",
        language="python",
        project=project,
        file=file,
        seed=number,
        measures=measures or {"total_logprob": -1.5, "token_count": 4.0},
        labels={"exact_match": label, "tests_pass": None},
        text_sha256=hashlib.sha256(str(number).encode()).hexdigest(),
        model_name="tiny",
    )


def world(
    n: int = 600, *, projects: int = 12, intercept: float = 0.5, slope: float = 0.7, between: float = 0.0, seed: int = 0
) -> tuple[list[Sample], Floats]:
    """n samples and their true P(exact_match): log odds = intercept + slope · logit(exp(total_logprob)) + an offset for each project."""
    rng = np.random.default_rng(seed)
    total = -rng.lognormal(0.3, 1.1, n)
    project = rng.integers(0, projects, n)
    offset = rng.normal(0, between, projects)
    truth = expit(intercept + slope * enter("total_logprob", total) + offset[project])
    label = rng.random(n) < truth
    return [
        sample(i, label=bool(label[i]), project=f"p{project[i]}", file=f"f{i % 7}.py", total_logprob=float(total[i]), length=float(i % 50))
        for i in range(n)
    ], truth
