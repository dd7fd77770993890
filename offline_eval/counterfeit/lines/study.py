"""The line twin of the counterfeit study (Gu et al., arXiv 2402.19475): does a model know its own plausible errors?

Lines are taken out of real projects where their tests notice it. The model completes each as in the editor, and draws further texts at a
temperature. The project's tests judge each distinct text, and say how much of them it keeps (`classes`). Steps:

    draw     the suggestion that is shown, and N draws                              draws.jsonl
    label    what each test that touches a text says of it                          labels.jsonl
    judge    whether the model, asked, calls a text right                           judgements.jsonl
    repair   the model rewrites counterfeits, and tests judge what it wrote         repairs.jsonl, repair_labels.jsonl

Executing code is left out: a model of lines can't be asked for it. Of folders of the user's (`--code`) no test is run: right is what stood
there, a counterfeit whatever else parses, and the steps label and repair are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ....inference.completion.settings import Sampling
from ....inference.completion.task import Task
from ...asked_line import Asking
from ...errors import UsageError
from ...model import StudyModel, model_of
from ...on_suites import SuiteOptions, ask_about, items_of_suites, model_and_items, question_about
from ...progress import to_stderr
from ...run import Question, Run
from ...sets.suites import Items, Judging
from ...study import Making, Plan, Results, Study, all_of
from . import label
from .draw import DRAWS, JUDGEMENTS, MEASURE, TASKS, Drawing, draw, drawn_at, judge
from .report import write_report


def _report(run: Run, results: Results, *, as_json: bool) -> None:
    """facts.jsonl, a page, and a summary on stderr."""
    label.write_facts(run, results.answers)
    write_report(run, results, STUDY.lost(run), as_json=as_json)


STUDY = Study(
    "counterfeit",
    (DRAWS, label.LABELS, JUDGEMENTS, label.REPAIRS, label.REPAIR_LABELS),
    ("items", "prompt_sampled"),
    _report,
    answers=label.labelled,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(SuiteOptions):
    """What the user wants. draws: texts at each gap, at the temperature."""

    tasks: Sequence[Task] = ("line", "line_rest")
    draws: int = 10
    temperature: float = 0.6

    def model(self) -> StudyModel:
        """The model. Raises UsageError for one that a step which is named can't be done with, and as `model_of`."""
        model = model_of(self.choice, TASKS, reflective=None, memory=self.memory, sampling=Sampling(self.temperature))
        if "judge" in self.steps and MEASURE not in model.questions:
            raise UsageError(f"{model.name} can't be asked about what it wrote, so the step judge does nothing: leave it out")
        if "repair" in self.steps and not model.mends:
            raise UsageError(f"{model.name} was not trained to mend lines, so the step repair does nothing: leave it out")
        return model


def run_lines(options: Options) -> Run:
    """Run, or resume, the study. Raises as `on_suites.model_and_items`."""
    return ask(options, *model_and_items(options, options.model, question_of, items_of_suites))


def ask(options: Options, model: StudyModel, items: Items) -> Run:
    """Run, or resume, the study about these items. Raises as `run_lines`."""
    if not (model.mends or options.folders):
        to_stderr(f"note: {model.name} was not trained to mend lines: repair is left out")
    if MEASURE not in model.questions:
        to_stderr(f"note: {model.name} can't be asked about what it wrote: of judging only its own probability is left")
    works, most = partial(_works, options, model=model, items=items), _most(options, model)
    return ask_about(STUDY, options, question_of(options, model), items, works, most)


def _most(options: Options, model: StudyModel) -> dict[str, int]:
    """At most how many of what there are."""
    gaps = options.most_places * len(options.tasks)
    texts = gaps * (1 + options.draws)
    repairs = gaps * label.MAX_REPAIRED * (1 + label.DRAWS_EACH) if model.mends and not options.folders else 0
    return {
        "most_draws": texts,
        "most_generations": texts + repairs,
        "most_questions": texts if MEASURE in model.questions else 0,
        "most_repairs": repairs,
        "most_new_tokens": (texts + repairs) * model.settings.line_tokens,
        "most_texts_judged": 0 if options.folders else texts + repairs,
    }


def question_of(options: Options, model: StudyModel) -> Question:
    """What makes a run another one, as far as it is known before there are items."""
    question: dict[str, Any] = {
        "prompt_sampled": model.sampled["line"],
        "draws": options.draws,
        "temperature": f"{options.temperature:g}",
        "tasks": list(options.tasks),
        "mends": "yes" if model.mends and not options.folders else "no",
    }
    if model.questions:
        question["questions"] = [f"{MEASURE} {model.questions[MEASURE].fingerprint}"] if MEASURE in model.questions else []
    return question_about(options, model, STUDY.name, question)


def _works(options: Options, run: Run, model: StudyModel, items: Items) -> Mapping[str, Making | Plan]:
    pool, waits, tests = options.pool, options.waits, {"max_item_s": label.MAX_TEXT_S}
    drawing = Asking(model, Drawing(options.draws, options.temperature, options.seed), draw, options.code)
    profiling = Judging(items.contents, partial(label.profiled, options.seed))
    plan: dict[str, Plan] = {"draw": [lambda: all_of(DRAWS, items.places, drawing, pool, waits=waits)]}
    if not options.folders:
        plan["label"] = [lambda: all_of(label.LABELS, label.drawn_texts(run, items), profiling, pool, **tests)]
    if MEASURE in model.questions:
        judging = Asking(model, model.questions[MEASURE], judge)
        plan["judge"] = [lambda: all_of(JUDGEMENTS, drawn_at(run, items), judging, pool, waits=waits)]
    if model.mends and not options.folders:
        mending = Asking(model, label.Mending(options.temperature, options.seed), label.mend)
        plan["repair"] = [
            lambda: all_of(label.REPAIRS, label.counterfeits(run, items, options.seed), mending, pool, waits=waits),
            lambda: all_of(label.REPAIR_LABELS, label.repaired_texts(run, items), Judging(items.contents), pool, **tests),
        ]
    return plan
