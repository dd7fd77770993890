"""Translation and reproduction by an instruct or completion model (Lin et al. 2024, experiments 2 and 3), judged by the benchmarks' tests.

    translate   a program becomes one of another language, below the header that the benchmark has there
    explain     a program becomes words, and these a program of the same language; with names and types in them, and without
    complete    recorded completions of the benchmarks' prompts, which no model of ours wrote

A program is asked about only where it passes its own tests: a faithful translation of another one would fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ....analysis.sandbox.isolation.best_level import best_level
from ....inference.asking.asker import Asker
from ...asked_model import IN_FORM, AskedModel, Asking, Evaluator, evaluator_of, question_in_words, text_of
from ...chains.chain import ANSWERS, DESCRIPTIONS, Chain, Judge, ask_all
from ...errors import UsageError
from ...pool.interface import Start
from ...probe import Probe, estimated
from ...progress import counted, tell_if_stopped
from ...recorded.source import read, recorded_in
from ...run import Run, Step
from ...sets.judging import InSandbox
from ...sets.programs import Program
from ...study import Making, Study, all_of, carry_out
from ...study_page import page_of
from .items import CODE_TOKENS, DESCRIBE_TOKENS, STEP_OF, TOLD, Item, Kind, Plan, played, prompts_of
from .labelling import LABELS, MAX_PROGRAM_S, SOURCES, Found, Options, check_languages, find, labelled
from .page import compare, content_of

NAME = "catcode_functors"
STUDY = Study(NAME, (SOURCES, DESCRIPTIONS, ANSWERS, LABELS), ("set", "items"), page_of(content_of), compare=compare, compared=(NAME,))


def run_functors(options: Options) -> Run:
    """Run, or resume, the study. Raises UsageError, RunError, StudyError, NoIsolation, ModelError and OSError."""
    with tell_if_stopped(lambda: "stopped before anything was asked; the same command begins again"):
        kind, found = _found(options)
        check_languages(found.languages)
        evaluator = evaluator_of(options)
        question = _question(options, kind, evaluator)
        if not (evaluator.files or options.dry_run):
            Run.check(options.out, question)
    asked = f"{found.counts}; {evaluator.name} is asked {IN_FORM[evaluator.form]}"
    told = f"recorded answers to {found.counts}; no model is asked" if evaluator.files else asked
    left_out = [f"left out: {line}" for line in found.left_out]
    question |= {"left_out": list(found.left_out)}
    plan = partial(_plan, options, kind, found)
    return carry_out(STUDY, options, question, found.items, lambda run: _works(options, run, evaluator, found), *left_out, told, plan=plan)


def _plan(options: Options, kind: Kind, found: Found) -> dict[str, Any]:
    """What a dry run says; programs that do not pass their own tests are not asked about."""
    count, plan = len(found.items), {"most_programs": len(found.items), "isolation": str(best_level())}
    if options.recorded:
        return plan
    named = len(TOLD) * (kind == "explain")
    descriptions, code = count * named * options.draws, count * (named + 1) * options.draws
    first, tokens = found.items[0], descriptions * DESCRIBE_TOKENS + code * CODE_TOKENS
    probe = Probe("program", count, partial(ask_all, Plan(options.draws, options.seed), first))
    return {
        **plan,
        "descriptions": descriptions,
        "code": code,
        "most_new_tokens": tokens,
        **estimated(options.choice, options.form, options.pool, [probe]),
        "example": text_of(first.to_describe("named") if kind == "explain" else first.to_translate()),
    }


def _found(options: Options) -> tuple[Kind, Found]:
    """The programs that are asked about, or that have recorded answers. Raises SetError, RecordedError, and UsageError where none has."""
    files = read(options.recorded)
    kind: Kind = options.set if not files or any(file.has(STEP_OF[options.set]) for file in files) else "complete"
    found = find(options, kind)
    if not files:
        return kind, found
    there = [item for item in found.items if any(file.answers.of(item.id, STEP_OF[kind]) for file in files)]
    if not there:
        which = f"step {STEP_OF[options.set]!r}, or completions, step 'draw'"
        raise UsageError(
            f"{', '.join(str(file.path) for file in files)}: no recorded answer ({which}) to a program of --data; items are named like "
            f"{found.items[0].id}"
        )
    unasked = {name for file in files for name in file.answers.items()} - {item.id for item in there}
    more = [f"{counted(len(unasked), 'recorded item')} that --data has no program for"] if unasked and not options.limit else []
    return kind, replace(found, items=there, left_out=[*found.left_out, *more])


def _question(options: Options, kind: Kind, evaluator: Evaluator) -> dict[str, Any]:
    """What makes a run another one, as far as it is known before there are items."""
    question = question_in_words(NAME, options, evaluator, kind, prompts_of(evaluator.form))
    question |= {"data": [path.name for path in options.data], **options.limited}
    if evaluator.files:
        # of answers that others asked for nobody knows the form
        del question["form"]
        return question | recorded_in(evaluator.files)
    languages = {"languages": list(options.sources), "targets": list(options.targets)}
    return question | {"draws": options.draws} | {name: value for name, value in languages.items() if value}


def _works(options: Options, run: Run, evaluator: Evaluator, found: Found) -> dict[str, Making]:
    running = InSandbox(best_level(), labelled, several=True)
    model = AskedModel(options.choice, evaluator.id, evaluator.name, evaluator.form)

    def asking(step: Step, ask: Callable[[Asker, Any], dict[str, Any]]) -> Start[Any, Any]:
        return partial(played, options.recorded, step) if evaluator.files else Asking(model, ask)

    def sound() -> list[Item]:
        """The items whose code passes its own test; of a completion all."""
        passes = {label["id"] for label in run.records(SOURCES).read() if label["ending"] == "passes"}
        return [item for item in found.items if item.kind == "complete" or found.sources[item.id].id in passes]

    def unit(name: str, item: Item, arm: str, text: str) -> Program:
        return replace(found.tests[item.id], id=name, published=item.program(arm, text))

    judge, describes = Judge(LABELS, unit, running, MAX_PROGRAM_S), any(item.kind == "explain" for item in found.items)
    plan = Plan(options.draws, options.seed)
    works = Chain(found.items, plan, asking, judge, sound, describes).works(options, run, "write")
    units = {source.id: source for source in found.sources.values()}
    sources = {"sources": lambda: all_of(SOURCES, units.values(), running, options.pool, max_item_s=MAX_PROGRAM_S)} if units else {}
    return {**sources, **works}
