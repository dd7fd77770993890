"""Round-trip correctness of an instruct or completion model (Allamanis et al. 2024): describe code, rebuild it, and judge what comes back.

    humaneval   functions without their docstrings, judged by the benchmark's tests. With them the body is asked for as well: pass@1.
    regions     regions of 20 projects, drawn as in the paper, whose loss the projects' tests notice, judged by these tests
    edits       commits of git histories that change one place, judged by exact match, BLEU and ROUGE-L

Each is rebuilt from each description and, for the lift, from words that say nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import platformdirs

from ...analysis.sandbox.isolation.best_level import best_level
from ...inference.asking.asker import Asker, Form
from ...inference.opening import ModelChoice
from ..asked_model import IN_FORM, AskedModel, Asking, asked_model
from ..errors import UsageError
from ..pool.choice import Pool
from ..progress import counted, tell_if_stopped, to_stderr
from ..run import RUN, Run, check_writable
from ..sets.items import check_suites
from ..sets.problems import SETS
from ..sets.projects import Project, default_cache, named
from ..sets.suites import prepared, watched
from ..study import Making, Results, Step, Study, Work, all_of, chosen, conduct
from ..study import Plan as Works
from ..study_page import write_page
from .asking import DESCRIPTIONS, REBUILT, Code, Edit, Item, Plan, question_of
from .labelling import LABELS, Found, edits, functions, project_regions, to_label
from .page import compare, content_of

Set = Literal["humaneval", "regions", "edits"]
PER_PROJECT = 100


def _report(run: Run, results: Results, *, as_json: bool) -> None:  # noqa: ARG001
    """A page, and its summary on stderr."""
    write_page(run.folder, content_of(run, items_of(run)), as_json=as_json)


def _compare(runs: Sequence[Run], out: Path, *, as_json: bool) -> None:
    """A page on runs of several models. Raises StudyError where they are not of the same items."""
    compare(runs, [items_of(run) for run in runs], out, as_json=as_json)


STUDY = Study(
    "rtc_problems", (DESCRIPTIONS, REBUILT, LABELS), ("set", "items", "form"), _report, compare=_compare, compared=("rtc_problems",)
)


def items_of(run: Run) -> list[Item]:
    """What a run asks about. Raises RunError."""
    return list(run.items(Edit if run.question(("set",))["set"] == "edits" else Code))


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants.

    data: the benchmark's file, or folders of git repositories. projects, per_project, cache, python: as of the calibration study's suites.
    limit: at most so many items in all. forward, backward: as in `asking.Plan`. form: as of `open_asker`.
    """

    out: Path
    choice: ModelChoice = field(default_factory=ModelChoice)
    set: Set = "humaneval"
    data: Sequence[Path] = ()
    projects: Sequence[Project] = ()
    per_project: int | None = None
    limit: int | None = None
    seed: int = 0
    forward: int = 3
    backward: int = 1
    pool: Pool = field(default_factory=Pool)
    cache: Path | None = None
    python: Path | None = None
    steps: Sequence[str] = ()
    as_json: bool = False
    form: Form | None = None

    @property
    def plan(self) -> Plan:
        """How often is asked."""
        return Plan(self.forward, self.backward, self.seed)

    @property
    def most(self) -> int:
        """At most so many items of a project."""
        return self.per_project or PER_PROJECT


def run_problems(asked: Asked) -> Run:
    """Run, or resume, the study. Raises UsageError, RunError, StudyError, NoIsolation, UnusableInterpreter, ModelError and OSError."""
    _check(asked)
    with tell_if_stopped(lambda: "stopped before anything was asked; what was fetched or found is kept, and the same command goes on"):
        # what takes hours to find is not looked for in vain, and no model is opened for data that can't be read
        found = None if asked.set == "regions" else find(asked)
        model = asked_model(asked.choice, asked.form)
        Run.check(asked.out, _question(asked, model))
        found = found or find(asked)
    return ask(asked, model, found)


def ask(asked: Asked, model: AskedModel, found: Found) -> Run:
    """Run, or resume, the study about these items. Raises as `run_problems`."""
    lines = found.lines
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    run = Run.begin(asked.out, {**_question(asked, model), **found.question, "items": digest})
    run.keep_items(lines)
    groups = {item.group for item in found.items}
    to_stderr(f"{counted(len(found.items), 'item')} of {counted(len(groups), 'group')}; {model.name} is asked {IN_FORM[model.form]}")
    for line in found.left_out:
        to_stderr(line)
    conduct(STUDY, run, _works(asked, run, model, found), as_json=asked.as_json)
    return run


