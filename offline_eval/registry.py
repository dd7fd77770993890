"""The studies. A new one is a folder here, a line in `STUDIES` and its package in pyproject.toml. The folder has

command.py   COMMAND: its place on the command line and its options (light: imported at every `assay --help`)
study.py     STUDY: what the driver is given (`study.Study`); imported when it runs or is reported on

A study that asks in several ways has a module, and a line, for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from .command import Command

if TYPE_CHECKING:
    from .run import Run
    from .study import Study

# By its name in run.toml: the module with STUDY.
STUDIES = {
    "all": "all_studies.study",
    "calibration": "calibration.study",
    "catcode": "catcode.lines.study",
    "catcode_pairs": "catcode.pairs.study",
    "catcode_functors": "catcode.functors.study",
    "counterfeit": "counterfeit.lines.study",
    "counterfeit_problems": "counterfeit.problems.study",
    "counterfeit_file": "counterfeit.problems.file_study",
    "counterfeit_recorded": "counterfeit.problems.recorded",
    "own_code": "own_code.study",
    "problems": "calibration.problems",
    "recorded": "calibration.recorded.study",
    "recorded_labelled": "calibration.recorded.labelled",
    "repairs": "repairs.lines.study",
    "repairs_programs": "repairs.programs.study",
    "repository": "repository.study",
    "rtc_problems": "rtc.study",
    "rtc_recorded": "rtc.recorded",
}


def commands(group: str) -> Iterator[Command]:
    """The studies' commands `assay GROUP …`."""
    for folder in dict.fromkeys(module.partition(".")[0] for module in STUDIES.values()):
        command: Command = import_module(f".{folder}.command", __package__).COMMAND
        if command.group == group:
            yield command


def study_of(run: Run) -> Study:
    """The study that a run is one of. Raises RunError where no study has that name."""
    from .errors import RunError

    name = run.question()["study"]
    if name not in STUDIES:
        raise RunError(f"{run.folder / 'run.toml'}: no such study: {name!r} (there are {', '.join(STUDIES)})")
    study: Study = import_module(f".{STUDIES[name]}", __package__).STUDY
    return study
