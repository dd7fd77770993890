"""Evidence to probability: measures of a generation, maps, their evidence, and the files of both. It knows no editor and no study.

What a script needs has its name here, and is imported when it is first used (docs/python.md):

    >>> from assay.calibration import calibration_report
    >>> report = calibration_report([0.9, 0.8, 0.7, 0.3, 0.2, 0.1], [1, 1, 0, 1, 0, 0], groups=["a", "a", "b", "b", "c", "c"])
    >>> print(f"{report.skill.value:.2f}")
    0.28
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calibrator import Calibrator as Calibrator
    from .calibrator import load as load
    from .calibrator import save as save
    from .confidence import predict_proba as predict_proba
    from .estimators.map_classifier import MapClassifier as MapClassifier
    from .estimators.matrix import matrix_of as matrix_of
    from .evidence import Evidence as Evidence
    from .evidence import calibration_report as calibration_report
    from .fitting.fit import fit as fit
    from .metrics.bins import ece as ece
    from .metrics.intervals import intervals as intervals
    from .metrics.intervals import paired as paired
    from .metrics.intervals import rate_interval as rate_interval
    from .metrics.smooth import smooth_ece as smooth_ece
    from .samples import Sample as Sample
    from .samples import read_samples as read_samples
    from .samples import write_samples as write_samples

_MODULES = {
    "calibrator": ("Calibrator", "load", "save"),
    "confidence": ("predict_proba",),
    "estimators.map_classifier": ("MapClassifier",),
    "estimators.matrix": ("matrix_of",),
    "evidence": ("Evidence", "calibration_report"),
    "fitting.fit": ("fit",),
    "metrics.bins": ("ece",),
    "metrics.intervals": ("intervals", "paired", "rate_interval"),
    "metrics.smooth": ("smooth_ece",),
    "samples": ("Sample", "read_samples", "write_samples"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __dir__() -> list[str]:
    return [*globals(), *__all__]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
