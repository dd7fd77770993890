"""The line twin of CatCode (Lin et al., arXiv 2403.01784): does a model tell a change of names and order from a change of meaning?

The places are those whose loss the tests of 20 projects notice. What is rewritten is a line that passes them.

    answers      what the editor would suggest at the place
    rewrite      rewrites of the line and of the code around it, each confirmed by the tests: no model is asked
    score        what the model says of the line, of its rewrites, and of the line where the code around it is rewritten
    regenerate   what the editor would suggest where the code around the place is rewritten
    label        what the tests say of that
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....analysis.oracle.changes import changed_lines
from ....inference.opening import ModelChoice
from ....suggestion.memory.scope import DEFAULT_SCOPE, Scope
from ...asked_line import Asking
from ...calibration.draw import EVENT, label_id
from ...errors import UsageError
from ...model import StudyModel, model_of
from ...pool.choice import Pool
from ...progress import counted, tell_if_stopped, to_stderr
from ...run import Run, check_writable
from ...sets.items import Wanted, check_suites, items_of_suites, lines_of, question_of_items
from ...sets.projects import Project, default_cache, named
from ...sets.suites import Items, Judged, Judging, Label
from ...study import Plan, Results, Step, Work, conduct
from ..options import CODES
from .asking import ANSWERS, REGENERATED, SCORES, RewrittenPlace, Variants, answer, regenerate, score
from .confirm import REWRITES, Confirming, Line
from .facts import Known, facts_of, is_exact, lines_at
from .report import write_report

PER_PROJECT = 40
# What the tests say of suggestions: in the code as it is, and where it is rewritten.
LABELS = Step("labels", "text", Label)
REGENERATED_LABELS = Step("regenerated_labels", "text", Label)
FACTS = "facts.jsonl"
# A suite is run several times before it can judge, and a line has many rewrites.
_MAX_TEXT_S, _MAX_LINE_S = 1800.0, 3600.0


class LineStudy:
    """The study, as the driver sees it."""

    name = "catcode"
    steps = (ANSWERS, LABELS, REWRITES, SCORES, REGENERATED, REGENERATED_LABELS)
    needed = ("set",)

    def answers(self, run: Run) -> list[Any]:
        """Each place's suggestion, with what its tests said. Nothing that was rewritten is among them: samples are what an editor shows."""
        answers, said = run.records(ANSWERS).read(), _said(run, LABELS)
        for each in answers:
            for one in each["generations"]:
                if one["inserted"] is not None:
                    known = said.get(label_id(each["id"], one["task"], one["inserted"]))
                    one["labels"]["tests_pass"] = True if one["labels"][EVENT] else known
        return answers

    def report(self, run: Run, results: Results, *, as_json: bool) -> None:
        """The facts, a page, and a summary on stderr."""
        facts = facts_of(results.answers, known_of(run), run.question()["of"])
        run.write_lines(FACTS, facts)
        write_report(run, results, facts, sum(len(run.lost(step)) for step in self.steps), as_json=as_json)


STUDY = LineStudy()


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants.

    of: what is rewritten, truth or suggestion. projects: where none is named, all that have a suite. per_project: at most so many places of
    each; limit: of all. The rest as of the calibration study.
    """

    out: Path
    choice: ModelChoice = field(default_factory=ModelChoice)
    of: tuple[str, ...] = CODES
    projects: Sequence[Project] = ()
    per_project: int | None = None
    limit: int | None = None
    seed: int = 0
    pool: Pool = field(default_factory=Pool)
    cache: Path | None = None
    python: Path | None = None
    memory: Scope = DEFAULT_SCOPE
    steps: Sequence[str] = ()
    as_json: bool = False

    @property
    def archives(self) -> Path:
        """Where the projects' distributions are."""
        return self.cache or default_cache()

    @property
    def chosen(self) -> Sequence[Project]:
        """Where no project is named, all that have a suite."""
        return self.projects or named((), suite=True)

    @property
    def most(self) -> int:
        """At most so many places of a project."""
        return self.per_project or PER_PROJECT

    def model(self) -> StudyModel:
        """The model. Raises UsageError for one that can't be asked about given texts, and as `model_of`."""
        found = model_of(self.choice, ("line",), memory=self.memory)
        if not found.replays:
            raise UsageError(f"{found.name} does not say how likely a given text is, which is what this study asks: name a model's file")
        return found

    def check(self) -> None:
        """Check what would otherwise fail late, or in a plan not at all. Raises UsageError and UnusableInterpreter."""
        check_writable(self.archives, "the projects' archives are kept there: name another folder with --cache")
        check_suites(self.python)


def run_lines(asked: Asked) -> Run:
    """Run, or resume, the study.

    Raises UsageError, RunError, StudyError, NoIsolation, UnusableInterpreter, ModelError and OSError.
    """
    asked.check()
    with tell_if_stopped(lambda: "stopped before anything was asked; what was fetched or found is kept, and the same command goes on"):
        model = asked.model()
        Run.check(asked.out, question_of(asked, model))
        wanted = Wanted(asked.out, asked.chosen, asked.archives, ("line",), asked.most, asked.limit, asked.seed, asked.python)
        items = items_of_suites(wanted, asked.pool)
    return ask(asked, model, items)


