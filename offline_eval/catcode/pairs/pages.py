"""The pages of runs on pairs: what was made and why a rule gave none, what was said of it, and several models side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ....calibration.report.blocks import Block, Bullets, Table
from ....calibration.report.cells import Cell, CellTable, Row, text_of
from ....calibration.report.paper_claims import MAX_UNREADABLE, Asked, PaperClaim, Rule, claim_of
from ....calibration.report.study_report import Section, StudyContent
from ...errors import StudyError
from ...progress import counted
from ...run import Run
from ...shares import BY
from ...side_by_side import Number, by_model, models_section
from ...study_page import again_of, write_comparison
from ..paper import paper
from .pair import KINDS, CodePair
from .tables import CLASSES, KEYS, LAYOUTS, Judgement, rates_of, table

# Reasons that are told of each rule, and the rest together.
MAX_REASONS = 4


def size_table(pairs: Sequence[CodePair], records: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Table 2: programs kept, equivalent pairs and others of each data set, and the paper's beside them.

    As in the paper the equivalent pairs are those of one rewrite and of two variants.
    """
    rows, notes = [], dict[str, None]()
    sets = {_data(record): (record["set"], record["language"]) for record in records}
    for data, (name, language) in (sets | {pair.data: (pair.set, pair.language) for pair in pairs}).items():
        of_it = [pair for pair in pairs if pair.data == data]
        programs = [record for record in records if _data(record) == data and record["outcome"]]
        kept = sum(record["outcome"] == "passed" for record in programs)
        counts = (sum(pair.kind in ("1-eq", "2-eq") for pair in of_it), sum(pair.kind == "1-neq" for pair in of_it))
        printed = paper()["T2"].get(name) if language == "java" else None
        theirs = ["–"] * 3
        if printed is not None:
            marks = [mark for column in ("eq", "neq") for mark in paper().marks_of(f"T2/{name}/{column}")]
            theirs = [f"{printed[0]:,} of {printed[1]:,}", f"{printed[2]:,}", f"{printed[3]:,}{' *' if marks else ''}"]
            notes |= {f"* {name}: {mark.note}": None for mark in marks}
        kept_here = f"{kept:,} of {len(programs):,}" if programs else f"{len({pair.problem for pair in of_it}):,}"
        rows.append((data, kept_here, theirs[0], f"{counts[0]:,}", theirs[1], f"{counts[1]:,}", theirs[2], f"{len(of_it):,}"))
    columns = ("data", "programs kept", "paper", "equivalent: 1-eq and 2-eq", "paper", "not: 1-neq", "paper", "all pairs")
    table = Table("Programs and pairs (table 2)", columns, "lrrrrrrr", tuple(rows))
    told = (
        "Ours are confirmed by running: a program is kept where it passes its own test, an equivalent variant passes it, too, and one that "
        "is not equivalent compiles and fails it. The paper kept what compiles, and ran no pair.",
        *notes,
    )
    return [table, Bullets(told)]


def kinds_made(pairs: Sequence[CodePair]) -> Table:
    """How many pairs there are of each kind, by data set."""
    count = Counter((pair.kind, pair.data) for pair in pairs)
    rows = [((kind,), [kind]) for kind in KINDS if any(pair.kind == kind for pair in pairs)]
    return _counted("Pairs of each kind", ("kind",), rows, count, [pair.data for pair in pairs])


def refusals_table(records: Sequence[Mapping[str, Any]]) -> Table:
    """Why programs, and rules at programs, gave no pair, the commonest reasons first."""
    refused = [(each["rule"] or "the program", each["reason"], _data(record)) for record in records for each in record["refusals"]]
    rows = list[tuple[tuple[str, ...], list[tuple[str, str]]]]()
    for rule in sorted({rule for rule, _, _ in refused}, key=lambda name: (name != "the program", name)):
        often = Counter(reason for which, reason, _ in refused if which == rule)
        common = sorted(often, key=lambda reason: (-often[reason], reason))
        rows += [((rule, reason), [(rule, reason)]) for reason in common[:MAX_REASONS]]
        if rest := common[MAX_REASONS:]:
            rows.append(((rule, f"{len(rest)} other reasons"), [(rule, reason) for reason in rest]))
    count = Counter(((rule, reason), data) for rule, reason, data in refused)
    return _counted("Why a rule gave no pair", ("rule", "reason"), rows, count, map(_data, records))


