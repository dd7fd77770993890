"""The line twin of CatCode (Lin et al., arXiv 2403.01784): does a model tell a change of names and order from a change of meaning?

The places are those whose loss the tests of 20 projects notice. What is rewritten is a line that passes them.

    answers      what the editor would suggest at the place
    rewrite      rewrites of the line and of the code around it, each confirmed by the tests: no model is asked
    score        what the model says of the line, of its rewrites, and of the line where the code around it is rewritten
    regenerate   what the editor would suggest where the code around the place is rewritten
    label        what the tests say of that

Of folders of the user's (`--code`) no test confirms a rewrite, so only the code around a line is rewritten, by rules that refuse where they
are not certain that it does the same. The line is what stands there, or a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from ....analysis.oracle.changes import changed_lines
from ...asked_line import EVENT, Asking, label_id
from ...errors import UsageError
from ...model import StudyModel, model_of
from ...on_suites import SuiteOptions, ask_about, items_of_suites, model_and_items, question_about
from ...run import Question, Run, Step
from ...sets.suites import Items, Judged, Judging, Label
from ...study import Making, Plan, Results, Study, Work, all_of
from ...study_page import again, write_page
from .asking import (
    ANSWERS,
    REGENERATED,
    REWRITES,
    SCORES,
    Known,
    Line,
    RewrittenPlace,
    Variants,
    answer,
    confirmed,
    facts_of,
    is_exact,
    lines_at,
    regenerate,
    score,
)
from .page import content_of, figures_of
from .rewrites import MAX_CHAIN, MAX_UNCONFIRMED, MAX_WRONG, ON_LINE

# What is rewritten: the line of the project, and what a model suggests in its place.
CODES = ("truth", "suggestion")
# What the tests say of suggestions: in the code as it is, and where it is rewritten.
LABELS = Step("labels", "text", Label)
REGENERATED_LABELS = Step("regenerated_labels", "text", Label)
FACTS = "facts.jsonl"
# A suite is run several times before it can judge, and a line has many rewrites.
_MAX_TEXT_S, _MAX_LINE_S = 1800.0, 3600.0


def _answers(run: Run) -> list[Any]:
    """Each place's suggestion, with what its tests said. Nothing that was rewritten is among them: samples are what an editor shows."""
    answers, said = run.records(ANSWERS).read(), run.by_id(LABELS, "tests_pass")
    if run.question()["set"] == "code":
        return answers
    for each in answers:
        for one in each["generations"]:
            if one["inserted"] is not None:
                known = said.get(label_id(each["id"], one["task"], one["inserted"]))
                one["labels"]["tests_pass"] = True if one["labels"][EVENT] else known
    return answers


def _report(run: Run, results: Results, *, as_json: bool) -> None:
    """The facts, a page, and a summary on stderr. Raises StudyError and SampleError."""
    question, samples = run.question(), [sample for found in results.samples.values() for sample in found]
    facts = facts_of(results.answers, known_of(run), question["of"], tested=question["set"] != "code")
    run.write_lines(FACTS, map(msgspec.to_builtins, facts))
    content = content_of(question, facts, samples, again(run), STUDY.lost(run), tuple(figures_of(question, samples, facts)))
    write_page(run.folder, content, samples=results.paths, as_json=as_json)


