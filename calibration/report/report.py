"""Reports on how good a calibrator is: Markdown, JSON, and a self-contained HTML page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ..bands import EVENT_WORDS
from ..calibrator import Calibrator, as_json
from ..evidence import why_undefined
from ..fitting.fit import Fit
from ..language_names import name_of_language
from ..metrics.intervals import Interval
from .blocks import Block, Heading
from .content import section
from .measured import Forecast, Measured, measured
from .page import write_report_files
from .plots import Picture, files_of, pictures

SCHEMA = "assay/report/1"


@dataclass(frozen=True, slots=True)
class Report:
    """A report as its JSON file holds it, and the files that it was written to."""

    document: str
    files: tuple[Path, ...]


def report(subjects: Sequence[Fit | Calibrator], out: Path) -> Report:
    """Write report.md, report.json, report.html and the pictures *-EVENT.svg into the folder `out`.

    subjects: each for another event. A Fit, from samples, is reported before and after calibration; a Calibrator, from its file, as the
        file has it. The same subjects give the same files.

    Without matplotlib there are no pictures, and what they show is said in words.
    """
    title = "Calibration report"
    blocks: list[Block] = [Heading(1, title)]
    documents, drawn = [], []
    for source in subjects:
        subject = measured(source) if isinstance(source, Fit) else source
        shown = pictures(subject)
        blocks += section(subject, shown)
        documents.append(_document(subject, shown))
        drawn += shown
    document = _json({"schema": SCHEMA, "reports": documents})
    return Report(document, write_report_files(out, title, blocks, drawn, {"report.json": document}))


def summary(calibrator: Calibrator) -> str:
    """One line of evidence: what the calibrator is for and what it is worth."""
    evidence, made, error = calibrator.evidence, calibrator.fitted_on, calibrator.evidence.ece
    skill = f"skill {_interval(evidence.skill) if evidence.skill else why_undefined(evidence, made.grouped_by)}"
    origin = "held out one by one" if made.grouped_by == "sample" else f"from {evidence.groups} {made.grouped_by}s"
    model = "any model" if made.models else made.model_name or made.model
    return (
        f"{calibrator.status}: P({EVENT_WORDS[calibrator.event]}) for {model}, n = {evidence.n} "
        f"{origin}, base rate {evidence.base_rate:.2f}, {skill}, "
        f"ECE {error.value:.3f} (noise floor {error.noise_floor:.3f})"
    )


def summary_of_languages(calibrator: Calibrator) -> list[str]:
    """A line for each language of a calibrator of several: whether it gives numbers there, and why."""
    own = {child.path[0] for child in calibrator.children if calibrator.levels[0] == "language"}
    return [
        f"{name_of_language(each.name)}: {each.status}: n = {each.n} from {each.groups} "
        f"{'file' if each.by_file else calibrator.fitted_on.grouped_by}s, base rate "
        f"{each.positives / each.n:.2f}, skill {_interval(each.skill) if each.skill else 'not defined'}"
        f"{', with a map of its own' if each.name in own else ''}"
        for each in calibrator.by_language
    ]


def _document(subject: Measured | Calibrator, shown: Sequence[Picture]) -> dict[str, Any]:
    """One report as in the JSON file; what only samples can tell is null for a calibrator."""
    calibrator, found = (subject, None) if isinstance(subject, Calibrator) else (subject.calibrator, subject)
    infinite = bool(found and found.before and found.before.infinite_log_loss)
    return {
        "id": calibrator.id,
        "calibrator": as_json(calibrator),
        "after": _forecast(found.after) if found else None,
        "before": _forecast(found.before) if found and found.before else None,
        "difference": _fields(found.difference, log_loss=infinite) if found and found.difference else None,
        "by_project": found.by_project if found else None,
        "by_language": found.by_language if found else None,
        "unknown_labels": found.unknown if found else None,
        "notes": found.notes if found else [],
        "pictures": list(files_of(shown)),
    }


def _forecast(forecast: Forecast) -> dict[str, Any]:
    found = _fields(forecast)
    found["evidence"] = _fields(forecast.evidence, log_loss=found.pop("infinite_log_loss"))
    return found


def _fields(of: Any, log_loss: bool = False) -> dict[str, Any]:
    """A dataclass as a dict; log_loss: without the value of this field, because it is infinite."""
    return {field.name: None if log_loss and field.name == "log_loss" else getattr(of, field.name) for field in fields(of)}


def _json(document: dict[str, Any]) -> str:
    # Python's own encoder takes a second for ten thousand projects
    try:
        return msgspec.json.format(msgspec.json.encode(document, enc_hook=np.ndarray.tolist), indent=1).decode() + "\n"
    except UnicodeEncodeError:  # half a surrogate pair in a name
        return json.dumps(msgspec.to_builtins(document, enc_hook=np.ndarray.tolist), indent=1) + "\n"


def _interval(interval: Interval) -> str:
    return f"{interval.value:z.3f} [{interval.low:z.3f}, {interval.high:z.3f}]"
