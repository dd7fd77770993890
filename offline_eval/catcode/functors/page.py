"""The page of a run of translations, reproductions or recorded completions; and of runs beside each other: several models on the same
programs, or translation and reproduction of the same problems.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from ....calibration.report.blocks import Block, Code, Heading, Paragraph
from ....calibration.report.cells import Cell, CellTable, Row, text_of
from ....calibration.report.paper_claims import MAX_UNREADABLE, Asked, PaperClaim, Rule, claim_of
from ....calibration.report.study_report import Section, StudyContent, counted_claims
from ...asked_model import how_asked, names_in_forms
from ...errors import StudyError
from ...progress import counted
from ...recorded.source import sources_of
from ...rtc.scores import Mean, mean_of
from ...rtc.tables import cell_of
from ...run import RUN, Run
from ...study_page import again, again_of, apart, cells_in, facts_of, lost_items, named_apart, the_paper, write_page
from ..paper import paper
from .items import ANSWERS, ARMS, DESCRIPTIONS, Answer, Answers, Arm, Described, Item, Kind
from .labelling import ENDINGS, LABELS, SOURCES, Ending, Label, label_id
from .placing.registry import NAMES
from .tables import (
    ARM_WORDS,
    BY,
    ENDING_WORDS,
    Scored,
    by_place,
    completion_table,
    description_table,
    ended_as,
    ending_table,
    mean_of_places,
    names_of,
    reproduction_table,
    scored,
    set_word,
    translation_table,
    unreadable_of,
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


EACH, MAX_CHARACTERS = 1, 2_000


def examples(
    items: Sequence[Item], described: Sequence[Described], answers: Sequence[Answers], labels: Sequence[Label], seed: int
) -> Iterator[Block]:
    """The blocks; none of what passes."""
    by_id, known = {item.id: item for item in items}, {label["id"]: label for label in labels}
    told = {record["id"]: record for record in described}
    found: dict[tuple[str, Ending], list[tuple[Item, Answer, str]]] = {}
    for record in answers:
        item = by_id[record["id"]]
        for one in record["answers"]:
            ending, why = _ended(item, one, known)
            if ending not in (None, "passes"):
                found.setdefault((item.target, ending), []).append((item, one, why))
    for target in dict.fromkeys(target for target, _ in found):
        for ending in ENDINGS:
            those = found.get((target, ending), [])
            for item, one, why in random.Random(f"{seed}:{target}:{ending}").sample(those, min(EACH, len(those))):
                yield from _shown(item, one, ENDING_WORDS[ending], why, told)


def _ended(item: Item, one: Answer, labels: Mapping[str, Label]) -> tuple[Ending | None, str]:
    if one["text"] is None:
        return "unreadable", "there is no code in it"
    label = labels.get(label_id(item, item.program(one["arm"], one["text"])))
    return (None, "") if label is None else (label["ending"], label["why"])


def _shown(item: Item, one: Answer, ending: str, why: str, told: Mapping[str, Described]) -> Iterator[Block]:
    yield Heading(3, f"{set_word(item.set)}, {item.problem}, {NAMES[item.target]}, {ARM_WORDS[one['arm']]}: {ending}")
    if item.code:
        yield Code(f"The code, in {NAMES[item.source or item.target]}", _short(item.code))
    if one["arm"] in ("named", "unnamed") and item.id in told:
        words = [each["text"] for each in told[item.id]["descriptions"] if each["told"] == one["arm"]]
        if one["of"] < len(words):
            yield Code("The model's description", _short(words[one["of"]] or ""))
    yield Code("The answer", _short(one["said"] if one["text"] is None else one["text"]))
    yield Code("What failed", _short(why or "nothing tells"))


def _short(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}\n…"


# More than this share of answers without code is told first.
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


def scored_of(run: Run, items: Sequence[Item]) -> list[Scored]:
    """The items of a run with their scores. Raises RunError."""
    return scored(items, *_records(run))


def _records(run: Run) -> tuple[list[Described], list[Answers], list[Label]]:
    return run.records(DESCRIPTIONS).read(), run.records(ANSWERS).read(), run.records(LABELS).read()


def content_of(run: Run) -> StudyContent:
    """The page of a run."""
    question, items = run.question(("set", "items")), run.items(Item)
    kind: Kind = question["set"]
    found = scored_of(run, items)
    tables = list(_tables(kind, found))
    read = claims_of(kind, cells_in(tables))
    shown = tuple(examples(items, *_records(run), int(question["seed"])))
    what = Paragraph(_WHAT if kind == "complete" else f"{_WHAT} {_ASKED}")
    return StudyContent(
        title=f"{_TITLES[kind][0]}: {question['model_name'] or ', '.join(question['recorded'])}",
        summary=_summary(kind, question, found, read),
        facts=tuple(_facts(question)),
        sections=(Section(_TITLES[kind][0], (what, *tables)), *((Section("Answers to look at", shown),) if shown else ())),
        claims=read,
        left_out=tuple(_left_out(run, kind, items, found)),
        sources=sources_of(question) if "recorded" in question else (),
        command=again(run),
    )


def _tables(kind: Kind, found: Sequence[Scored]) -> Iterator[CellTable]:
    match kind:
        case "translate":
            yield translation_table(found)
        case "explain":
            yield reproduction_table(found)
        case "complete":
            yield completion_table(found)
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


def _summary(kind: Kind, question: Mapping[str, Any], found: Sequence[Scored], read: Sequence[PaperClaim]) -> tuple[str, str, str]:
    main, unreadable = mean_of(found, ended_as(ARMS[kind][0])), unreadable_of(found)
    model = question["model_name"] or "the recorded model"
    first = "No answer has a label yet."
    if main.value is not None:
        first = f"Of {main.n:,} {_TITLES[kind][1]} of {model} {text_of(cell_of('', main, ''))} pass their tests."
    if unreadable.value is not None and unreadable.value > MAX_UNREADABLE:
        first = f"{_percent(unreadable)} of the answers have no code in them, and count as failures. {first}"
    return first, _second(kind, found), counted_claims(read) if read else "The paper says nothing of such answers."


def _second(kind: Kind, found: Sequence[Scored]) -> str:
    if kind == "explain":
        unnamed, alone = mean_of(found, ended_as("unnamed")), mean_of(found, ended_as("header"))
        if unnamed.value is not None and alone.value is not None:
            return f"Without names and types {_percent(unnamed)} pass, and from the header alone, without a description, {_percent(alone)}."
    failing = [ending for ending in ENDINGS if ending not in ("passes", "unreadable")]
    shares = [mean_of(found, ended_as(ARMS[kind][0], ending)).value or 0.0 for ending in failing]
    words = ", ".join(f"{share:.1%} {ENDING_WORDS[ending]}" for share, ending in zip(shares, failing, strict=True))
    return f"How the others end: {words}."


def _percent(mean: Mean) -> str:
    ends = f" ({mean.found.low:.1%} to {mean.found.high:.1%})" if mean.found else ""
    return f"{mean.value or 0.0:.1%}{ends}"


def _left_out(run: Run, kind: Kind, items: Sequence[Item], found: Sequence[Scored]) -> Iterator[str]:
    yield from lost_items(sum(len(run.lost(step)) for step in (SOURCES, DESCRIPTIONS, ANSWERS, LABELS)), "answer", "or labels lost")
    labels = run.records(SOURCES).read()
    if failing := sum(label["ending"] != "passes" for label in labels):
        yield f"{counted(failing, 'program')} of {len(labels):,} that fail their own tests, or that these can't judge: not asked about."
    waiting = len(items) - len(found)
    if kind == "complete" or not labels:
        failing = 0
    if waiting > 0 and not failing:
        yield f"{counted(waiting, 'item')} without an answer yet."
    arms = ARMS[kind]
    if unlabelled := sum(any(each.ending is None for arm in arms for each in item.answers.get(arm, ())) for item in found):
        yield f"{counted(unlabelled, 'item')} of which an answer has no label."
    yield from run.question().get("left_out", [])


_PAIRED = (
    "Only what both have a label for is compared, pair by pair. Differences are of the second minus the first, with 95 % intervals by "
    "problem."
)
_FUNCTORS = (
    "Translation: of a problem's program into the other languages, their mean. Reproduction: of the same program in its own language, from "
    "the model's description with names and types."
)


@dataclass(frozen=True, slots=True)
class Pair:
    """pass@1 of two runs for one program."""

    id: str
    group: str
    place: str
    first: float
    second: float


def compare(runs: Sequence[Run], out: Path, *, as_json: bool) -> None:
    """Write report/ into `out`. Raises StudyError where the runs are neither of the same programs nor a translation and a reproduction."""
    questions = [run.question(("set", "items")) for run in runs]
    found, command = [scored_of(run, run.items(Item)) for run in runs], again_of(runs)
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
        content = models_content(dict(zip(named_apart(questions), found, strict=True)), kinds[0], command)
    write_page(out, content, as_json=as_json)


def functors_content(translated: Sequence[Scored], reproduced: Sequence[Scored], names: tuple[str, str], command: str) -> StudyContent:
    """The page on translation and reproduction."""
    table = functors_table(functor_pairs(translated, reproduced))
    both = translation_table(translated)
    cells = cells_in((table, both))
    read = (translation_is_good(cells), *loses(cells))
    same = names[0] == names[1]
    return StudyContent(
        title=f"Translation and reproduction: {' and '.join(dict.fromkeys(names))}",
        summary=(
            f"{'The same model' if same else 'Two models'} translated programs ({names[0]}) and wrote them again from descriptions "
            f"({names[1]}): {text_of(cells['C/mean/translation'])} and {text_of(cells['C/mean/reproduction'])} pass.",
            f"Reproduction minus translation, problem by problem: {text_of(cells['C/mean/difference'])}.",
            counted_claims(read),
        ),
        facts=(the_paper(paper()),),
        sections=(Section("Reproduction beside translation", (Paragraph(_FUNCTORS), Paragraph(_PAIRED), table, both)),),
        claims=read,
        left_out=() if same else ("The two runs are of different models: the difference is of both, model and task.",),
        command=command,
    )


def functor_pairs(translated: Sequence[Scored], reproduced: Sequence[Scored]) -> list[Pair]:
    """Translation and reproduction of each problem and source that has both."""
    written = dict[tuple[str, str | None], list[float]]()
    for item in translated:
        if (passed := item.pass_at_1("translation")) is not None:
            written.setdefault((item.group, item.source), []).append(passed)
    found = []
    for item in reproduced:
        first, second = written.get((item.group, item.target)), item.pass_at_1("named")
        if first and second is not None:
            found.append(Pair(item.id, item.group, f"{item.set}/{item.target}", fmean(first), second))
    return found


def functors_table(pairs: Sequence[Pair]) -> CellTable:
    """Translation, reproduction and their difference."""
    rows = []
    for place, found in by_place(pairs).items():
        name, _, language = place.partition("/")
        rows.append(Row((set_word(name), NAMES[language]), _pair_cells(f"C/{place}", found, ("translation", "reproduction"))))
    rows.append(Row(("mean", "of the rows above"), _pair_cells("C/mean", pairs, ("translation", "reproduction"), places=True)))
    columns = ("translation", "reproduction", "reproduction minus translation")
    return CellTable("C", "Reproduction beside translation, paired by problem", ("data", "code"), columns, tuple(rows))


def _pair_cells(place: str, pairs: Sequence[Pair], names: tuple[str, str], *, places: bool = False) -> tuple[Cell, ...]:
    values: dict[str, Callable[[Pair], float]] = {
        names[0]: lambda pair: pair.first,
        names[1]: lambda pair: pair.second,
        "difference": lambda pair: pair.second - pair.first,
    }
    cells = []
    for column, value in values.items():
        sign = column == "difference"
        found = mean_of_places(pairs, value) if places else mean_of(pairs, value, share=not sign)
        cells.append(cell_of(f"{place}/{column}", found, BY, sign=sign))
    return tuple(cells)


def models_content(found: Mapping[str, Sequence[Scored]], kind: Kind, command: str) -> StudyContent:
    """The page on several models: each beside the first."""
    first, *others = found
    rows = [
        Row((name, *names_of(of_place[0]), ARM_WORDS[arm]), (cell_of(f"M/{name}/{place}/{arm}", mean_of(of_place, ended_as(arm)), BY),))
        for name, items in found.items()
        for place, of_place in by_place(items).items()
        for arm in ARMS[kind]
    ]
    tables = [CellTable("M", "Models", ("model", "data", "languages", "code"), ("pass@1",), tuple(rows))]
    tables += [_difference_table(first, other, found, kind) for other in others]
    cells = cells_in(tables)
    return StudyContent(
        title=f"{counted(len(found), 'model')} on the same programs",
        summary=(
            f"{counted(len(found), 'model')} were asked about the same programs ({kind}).",
            f"{others[0]} minus {first}: {text_of(cells[f'P/{others[0]}/{ARMS[kind][0]}/mean/difference'])}.",
            "The claims of the paper are read in the report of each run.",
        ),
        facts=(the_paper(paper()),),
        sections=(Section("Models", (Paragraph(_PAIRED), *tables)),),
        command=command,
    )


def _difference_table(first: str, other: str, found: Mapping[str, Sequence[Scored]], kind: Kind) -> CellTable:
    rows = []
    words = {item.place: names_of(item) for item in found[first]}
    for arm in ARMS[kind]:
        pairs = list(_model_pairs(found[first], found[other], arm))
        for place, of_place in by_place(pairs).items():
            rows.append(Row((*words[place], ARM_WORDS[arm]), _pair_cells(f"P/{other}/{arm}/{place}", of_place, ("first", "second"))))
        mean = _pair_cells(f"P/{other}/{arm}/mean", pairs, ("first", "second"), places=True)
        rows.append(Row(("mean", "of the rows above", ARM_WORDS[arm]), mean))
    columns = (first, other, "difference")
    return CellTable(f"P/{other}", f"{other} beside {first}, paired", ("data", "languages", "code"), columns, tuple(rows))


def _model_pairs(first: Sequence[Scored], other: Sequence[Scored], arm: Arm) -> Iterator[Pair]:
    known = {item.id: item.pass_at_1(arm) for item in other}
    for item in first:
        one, two = item.pass_at_1(arm), known.get(item.id)
        if one is not None and two is not None:
            yield Pair(item.id, item.group, item.place, one, two)
