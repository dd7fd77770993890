"""Repairs of lines of real projects: is what the editor proposes for a wrong line right, and does its number say so?

The places are those whose loss the tests of 20 projects notice. Wrong lines are put there, and the tests must notice them. With
`--set commits` they are lines that a commit changed, which become again what they were before.

    draw       wrong lines that the model draws for the place, where it has none of a commit
    bug        one bug by a rule and one that the model drew, or that of the commit, each with the tests that fail for it
    propose    what the editor proposes at each bug, and, as a control, at the right line
    label      what the tests say of each distinct text
    locate     how much the lines that the failing tests run surprise the model
    search     all that was proposed, tested in its order until the tests pass, as where tests may run
    loop       beside it, mutation and test without a model: the rules' candidates in the order of the document
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict

from ....analysis.corpora.git_history import GitError, open_repository
from ....inference.completion.settings import Sampling
from ....suggestion.repair.confidence import RANKS
from ...asked_line import Asking
from ...counterfeit.lines.label import LABELS, MAX_TEXT_S, profiled
from ...errors import UsageError
from ...model import StudyModel, model_of
from ...on_suites import SuiteOptions, ask_about, items_of_suites, model_and_items, question_about
from ...repairs.candidates import question_of_repairs
from ...run import Question, Run, Step
from ...sets.suites import Items, Judging
from ...study import Making, Plan, Results, Study, Work, all_of
from ..candidates import BELONGS, LOOPED, MAX_TRIED, SEARCHED, Attempt, Trial, answer_of, require_scores
from ..report import attempt_of, write_report
from ..tables import Fault, fault_of, generations_of
from . import steps

# A bug by a rule, and one that the model drew.
_SOURCES = 2
# A suite is run several times before it can judge.
_MAX_BUG_S = 3600.0


class Place(TypedDict):
    """A line of items.jsonl."""

    id: str
    project: str
    file: str
    function: str
    line: int


def _answers(run: Run) -> list[Any]:
    """The repairs at each line that have a score, with what the tests said; and the suspects of each failure."""
    made, labels = run.by_id(steps.PROPOSED), run.by_id(LABELS)
    places = {place["id"]: place for place in run.items(Place)}
    answers = [
        answer_of(name, dict(place), made[name], labels, arm="" if bug else steps.CONTROL)
        for place, name, bug in _lines(run)
        if name in made
    ]
    for fault in faults_of(run):
        place = places[fault.id.rpartition(":")[0]]
        answers.append({**place, "id": fault.id, "generations": list(generations_of(fault))})
    return answers


def _report(run: Run, results: Results, *, as_json: bool) -> None:
    """A page, and a summary on stderr."""
    lost = STUDY.lost(run)
    write_report(run, results, list(attempts_of(run)), lost, by="project", faults=list(faults_of(run)), as_json=as_json)


_STEPS = (steps.DRAWN, steps.BUGS, steps.PROPOSED, LABELS, steps.LOCATED, SEARCHED, LOOPED)
STUDY = Study("repairs", _STEPS, ("set",), _report, answers=_answers)


def attempts_of(run: Run) -> Iterator[Attempt]:
    """Each line that something was proposed for."""
    made, labels, searched, looped = (run.by_id(step) for step in (steps.PROPOSED, LABELS, SEARCHED, LOOPED))
    for place, name, bug in _lines(run):
        if name in made:
            yield attempt_of(name, place["project"], bug, made[name], labels, searched.get(name), looped.get(name))


def faults_of(run: Run) -> Iterator[Fault]:
    """The failure of each bug whose lines the model was asked about."""
    located = run.by_id(steps.LOCATED)
    for place, name, bug in _lines(run):
        if bug is not None and name in located:
            yield fault_of(name, place["project"], place["file"].partition("/")[2], bug, located[name]["surprises"])


def _lines(run: Run) -> Iterator[tuple[Place, str, steps.Bug | None]]:
    """The lines of a run with their ids: as `steps.lines_of`, but from its records alone."""
    bugs = run.by_id(steps.BUGS)
    for place in run.items(Place):
        if place["id"] in bugs:
            yield from ((place, steps.line_id(place["id"], bug), bug) for bug in (*bugs[place["id"]]["bugs"], None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(SuiteOptions):
    """What the user wants."""

    per_project: int = 20

    def check(self) -> None:
        """As for any suites, and that each history can be read. Raises UsageError too."""
        SuiteOptions.check(self)
        if self.histories is not None:
            try:
                for source in self.chosen:
                    open_repository(self.histories / source.name)
            except GitError as error:
                raise UsageError(f"--data: {error}; --projects names those whose histories are there") from None

    def model(self) -> StudyModel:
        """The model. Raises as `require_scores` and `model_of`."""
        return require_scores(model_of(self.choice, ("line",), memory=self.memory, sampling=Sampling(steps.TEMPERATURE)))


def run_lines(options: Options) -> Run:
    """Run, or resume, the study. Raises as `on_suites.model_and_items`."""
    return ask(options, *model_and_items(options, options.model, question_of, items_of_suites))


def ask(options: Options, model: StudyModel, items: Items) -> Run:
    """Run, or resume, the study about these items. Raises as `run_lines`."""
    return ask_about(STUDY, options, question_of(options, model), items, lambda run: _works(options, run, model, items), _most(options))


def _most(options: Options) -> dict[str, int]:
    """At most how many of what there are."""
    places = options.most_places
    bugs = places if options.histories else places * _SOURCES
    return {
        "most_bugs": bugs,
        "most_generations": 0 if options.histories else places * steps.DRAWS,
        "most_lines_repaired": bugs + places,
        "most_texts_judged": bugs * steps.TRIES + bugs * RANKS * len(BELONGS) + places * steps.MAX_CONTROLS,
        "most_mutants_tested": bugs * MAX_TRIED,
    }


def question_of(options: Options, model: StudyModel) -> Question:
    """What makes a run another one, as far as it is known before there are items."""
    more = {**question_of_repairs(model), "prompt_sampled": model.sampled["line"]}
    return question_about(options, model, STUDY.name, more)


def _works(options: Options, run: Run, model: StudyModel, items: Items) -> Mapping[str, Making | Plan]:
    def asking(step: Step, what: Callable[..., dict[str, Any]], wanted: Iterable[Any]) -> Work[Any]:
        in_chat = step is steps.PROPOSED
        return all_of(step, wanted, Asking(model, options.seed, what, options.code, in_chat), options.pool, waits=options.waits)

    def judging(step: Step, what: Callable[..., dict[str, Any]], wanted: Iterable[Any], most_s: float) -> Work[Any]:
        return all_of(step, wanted, Judging(items.contents, what), options.pool, max_item_s=most_s)

    def bugs() -> dict[str, Any]:
        return run.by_id(steps.BUGS)

    seed = options.seed
    unbroken = [place for place in items.places if not place.bug]
    plan: dict[str, Making] = {
        **({"draw": lambda: asking(steps.DRAWN, steps.draw, unbroken)} if unbroken else {}),
        "bug": lambda: judging(
            steps.BUGS, partial(steps.broken, seed), steps.wrong_of(items.places, run.by_id(steps.DRAWN), items.suites), _MAX_BUG_S
        ),
        "propose": lambda: asking(steps.PROPOSED, steps.propose_at, steps.lines_of(items, bugs())),
        "label": lambda: judging(
            LABELS, partial(profiled, seed), steps.texts_of(steps.lines_of(items, bugs()), run.by_id(steps.PROPOSED)), MAX_TEXT_S
        ),
        "locate": lambda: asking(steps.LOCATED, steps.locate, steps.failing_of(items, bugs(), seed)),
        "search": lambda: judging(
            SEARCHED,
            steps.try_all,
            steps.searched_of(steps.lines_of(items, bugs()), run.by_id(steps.PROPOSED)),
            _MAX_BUG_S,
        ),
        "loop": lambda: judging(LOOPED, steps.try_all, (Trial(line) for line in steps.lines_of(items, bugs()) if line.bug), _MAX_BUG_S),
    }
    return plan
