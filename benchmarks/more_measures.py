"""Which further measures would tell more of whether a suggestion passes its tests? The rules below were fixed before the data were made.

    python benchmarks/more_measures.py COUNTERFEITS ROUND_TRIPS [--python FILE] [--workers N]

COUNTERFEITS, ROUND_TRIPS: runs of `assay eval counterfeit` and `assay eval rtc` on lines, of the embedded model and of the same places.

Candidates, each beside the measures that cost no call:
    agreement           log of (k + ½) / (n + 1): k of the n draws at temperature 0.6 are the suggestion
    identifier margin   smallest log p - log p of the best other token, over tokens that spell a name; over all where there is no name
    elsewhere           log of (k + ½) / (n + 1): k of the n runs of three words of the suggestion stand in another file of the project
    ask_true            `ask_true_normalised`
    round trips         `round_trip`, `round_trip_logprob`, `round_trip_lift` (whole lines alone)
    all                 all of these together

Halves: projects in the order of the SHA-256 of their names, the first ten and the others. Maps are Platt's.
    first half    maps cross-fitted by project: to choose. Nothing else may look at it
    second half   maps of the whole first half, used once: the skill for `tests_pass` with the candidate minus that without it
A candidate is adopted for a task if its gain on the second half is surely above 0 (95 %, with projects as independent). Of drawn texts, for
those measures that are known of them: how much better right texts are told from counterfeits of one place (figure F2), also on the second
half, by maps of the drawn texts of the first. Prints Markdown.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import keyword
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from assay.calibration.arrays import Floats
from assay.calibration.fitting.folds import numbered
from assay.calibration.measures.registry import MEASURES, Measure
from assay.calibration.metrics.groups import mean, skill_gain
from assay.calibration.metrics.intervals import Interval
from assay.calibration.samples import Sample, read_samples
from assay.calibration.validation.held_out import CrossFitted
from assay.inference.completion.task import Task
from assay.inference.model import Generation
from assay.inference.opening import ModelChoice
from assay.offline_eval.asked_line import Asking, OpenModel
from assay.offline_eval.counterfeit.classes import MAIN
from assay.offline_eval.counterfeit.lines.draw import DRAWS
from assay.offline_eval.model import StudyModel, model_of
from assay.offline_eval.pool.choice import Pool
from assay.offline_eval.run import Run
from assay.offline_eval.sets.items import Wanted, items_of_suites
from assay.offline_eval.sets.lines import Place
from assay.offline_eval.sets.projects import default_cache, named, own_code
from assay.offline_eval.suggested import FileWithGap

EVENT = "tests_pass"
TASKS: tuple[Task, ...] = ("line", "line_rest")
FREE = tuple(name for name, each in MEASURES.items() if not each.cost and each.kind in ("intrinsic", "baseline"))
CANDIDATES = {
    "agreement": ("agreement_of_draws",),
    "identifier margin": ("identifier_margin",),
    "elsewhere": ("elsewhere",),
    "ask_true": ("ask_true_normalised",),
    "round trips": ("round_trip", "round_trip_logprob", "round_trip_lift"),
}
# In no registry until they are adopted.
MEASURES |= {
    "agreement_of_draws": Measure("agreement_of_draws", "consistency", 10, "logit_of_exp", 1, "exp", "nats", "log (k + ½) / (n + 1)"),
    "elsewhere": Measure("elsewhere", "intrinsic", 0, "logit_of_exp", 1, "exp", "nats", "log (k + ½) / (n + 1)"),
    "identifier_margin": Measure("identifier_margin", "intrinsic", 0, "identity", 1, None, "nats", "smallest margin at a name"),
}
WORD = re.compile(r"\w+|[^\w\s]")
NAME = re.compile(rb"[^\W\d]", re.ASCII)
KEYWORDS = frozenset(keyword.kwlist)
RUN_OF_WORDS = 3
MIN_PROJECTS = 10


def half_of(project: str, projects: Sequence[str]) -> int:
    """0 for a project of the first half, 1 for one of the second."""
    order = sorted(projects, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    return int(order.index(project) >= len(order) // 2)


def log_share(k: int, n: int) -> float:
    """The logarithm of a share of few, kept from 0 and 1."""
    return math.log((k + 0.5) / (n + 1))


def identifier_margin(made: Generation) -> float | None:
    """The smallest margin at a token that spells a part of a name; of all tokens where there is none."""
    known = [(token.text, token.logprob - token.best_other_logprob) for token in made.tokens if token.best_other_logprob is not None]
    of_names = [(text, margin) for text, margin in known if NAME.search(text) and text.strip().decode(errors="replace") not in KEYWORDS]
    margins = [margin for _, margin in of_names or known if math.isfinite(margin)]
    return min(margins) if margins else None


def runs_of_words(text: str) -> list[tuple[str, ...]]:
    """All runs of three words; the whole where it has fewer."""
    words = WORD.findall(text)
    return [tuple(words[start : start + RUN_OF_WORDS]) for start in range(max(1, len(words) - RUN_OF_WORDS + 1))]


@cache
def files_with(project: str) -> dict[tuple[str, ...], set[str]]:
    """In which files of a project each run of words stands."""
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for path, text in own_code(next(iter(named([project]))), default_cache()):
        for line in text.splitlines():
            for run in runs_of_words(line):
                found[run].add(path)
    return found


def elsewhere(text: str, project: str, path: str) -> float:
    """How much of a text stands in other files of its project."""
    runs, where = runs_of_words(text), files_with(project)
    return log_share(sum(bool(where.get(run, set()) - {path}) for run in runs), len(runs))


@dataclass(frozen=True, slots=True)
class Shown:
    """A suggestion at a place."""

    id: str
    place: Place
    task: Task
    text: str


def asked_margin(asked: OpenModel[None], one: Shown) -> dict[str, Any]:
    """The margin of a suggestion, read again as the model wrote it."""
    gap = dict(one.place.gaps)[one.task]
    before, after = one.place.text[: gap.start], one.place.text[gap.end :]
    at = FileWithGap(before + one.text + after, type(gap)(gap.start, gap.start + len(one.text)), one.task, asked.asking.model.settings)
    made = asked.given(at, asked.memory_at(at, one.place))
    return {"margin": None if made is None else identifier_margin(made)}


def margins(shown: Sequence[Shown], model: StudyModel, pool: Pool) -> dict[str, float]:
    """By id."""
    projects = {project.name: project for project in named((), suite=True)}
    asking: Asking[None] = Asking(model, projects, default_cache(), None, asked_margin)
    answers = (each.answer for each in pool.run(asking, shown, max_item_s=None, waits=False))
    return {answer["id"]: answer["margin"] for answer in answers if answer and answer["margin"] is not None}


def places_of(run: Run, python: Path | None, pool: Pool) -> dict[str, Place]:
    """The places of a run, with their files."""
    question = run.question()
    wanted = Wanted(
        run.folder, named([name.split()[0] for name in question["projects"]]), default_cache(), TASKS, question["per_project"],
        question.get("limit"), question["seed"], python,
    )  # fmt: skip
    return {place.id: place for place in items_of_suites(wanted, pool).places}


def gathered(counterfeits: Path, round_trips: Path, python: Path | None, pool: Pool) -> Iterator[tuple[Task, list[Sample]]]:
    """The shown suggestions of each task with all measures."""
    run = Run.opened(counterfeits)
    places = places_of(run, python, pool)
    draws: dict[str, Counter[str | None]] = {}
    shown: list[Shown] = []
    for answer in run.records(DRAWS).read():
        for one in answer["generations"]:
            gap = f"{answer['id']}:{one['task']}"
            draws.setdefault(gap, Counter())[one["inserted"]] += "stream" in one
            if "stream" not in one and one["inserted"] is not None:
                shown.append(Shown(one["id"], places[answer["id"]], one["task"], one["inserted"]))
    by_id, margin = {one.id: one for one in shown}, margins(shown, model_of(ModelChoice(), TASKS), pool)
    trips = {s.id: s.measures for s in read_samples(round_trips / "samples" / "line.jsonl") if s.rank == 1}
    for task in TASKS:
        found = []
        for sample in read_samples(counterfeits / "samples" / f"{task}.jsonl"):
            one = by_id[sample.id]
            count = draws[f"{one.place.id}:{task}"]
            more = {
                "agreement_of_draws": log_share(count[one.text], sum(count.values())),
                "elsewhere": elsewhere(one.text, sample.project, one.place.path.partition("/")[2]),
                **({"identifier_margin": margin[sample.id]} if sample.id in margin else {}),
                **{name: value for name, value in trips.get(sample.id, {}).items() if name in CANDIDATES["round trips"] and task == "line"},
            }
            found.append(structs.replace(sample, measures=sample.measures | more))
        yield task, found


def gain(fitted: CrossFitted, judged: Sequence[Sample], more: tuple[str, ...]) -> Interval | None:
    """The skill with further measures minus that without, of the same samples."""
    p, q = (fitted(judged, EVENT, features) for features in (FREE, (*FREE, *more)))
    y = np.array([bool(s.labels[EVENT]) for s in judged])
    return skill_gain(p, y, q, y, numbered([s.project for s in judged]))


def rows_of(task: str, samples: Sequence[Sample]) -> Iterator[tuple[str, ...]]:
    """A row for each candidate."""
    projects = sorted({s.project for s in samples})
    together = tuple(name for names in CANDIDATES.values() for name in names)
    for name, features in {**CANDIDATES, "all": together}.items():
        there = tuple(f for f in features if any(f in s.measures for s in samples))
        known = [s for s in samples if s.labels[EVENT] is not None and all(f in s.measures for f in (*FREE, *there))]
        if not there or not known:
            continue
        halves = [[s for s in known if half_of(s.project, projects) == number] for number in (0, 1)]
        fitted = CrossFitted(tuple(halves[0]), "project", "platt")
        first, second = gain(fitted, halves[0], there), gain(fitted, halves[1], there)
        adopted = "adopted" if second and second.low > 0 else "not adopted"
        yield (task, name, f"{len(halves[0]):,} + {len(halves[1]):,}", _said(first), _said(second), adopted)


def rows_of_drawn(task: str, counterfeits: Path) -> Iterator[tuple[str, ...]]:
    """Of drawn texts: the AUC of right texts against counterfeits of one place with a measure, minus that without."""
    run = Run.opened(counterfeits)
    facts = {fact["id"]: fact for fact in _facts(run)}
    distinct: dict[tuple[str, str], Sample] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for sample in read_samples(counterfeits / "samples" / f"{task}-t0.6.jsonl"):
        key = facts[sample.id]["gap"], sample.text_sha256
        distinct.setdefault(key, sample)
        counts[key] += 1
    total = Counter(gap for gap, _ in counts.elements())
    samples = {
        key: structs.replace(s, measures=s.measures | {"agreement_of_draws": log_share(counts[key], total[key[0]])})
        for key, s in distinct.items()
    }
    projects = sorted({s.project for s in samples.values()})
    for name in ("agreement", "ask_true"):
        (feature,) = CANDIDATES[name]
        known = {k: s for k, s in samples.items() if s.labels[EVENT] is not None and all(f in s.measures for f in (*FREE, feature))}
        fitted = CrossFitted(tuple(s for s in known.values() if half_of(s.project, projects) == 0), "project", "platt")
        judged = {k: s for k, s in known.items() if half_of(s.project, projects) == 1}
        p, q = (fitted(list(judged.values()), EVENT, features) for features in (FREE, (*FREE, feature)))
        found = _within(list(judged), list(judged.values()), p, q, facts)
        yield (task, name, f"{len(judged):,} texts", "", _said(found), "reported")


def _within(keys: Sequence[tuple[str, str]], samples: Sequence[Sample], p: Floats, q: Floats, facts: Mapping[str, Any]) -> Interval | None:
    """The mean over places of the AUC by q minus that by p, of right texts against counterfeits."""
    places: dict[str, dict[str, list[int]]] = defaultdict(lambda: {"right": [], "counterfeit": []})
    for row, ((gap, _), sample) in enumerate(zip(keys, samples, strict=True)):
        kind = facts[sample.id]["classes"][MAIN]
        if kind in places[gap]:
            places[gap][kind].append(row)
    differences, projects = [], []
    for both in places.values():
        if both["right"] and both["counterfeit"]:
            a, b = (_auc(score[both["right"]], score[both["counterfeit"]]) for score in (p, q))
            differences.append(b - a)
            projects.append(samples[both["right"][0]].project)
    return mean(differences, numbered(projects)) if len(set(projects)) > 1 else None


def _auc(right: Floats, wrong: Floats) -> float:
    above = right[:, None] - wrong[None, :]
    return float(np.mean((above > 0) + 0.5 * (above == 0)))


def _facts(run: Run) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run.folder / "facts.jsonl").read_text(encoding="utf-8").splitlines()]


def _said(found: Interval | None) -> str:
    return "not defined" if found is None else f"{found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("counterfeits", type=Path)
    parser.add_argument("round_trips", type=Path)
    parser.add_argument("--python", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    if len(Run.opened(asked.counterfeits).question()["projects"]) < MIN_PROJECTS:
        parser.error(f"a half needs {MIN_PROJECTS // 2} projects: name a run of {MIN_PROJECTS} or more")
    pool = Pool(workers=asked.workers)
    rows = [row for task, found in gathered(asked.counterfeits, asked.round_trips, asked.python, pool) for row in rows_of(task, found)]
    rows += [row for task in TASKS for row in rows_of_drawn(task, asked.counterfeits)]
    for row in (("task", "with", "samples", "first half", "second half", ""), ("---",) * 6, *rows):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
