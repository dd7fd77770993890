"""The report of a run of lines: how often suggestions are right, and the page with the paper's tables beside ours and its claims."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ...calibration.bands import EVENT_WORDS
from ...calibration.fitting.folds import MIN_GROUPS
from ...calibration.guards import MIN_SPREAD
from ...calibration.language_names import name_of_language
from ...calibration.metrics.intervals import rate_interval
from ...calibration.registry import load_registry
from ...calibration.report.blocks import Paragraph, Table
from ...calibration.report.cells import Cell
from ...calibration.report.paper_claims import PaperClaim, Rule, claim_of
from ...calibration.report.study_report import Section, StudyContent, counted_claims, write_study_report
from ...calibration.samples import Event, Sample
from ...calibration.validation.calibration_study import ARMS, figures
from ...calibration.validation.figures import Figure
from ...calibration.validation.inputs import Inputs
from ..asked_line import EVENT
from ..paper_tables.forecasts import BASE_ARM, Setting, computed, first_choices, measures, paper, setting_of, statements
from ..paper_tables.pictures import pictures_of
from ..paper_tables.tables import GOOD_SKILL, P_AVG, P_TOT, STUDIED, StudyTables, label_of, study_tables
from ..progress import counted, to_stderr
from ..run import Run
from ..study import Results
from ..study_page import again, facts_of, figures_of_task, lost_items, the_paper

_INTRINSIC = (P_TOT, P_AVG)
_ASK, _VERBALISED = "ask_true", "verbalised"
# What is no better than the base rate: from the paper's own lowest number up to what is good.
USELESS = -0.1

# Tasks, each with the event that it is judged by.
Settings = Sequence[tuple[str, Event]]
# Cells, each with what people call it and its id.
Wanted = list[tuple[str, str]]


def claims(cells: Mapping[str, Cell], tasks: Sequence[str], unanswered: Collection[str] = ()) -> tuple[PaperClaim, ...]:
    """The claims, read from the cells of `study_tables`.

    tasks: those of the run. unanswered: those where the verbalised values say nothing: more than 5 % only stand in for a number that the
    model did not say, or all are one.

    The event is passing tests, as in the paper, where a task has such labels; else exact match. Claims about lines are read from the tasks
    on lines alone.
    """
    settings = [(task, event_of(cells, task)) for task in tasks]
    told = [(task, event) for task, event in settings if task not in unanswered]
    lines = [(task, event) for task, event in settings if task.startswith("line")]
    six = tuple(measures().values())
    positive = Rule("the interval is above 0", above=0.0)
    raw = [(f"{task} {label_of(m)}", f"T5/{event}/{task}/{BASE_ARM}/{m}/raw/skill") for (task, event), m in product(settings, six)]
    wanted = (
        (
            "RQ1", "No raw measure has a good skill score", "best +.05 (Ask T/F, GPT-3.5, Defects4J)",
            Rule(f"every raw skill score is below {GOOD_SKILL}", below=GOOD_SKILL + 1e-9), raw,
        ),
        (
            "RQ2a", "On lines p_tot is the least bad raw measure", "−.02 to −.03; all others −.06 to −1.28",
            Rule("raw skill of p_tot minus that of each other is above 0", above=0.0),
            _differences(lines, "raw_p_tot_minus", [m for m in six if m != P_TOT]),
        ),
        ("RQ2b", "Scaled, p_tot and p_avg have skill on lines", "+.07 to +.09", positive, _scaled(lines, _INTRINSIC, "skill")),
        (
            "RQ3a", "Ask T/F is the best raw measure", "mean −.27; the next is Ask T/F N, −.40",
            Rule("raw skill of Ask T/F minus that of each other is above 0, in every task", above=0.0),
            _differences(settings, "raw_ask_minus", [m for m in six if m != _ASK]),
        ),
        (
            "RQ3b", "Verbalised confidence is useless, also scaled", "−.09 to +.02",
            Rule(f"its scaled skill is between {USELESS} and {GOOD_SKILL}, of a model that says a number", above=USELESS, below=GOOD_SKILL),
            _scaled(told, (_VERBALISED,), "skill"),
        ),
        (
            "RQ4", "Confidence is far better for exact match than for passing tests", "p_tot on DyPyBench: .38 to .43 against .07 to .09",
            Rule("skill for exact match minus that for passing tests, the same samples, is above 0", above=0.0),
            [(f"{task} {label_of(m)}", f"D/{task}/{BASE_ARM}/event_gain/{m}") for (task, _), m in product(settings, _INTRINSIC)],
        ),
        (
            "RQ5a", "Platt scaling adds skill", "p_tot on DyPyBench: −.03 to −.02 raw, +.07 to +.09 scaled",
            Rule("scaled skill minus raw skill is above 0", above=0.0), _differences(settings, "platt_gain", _INTRINSIC),
        ),
        (
            "RQ5b", "Scaled measures are calibrated", "mean ECE .03 (.05 where skill is at least .05)",
            Rule("the calibration error without noise is at most 0.05", below=0.05 + 1e-9), _scaled(settings, _INTRINSIC, "error"),
        ),
        (
            "RQ5c", "Scaling makes the buckets collapse", "said without a number",
            Rule(f"the middle 90 % of the scaled probabilities span less than {MIN_SPREAD}", below=MIN_SPREAD),
            [(f"{task} {label_of(m)}", f"S/{event}/{task}/{BASE_ARM}/{m}") for (task, event), m in product(settings, _INTRINSIC)],
        ),
        (
            "D1", "Docstrings raise the share that passes", "+5.7, +11.3 and +6.5 points", positive,
            [(task, f"T3/{task}/{event}/difference") for task, event in settings],
        ),
        (
            "D2", "With docstrings the calibration stays as it is", "Figure 5",
            Rule("scaled skill of p_avg with minus without docstring is within ±0.05", above=-0.05, below=0.05),
            _differences(settings, "docstring", (P_AVG,)),
        ),
    )  # fmt: skip
    found = [claim_of(name, claim, printed, rule, which, cells) for name, claim, printed, rule, which in wanted]
    if behind := [(task, name) for task, event in settings if (name := f"D/{task}/{BASE_ARM}/{event}/shots") in cells]:
        rule = Rule("scaled skill of ask_shots minus ask_chat is above 0", above=0.0)
        found.append(
            claim_of("S1", "Ask T/F is better behind the nearest examples", "later versions: a skill of .15 on lines", rule, behind, cells)
        )
    return tuple(found)


def _scaled(at: Settings, measures: Sequence[str], score: str) -> Wanted:
    """The score of each measure, scaled by project, in each setting."""
    tables = {"tests_pass": "T6", "exact_match": "T7"}
    return [
        (f"{task} {label_of(m)}", f"{tables[event]}/{event}/{task}/{BASE_ARM}/{m}/project/{score}")
        for (task, event), m in product(at, measures)
    ]


def _differences(at: Settings, name: str, measures: Sequence[str]) -> Wanted:
    """The difference of this name of each measure in each setting."""
    return [(f"{task} {label_of(m)}", f"D/{task}/{BASE_ARM}/{event}/{name}/{m}") for (task, event), m in product(at, measures)]


def event_of(cells: Mapping[str, Cell], task: str) -> Event:
    """The event that a task is judged by: passing tests where it has such labels, else exact match."""
    rate = cells.get(f"T2/{task}/{BASE_ARM}/tests_pass")
    return "tests_pass" if rate is not None and rate.value is not None else "exact_match"


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
    hidden: generations that the editor would hide; they make no sample. figures: of the validation table.
    """

    model: str
    command: str
    facts: tuple[str, ...] = ()
    lost: int = 0
    hidden: int = 0
    blank: int = 0
    figures: Sequence[Figure] = ()


