"""Make again all evidence that depends on the embedded model and on how it is asked.

    python -m training.remake [--only STEP …] [--dry-run]
    python -m training.remake --withdraw

Evidence of another model or prompt is withdrawn first: calibrators are deleted, and the pages say that they are not measured. Then the
steps are done in their order. One that was done with the same model, prompts, commands and code is not done again, and one that was killed
goes on. Nothing is asked, and all runs at nice 10.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys

import platformdirs

from assay.calibration.calibrator import CalibratorError
from assay.inference.errors import ModelError
from assay.offline_eval.progress import duration

from .driver import ROOT, Remake, RemakeError, chosen, remake
from .evidence import BlockError, not_measured, present, stale, withdraw
from .steps import STEPS, Step

NICE = 10
_PYTHONS = ("python3.12", "python3.13", "python3.14")


def main() -> int:
    """Returns the exit code: 0 where all is done, 1 where something is left."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    parser = argparse.ArgumentParser(
        prog="python -m training.remake", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    groups = ", ".join(dict.fromkeys(step.group for step in STEPS))
    parser.add_argument("--only", metavar="STEP", nargs="+", default=[], help=f"these steps, and what they need: {groups}, or one")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done and about how long it would take")
    parser.add_argument("--withdraw", action="store_true", help="only withdraw what is of another model or prompt; takes seconds")
    parser.add_argument("--python", metavar="FILE", help="the Python that runs the projects' tests, 3.12 or newer")
    given = parser.parse_args()
    work = platformdirs.user_cache_path("assay") / "remake"
    # Calibrators and weights that somebody fitted for themselves do not count, here and in the steps.
    os.environ["ASSAY_DATA_HOME"] = str(work / "data")
    python = given.python or next((name for name in _PYTHONS if _runs(name)), "")
    try:
        at = Remake(
            {step.name: step for step in STEPS},
            work,
            ROOT,
            present(),
            {"python312": python, "models": str(platformdirs.user_cache_path("assay") / "models")},
        )
        steps = chosen(at.steps, given.only)
        if given.dry_run:
            return _tell(at, [step for step in steps if not at.is_done(step)])
        for one in withdraw(ROOT, at.now):
            print(f"withdrawn: {one.what} (of {one.of})", file=sys.stderr)
        os.nice(max(0, NICE - os.nice(0)))
        left = [] if given.withdraw else remake(at, steps)
    except (RemakeError, BlockError, CalibratorError, ModelError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return 130
    for line in (*left, *(f"not measured: {what}" for what in not_measured(ROOT))):
        print(line, file=sys.stderr)
    return int(bool(left))


def _tell(at: Remake, steps: list[Step]) -> int:
    for old in stale(at.tree, at.now):
        print(f"would be withdrawn: {old.what} (of {old.of})")
    for step in steps:
        lacks = at.lacks(step)
        print(f"{step.name:28s} {duration(60 * step.minutes):>10s}" + (f"; LACKS {lacks}" if lacks else ""))
    print(f"{'together':28s} {duration(60 * sum(step.minutes for step in steps)):>10s}" if steps else "all is done")
    return 0


def _runs(python: str) -> bool:
    # pyenv puts names on PATH that only say that the version is not chosen
    return bool(shutil.which(python)) and subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
