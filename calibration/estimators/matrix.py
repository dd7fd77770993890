"""Samples as the matrix, labels and groups that scikit-learn takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..fitting.checks import check_samples, column_of
from ..samples import Sample
from .map_classifier import checked_measures


def matrix_of(samples: Sequence[Sample], measures: Sequence[str], event: str) -> tuple[Floats, NDArray[np.bool_], NDArray[np.str_]]:
    """X (n, k), y (n,) and groups (n,): raw measures, whether the event happened, and projects, of the n samples with a known label.

    Raises ValueError for names that `checked_measures` refuses, and its kind FitError for samples that no one map can be fitted to: of
    several models, prompts or tasks, without one of the measures, or with fewer than two known labels.
    """
    names = checked_measures(measures)
    known = [sample for sample in samples if sample.labels.get(event) is not None]
    check_samples(samples, known, event, names, "auto", ())
    X = np.column_stack([column_of(name, known) for name in names])
    y = np.array([sample.labels[event] for sample in known], dtype=np.bool_)
    return X, y, np.array([sample.project for sample in known])
