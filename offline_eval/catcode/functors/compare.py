"""Runs beside each other: several models on the same programs, or translation and reproduction of the same problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from ....calibration.report.blocks import Paragraph
from ....calibration.report.cells import Cell, CellTable, Row, text_of
from ....calibration.report.study_report import Section, StudyContent, counted_claims
from ...asked_model import names_in_forms
from ...errors import StudyError
from ...progress import counted
from ...rtc.scores import mean_of
from ...rtc.tables import cell_of
from ...run import RUN, AskedQuestion, Run
from ...study_page import again_of, apart, cells_in, named_apart, the_paper, write_page
from ..paper import paper
from .items import ARMS, Arm, Item, Kind
from .page import loses, scored_of, translation_is_good
from .placing.registry import NAMES
from .tables import ARM_WORDS, BY, Scored, by_place, ended_as, mean_of_places, names_of, set_word, translation_table

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
        _check_same(runs, questions)
        content = models_content(dict(zip(named_apart(questions), found, strict=True)), kinds[0], command)
    write_page(out, content, as_json=as_json)


def _check_same(runs: Sequence[Run], questions: Sequence[AskedQuestion]) -> None:
    for run, question in zip(runs[1:], questions[1:], strict=True):
        if question["items"] != questions[0]["items"]:
            told = apart((questions[0], question), "draws", "left_out")
            raise StudyError(
                f"{runs[0].folder} and {run.folder} are not of the same programs ({told}): make one again with "
                f"the options of the other, which are in its {RUN}; or name a run of --set translate and one of --set explain"
            )


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
    tables = [CellTable("M", "Models", ("model", "data", "languages", "code"), ("pass@1",), tuple(_model_rows(found, kind)))]
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


def _model_rows(found: Mapping[str, Sequence[Scored]], kind: Kind) -> Iterator[Row]:
    for name, items in found.items():
        for place, of_place in by_place(items).items():
            for arm in ARMS[kind]:
                cell = cell_of(f"M/{name}/{place}/{arm}", mean_of(of_place, ended_as(arm)), BY)
                yield Row((name, *names_of(of_place[0]), ARM_WORDS[arm]), (cell,))


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