def calibration_content(samples: Mapping[Setting, Sequence[Sample]], about: About, seed: int = 0) -> StudyContent:
    """The page of samples by task and arm. seed: of the folds. Raises StudyError for impossible values."""
    tables = study_tables(samples, seed)
    tasks = list(dict.fromkeys(setting.task for setting in tables.columns))
    events = {task: event_of(tables.cells, task) for task in tasks if Setting(task) in tables.columns}
    unanswered = [task for task in events if tables.columns[Setting(task)].says_nothing("verbalised")]
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


def _statements() -> Table:
    rows = tuple((each.says, each.where, f"{each.value:z.2f}", f"{computed(each.made_by):z.2f}") for each in statements())
    return Table("Numbers in the text, and what the tables give", ("what", "where", "the text says", "its tables give"), "llrr", rows)


EVENTS: tuple[Event, ...] = ("tests_pass", "exact_match")


def figures_of(question: Mapping[str, Any], samples: Mapping[Setting, Sequence[Sample]]) -> Iterator[Figure]:
    """The figures of each calibrator of this machine for a task of the run, its events and its model, on the first choices in Python
    alone, which such a calibrator is looked up for.

    A calibrator of first choices says nothing of further alternatives. Raises StudyError for a value that a measure can't have.
    """
    registry, samples = load_registry(), first_choices(samples)
    samples = {setting: [sample for sample in found if sample.language == "python"] for setting, found in samples.items()}
    for task in dict.fromkeys(setting.task for setting in samples):
        inputs = Inputs(samples.get(Setting(task), ()), {arm: samples.get(Setting(task, arm), ()) for arm in ARMS})
        for event in EVENTS:
            yield from figures_of_task(registry, question, task, event, inputs, figures)


