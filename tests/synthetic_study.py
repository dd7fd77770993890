"""Samples of a whole study with a known truth: all measures, both events, tasks and arms."""

from __future__ import annotations

import numpy as np
from msgspec import structs
from synthetic_samples import world

from assay.calibration.samples import Sample
from assay.offline_eval.paper_tables.forecasts import Setting

TASKS, ARMS = ("line", "line_rest"), ("docstring", "no_docstring", "no_suffix")


def studied(
    n: int = 400, *, seed: int = 0, projects: int = 12, task: str = "line", bonus: float = 0.0, reflective: bool = True
) -> list[Sample]:
    """Samples whose P(exact_match) follows total_logprob; an exact match passes, and one in five others. bonus: to the log odds.

    The same seed gives the same ids, projects and log-probabilities, so that arms and models pair. Of the reflective measures only
    ask_true_normalised tells anything.
    """
    samples, _ = world(n, projects=projects, intercept=0.5 + bonus, between=0.3, seed=seed)
    rng = np.random.default_rng(seed + 1)
    made = []
    for each in samples:
        total, count, exact = each.measures["total_logprob"], int(rng.integers(2, 20)), bool(each.labels["exact_match"])
        measures = {
            "total_logprob": total,
            "token_count": float(count),
            "mean_logprob": total / count,
            "mean_probability": float(np.exp(total / count)),
            "min_logprob": 0.6 * total,
            "lowest_logprob": 0.4 * total,
            "mean_entropy": -1.2 * total / count,
            "mean_margin": float(rng.normal(3 + total)),
            "length": each.measures["length"] + 1,
        }
        asked = {
            "ask_true": -float(rng.exponential(0.5)),
            "ask_true_normalised": float(rng.normal(0.5 + exact)),
            "verbalised": float(rng.random()),
        }
        passes = exact or bool(rng.random() < 0.2)
        labels = {"exact_match": exact, "tests_pass": passes}
        made.append(structs.replace(each, task=task, measures={**measures, **(asked if reflective else {})}, labels=labels))
    return made


def whole(n: int = 400) -> dict[Setting, list[Sample]]:
    """All tasks and arms; with docstrings more is right."""
    return {
        Setting(task, arm): studied(n, seed=number, task=task, bonus=0.8 * (arm == "docstring"))
        for number, task in enumerate(TASKS)
        for arm in ARMS
    }
