"""What a run of all studies would ask and execute: nothing of it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ..model import StudyModel
from ..plan import tell, written
from ..progress import counted
from ..run import RUN, Run
from .planned import FOUND_S, JUDGED_S, RUNS, Cost, cost, sizes, whole
from .rates import generation_seconds
from .study import STUDY, Asked, places_of, question_of

# A plan asks no server.
_GUESSED_S = 1.0


def tell_all(asked: Asked) -> None:
    """Say what a run would do. Raises what `run_all` raises before it begins."""
    model = asked.model()
    known = question_of(asked, model)
    Run.check(asked.out, known)
    is_server = bool(asked.choice.servers)
    generation_s = _GUESSED_S if is_server else generation_seconds(asked.choice)
    begun = (asked.out / RUN).exists()
    projects = len(asked.projects)
    places = places_of(Run.opened(asked.out)) if begun else sizes(asked.minutes, projects, asked.workers, generation_s)
    shown, line = model.settings.shown_tokens, model.settings.line_tokens
    costs = {each.name: cost(each, places[each.name] * projects, asked.workers, generation_s, shown, line) for each in RUNS}
    how = "a guess, since a plan asks no server" if is_server else "timed just now"
    rates = (
        f"of one worker: a generation {generation_s:.3f} s ({how}); a place found {FOUND_S:.1f} s, a text judged {JUDGED_S:.2f} s "
        f"(measured, docs/performance.md). {counted(asked.workers, 'worker')}. The environments of the tests, which are made once, are not "
        "counted"
    )
    plan = {
        "schema": "assay/study-plan/1",
        "study": STUDY.name,
        "model": model.id,
        "model_name": model.name,
        "projects": known["projects"],
        "run": str(asked.out),
        "minutes": asked.minutes,
        "rates": rates,
        "runs": {each.name: {"share": each.share, **asdict(costs[each.name])} for each in RUNS},
        "whole": asdict(whole(costs)),
    }
    tell(plan, _lines(asked, model, costs, rates), as_json=asked.as_json)


def _lines(asked: Asked, model: StudyModel, costs: Mapping[str, Cost], rates: str) -> Sequence[str]:
    heads = ("run", "time", "places", "calls", "prompt tokens", "new tokens", "texts judged", "hours")
    rows = [heads, *(_row(each.name, f"{each.share} %", costs[each.name]) for each in RUNS), _row("all", "100 %", whole(costs))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"model        {model.name} {model.id}",
        f"projects     {counted(len(asked.projects), 'project')}: {', '.join(project.name for project in asked.projects)}",
        *(row[0].ljust(widths[0]) + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)) for row in rows),
        f"rates        {rates}",
        "             about; prompt tokens at most, and most of them are read once for several calls",
        written(asked.out),
    ]


def _row(name: str, share: str, of: Cost) -> tuple[str, ...]:
    calls = of.generations + of.questions
    return name, share, f"{of.places:,}", f"{calls:,}", f"{of.prompt_tokens:,}", f"{of.new_tokens:,}", f"{of.judged:,}", f"{of.hours:.1f}"
