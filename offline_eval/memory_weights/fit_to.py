"""The work of `assay model memory`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...calibration.atomic_write import write_atomically
from ...inference.opening import ModelChoice
from ...suggestion.memory.memories import own_weights
from ..errors import UsageError
from ..progress import Progress, counted, tell_if_stopped, to_stderr
from ..sets.lines import places_in
from .fit import Fitted, check_enough, fitted
from .projects import code_of, listed_projects
from .recording import Recorder

_SEED = 0


def fit_to(choice: ModelChoice, folders: Sequence[Path], per_project: int, out: Path | None) -> tuple[Fitted, Path]:
    """Fit weights to a model on places of these folders, or of the listed projects without any, and write them. Returns where, too.

    out: without one, the file of the user's own weights for this model. Raises UsageError, StudyError, ModelError and OSError.
    """
    if out is not None and out.is_dir():
        raise UsageError(f"{out} is a folder: --out names a file")
    with tell_if_stopped(lambda: "Nothing was written."), choice.open() as model:
        recorder = Recorder(model, choice.settings_for(model))
        drawn = []
        for each in folders or listed_projects():
            code = code_of(each)
            if len(code.files) < 2:
                to_stderr(f"{code.project}: {counted(len(code.files), 'file')}, so there are no others to remember; it is left out")
                continue
            places = places_in(code.project, code.files, per_project, _SEED)
            to_stderr(f"{code.project}: {counted(len(places), 'function')}")
            if places:
                drawn.append((code, places))
        sizes = [len(places) for _, places in drawn]
        check_enough(sizes)
        progress = Progress("places", sum(sizes), None)
        found_in = [recorder.record(code, places, progress) for code, places in drawn]
        progress.end()
        recorded = [each for each in found_in if each.places]
        sizes = [each.places for each in recorded]
        check_enough(sizes)
        to_stderr(f"fitting to {counted(sum(sizes), 'place')}")
        found = fitted(recorded, model.fingerprint.id)
        path = out or own_weights(model.fingerprint.id)
    with write_atomically(path) as file:
        file.write(found.weights.as_json().encode())
    return found, path
