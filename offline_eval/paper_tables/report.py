"""The calibration study's page: the paper's tables beside ours, its claims, plots, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...calibration.bands import EVENT_WORDS
from ...calibration.report.blocks import Paragraph, Table
from ...calibration.report.paper_claims import PaperClaim
from ...calibration.report.study_report import Section, Source, StudyContent, counted_claims
from ...calibration.samples import Event, Sample
from ...calibration.validation.figures import Figure
from ..progress import counted
from ..study_page import lost_items, the_paper
from .claims import claims, event_of
from .columns import BASE_ARM, Setting
from .differences import P_TOT
from .paper import computed, paper, statements
from .pictures import pictures_of
from .tables import STUDIED, StudyTables, study_tables

_TASKS = (
    "Tasks: line is a whole line, line_rest the rest of one, line_middle a place inside one. The model sees what the editor shows: "
    "docstrings, and the text behind the cursor. An arm leaves one of them out; “no suffix” is the paper's own setting. The paper's "
    "numbers of DyPyBench stand beside line, and its other data sets beside the tasks that are of them."
)
_SCORES = (
    "Skill: 1 is perfect, 0 is what always saying the base rate gets, and below 0 is worse than that. ECE: how far what was said is from "
    "what was seen, on average over ten bins; it is never 0, and its floor is what a perfect forecaster would get. The calibration error "
    "is free of that noise. Scaled: Platt's map, fitted to other folds. Random folds are the paper's; folds by project let no map judge a "
    "project that it has seen. 95 % intervals are of the jackknife over whole projects, that of the calibration error of a bootstrap."
)

_POINTS = (
    "Points: ten bins of equal width, each with the share that came out right and its 95 % interval. Diamonds: five bins with as many "
    "samples each. On the dashed line what was said is what was seen."
)


@dataclass(frozen=True, slots=True)
class About:
    """What the samples do not tell of a run.

    model: its name. facts: lines for people, such as prompt and seed. command: makes the report again. lost: items without an answer.
    hidden: generations that the editor would hide; they make no sample. sources: of recorded answers. figures: of the validation table.
    more: what else was left out.
    """

    model: str
    command: str
    facts: tuple[str, ...] = ()
    lost: int = 0
    hidden: int = 0
    blank: int = 0
    sources: tuple[Source, ...] = ()
    figures: Sequence[Figure] = ()
    more: tuple[str, ...] = ()


def calibration_content(samples: Mapping[Setting, Sequence[Sample]], about: About, seed: int = 0) -> StudyContent:
    """The page of samples by task and arm. seed: of the folds. Raises StudyError for impossible values."""
    tables = study_tables(samples, seed)
    tasks = list(dict.fromkeys(setting.task for setting in tables.columns))
    events = {task: event_of(tables.cells, task) for task in tasks if Setting(task) in tables.columns}
    unanswered = [task for task in events if tables.columns[Setting(task)].mostly_stands_in("verbalised")]
    read = claims(tables.cells, list(events), unanswered)
    drawn = tuple(pictures_of(tables, events))
    return StudyContent(
        title=f"Calibration and correctness: {about.model}",
        summary=summary(tables, events, read),
        facts=(f"model {about.model}", *about.facts, the_paper(paper())),
        sections=(
            Section("The tables", (Paragraph(_TASKS), Paragraph(_SCORES), *tables.tables)),
            *((Section("The figures", (Paragraph(_POINTS), *drawn)),) if drawn else ()),
            Section("The paper's text against its own tables", (_statements(),)),
        ),
        claims=read,
        figures=about.figures,
        left_out=tuple(_left_out(tables, about)),
        sources=about.sources,
        command=about.command,
    )


def summary(tables: StudyTables, events: Mapping[str, Event], read: Sequence[PaperClaim]) -> tuple[str, str, str]:
    """Three sentences for somebody who has not read the paper, made from the numbers."""
    last = counted_claims(read)
    for task, event in events.items():
        raw, scaled = (tables.forecast(Setting(task), event, P_TOT, way) for way in ("raw", "project"))
        if raw and scaled and raw.scores.skill and scaled.scores.skill:
            what, skill = EVENT_WORDS[event], scaled.scores.skill
            bad = raw.scores.skill.high < 0
            worse = "worse than" if bad else "better than" if raw.scores.skill.low > 0 else "not shown to be better than"
            gain = "better than" if skill.low > 0 else "worse than" if skill.high < 0 else "not shown to be better than"
            return (
                f"For {counted(raw.n, 'suggestion')} ({task}) the model's own probability of its text was {raw.p.mean():.0%} on average, "
                f"and {raw.y.mean():.0%} came out right ({what}): as a forecast it is {worse} always saying that average (skill score "
                f"{raw.scores.skill.value:z.2f}, where 0 is the average and 1 is perfect).",
                f"Fitted to some {scaled.grouped_by}s and judged on others, the same number is {gain} the average: skill "
                f"{skill.value:z.2f} ({skill.low:z.2f} to {skill.high:z.2f}), and it is off by "
                f"{scaled.ece:.3f} on average, where chance alone would give {scaled.noise_floor:.3f}.",
                last,
            )
    return (
        "The study asks how well a code model's own confidence tells whether its suggestions are right.",
        "This run has too few labelled samples with log-probabilities, right ones and wrong ones, to say so.",
        last,
    )


def _left_out(tables: StudyTables, about: About) -> Iterator[str]:
    yield from lost_items(about.lost)
    if about.blank:
        yield f"{counted(about.blank, 'generation')} without text."
    if about.hidden:
        yield f"{counted(about.hidden, 'generation')} that the editor would hide: a calibrator answers for what is shown."
    for setting, columns in tables.columns.items():
        for event in STUDIED:
            known = columns.known(event)
            if known.any() and not known.all():
                yield f"{setting}: {(~known).sum():,} of {len(known):,} samples have no label for {EVENT_WORDS[event]}."
    for task in dict.fromkeys(setting.task for setting in tables.columns if setting.task.startswith("line")):
        if not_run := [arm for arm in ("no_docstring", "no_suffix") if Setting(task, arm) not in tables.columns]:
            yield (
                f"{task}: the arms {' and '.join(not_run)} were not run."
                if len(not_run) > 1
                else f"{task}: the arm {not_run[0]} was not run."
            )
        if Setting(task, BASE_ARM) not in tables.columns:
            yield f"{task}: the arm {BASE_ARM} was not run, and the claims need it."
    yield from about.more


def _statements() -> Table:
    rows = tuple((each.says, each.where, f"{each.value:z.2f}", f"{computed(each.made_by):z.2f}") for each in statements())
    return Table("Numbers in the text, and what the tables give", ("what", "where", "the text says", "its tables give"), "llrr", rows)