def find(asked: Asked) -> Found:
    """What is asked about. Raises SetError, UsageError, StudyError and NoIsolation."""
    if asked.set == "humaneval":
        if len(asked.data) != 1:
            raise UsageError(f"--set humaneval needs one file as --data: {SETS['humaneval'].what}, of {SETS['humaneval'].whence}")
        return functions(asked.data[0], asked.limit)
    if asked.set == "edits":
        if not asked.data:
            raise UsageError("--set edits needs --data: folders of git repositories, whose histories are read")
        return edits(asked.data, asked.most, asked.seed, asked.limit)
    projects = _still_in(asked.out, asked.projects or named((), suite=True))
    ready = prepared(projects, asked.cache or default_cache(), platformdirs.user_cache_path("assay"), best_level(), asked.python)
    return project_regions(watched(ready, asked.pool, asked.most, ("line", "block"), asked.seed), asked.seed, asked.limit)


def _still_in(out: Path, projects: Sequence[Project]) -> Sequence[Project]:
    """The projects that a run began with: one that was left out then stays out, so that the run can go on."""
    if not (out / RUN).is_file():
        return projects
    begun = Run.opened(out).question().get("suites", [])
    return [project for project in projects if project.name in begun]


def _check(asked: Asked) -> None:
    """Check what would otherwise fail late. Raises UsageError and UnusableInterpreter."""
    if asked.set == "regions":
        check_writable(asked.cache or default_cache(), "the projects' archives are kept there: name another folder with --cache")
        check_suites(asked.python)


def _question(asked: Asked, model: AskedModel) -> dict[str, Any]:
    """What makes a run another one, as far as it is known before there are items."""
    question: dict[str, Any] = {
        **question_of(model, STUDY.name, "edit" if asked.set == "edits" else "code"),
        "set": asked.set,
        "seed": asked.seed,
        "forward": asked.forward,
        "backward": asked.backward,
    }
    if asked.limit:
        question["limit"] = asked.limit
    if asked.set != "humaneval":
        question["per_project"] = asked.most
    if asked.set == "regions":
        question["projects"] = [f"{project.name} {project.version}" for project in asked.projects or named((), suite=True)]
    return question


def _works(asked: Asked, run: Run, model: AskedModel, found: Found) -> Works:
    def asking(step: Step, items: Sequence[Item], ask: Callable[[Asker, Any], dict[str, Any]]) -> Work[Any]:
        return all_of(step, items, Asking(model, ask), asked.pool, waits=bool(asked.choice.servers))

    def rebuilt() -> Work[Any]:
        told = {record["id"]: record["descriptions"] for record in run.records(DESCRIPTIONS).read()}
        return asking(REBUILT, [item for item in found.items if item.id in told], partial(asked.plan.rebuild, told))

    def labelled() -> Work[Any]:
        units = to_label(found.items, run.records(REBUILT).read(), found.labels)
        return all_of(LABELS, units, found.labels, asked.pool, max_item_s=found.labels.max_item_s)

    works: dict[str, Making] = {
        "describe": lambda: asking(DESCRIPTIONS, found.items, asked.plan.describe),
        "rebuild": rebuilt,
        "labels": labelled,
    }
    return chosen(works, asked.steps)


def tell_problems(asked: Asked) -> None:
    """Say what a run would ask and execute. Raises what `run_problems` raises before it begins."""
    _check(asked)
    plan: dict[str, Any] = {"schema": "assay/study-plan/1", "study": STUDY.name, "set": asked.set, "run": str(asked.out)}
    lines = []
    if asked.set == "regions":
        projects = asked.projects or named((), suite=True)
        most = min(asked.most * len(projects), asked.limit or asked.most * len(projects))
        plan |= {"projects": [project.name for project in projects], "most_items": most, "isolation": str(best_level())}
        lines += [f"projects     {', '.join(plan['projects'])}", f"items        at most {most:,}: which they are, the tests say"]
        calls = asked.plan.calls("code")
    else:
        found = find(asked)
        most = len(found.items)
        plan["most_items"] = most
        plan["example"] = "\n\n".join(message.text for message in found.items[0].to_describe())
        lines.append(f"items        {counted(most, 'item')} of {counted(len({item.group for item in found.items}), 'group')}")
        calls = asked.plan.calls(found.items[0].kind, direct="direct" in found.items[0].arms)
    plan |= {"descriptions": most * asked.forward, "rebuilt": most * calls}
    lines += [
        f"calls        {plan['descriptions']:,} descriptions, {plan['rebuilt']:,} times code, each once",
        "judged       " + ("by text" if asked.set == "edits" else "each distinct text once, in the sandbox"),
        f"written      {asked.out.absolute()}",
        *(["", "one of the prompts in full:", plan["example"]] if "example" in plan else []),
    ]
    if asked.as_json:
        print(json.dumps(plan, indent=1))
    else:
        for line in lines:
            to_stderr(line)
