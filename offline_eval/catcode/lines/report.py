"""The report of a run: a page, and a summary on stderr."""

from __future__ import annotations

from collections.abc import Sequence

from ...run import Run
from ...study import Results
from ...study_page import again, facts_of, write_page
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
        command=again(run),
        codes=tuple(question["of"]),
        facts=(
            f"prompt fingerprint {question['prompt']}, model fingerprint {question['model']}",
            *facts_of(question, *_TOLD),
        ),
        lost=lost,
        figures=tuple(figures_of(question, samples, facts)),
    )
    write_page(run.folder, content_of(facts, samples, about), samples=results.paths, as_json=as_json)