STUDY = Study("catcode", (ANSWERS, LABELS, REWRITES, SCORES, REGENERATED, REGENERATED_LABELS), ("set",), _report, answers=_answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(SuiteOptions):
    """What the user wants. of: what is rewritten, truth or suggestion. tasks: one; of suites the whole line."""

    per_project: int = 40
    of: tuple[str, ...] = CODES

    @property
    def codes(self) -> tuple[str, ...]:
        """What is rewritten: without tests only what stands there is known to be right."""
        return ("truth",) if self.folders else self.of

    def model(self) -> StudyModel:
        """The model. Raises UsageError for one that can't be asked about given texts, and as `model_of`."""
        found = model_of(self.choice, ("line", *self.tasks), memory=self.memory)
        if not found.replays:
            raise UsageError(f"{found.name} does not say how likely a given text is, which is what this study asks: name a model's file")
        return found


def run_lines(options: Options) -> Run:
    """Run, or resume, the study. Raises as `on_suites.model_and_items`."""
    return ask(options, *model_and_items(options, options.model, question_of, items_of_suites))


def ask(options: Options, model: StudyModel, items: Items) -> Run:
    """Run, or resume, the study about these items. Raises as `run_lines`."""
    works, most = partial(_works, options, model=model, items=items), _most(options, model)
    return ask_about(STUDY, options, question_of(options, model), items, works, most)


def _most(options: Options, model: StudyModel) -> dict[str, int]:
    """At most how many of what there are."""
    places, lines = options.most_places, options.most_places * len(options.codes)
    return {
        "most_generations": 2 * places,
        "most_new_tokens": 2 * places * model.settings.line_tokens,
        "most_scored_texts": lines * (2 + MAX_CHAIN if options.folders else MAX_SCORED),
        "most_texts_judged": 0 if options.folders else 2 * places + lines * MAX_JUDGED,
    }


def question_of(options: Options, model: StudyModel) -> Question:
    """What makes a run another one, as far as it is known before there are items."""
    more: dict[str, Any] = {"tasks": list(options.tasks)} if options.folders else {}
    return question_about(options, model, STUDY.name, {"of": list(options.codes), **more})


def _works(options: Options, run: Run, model: StudyModel, items: Items) -> Mapping[str, Making | Plan]:
    def asking(step: Step, what: Callable[..., dict[str, Any]], wanted: Iterable[Any]) -> Work[Any]:
        return all_of(step, wanted, Asking(model, None, what, options.code), options.pool, waits=options.waits)

    def judging(step: Step, wanted: Iterable[Judged]) -> Work[Any]:
        return all_of(step, wanted, Judging(items.contents), options.pool, max_item_s=_MAX_TEXT_S)

    def rewriting() -> Work[Any]:
        start = Judging(items.contents, partial(confirmed, options.seed))
        return all_of(REWRITES, _passing(run, items), start, options.pool, max_item_s=_MAX_LINE_S)

    judged = () if options.folders else (lambda: judging(LABELS, _suggested(run, items)),)
    plan: dict[str, Plan] = {
        "answers": [lambda: asking(ANSWERS, answer, items.places)],
        "rewrite": [*judged, rewriting],
        "score": [lambda: asking(SCORES, score, _rewritten(run, items))],
        "regenerate": [lambda: asking(REGENERATED, regenerate, _places(run, items))],
    }
    if not options.folders:
        plan["label"] = [lambda: judging(REGENERATED_LABELS, _regenerated(run, items))]
    return plan


def _suggested(run: Run, items: Items) -> Iterator[Judged]:
    """Each suggestion that is not the project's own line."""
    places = items.by_id
    for each in run.records(ANSWERS).read():
        place, (one,) = places[each["id"]], each["generations"]
        if one["inserted"] is not None and not one["labels"][EVENT]:
            name = label_id(place.id, "line", one["inserted"])
            yield items.judged(name, place, place.with_text(place.gap("line"), one["inserted"]))


def _passing(run: Run, items: Items) -> Iterator[Line]:
    """The lines that pass their tests."""
    places, said = items.by_id, run.by_id(LABELS, "tests_pass")
    for each in run.records(ANSWERS).read():
        place, (one,) = places[each["id"]], each["generations"]
        for text in lines_at(each, run.question()["of"]).values():
            if is_exact(text, one["truth"]) or said.get(label_id(place.id, one["task"], text)):
                start, end = each["shown"]
                yield Line(place, text, (start, end), items.suites.get(place.project))


def _rewritten(run: Run, items: Items) -> Iterator[Variants]:
    """The lines with rewrites."""
    known = run.by_id(REWRITES, "variants")
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
    made = run.by_id(REGENERATED)
    for each in _places(run, items):
        found, place = made.get(each.id), each.line.place
        if found and found["inserted"] is not None and not found["equal"]:
            text = each.view.with_line(found["inserted"]).text
            region = changed_lines(place.text, text)
            yield Judged(f"{place.id}:rewritten", items.suites[place.project], place.file, text, (region.start, region.stop - 1))


def known_of(run: Run) -> Known:
    """The records that facts are made of. Raises RunError for damaged ones."""
    said = run.by_id(REGENERATED_LABELS, "tests_pass")
    return {"rewrites": run.by_id(REWRITES), "scores": run.by_id(SCORES), "regenerated": run.by_id(REGENERATED), "said": said}


# Of a line: as it is, once more, and each rewrite.
MAX_SCORED = 2 + MAX_CHAIN + len(ON_LINE) + MAX_WRONG
MAX_JUDGED = MAX_CHAIN + MAX_UNCONFIRMED + len(ON_LINE) + MAX_WRONG + MAX_UNCONFIRMED