def _counted(
    title: str, heads: tuple[str, ...], rows: Iterable[tuple[tuple[str, ...], Sequence[Any]]], count: Counter[Any], data: Iterable[str]
) -> Table:
    """Counts by data set. rows: the names of each, and what is counted together there."""
    sets = tuple(dict.fromkeys(data))
    told = tuple((*names, *(f"{sum(count[each, one] for each in what):,}" for one in sets)) for names, what in rows)
    return Table(title, (*heads, *sets), "l" * len(heads) + "r" * len(sets), told)


def false_equivalents(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where the tests contradict a rule that keeps what a program does, for people."""
    return [
        f"{record['id']}: {each['rule']}: {each['reason']}"
        for record in records
        for each in record["refusals"]
        if each["rule"] and (each["reason"].startswith("the tests see a difference") or each["reason"] == "it does not compile")
    ]


def _data(record: Mapping[str, Any]) -> str:
    return f"{record['set']} {record['language']}"


# The paper gives no number from which an edit is seen; half is chance, and what is as near to it on either side is not seen.
SEEN, UNSEEN = 0.65, 0.35
# A second rewrite makes no difference within so much.
ALIKE = 0.05


def claims(cells: Mapping[str, Cell]) -> tuple[PaperClaim, ...]:
    """The claims about pairs."""
    wanted = (
        (
            "a1", "Local edits are seen", "1-eq 96 and 90.5 %, 1-neq 63 and 73.5 % (figure 4): balanced 79.5 and 82.0 %",
            Rule(f"the balanced accuracy at one rewrite is above {SEEN:.0%}", above=SEEN), "C/{}/local/balanced",
        ),
        (
            "a2", "Global equivalence is not seen", "51.5 and 52.6 % of equal, 68.6 and 63 % of other pairs: balanced 60.1 and 57.8 %",
            Rule(f"at programs that were drawn the balanced accuracy is between {UNSEEN:.0%} and {SEEN:.0%}", above=UNSEEN, below=SEEN),
            "C/{}/global/balanced",
        ),
        (
            "b", "Equivalence is seen better than its absence", "1-eq minus 1-neq: 33 and 17 points",
            Rule("recall of 1-eq minus that of 1-neq is above 0", above=0.0), "L/{}/lean",
        ),
        (
            "c", "Two variants are as easily seen as one", "2-eq minus 1-eq: 1 and −1 points",
            Rule(f"the difference is within ±{ALIKE}", above=-ALIKE, below=ALIKE), "L/{}/second",
        ),
    )  # fmt: skip
    asked = {way: Asked(("U/all/here",), f"C/{key}/local/balanced") for way, key in KEYS.items()}
    return tuple(
        claim_of(name, claim, printed, rule, [(way, place.format(key)) for way, key in KEYS.items()], cells, asked)
        for name, claim, printed, rule, place in wanted
    )


def made_section(pairs: Sequence[CodePair], records: Sequence[Mapping[str, Any]]) -> Section:
    """What was made, or read from a file. records: of the step that made them."""
    parts: list[Block | CellTable] = [*size_table(pairs, records), kinds_made(pairs)]
    if any(record["refusals"] for record in records):
        parts.append(refusals_table(records))
    return Section("The pairs", tuple(parts))


def judged_section(judgements: Sequence[Judgement]) -> Section:
    """What was said of them."""
    return Section("Identification", tuple(table(id, judgements) for id in LAYOUTS))


def summary_of(pairs: Sequence[CodePair], cells: Mapping[str, Cell], name: str) -> tuple[str, str, str]:
    """The first three sentences. name: of who was asked."""
    sets = ", ".join(dict.fromkeys(pair.data for pair in pairs))
    opening = f"{counted(len(pairs), 'pair')} of programs ({sets or 'none'}), each confirmed by running both on the tests."
    unreadable = cells.get("U/all/here")
    if unreadable is not None and (unreadable.value or 0.0) > MAX_UNREADABLE:
        opening = f"Many answers are neither True nor False ({text_of(unreadable)}), and count as wrong. {opening}"
    return opening, *_sentences(cells, name)


def _sentences(cells: Mapping[str, Cell], name: str) -> tuple[str, str]:
    key = next((key for key in KEYS.values() if f"K/{key}/1-eq" in cells), None)
    if key is None:
        return "No model has been asked about them yet.", "A file of them, pairs.jsonl, is in the run's folder: name it with --data."
    eq, neq, balanced = (cells[f"C/{key}/local/{part}"] for part in ("eq", "neq", "balanced"))
    second = f"One rewrite that keeps what a program does is seen by {name} {_said(eq)}, and one that changes it {_said(neq)}"
    second += f": balanced {_said(balanced)}, where half is chance." if balanced.value is not None else "."
    drawn, same = cells[f"C/{key}/global/balanced"], cells[f"K/{key}/identity"]
    third = f"A program and itself are called the same {_said(same)}."
    if drawn.value is not None:
        third += f" Of right and wrong programs for one problem, balanced {_said(drawn)}."
    return second, third


def _said(cell: Cell) -> str:
    return text_of(cell) if cell.value is not None else "(no such pair)"


def compare(judged_in: Callable[[Run], Sequence[Judgement]], runs: Sequence[Run], out: Path, *, as_json: bool) -> None:
    """Write report/ into `out`; on stdout its files, or one JSON document with all figures. judged_in: what was said in a run.

    Raises StudyError for a run without an answer, or runs without a common question.
    """
    said = {name: judged_in(run) for name, run in by_model(runs).items()}
    if silent := next((run.folder for run, found in zip(runs, said.values(), strict=True) if not found), None):
        raise StudyError(f"{silent} has no answer about a pair: run its step answers first")
    write_comparison(out, content_of(said, again_of(runs)), [run.folder for run in runs], as_json=as_json)


def content_of(runs: Mapping[str, Sequence[Judgement]], command: str) -> StudyContent:
    """The page. Raises StudyError where no two runs have a common question."""
    models = models_section(("how", "pairs"), {name: list(map(_number, said)) for name, said in runs.items()}, BY)
    if not any(part.rows for part in models.parts if isinstance(part, CellTable) and part.id.startswith("P/")):
        raise StudyError("no question is in two of these runs: ask the models about one file of pairs, with --data RUN/pairs.jsonl")
    classes = _classes_by_model(runs)
    balanced = [cell for row in classes.rows if row.names[1] == "one rewrite" for cell in row.cells if cell.value is not None]
    best = max(balanced, key=lambda cell: cell.value or 0.0, default=None)
    said = f"The best of them is right {text_of(best)} of the time about one rewrite, balanced, where half is chance." if best else "–"
    return StudyContent(
        title="Pairs of programs: models side by side",
        summary=(
            f"{counted(len(runs), 'model')} were asked whether two programs do the same.",
            said,
            "Differences are of the same pairs, asked in the same order.",
        ),
        facts=("95 % intervals: problems alone are independent.",),
        sections=(models, Section("Equivalent or not", (classes,))),
        command=command,
    )


def _number(judgement: Judgement) -> Number:
    """The credit of a judgement; equal questions have one id, whatever their pairs are called."""
    pair, way = judgement.pair, judgement.way
    return Number("\0".join(pair.programs(judgement.order)), pair.problem, f"{KEYS[way]}/{pair.kind}", (way, pair.kind), judgement.credit)


def _classes_by_model(runs: Mapping[str, Sequence[Judgement]]) -> CellTable:
    rows = []
    for way, key in KEYS.items():
        for name, (place, kinds) in CLASSES.items():
            of_each = [[each for each in said if each.way == way and each.pair.kind in kinds] for said in runs.values()]
            if any(of_each):
                cells = tuple(rates_of(f"MC/{key}/{place}/{n}", found)[2] for n, found in enumerate(of_each, 1))
                rows.append(Row((way, name), cells))
    return CellTable("MC", "Balanced accuracy", ("how", "pairs"), tuple(runs), tuple(rows))