def ask(asked: Asked, model: StudyModel, items: Items) -> Run:
    """Run, or resume, the study about these items. Raises as `run_lines`."""
    lines = lines_of(items)
    run = Run.begin(asked.out, question_of(asked, model) | question_of_items(items, lines))
    run.keep_items(lines)
    to_stderr(f"{counted(len(items.places), 'place')} of {counted(len(items.suites), 'project')}")
    conduct(STUDY, run, _plan(asked, run, model, items), as_json=asked.as_json)
    return run


def question_of(asked: Asked, model: StudyModel) -> dict[str, str | int | Sequence[str]]:
    """What makes a run another one, as far as it is known before there are items."""
    question: dict[str, str | int | Sequence[str]] = {
        **model.question(STUDY.name),
        "set": "lines",
        "of": list(asked.of),
        "seed": asked.seed,
        "per_project": asked.most,
        "projects": [f"{project.name} {project.version}" for project in asked.chosen],
    }
    if asked.limit:
        question["limit"] = asked.limit
    return question


def _plan(asked: Asked, run: Run, model: StudyModel, items: Items) -> Plan:
    projects, pool, waits = {project.name: project for project in asked.chosen}, asked.pool, bool(asked.choice.servers)

    def asking(step: Step, what: Callable[..., dict[str, Any]], found: Sequence[Any]) -> Work[Any]:
        return Work(step, found, Asking(model, projects, asked.archives, None, what), pool, len(found), waits=waits)

    def judging(step: Step, found: Sequence[Judged]) -> Work[Any]:
        return Work(step, found, Judging(items.contents), pool, len(found), max_item_s=_MAX_TEXT_S)

    def rewrites() -> Work[Any]:
        found = list(_passing(run, items))
        return Work(REWRITES, found, Confirming(items.contents, asked.seed), pool, len(found), max_item_s=_MAX_LINE_S)

    plan: dict[str, list[Callable[[], Work[Any]]]] = {
        "answers": [lambda: asking(ANSWERS, answer, items.places)],
        "rewrite": [lambda: judging(LABELS, list(_suggested(run, items))), rewrites],
        "score": [lambda: asking(SCORES, score, list(_rewritten(run, items)))],
        "regenerate": [lambda: asking(REGENERATED, regenerate, list(_places(run, items)))],
        "label": [lambda: judging(REGENERATED_LABELS, list(_regenerated(run, items)))],
    }
    return [work for name, works in plan.items() if not asked.steps or name in asked.steps for work in works]


def _suggested(run: Run, items: Items) -> Iterator[Judged]:
    """Each suggestion that is not the project's own line."""
    places = {place.id: place for place in items.places}
    for each in run.records(ANSWERS).read():
        place, (one,) = places[each["id"]], each["generations"]
        gap = dict(place.gaps)["line"]
        if one["inserted"] is not None and not one["labels"][EVENT]:
            text = place.text[: gap.start] + one["inserted"] + place.text[gap.end :]
            assert place.judged, "places of suites are judged"
            name = label_id(place.id, "line", one["inserted"])
            yield Judged(name, items.suites[place.project], place.path.partition("/")[2], text, place.judged)


def _passing(run: Run, items: Items) -> Iterator[Line]:
    """The lines that pass their tests."""
    places, said = {place.id: place for place in items.places}, _said(run, LABELS)
    for each in run.records(ANSWERS).read():
        place, (one,) = places[each["id"]], each["generations"]
        for text in lines_at(each, run.question()["of"]).values():
            if is_exact(text, one["truth"]) or said.get(label_id(place.id, "line", text)):
                start, end = each["shown"]
                yield Line(place, text, (start, end), items.suites[place.project])


def _rewritten(run: Run, items: Items) -> Iterator[Variants]:
    """The lines with rewrites."""
    known = {record["id"]: record["variants"] for record in run.records(REWRITES).read()}
    yield from (Variants(line, tuple(known[line.id])) for line in _passing(run, items) if known.get(line.id))


def _places(run: Run, items: Items) -> Iterator[RewrittenPlace]:
    """Each place in the code of the longest chain of rewrites around its first line."""
    known = set[str]()
    for each in _rewritten(run, items):
        chains = [(len(one["steps"]), number) for number, one in enumerate(each.variants) if one["arm"] == "context"]
        if chains and each.line.place.id not in known:
            known.add(each.line.place.id)
            number = max(chains)[1]
            yield RewrittenPlace(each.line, number, each.variants[number])


def _regenerated(run: Run, items: Items) -> Iterator[Judged]:
    """What is suggested in rewritten code, unless it is the line that the tests know there."""
    made = {record["id"]: record for record in run.records(REGENERATED).read()}
    for each in _places(run, items):
        found, place = made.get(each.id), each.line.place
        if found and found["inserted"] is not None and not found["equal"]:
            text = each.view.with_line(found["inserted"]).text
            region = changed_lines(place.text, text)
            suite = items.suites[place.project]
            yield Judged(f"{place.id}:rewritten", suite, place.path.partition("/")[2], text, (region.start, region.stop - 1))


def _said(run: Run, step: Step) -> dict[str, bool | None]:
    return {label["id"]: label["tests_pass"] for label in run.records(step).read()}


def known_of(run: Run) -> Known:
    """The records that facts are made of. Raises RunError for damaged ones."""

    def by_id(step: Step) -> dict[str, Any]:
        return {record["id"]: record for record in run.records(step).read()}

    said = _said(run, REGENERATED_LABELS)
    return {"rewrites": by_id(REWRITES), "scores": by_id(SCORES), "regenerated": by_id(REGENERATED), "said": said}
