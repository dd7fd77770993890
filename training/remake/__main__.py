"""Make again all evidence that depends on the embedded model and on how it is asked.

    python -m training.remake [--only STEP …] [--dry-run]
    python -m training.remake --withdraw

Evidence of another model or prompt is withdrawn first: calibrators are deleted, and the pages say that they are not measured. Then the
steps are done in their order. Each is recorded with what it was made of; one that was done with the same is not done again, and one that
was killed goes on. Nothing is asked, all runs at nice 10, and remake.log in the work folder has what is said.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from assay.calibration.calibrator import CalibratorError
from assay.inference.errors import ModelError
from assay.offline_eval.progress import duration

from ..paths import CACHE
from .blocks import BlockError
from .driver import Owed, RemakeError, owed, remake, wanted
from .evidence import PAGES, REPORTS, SHIPPED, not_measured, stale, withdraw
from .present import present
from .steps import FULL, PROGRAMS, STEPS, TRIAL
from .workplace import ROOT, Workplace

EMBEDDED = ROOT / "inference" / "embedded" / "assay.gguf"
NICE = 10
_PYTHONS = ("python3.12", "python3.13", "python3.14")


def main() -> int:
    """Returns the exit code: 0 where all is done, 1 where something is left."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    given = _arguments()
    work = given.out.absolute() if given.out else platformdirs.user_cache_path("assay") / "remake"
    # Neither here nor in the steps count calibrators and weights that somebody fitted for themselves.
    os.environ["ASSAY_DATA_HOME"] = str(work / "data")
    steps = {step.name: step for step in STEPS}
    tree = _copied(work) if given.out else ROOT
    machine, lacking = _found(given.python)
    try:
        now = present()
        place = Workplace(work, tree, now, steps, TRIAL if given.trial else FULL, {**machine, "workers": str(given.workers)})
        chosen = wanted(steps, given.only)
        if given.dry_run:
            return _tell(place, owed(place, chosen, lacking))
        for one in withdraw(tree, now):
            print(f"withdrawn: {one.what} (of {one.of})", file=sys.stderr)
        os.nice(max(0, NICE - os.nice(0)))
        failed = [] if given.withdraw else remake(place, chosen, lacking, present)
    except (RemakeError, BlockError, CalibratorError, ModelError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return 130
    for line in (*failed, *(f"not measured: {what}" for what in not_measured(tree))):
        print(line, file=sys.stderr)
    return int(bool(failed))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.remake", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    groups = dict.fromkeys(step.group for step in STEPS)
    parser.add_argument(
        "--only", metavar="STEP", nargs="+", default=[], help=f"these steps, and what they need: {', '.join(groups)}, or one"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done and how long it would take")
    parser.add_argument("--withdraw", action="store_true", help="only withdraw what is of another model or prompt; takes seconds")
    parser.add_argument("--workers", metavar="N", type=int, default=2, help="processes of a study (default: %(default)s)")
    parser.add_argument("--python", metavar="FILE", type=Path, help="the Python that runs the projects' tests, 3.12 or newer")
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, help="work in this folder, and write evidence to FOLDER/tree instead of this repository"
    )
    parser.add_argument("--trial", action="store_true", help="every step at a few places, to see that it runs; only with --out")
    given = parser.parse_args()
    if given.trial and not given.out:
        parser.error("--trial makes no evidence, so it needs --out FOLDER")
    return given


def _tell(place: Workplace, steps: Sequence[Owed]) -> int:
    for old in stale(place.tree, place.now):
        print(f"would be withdrawn: {old.what} (of {old.of})")
    for one in steps:
        lacks = f"; LACKS {one.lacks}" if one.lacks else ""
        print(f"{one.step.name:28s} {duration(one.seconds):>10s}  {one.why}; {one.because}{lacks}")
    print(f"{'together':28s} {duration(sum(one.seconds for one in steps)):>10s}" if steps else "all is done")
    return 0


def _copied(work: Path) -> Path:
    """A tree of pages and evidence to write to, and a data folder whose calibrators are those of that tree."""
    tree = work / "tree"
    for name in (*PAGES, str(REPORTS), str(SHIPPED), "editors/vscode/media"):
        if not (tree / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile)(ROOT / name, tree / name)
    (work / "data").mkdir(exist_ok=True)
    if not (work / "data" / "calibrators").exists():
        (work / "data" / "calibrators").symlink_to(tree / SHIPPED)
    return tree


def _found(python: Path | None) -> tuple[dict[str, str], dict[str, str]]:
    """What the steps' commands name that is found on this machine; and what is not, by name of a program."""
    named = str(python.absolute()) if python else next((name for name in _PYTHONS if _runs(name)), "")
    run = _exported()
    f16 = run / "f16.gguf" if run else None
    there = {
        "python312": bool(named),
        "corpus": (CACHE / "corpus.jsonl").is_file(),
        "exported": run is not None and run.is_dir(),
        "node": bool(shutil.which("npm")),
        "chromium": any(map(shutil.which, (os.environ.get("ASSAY_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"))),
    }
    machine = {"python312": named, "exported": str(run), "f16": f"--against {shlex.quote(str(f16))}" if f16 and f16.is_file() else ""}
    return machine, {program: PROGRAMS[program] for program, is_there in there.items() if not is_there}


def _runs(python: str) -> bool:
    # pyenv puts names on PATH that only say that the version is not chosen
    return bool(shutil.which(python)) and subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def _exported() -> Path | None:
    """The run that the embedded model was exported from, where its training has left it beside the file."""
    shipped = EMBEDDED.read_bytes()
    found = (path for path in (CACHE / "background").glob("export-*M.gguf") if path.read_bytes() == shipped)
    return next((path.with_suffix("") for path in found), None)


if __name__ == "__main__":
    sys.exit(main())
