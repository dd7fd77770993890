"""The report of a run of lines: how often suggestions are right, and the page with the paper's tables beside ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...calibration.bands import EVENT_WORDS
from ...calibration.fitting.folds import MIN_GROUPS
from ...calibration.language_names import name_of_language
from ...calibration.metrics.intervals import rate_interval
from ...calibration.registry import load_registry
from ...calibration.report.study_report import write_study_report
from ...calibration.samples import Event, Sample
from ...calibration.validation.calibration_study import ARMS, figures
from ...calibration.validation.figures import Figure
from ...calibration.validation.inputs import Inputs
from ..paper_tables.forecasts import Setting, first_choices, setting_of
from ..paper_tables.report import About, calibration_content
from ..paper_tables.tables import STUDIED
from ..progress import counted, to_stderr
from ..run import Run
from ..study import Results
from ..study_page import again, facts_of
from ..validated import figures_of_task
from .draw import EVENT

EVENTS: tuple[Event, ...] = ("tests_pass", "exact_match")


def figures_of(question: Mapping[str, Any], samples: Mapping[Setting, Sequence[Sample]]) -> Iterator[Figure]:
    """The figures of each calibrator of this machine for a task of the run, its events and its model, on the first choices in Python
    alone, which such a calibrator is looked up for.

    A calibrator of first choices says nothing of further alternatives. Raises StudyError for a value that a measure can't have.
    """
    registry, samples = load_registry(), first_choices(samples)
    samples = {setting: [sample for sample in found if sample.language == "python"] for setting, found in samples.items()}
    for task in dict.fromkeys(setting.task for setting in samples):
        inputs = Inputs(samples.get(Setting(task), ()), {arm: samples.get(Setting(task, arm), ()) for arm in ARMS})
        for event in EVENTS:
            yield from figures_of_task(registry, question, task, event, inputs, figures)


def write_report(run: Run, results: Results, lost: int, *, as_json: bool, facts: tuple[str, ...] = ()) -> None:
    """Write report/. Rates by task on stderr; on stdout the paths of samples and report, or one JSON document.

    lost: how many items have no answer. facts: what else the page is to say of the run.

    Raises StudyError and SampleError.
    """
    samples = [sample for found in results.samples.values() for sample in found]
    events = [event for event in STUDIED if any(sample.labels[event] is not None for sample in samples)] or [EVENT]
    asked: list[Event] = [*events, *([] if EVENT in events else [EVENT])]
    rates = {event: {task: rate(found, event) for task, found in sorted(results.samples.items())} for event in asked}
    width = max((12, *map(len, results.samples)))
    for event in events:
        for task, row in rates[event].items():
            said = f"{EVENT_WORDS[event]} {_rate_text(row)}"
            of = f"{row['n']:6d} labelled suggestion{'' if row['n'] == 1 else 's'} of {counted(row['projects'], 'project')}"
            to_stderr(f"{task:{width}s} {of}, {said}")
            for line in _by_language(results.samples[task], event):
                to_stderr(line)
    made = [one for answer in results.answers for one in answer["generations"]]
    blank = sum(not one["text"].strip() for one in made)
    hidden = sum(one["inserted"] is None for one in made) - blank
    to_stderr(f"{blank} of {len(made)} generations had no text, and {hidden} would be hidden by the editor; they make no sample")
    if unknown := sum(all(sample.labels[event] is None for event in events) for sample in samples):
        to_stderr(f"{unknown} have no label")
    for line in _reflective(samples):
        to_stderr(line)
    report = _page(run, results, lost, hidden, blank, facts)
    if as_json:
        files = {"samples": [str(path) for path in results.paths], "report": [str(path) for path in report]}
        print(json.dumps({"run": str(run.folder), **files} | {str(event): rates[event] for event in asked}))
    else:
        for path in (*results.paths, *report):
            print(path)


def _page(run: Run, results: Results, lost: int, hidden: int, blank: int, told: tuple[str, ...]) -> Sequence[Path]:
    """The files of the page."""
    question = run.question()
    asked = ("set", "memory", "tasks", "arms", "projects", "per_project", "limit", "alternatives", "seed")
    facts = (
        f"prompt fingerprint {question['prompt']}, model fingerprint {question['model']}",
        *facts_of(question, *asked),
        *told,
    )
    found = {setting_of(name): samples for name, samples in results.samples.items()}
    validated = tuple(figures_of(question, found))
    about = About(question["model_name"], again(run), facts, lost, hidden, blank, figures=validated)
    content = calibration_content(found, about, question["seed"])
    for sentence in content.summary:
        to_stderr(sentence)
    return write_study_report(run.folder, content)


def _reflective(samples: Sequence[Sample]) -> Iterator[str]:
    """For each reflective measure, how often the model could be asked and how often a value only stands in."""
    for measure in sorted({name for sample in samples for name in sample.asked}):
        asked = sum(measure in sample.asked for sample in samples)
        stand_ins = sum(measure in sample.fallbacks for sample in samples)
        yield f"{measure}: {asked} of {len(samples)} samples have it" + (f", in {stand_ins} of them a stand-in" if stand_ins else "")


def rate(samples: Sequence[Sample], event: Event = EVENT) -> dict[str, Any]:
    """The share of first choices with the event among those with a known label, with its 95 % interval by project.

    Where fewer than five projects are there, the interval takes samples as independent. value, low and high are None without labels.
    """
    known = [sample for sample in samples if sample.rank == 1 and sample.labels[event] is not None]
    names, groups = np.unique([sample.project for sample in known], return_inverse=True)
    right = np.array([sample.labels[event] for sample in known], dtype=np.float64)
    found = rate_interval(right, groups if len(names) >= MIN_GROUPS else np.arange(len(known)))
    value = float(right.mean()) if known else None
    low, high = (found.low, found.high) if found else (None, None)
    return {"n": len(known), "projects": len(names), "value": value, "low": low, "high": high}


def _by_language(samples: Sequence[Sample], event: Event) -> Iterator[str]:
    """A line for each language, where there are several."""
    languages = sorted({sample.language for sample in samples})
    for language in languages if len(languages) > 1 else ():
        row = rate([sample for sample in samples if sample.language == language], event)
        yield f"  {name_of_language(language)}: {row['n']} of {counted(row['projects'], 'project')}, {EVENT_WORDS[event]} {_rate_text(row)}"


def _rate_text(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "not known"
    return f"{row['value']:.1%}" + ("" if row["low"] is None else f" ({row['low']:.1%} to {row['high']:.1%})")
