"""`assay calibrate fit`: fit a calibrator to samples, write its file, and say what it is worth."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..exit_codes import DONE, UsageError
from ..options import EVENTS, Subparsers, add_map_option, command_parser, names, set_run
from ..terminal import print_json, say
from .inputs import DEFAULT_FEATURES, fitted, kept_folds, samples_of

if TYPE_CHECKING:
    from ...calibration.calibrator import Calibrator


def register(actions: Subparsers) -> None:
    """Add `assay calibrate fit`."""
    parser = command_parser(
        actions,
        "fit",
        "fit a calibrator to samples",
        "The evidence is held out by project, with --any-model by model: a map that was fitted without it judges it.",
    )
    parser.add_argument("samples", metavar="SAMPLES", nargs="+", type=Path, help="files of samples (JSON Lines)")
    parser.add_argument("--event", choices=EVENTS, required=True, help="what the probability is about")
    parser.add_argument(
        "--features", type=names,
        help="measures to use, separated by commas; free: all that need no further call of the model (default: total_logprob)",
    )  # fmt: skip
    add_map_option(parser)
    parser.add_argument(
        "--levels", metavar="language,project,user", type=names, default=[],
        help="give each language, project or user a platt map of its own, shrunk toward the level above, if held-out files support it",
    )  # fmt: skip
    parser.add_argument(
        "--toward", metavar="CALIBRATOR", type=Path,
        help="adapt this calibrator of other projects to the samples of one project, with its measures",
    )  # fmt: skip
    parser.add_argument(
        "--any-model", action="store_true",
        help="the samples are of five models or more: fit a map for any other one, with a model held out at a time",
    )  # fmt: skip
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="the calibrator's file (JSON)")
    parser.add_argument(
        "--keep-folds", action="store_true",
        help="also write, for each project, the map that did not see it, to judge more of its samples as held out (folds/ID.json)",
    )  # fmt: skip
    set_run(parser, run, "json")


def run(arguments: argparse.Namespace) -> int:
    """Fit a calibrator and write it. Raises UsageError, SampleError, CalibratorError and OSError."""
    from ...calibration.calibrator import as_json, load, save
    from ...calibration.held_out import FOLDER, folds_path, remove_folds, save_folds
    from ...calibration.project_folder import check_unlinked, project_with
    from ...calibration.registry import why_left_out
    from ...calibration.report.report import summary, summary_of_languages
    from ...calibration.save_for_project import save_for_project
    from ...calibration.validation import table

    out = arguments.out
    _check_adaptation(arguments)
    _check_out(out, arguments.samples)
    samples = samples_of(arguments.samples)
    found = fitted(
        samples,
        arguments.samples,
        arguments.event,
        arguments.features or DEFAULT_FEATURES,
        kind=arguments.map or "auto",
        levels=arguments.levels,
        adapt_from=load(arguments.toward) if arguments.toward else None,
        any_model=arguments.any_model,
    )
    calibrator = found.calibrator
    folds = kept_folds(found) if arguments.keep_folds else None
    project = project_with(out.absolute())
    if project is not None:
        for path in (out.absolute(), *(out.absolute().parent / folder for folder in (FOLDER, table.FOLDER))):
            check_unlinked(path)
    remove_folds(out)
    table.remove(out)
    if project is None:
        save(calibrator, out)
    else:
        save_for_project(calibrator, out)
    if folds is not None:
        save_folds(folds, folds_path(calibrator, out), follow=project is None)
    for note in found.notes:
        say(f"note: {note}")
    say(summary(calibrator))
    say(f"because: {calibrator.reason}")
    for line in summary_of_languages(calibrator):
        say(f"  {line}")
    say(f"written: {out}" + (f" and {folds_path(calibrator, out)}" if folds else ""))
    if project is not None and (reason := why_left_out(project)[0]):
        say(f"note: {reason}")
    if calibrator.status == "uninformative" and _is_used(calibrator, out):
        say(
            f"note: this file takes precedence over the shipped calibrator, so suggestions of the task {calibrator.task} by this model "
            "will have no number"
        )
    if arguments.json:
        kept = {"folds": str(folds_path(calibrator, out))} if folds else {}
        print_json({"id": calibrator.id, "file": str(out), **kept, "notes": list(found.notes), "calibrator": as_json(calibrator)})
    return DONE


def _is_used(calibrator: Calibrator, out: Path) -> bool:
    """True if suggestions can use this file: it is in the user's or a project's folder and has no reflective measure."""
    from ...calibration.measures.registry import MEASURES
    from ...calibration.project_folder import project_with
    from ...calibration.registry import folders

    folder, of_user = out.absolute().parent, dict(folders())["user"]
    found = folder.resolve() == of_user.resolve() or project_with(out.absolute()) is not None
    return found and out.suffix == ".json" and not any(MEASURES[name].cost for name in calibrator.features)


def _check_adaptation(arguments: argparse.Namespace) -> None:
    if arguments.any_model and (arguments.toward or arguments.levels or arguments.keep_folds):
        raise UsageError("--any-model holds out models and moves nothing: leave out --toward, --levels and --keep-folds")
    if arguments.toward and (arguments.features or arguments.levels or arguments.map not in (None, "auto")):
        raise UsageError("--toward adapts a calibrator that has its own measures and map: leave out --features, --map and --levels")


def _check_out(out: Path, sample_paths: Sequence[Path]) -> None:
    """Raise UsageError if the calibrator would overwrite something else."""
    if out.is_dir():
        raise UsageError(f"{out} is a folder; --out is the calibrator's file, such as {out / 'calibrator.json'}")
    if not out.is_file():
        return
    if any(path.exists() and out.samefile(path) for path in sample_paths):
        raise UsageError(f"{out} holds the samples; --out is another file, the calibrator's")
    with out.open("rb") as file:
        begin = file.read(200)
    # of any version, whole or damaged, a calibrator begins with its schema
    if begin.strip() and b'"assay/calibrator/' not in begin:
        raise UsageError(f"{out} exists and is not a calibrator; remove it, or name another file")
