"""Translation and reproduction by an instruct or completion model (Lin et al. 2024, experiments 2 and 3), judged by the benchmarks' tests.

    translate   a program becomes one of another language, below the header that the benchmark has there
    explain     a program becomes words, and these a program of the same language; with names and types in them, and without
    complete    recorded completions of the benchmarks' prompts, which no model of ours wrote

A program is asked about only where it passes its own tests: a faithful translation of another one would fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ....analysis.corpora.benchmarks import Language
from ....analysis.sandbox.isolation.best_level import best_level
from ...asked_model import IN_FORM, AskedModel, Asking, ChatOptions, asked_model, text_of
from ...errors import UsageError
from ...plan import tell_study
from ...pool.interface import Start
from ...progress import counted, tell_if_stopped
from ...recorded.source import AnswerFile, read
from ...recorded.source import question_of as question_of_files
from ...run import Run, Step
from ...sets.judging import InSandbox
from ...study import Making, Study, Work, all_of, carry_out
from ...study_page import page_of
from .compare import compare
from .items import (
    ANSWERS,
    CODE_TOKENS,
    DESCRIBE_TOKENS,
    DESCRIPTIONS,
    STEP_OF,
    Asks,
    Item,
    Kind,
    described_in,
    question_of,
    told_of,
    written_in,
)
from .labelling import LABELS, MAX_PROGRAM_S, SOURCES, Found, ProgramUnderTest, Set, Wanted, check_languages, find, labelled, to_label
from .page import content_of

NAME = "catcode_functors"
STUDY = Study(NAME, (SOURCES, DESCRIPTIONS, ANSWERS, LABELS), ("set", "items"), page_of(content_of), compare=compare, compared=(NAME,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ChatOptions):
    """What the user wants. data: files of benchmarks. sources, targets, limit: as of `Wanted`. draws: answers to each question."""

    data: Sequence[Path]
    set: Set = "translate"
    sources: Sequence[Language] = ()
    targets: Sequence[Language] = ()
    draws: int = 1

    @property
    def asks(self) -> Asks:
        """How a model is asked."""
        return Asks(self.draws, self.seed)

    def wanted(self, kind: Kind) -> Wanted:
        """Which items."""
        return Wanted(kind, self.sources or None, self.targets or None, self.limit, self.seed)


def run_functors(options: Options) -> Run:
    """Run, or resume, the study. Raises UsageError, RunError, StudyError, NoIsolation, ModelError and OSError."""
    if options.recorded:
        return _run_recorded(options)
    with tell_if_stopped(lambda: "stopped before anything was asked; the same command begins again"):
        found = find(options.data, options.wanted(options.set))
        check_languages(found.languages)
        model = asked_model(options.choice, options.form)
        Run.check(options.out, _question(options, model))
    counts = f"{counted(len(found.items), 'program')} of {counted(_problems(found), 'problem')}"
    return _carried_out(options, _question(options, model), model, found, f"{counts}; {model.name} is asked {IN_FORM[model.form]}")


def _run_recorded(options: Options) -> Run:
    files = read(options.recorded)
    kind, found = _recorded(options, files)
    check_languages(found.languages)
    question = {**question_of_files(NAME, kind, files, options), "data": [path.name for path in options.data]}
    counts = f"{counted(len(found.items), 'program')} of {counted(_problems(found), 'problem')}"
    return _carried_out(options, question, None, found, f"recorded answers to {counts}; no model is asked")


def _recorded(options: Options, files: Sequence[AnswerFile]) -> tuple[Kind, Found]:
    """The programs that have recorded answers. Raises UsageError where none has."""
    kind: Kind = options.set if any(file.has(STEP_OF[options.set]) for file in files) else "complete"
    found = find(options.data, options.wanted(kind))
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


def _carried_out(options: Options, question: dict[str, Any], model: AskedModel | None, found: Found, told: str) -> Run:
    question = {**question, "left_out": list(found.left_out)}
    left_out = [f"left out: {line}" for line in found.left_out]
    return carry_out(STUDY, options, question, found.items, lambda run: _works(options, run, model, found), *left_out, told)


def _question(options: Options, model: AskedModel) -> dict[str, Any]:
    """What makes a run another one, as far as it is known before there are items."""
    question: dict[str, Any] = {
        **question_of(model, STUDY.name, options.draws),
        "set": options.set,
        "seed": options.seed,
        "data": [path.name for path in options.data],
    }
    more = {"languages": list(options.sources), "targets": list(options.targets), **options.limited}
    return {**question, **{name: value for name, value in more.items() if value}}


def _works(options: Options, run: Run, model: AskedModel | None, found: Found) -> Mapping[str, Making]:
    running = InSandbox(best_level(), labelled, several=True)

    def sound() -> list[Item]:
        """The items whose code passes its own test; of a completion all."""
        passes = {label["id"] for label in run.records(SOURCES).read() if label["ending"] == "passes"}
        return [item for item in found.items if item.kind == "complete" or found.sources[item.id].id in passes]

    def asking(step: Step, items: Sequence[Item], start: Start[Any, Any]) -> Work[Any]:
        return all_of(step, items, start, options.pool, waits=options.waits)

    def tested(step: Step, units: Iterable[ProgramUnderTest]) -> Work[Any]:
        return all_of(step, units, running, options.pool, max_item_s=MAX_PROGRAM_S)

    def described() -> Work[Any]:
        start = partial(described_in, options.recorded) if model is None else Asking(model, options.asks.describe)
        return asking(DESCRIPTIONS, [item for item in sound() if told_of(item.kind)], start)

    def written() -> Work[Any]:
        told = run.by_id(DESCRIPTIONS, "descriptions")
        items = [item for item in sound() if item.id in told or not told_of(item.kind)]
        start = partial(written_in, options.recorded) if model is None else Asking(model, partial(options.asks.write, told))
        return asking(ANSWERS, items, start)

    units = {found.sources[item.id].id: found.sources[item.id] for item in found.items if item.id in found.sources}
    works: dict[str, Making] = {
        "sources": lambda: tested(SOURCES, units.values()),
        "describe": described,
        "write": written,
        "labels": lambda: tested(LABELS, to_label(found.items, run.records(ANSWERS).read(), found.tests)),
    }
    if not any(told_of(item.kind) for item in found.items):
        works.pop("describe")
    if not found.sources:
        works.pop("sources")
    return works


def _problems(found: Found) -> int:
    return len({item.group for item in found.items})


def tell_functors(options: Options) -> None:
    """Say what a run would ask and execute. Raises what `run_functors` raises before it begins."""
    kind, found = (
        _recorded(options, read(options.recorded)) if options.recorded else (options.set, find(options.data, options.wanted(options.set)))
    )
    check_languages(found.languages)
    told, count = len(told_of(kind)), len(found.items)
    descriptions, code = (0, 0) if options.recorded else (count * told * options.draws, count * (told + 1) * options.draws)
    plan: dict[str, Any] = {
        "set": kind,
        "most_programs": count,
        "problems": _problems(found),
        "descriptions": descriptions,
        "code": code,
        "most_tokens": descriptions * DESCRIBE_TOKENS + code * CODE_TOKENS,
        "isolation": str(best_level()),
    }
    asks = () if options.recorded else found.items[0].to_translate() if kind == "translate" else found.items[0].to_describe("named")
    calls = "no model is asked" if options.recorded else f"at most {descriptions:,} descriptions and {code:,} programs, each once"
    lines = [
        f"programs     at most {count:,} of {counted(_problems(found), 'problem')}: those that pass their own tests",
        f"calls        {calls}, {plan['most_tokens']:,} tokens",
        "judged       each distinct program once, in the sandbox",
        *(f"left out     {each}" for each in found.left_out),
    ]
    tell_study(NAME, options, plan, lines, text_of(asks))
