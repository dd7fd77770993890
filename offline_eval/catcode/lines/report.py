"""The report of a run: a page, and a summary on stderr."""

from __future__ import annotations

from collections.abc import Sequence

from ...run import Run
from ...study import Results
from ...study_page import write_page
from .facts import PlaceFacts
from .page import About, content_of
from .validated import figures_of

_TOLD = ("of", "memory", "projects", "per_project", "limit", "seed")


def write_report(run: Run, results: Results, facts: Sequence[PlaceFacts], lost: int, *, as_json: bool) -> None:
    """Write report/. On stdout the paths of samples and report, or one JSON document. lost: how many items have no answer.

    Raises StudyError and SampleError.
    """
    question = run.question()
    samples = [sample for found in results.samples.values() for sample in found]
    about = About(
        model=question["model_name"],
        # not the whole path: a report is sent to others, and the same run elsewhere has the same report
        command=f"assay eval report {run.folder.resolve().name}",
        codes=tuple(question["of"]),
        facts=(
            f"prompt fingerprint {question['prompt']}, model fingerprint {question['model']}",
            *(f"{name.replace('_', ' ')}: {_words(question[name])}" for name in _TOLD if question.get(name) is not None),
        ),
        lost=lost,
        figures=tuple(figures_of(question, samples, facts)),
    )
    write_page(run.folder, lambda: content_of(facts, samples, about), samples=results.paths, as_json=as_json)


def _words(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
