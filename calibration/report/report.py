"""Reports: what a calibrator is worth, as Markdown, JSON and a reliability plot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..bands import EVENT_WORDS
from ..calibrator import Calibrator, as_json
from ..evidence import Evidence
from ..files import write_atomically
from ..fit import Fit
from ..maps.base_rate import BaseRateMap
from ..maps.beta import BetaMap
from ..maps.platt import PlattMap
from ..maps.steps import StepsMap
from ..maps.temperature import TemperatureMap
from ..maps.venn_abers import VennAbersMap
from ..metrics.intervals import Interval
from .plots import reliability_plot


@dataclass(frozen=True, slots=True)
class Report:
    """What a report says, and the files that it was written to."""

    document: dict[str, Any]
    text: str
    files: tuple[Path, ...]


def report(subjects: Sequence[Fit | Calibrator], out: Path) -> Report:
    """Write report.md, report.json and, per subject, reliability-EVENT.svg and .png into the folder `out`.

    A Fit (from samples) is reported with its projects and the histogram of its held-out probabilities, a Calibrator (from its file) with
    what the file holds. Raises PlotError where matplotlib is not installed, before anything is written.
    """
    parts: list[str] = ["# Calibration report"]
    documents: list[dict[str, Any]] = []
    files: list[Path] = []
    for subject in subjects:
        calibrator, fitted = (subject.calibrator, subject) if isinstance(subject, Fit) else (subject, None)
        plots = reliability_plot(calibrator, fitted.held_out if fitted else None, out / f"reliability-{calibrator.event}")
        files += plots
        parts.append(_section(calibrator, fitted, plots[0].name))
        documents.append(
            {
                "calibrator": as_json(calibrator),
                "id": calibrator.id,
                "unknown_labels": fitted.unknown if fitted else None,
                "notes": list(fitted.notes) if fitted else [],
                "by_project": [asdict(row) for row in fitted.by_project] if fitted else None,
                "plots": [plot.name for plot in plots],
            }
        )
    document, text = {"reports": documents}, "\n\n".join(parts) + "\n"
    for name, content in (("report.md", text), ("report.json", json.dumps(document, indent=1, allow_nan=False) + "\n")):
        with write_atomically(out / name) as file:
            file.write(content.encode())
        files.append(out / name)
    return Report(document, text, tuple(files))


def summary(calibrator: Calibrator) -> str:
    """One line of evidence: what the calibrator is for and what it is worth."""
    evidence, made, error = calibrator.evidence, calibrator.fitted_on, calibrator.evidence.ece
    skill = f"skill {_interval(evidence.skill)}" if evidence.skill else "skill not defined"
    return (
        f"{calibrator.status}: P({EVENT_WORDS[calibrator.event]}) for {made.model_name or made.model}, n = {evidence.n} "
        f"from {evidence.groups} {made.grouped_by}s, base rate {evidence.base_rate:.2f}, {skill}, "
        f"ECE {error.value:.3f} (noise floor {error.noise_floor:.3f})"
    )


def _section(calibrator: Calibrator, fitted: Fit | None, plot: str) -> str:
    made = calibrator.fitted_on
    lines = [
        f"## {EVENT_WORDS[calibrator.event]}, {calibrator.task}",
        "",
        f"**{calibrator.status}**: {calibrator.reason}.",
        "",
        f"* model {made.model_name or 'without a name'} (`{made.model}`), prompt and decoder `{made.prompt}`, {', '.join(made.languages)}",
        f"* {made.n} samples, {made.positives} positive, {made.groups} groups (by {made.grouped_by}), fitted {made.date}",
        f"* {map_text(calibrator)}",
        f"* standard deviation between groups {calibrator.between_group_sd:.3f} (log odds)",
        *(f"* {note}" for note in (fitted.notes if fitted else ())),
        "",
        f"Held out by {made.grouped_by}, with 95 % intervals from a bootstrap of {made.grouped_by}s:",
        "",
        *_evidence_table(calibrator.evidence),
        "",
        f"![Reliability of {EVENT_WORDS[calibrator.event]}]({plot})",
        "",
        "| predicted, mean | range | samples | observed rate | 95 % Wilson |",
        "|---:|:---:|---:|---:|:---:|",
        *(
            f"| {b.mean:.3f} | {b.low:.3f} to {b.high:.3f} | {b.n} | {b.rate:.3f} | {b.rate_low:.3f} to {b.rate_high:.3f} |"
            for b in calibrator.evidence.reliability
        ),
    ]
    if fitted:
        lines += [
            "",
            "| project | samples | base rate | mean probability | Brier | skill against the overall base rate |",
            "|:---|---:|---:|---:|---:|---:|",
            *(
                f"| {_cell(row.name)} | {row.n} | {row.base_rate:.3f} | {row.mean_probability:.3f} "
                f"| {row.brier:.4f} | {_number(row.skill)} |"
                for row in fitted.by_project
            ),
        ]
    return "\n".join(lines)


def map_text(calibrator: Calibrator) -> str:
    """The map in one line, for people."""
    match calibrator.map:
        case PlattMap(intercept=intercept, slopes=slopes, ridge=ridge):
            terms = "".join(f" {'+' if s >= 0 else '−'} {abs(s):.4g} · {f}" for s, f in zip(slopes, calibrator.features, strict=True))
            penalty = f", ridge {ridge:g} on all but the first" if ridge else ""
            return f"platt: log odds = {intercept:.4g}{terms}{penalty} (each measure as `calibration/measures.py` has it enter)"
        case TemperatureMap(slope=slope):
            return f"temperature: log odds = {slope:.4g} · {calibrator.features[0]} (as it enters)"
        case BetaMap(c=c, a=a, b=b):
            return f"beta: log odds = {c:.4g} + {a:.4g} · log p − {b:.4g} · log(1 − p), p of {calibrator.features[0]}"
        case BaseRateMap(value=value):
            return f"base rate: log odds = {value:.4g}"
        case StepsMap(kind=kind, values=values):
            return f"{kind}: {len(values)} steps of {calibrator.features[0]}"
        case VennAbersMap(scores=scores):
            return f"venn_abers: {len(scores) + 1} steps of {calibrator.features[0]}"


def _evidence_table(evidence: Evidence) -> list[str]:
    error = evidence.ece
    rows: list[tuple[str, Interval | None]] = [
        ("Brier score", evidence.brier),
        ("skill score against the base rate", evidence.skill),
        ("AUC", evidence.auc),
        ("log loss (nats)", evidence.log_loss),
        ("calibration error, root mean square, without noise", Interval(error.debiased, error.low, error.high)),
    ]
    return [
        "| | value | 95 % interval |",
        "|:---|---:|:---:|",
        f"| base rate | {evidence.base_rate:.4f} | |",
        *(
            f"| {name} | {interval.value:.4f} | {interval.low:.4f} to {interval.high:.4f} |" if interval else f"| {name} | not defined | |"
            for name, interval in rows
        ),
        f"| ECE, 10 bins of equal width | {error.value:.4f} | a perfect forecaster would get {error.noise_floor:.4f} |",
    ]


def _interval(interval: Interval) -> str:
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.3f}"