def write_report(run: Run, results: Results, lost: int, *, as_json: bool, facts: tuple[str, ...] = ()) -> None:
    """Write report/. Rates by task on stderr; on stdout the paths of samples and report, or one JSON document.

    lost: how many items have no answer. facts: what else the page is to say of the run.

    Raises StudyError and SampleError.
    """
    samples = [sample for found in results.samples.values() for sample in found]
    events = [event for event in STUDIED if any(sample.labels[event] is not None for sample in samples)] or [EVENT]
    asked: list[Event] = [*events, *([] if EVENT in events else [EVENT])]
    rates = {event: {task: rate(found, event) for task, found in sorted(results.samples.items())} for event in asked}
    width = max((12, *map(len, results.samples)))
    for event in events:
        for task, row in rates[event].items():
            said = f"{EVENT_WORDS[event]} {_rate_text(row)}"
            of = f"{row['n']:6d} labelled suggestion{'' if row['n'] == 1 else 's'} of {counted(row['projects'], 'project')}"
            to_stderr(f"{task:{width}s} {of}, {said}")
            for line in _by_language(results.samples[task], event):
                to_stderr(line)
    made = [one for answer in results.answers for one in answer["generations"]]
    blank = sum(one["inserted"] is None and not one["text"].strip() for one in made)
    hidden = sum(one["inserted"] is None for one in made) - blank
    to_stderr(f"{blank} of {len(made)} generations had no text, and {hidden} would be hidden by the editor; they make no sample")
    if unknown := sum(all(sample.labels[event] is None for event in events) for sample in samples):
        to_stderr(f"{unknown} have no label")
    for line in _reflective(samples):
        to_stderr(line)
    report = _page(run, results, lost, hidden, blank, facts)
    if as_json:
        files = {"samples": [str(path) for path in results.paths], "report": [str(path) for path in report]}
        print(json.dumps({"run": str(run.folder), **files} | {str(event): rates[event] for event in asked}))
    else:
        for path in (*results.paths, *report):
            print(path)


def _page(run: Run, results: Results, lost: int, hidden: int, blank: int, told: tuple[str, ...]) -> Sequence[Path]:
    """The files of the page."""
    question = run.question()
    asked = ("set", "memory", "tasks", "arms", "projects", "per_project", "limit", "alternatives", "seed")
    facts = (
        f"prompt fingerprint {question['prompt']}, model fingerprint {question['model']}",
        *facts_of(question, *asked),
        *told,
    )
    found = {setting_of(name): samples for name, samples in results.samples.items()}
    validated = tuple(figures_of(question, found))
    about = About(question["model_name"], again(run), facts, lost, hidden, blank, figures=validated)
    content = calibration_content(found, about, question["seed"])
    for sentence in content.summary:
        to_stderr(sentence)
    return write_study_report(run.folder, content)


def _reflective(samples: Sequence[Sample]) -> Iterator[str]:
    """For each reflective measure, how often the model could be asked and how often a value only stands in."""
    for measure in sorted({name for sample in samples for name in sample.asked}):
        asked = sum(measure in sample.asked for sample in samples)
        stand_ins = sum(measure in sample.fallbacks for sample in samples)
        yield f"{measure}: {asked} of {len(samples)} samples have it" + (f", in {stand_ins} of them a stand-in" if stand_ins else "")


def rate(samples: Sequence[Sample], event: Event = EVENT) -> dict[str, Any]:
    """The share of first choices with the event among those with a known label, with its 95 % interval by project.

    Where fewer than five projects are there, the interval takes samples as independent. value, low and high are None without labels.
    """
    known = [sample for sample in samples if sample.rank == 1 and sample.labels[event] is not None]
    names, groups = np.unique([sample.project for sample in known], return_inverse=True)
    right = np.array([sample.labels[event] for sample in known], dtype=np.float64)
    found = rate_interval(right, groups if len(names) >= MIN_GROUPS else np.arange(len(known)))
    value = float(right.mean()) if known else None
    low, high = (found.low, found.high) if found else (None, None)
    return {"n": len(known), "projects": len(names), "value": value, "low": low, "high": high}


def _by_language(samples: Sequence[Sample], event: Event) -> Iterator[str]:
    """A line for each language, where there are several."""
    languages = sorted({sample.language for sample in samples})
    for language in languages if len(languages) > 1 else ():
        row = rate([sample for sample in samples if sample.language == language], event)
        yield f"  {name_of_language(language)}: {row['n']} of {counted(row['projects'], 'project')}, {EVENT_WORDS[event]} {_rate_text(row)}"


def _rate_text(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "not known"
    return f"{row['value']:.1%}" + ("" if row["low"] is None else f" ({row['low']:.1%} to {row['high']:.1%})")
