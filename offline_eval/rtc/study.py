"""Round-trip correctness of an instruct or completion model (Allamanis et al. 2024): describe code, rebuild it, and judge what comes back.

    humaneval   functions without their docstrings, judged by the benchmark's tests. With them the body is asked for as well: pass@1.
    regions     regions of 20 projects, drawn as in the paper, whose loss the projects' tests notice, judged by these tests
    edits       commits of git histories that change one place, judged by exact match, BLEU and ROUGE-L

Each is rebuilt from each description and, for the lift, from words that say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ...inference.asking.asker import Form
from ...inference.completion.task import Task
from ..asked_model import IN_FORM, AskedModel, Asking, asked_model, text_of
from ..chains.chain import ANSWERS, DESCRIPTIONS, Chain, ask_all
from ..errors import UsageError
from ..on_suites import SuiteOptions, items_of_suites, plan_of
from ..probe import Probe, estimated
from ..progress import counted, tell_if_stopped
from ..run import Run
from ..sets.code import label_of
from ..sets.problems import SETS
from ..study import Study, carry_out
from ..study_page import page_of
from .items import Plan, question_of
from .page import compare, content_of
from .sets import LABELS, Found, edits, functions, project_regions

Set = Literal["humaneval", "regions", "edits"]
NAME = "rtc_problems"
STUDY = Study(NAME, (DESCRIPTIONS, ANSWERS, LABELS), ("set", "items", "form"), page_of(content_of), compare=compare, compared=(NAME,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(SuiteOptions):
    """What the user wants. data: the benchmark's file, or folders of git repositories. forward, backward: as in `items.Plan`. form: as of
    `open_asker`.
    """

    per_project: int = 100
    tasks: Sequence[Task] = ("line", "block")
    set: Set = "humaneval"
    data: Sequence[Path] = ()
    forward: int = 3
    backward: int = 1
    form: Form | None = None

    @property
    def plan(self) -> Plan:
        """How often is asked."""
        return Plan(self.forward, self.backward, self.seed)


def run_problems(options: Options) -> Run:
    """Run, or resume, the study. Raises UsageError, RunError, StudyError, NoIsolation, UnusableInterpreter, ModelError and OSError."""
    if options.set == "regions":
        options.check()
    with tell_if_stopped(lambda: "stopped before anything was asked; what was fetched or found is kept, and the same command goes on"):
        # what takes hours to find is not looked for in vain, and no model is opened for data that can't be read
        found = None if options.set == "regions" else find(options)
        model = asked_model(options.choice, options.form, dry_run=options.dry_run)
        if not options.dry_run:
            Run.check(options.out, _question(options, model))
        found = found or find(options)
    return ask(options, model, found)


def ask(options: Options, model: AskedModel, found: Found) -> Run:
    """Run, or resume, the study about these items. Raises as `run_problems`."""
    question = {**_question(options, model), **found.question}
    groups = counted(len({item.group for item in found.items}), "group")
    told = f"{counted(len(found.items), 'item')} of {groups}; {model.name} is asked {IN_FORM[model.form]}"
    chain = Chain(found.items, options.plan, lambda _, ask: Asking(model, ask), found.judge)
    told_too, plan = (told, *found.left_out), partial(_plan, options, found)
    return carry_out(STUDY, options, question, found.items, lambda run: chain.works(options, run, "rebuild"), *told_too, plan=plan)


def _plan(options: Options, found: Found) -> dict[str, Any]:
    """What a dry run says; of projects' places it is not known yet which they are."""
    first, most = next(iter(found.items), None), len(found.items) or options.most_places
    calls = options.plan.calls(first.kind, direct="direct" in first.arms) if first else options.plan.calls("code")
    plan = {"most_items": most, "descriptions": most * options.forward, "rebuilt": most * calls}
    if first is None:
        return plan_of(options) | plan
    timed = estimated(options.choice, options.form, options.pool, [Probe("item", most, partial(ask_all, options.plan, first))])
    return {**plan, **timed, "example": text_of(first.to_describe())}


def find(options: Options) -> Found:
    """What is asked about. Raises SetError, UsageError, StudyError and NoIsolation."""
    if options.set == "humaneval":
        if len(options.data) != 1:
            raise UsageError(f"--set humaneval needs one file as --data: {SETS['humaneval'].what}, of {SETS['humaneval'].whence}")
        return functions(options.data[0], options.limit)
    if options.set == "edits":
        if not options.data:
            raise UsageError("--set edits needs --data: folders of git repositories, whose histories are read")
        return edits(options.data, options.per_project, options.seed, options.limit)
    return project_regions(items_of_suites(options))


def _question(options: Options, model: AskedModel) -> dict[str, Any]:
    """What makes a run another one, as far as it is known before there are items."""
    question: dict[str, Any] = {
        **question_of(model, NAME, "edit" if options.set == "edits" else "code"),
        "set": options.set,
        "seed": options.seed,
        "forward": options.forward,
        "backward": options.backward,
    }
    question |= options.limited
    if options.set != "humaneval":
        question["per_project"] = options.per_project
    if options.set == "regions":
        question["projects"] = [label_of(source) for source in options.chosen]
    return question
