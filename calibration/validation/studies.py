"""Which figures the runs of a study bring: a lookup from a study's name in run.toml to a module of this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Protocol, cast

import msgspec

from ..calibrator import Calibrator
from ..samples import Event
from .figures import Figure
from .held_out import HeldOut
from .inputs import Inputs

_MODULES = ("calibration_study", "counterfeit_study", "catcode_study")


class StudyFigures(Protocol):
    """A module of figures.

    STUDY: in the table. RUNS_OF: the studies whose runs they are of. EVENTS: what a calibrator may be about. ARMS: suffixes of files with
    other inputs, which have the calibrator's prompt, with words for each. STREAMS: of texts with a prompt of their own. FACT:
    a line of facts.jsonl, which has an id; None where there are none.
    """

    STUDY: str
    RUNS_OF: Sequence[str]
    EVENTS: Sequence[Event]
    ARMS: Mapping[str, str]
    STREAMS: Mapping[str, str]
    FACT: type[msgspec.Struct] | None

    def figures(self, calibrator: Calibrator, inputs: Inputs, source: HeldOut) -> tuple[Figure, ...]:
        """All figures of a calibrator. Raises NotHeldOut."""
        ...


def studies() -> dict[str, StudyFigures]:
    """By the name of a study, what its runs say of a calibrator."""
    modules = [cast(StudyFigures, import_module(f".{name}", __package__)) for name in _MODULES]
    return {study: module for module in modules for study in module.RUNS_OF}
