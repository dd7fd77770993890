"""The page of a run of translations, reproductions or recorded completions; and of runs beside each other: several models on the same
programs, or translation and reproduction of the same problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ....calibration.report.blocks import Paragraph
from ....calibration.report.cells import Cell, CellTable, text_of
from ....calibration.report.paper_claims import Asked, PaperClaim, Rule, claim_of
from ....calibration.report.study_report import Section, StudyContent, counted_claims
from ...asked_model import how_asked, names_in_forms
from ...chains.scores import cells_of_row, left_out, percent, scored_in, told_of_unreadable
from ...errors import StudyError
from ...progress import counted
from ...recorded.source import sources_of
from ...run import RUN, Run
from ...side_by_side import by_model, models_section, paired_table
from ...study_page import again, again_of, apart, cells_in, cells_of, facts_of, the_paper, write_comparison
from ..paper import paper
from .items import ARMS, Item, Kind
from .labelling import LABELS, SOURCES
from .tables import (
    BY,
    Functors,
    completion_table,
    description_table,
    ending_table,
    endings_of,
    functor_numbers,
    numbers_of,
    passes,
    reproduction_table,
    translation_table,
)

# Half way between the third of the paper's models, 48.7 %, and the second, 81.5 %: what it calls good begins above.
GOOD = 0.65
# About 30 points: nearer to 30 than to 20 or 40 would be too narrow for the intervals that such sets give.
ABOUT_30 = (-0.4, -0.2)
_BELOW_0, _ABOVE_0 = Rule("below 0", below=0.0), Rule("above 0", above=0.0)


def claims_of(kind: Kind, cells: Mapping[str, Cell]) -> tuple[PaperClaim, ...]:
    """The claims that one run can tell of, and for claim c what it takes."""
    if kind == "translate":
        return (translation_is_good(cells), *loses(cells))
    if kind == "explain":
        languages = [language for language in ("java", "python", "javascript") if f"T6/mean/{language}/lift" in cells]
        lift, names = ([(language, f"T6/mean/{language}/{column}") for language in languages] for column in ("lift", "names"))
        leans, asked = "Reproduction leans on names and types in the description", "not looked at; its prompt asks for them"
        return (
            *loses(cells),
            _claim(cells, "lift", "A description adds to what the header alone tells", "not looked at", _ABOVE_0, lift),
            _claim(cells, "names", leans, asked, _ABOVE_0, names),
        )
    return ()


def translation_is_good(cells: Mapping[str, Cell]) -> PaperClaim:
    """Claim b."""
    rule = Rule(f"the mean over data sets and languages is above {GOOD:.0%}", above=GOOD)
    return _claim(cells, "b", "Translation is good", "means 81.5, 84.7 and 48.7 %", rule, [("mean", "T4/mean")])


def loses(cells: Mapping[str, Cell]) -> tuple[PaperClaim, PaperClaim]:
    """Claim c; it takes a run of translations and one of reproductions together."""
    printed, wanted = "54.6 and 54.0 % against 81.5 and 84.7 %", [("mean", "C/mean/difference")]
    low, high = ABOUT_30
    about = Rule(f"reproduction minus translation is between {100 * low:.0f} and {100 * high:.0f} points", above=low, below=high)
    return (
        _claim(cells, "c1", "Explain-then-reproduce loses against translation", printed, _BELOW_0, wanted),
        _claim(cells, "c2", "It loses about 30 points", printed, about, wanted),
    )


def _claim(cells: Mapping[str, Cell], id: str, claim: str, printed: str, rule: Rule, wanted: Sequence[tuple[str, str]]) -> PaperClaim:
    """A claim that nothing decides where too many answers have no code."""
    asked = Asked(tuple(id for id in cells if id.startswith("E/") and id.endswith("/unreadable")))
    return claim_of(id, claim, printed, rule, wanted, cells, {called: asked for called, _ in wanted})


_WHAT = (
    "pass@1: the share of answers that pass the tests of their language, in the sandbox; an answer without code counts as a failure. 95 % "
    "intervals, with whole problems alone independent."
)
_ASKED = "Only programs that pass their own tests are asked about: a faithful answer to another one would fail."
# What the page, and what its answers are called.
_TITLES: Mapping[Kind, tuple[str, str]] = {
    "translate": ("Translation", "translations"),
    "explain": ("Explanation and reproduction", "programs, written again from its own descriptions with names,"),
    "complete": ("Recorded completions", "completions"),
}


def content_of(run: Run) -> StudyContent:
    """The page of a run."""
    question, items = run.question(("set", "items")), run.items(Item)
    kind: Kind = question["set"]
    found = scored_in(run, items, LABELS)
    tables = list(_tables(kind, found))
    cells = cells_in(tables)
    read = claims_of(kind, cells)
    what = Paragraph(_WHAT if kind == "complete" else f"{_WHAT} {_ASKED}")
    return StudyContent(
        title=f"{_TITLES[kind][0]}: {question['model_name'] or ', '.join(question['recorded'])}",
        summary=_summary(kind, question, found, read),
        facts=tuple(_facts(question)),
        sections=(Section(_TITLES[kind][0], (what, *tables)),),
        claims=read,
        left_out=tuple(_left_out(run, kind, items, found)),
        sources=sources_of(question) if "recorded" in question else (),
        command=again(run),
    )


def _tables(kind: Kind, found: Functors) -> Iterator[CellTable]:
    yield {"translate": translation_table, "explain": reproduction_table, "complete": completion_table}[kind](found)
    yield ending_table(found, kind)
    if kind == "explain":
        yield description_table(found)


def _facts(question: Mapping[str, Any]) -> Iterator[str]:
    if "recorded" in question:
        yield "the answers were recorded by others; no model was asked"
    else:
        how = "one greedy answer" if question["draws"] == 1 else f"{question['draws']} answers at temperature 0.2"
        yield f"{how_asked(question)}; {how} to each question"
    yield from facts_of(question, "data", "languages", "targets", "limit", "seed")
    yield the_paper(paper())


def _summary(kind: Kind, question: Mapping[str, Any], found: Functors, read: Sequence[PaperClaim]) -> tuple[str, str, str]:
    main, *others = (cells_of_row("", found, (passes(arm),), BY)[0] for arm in ARMS[kind])
    model = question["model_name"] or "the recorded model"
    first = "No answer has a label yet."
    if main.value is not None:
        first = f"Of {main.n:,} {_TITLES[kind][1]} of {model} {text_of(main)} pass their tests."
    if kind == "explain" and all(cell.value is not None for cell in others):
        unnamed, alone = map(percent, others)
        second = f"Without names and types {unnamed} pass, and from the header alone, without a description, {alone}."
    else:
        columns = endings_of(ARMS[kind][0])
        endings = [(column.title, cell) for column, cell in zip(columns, cells_of_row("", found, columns, BY), strict=True)]
        second = f"How the others end: {', '.join(f'{cell.value or 0.0:.1%} {title}' for title, cell in endings[1:-1])}."
    said = counted_claims(read) if read else "The paper says nothing of such answers."
    return f"{told_of_unreadable(found, BY)}{first}", second, said


def _left_out(run: Run, kind: Kind, items: Sequence[Item], found: Functors) -> Iterator[str]:
    yield from left_out(run, found, "passes", ARMS[kind][0], (SOURCES, LABELS))
    labels = run.records(SOURCES).read()
    if failing := sum(label["ending"] != "passes" for label in labels):
        yield f"{counted(failing, 'program')} of {len(labels):,} that fail their own tests, or that these can't judge: not asked about."
    waiting = len(items) - len(found)
    if waiting > 0 and (kind == "complete" or not failing):
        yield f"{counted(waiting, 'item')} without an answer yet."
    yield from run.question().get("left_out", [])


_FUNCTORS = (
    "Translation: of a problem's program into the other languages, their mean. Reproduction: of the same program in its own language, from "
    "the model's description with names and types."
)


def compare(runs: Sequence[Run], out: Path, *, as_json: bool) -> None:
    """Write report/ into `out`. Raises StudyError where the runs are neither of the same programs nor a translation and a reproduction."""
    questions = [run.question(("set", "items")) for run in runs]
    found, command = [scored_in(run, run.items(Item), LABELS) for run in runs], again_of(runs)
    kinds = [question["set"] for question in questions]
    if sorted(kinds) == ["explain", "translate"]:
        first, second = (kinds.index(kind) for kind in ("translate", "explain"))
        names = names_in_forms(questions)
        content = functors_content(found[first], found[second], (names[first], names[second]), command)
    else:
        if other := next((n for n, question in enumerate(questions) if question["items"] != questions[0]["items"]), None):
            told = apart((questions[0], questions[other]), "draws", "left_out")
            raise StudyError(
                f"{runs[0].folder} and {runs[other].folder} are not of the same programs ({told}): make one again with "
                f"the options of the other, which are in its {RUN}; or name a run of --set translate and one of --set explain"
            )
        content = models_content(dict(zip(by_model(runs), found, strict=True)), kinds[0], command)
    write_comparison(out, content, [run.folder for run in runs], as_json=as_json)


def functors_content(translated: Functors, reproduced: Functors, names: tuple[str, str], command: str) -> StudyContent:
    """The page on translation and reproduction."""
    of = ("translation", functor_numbers(translated, "translation")), ("reproduction", functor_numbers(reproduced, "named"))
    title = "Reproduction beside translation, paired by problem"
    table, both = paired_table("C", title, ("data", "code"), *of, BY, mean="mean"), translation_table(translated)
    cells = cells_in((table, both))
    read = (translation_is_good(cells), *loses(cells))
    same = names[0] == names[1]
    mean = {column: text_of(cells[place]) if (place := f"C/mean/{column}") in cells else "none" for column in (*dict(of), "difference")}
    return StudyContent(
        title=f"Translation and reproduction: {' and '.join(dict.fromkeys(names))}",
        summary=(
            f"{'The same model' if same else 'Two models'} translated programs ({names[0]}) and wrote them again from descriptions "
            f"({names[1]}): {mean['translation']} and {mean['reproduction']} pass.",
            f"Reproduction minus translation, problem by problem: {mean['difference']}.",
            counted_claims(read),
        ),
        facts=(the_paper(paper()),),
        sections=(Section("Reproduction beside translation", (Paragraph(_FUNCTORS), table, both)),),
        claims=read,
        left_out=() if same else ("The two runs are of different models: the difference is of both, model and task.",),
        command=command,
    )


def models_content(found: Mapping[str, Functors], kind: Kind, command: str) -> StudyContent:
    """The page on several models: each beside the first."""
    numbers = {name: numbers_of(items, kind) for name, items in found.items()}
    section = models_section(("data", "languages", "code"), numbers, BY, mean="mean of the rows above")
    first, other = list(found)[:2]
    cell = cells_of((section,)).get(f"P/{other}/mean/difference")
    return StudyContent(
        title=f"{counted(len(found), 'model')} on the same programs",
        summary=(
            f"{counted(len(found), 'model')} were asked about the same programs ({kind}).",
            f"{other} minus {first}: {text_of(cell) if cell else 'no answer of both has a label'}.",
            "The claims of the paper are read in the report of each run.",
        ),
        facts=(the_paper(paper()),),
        sections=(section,),
        command=command,
    )
