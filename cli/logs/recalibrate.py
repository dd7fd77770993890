"""`assay logs recalibrate`: fit calibrators of the events `kept` and `tests_pass` to the log, for servers to use."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..exit_codes import DONE
from ..options import Subparsers, command_parser, set_run
from ..terminal import print_json, say
from .log import KEPT, TESTS_PASS, by_subject, label_counts, samples_in, say_left_out, subject_json

if TYPE_CHECKING:
    from pathlib import Path

    from ...calibration.calibrator import Calibrator
    from ...calibration.samples import Event, Sample


def register(actions: Subparsers) -> None:
    """Add `assay logs recalibrate`."""
    parser = command_parser(
        actions,
        "recalibrate",
        "fit a calibrator of the event kept for each task that has enough labels",
        "Writes them to your own calibrators. Servers use them at once if the setting assay.event is kept. If tests ran after you "
        "accepted suggestions (assay.tests.afterAcceptance), it also fits one of the event tests_pass.",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")
    set_run(parser, run, "log", "json")


def run(arguments: argparse.Namespace) -> int:
    """Fit a calibrator for each task, model and prompt, each in a file that the next fit replaces.

    Raises EventLogError and OSError.
    """
    from ...calibration.calibrator import save
    from ...calibration.fitting.checks import FitError
    from ...calibration.log.samples import AT_S, NOT_SEEN
    from ...calibration.registry import folders
    from ...calibration.report.report import summary

    folder = dict(folders())["user"]
    written: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    logged = samples_in(arguments.log, AT_S, {})
    say_left_out(logged)
    for subject, event, samples in _parts(logged.samples):
        task, model, prompt = subject
        known = f"{task} of the model {model}: {_label_words(samples, event)}"
        try:
            calibrator = _fitted(samples, event, [_common(logged.said.get(sample.id), event) for sample in samples])
        except FitError as error:
            refused.append(subject_json(subject, samples, event) | {"event": event, "reason": str(error)})
            say(f"{known}: no calibrator: {error}")
            continue
        path = folder / f"{event}-{task}-{model[:8]}-{prompt[:8]}.json"
        if not arguments.dry_run:
            save(calibrator, path)
        written.append(subject_json(subject, samples, event) | _described(calibrator, event, path))
        say(f"{known}: {summary(calibrator)}\nbecause: {calibrator.reason}")
        say(f"{'would be written' if arguments.dry_run else 'written'}: {path}")
    if not written and not refused:
        none = "all that was shown is left out" if logged.left_out.keys() - {NOT_SEEN} else "the log has no suggestion that was shown"
        say(f"no calibrator: {none}")
    for event in dict.fromkeys(each["event"] for each in written):
        whose = ": of what you accepted, in code whose tests passed before" if event == TESTS_PASS else ""
        say(f"note: servers show these percentages where the setting assay.event is {event}{whose}")
    if arguments.json:
        print_json({"dry_run": arguments.dry_run, "written": written, "refused": refused})
    return DONE


def _parts(samples: Sequence[Sample]) -> Iterator[tuple[tuple[str, str, str], Event, list[Sample]]]:
    """The samples for each calibrator; for the event `tests_pass` only if tests ran."""
    for subject, part in by_subject(samples).items():
        yield subject, KEPT, part
        if label_counts(part, TESTS_PASS)["labelled"]:
            yield subject, TESTS_PASS, part


def _common(said: tuple[str, float] | None, event: Event) -> float | None:
    """The number that was shown, where it is not of an earlier calibrator of the same kind, which has seen what it would be judged by."""
    return None if said is None or said[0] == event else said[1]


def _fitted(samples: Sequence[Sample], event: Event, said: Sequence[float | None]) -> Calibrator:
    """The user's own calibrator, with a map for each project where that is better on held-out files.

    said: what was shown of each sample. Raises FitError where it does not foretell the event better than that, moved to the event's share,
    on what it was not fitted to; also for too few samples, because an insufficient calibrator gives no number.
    """
    from ...calibration.fitting.checks import FitError
    from ...calibration.fitting.fit import fit
    from ...calibration.fitting.project_fit import gain_over, shifted

    of = {sample.id: number for sample, number in zip(samples, said, strict=True)}
    projects = {sample.project for sample in samples}
    by_project = event == KEPT and len(projects) > 1 and all(projects)
    found = fit(samples, event, levels=("project",) if by_project else ())
    calibrator = found.calibrator
    if calibrator.status == "insufficient":
        raise FitError(calibrator.reason)
    gain = gain_over(found, shifted(found, [of[sample.id] for sample in found.samples]))
    if calibrator.status == "informative" and gain is not None and gain.low <= 0:
        raise FitError(
            "the numbers that were shown, moved to how often it is true, foretell it as well: log loss "
            f"{gain.parent_log_loss:.3f}, and {gain.own_log_loss:.3f} held out with a map of your own, from {gain.n} suggestions "
            f"(difference {gain.low:.3f} to {gain.high:.3f})"
        )
    return calibrator


def _label_words(samples: Sequence[Sample], event: Event) -> str:
    """The labels in words. An ignored suggestion has none, and many clients do not report a dismissal."""
    known = label_counts(samples, event)
    if event == TESTS_PASS:
        return f"{known['labelled']:,} accepted, with which tests were run that tell something ({known['positives']:,} pass)"
    return f"{len(samples):,} shown, for {known['labelled']:,} it is known whether they were kept ({known['positives']:,} were)"


def _described(calibrator: Calibrator, event: Event, path: Path) -> dict[str, Any]:
    evidence = calibrator.evidence
    return {
        "path": str(path),
        "id": calibrator.id,
        "event": event,
        "n": evidence.n,
        "positives": evidence.positives,
        "status": calibrator.status,
        "reason": calibrator.reason,
        "skill": evidence.skill and asdict(evidence.skill),
    }
