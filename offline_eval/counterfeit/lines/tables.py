"""The tables of the page on lines: classes, how plausible wrong texts are, repair, and difficulty. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ....calibration.fitting.folds import numbered
from ....calibration.metrics.groups import correlation
from ....calibration.report.cells import Cell, CellTable, PaperValue, Row, with_interval
from ..classes import CLASSES, RULES, class_of
from ..difficulty import CUTS
from ..paper import median_correlation, of_generators, repaired, wins
from ..shares import mean_cell, of_two_classes, share
from .judges import BENCHMARK, Verdicts, accuracy_by_gap
from .texts import BY, Gap, Text, distinct

_MIN_GAPS = 4


def streams_of(texts: Sequence[Text]) -> Iterator[tuple[tuple[str, str], str, list[Text]]]:
    """(names, key, texts) of what is shown, of each draw, and of each distinct text, by task."""
    for task in dict.fromkeys(text.task for text in texts):
        of_task = [text for text in texts if text.task == task]
        drawn = [text for text in of_task if text.stream]
        yield (task, "shown by the editor"), f"{task}/shown", [text for text in of_task if not text.stream]
        yield (task, "each draw"), f"{task}/draws", drawn
        yield (task, "distinct drawn texts"), f"{task}/distinct", distinct(drawn)


def class_table(texts: Sequence[Text]) -> CellTable:
    """Fig. 2: the classes of what was written, by the main rule."""
    rows = []
    for names, key, found in streams_of(texts):
        known = [text for text in found if text.kind is not None]
        projects = [text.project for text in known]
        cells = []
        for place, kind in enumerate(CLASSES):
            paper = of_generators("Fig2", BENCHMARK, place) if key.endswith("/draws") else ()
            cells.append(share(f"C/{key}/{kind}", [float(text.kind == kind) for text in known], projects, paper, by=BY))
        rows.append(Row(names, tuple(cells)))
    notes = (f"Counterfeit: {RULES['kept']}. Other: the rest of the wrong ones.", "Texts that no label tells of are left out.")
    return CellTable("C", "Classes of what the model writes (figure 2)", ("task", "texts"), CLASSES, tuple(rows), notes)


def rule_table(texts: Sequence[Text]) -> CellTable:
    """How much hangs on the rule that says what looks right."""
    rows = []
    for names, key, found in streams_of(texts):
        known = [text for text in found if text.kind is not None]
        projects = [text.project for text in known]
        cells = [
            share(f"CR/{key}/{rule}", [float(class_of(text.outcomes, rule) == "counterfeit") for text in known], projects, by=BY)
            for rule in RULES
        ]
        rows.append(Row(names, tuple(cells)))
    notes = tuple(f"{rule}: {said}." for rule, said in RULES.items())
    return CellTable("CR", "Share of counterfeits by three rules", ("task", "texts"), tuple(RULES), tuple(rows), notes)


_LOOKS: Mapping[str, Callable[[Text], bool]] = {
    "parses": lambda text: bool(text.outcomes.parses),
    "keeps a test": lambda text: text.outcomes.kept >= 1 and bool(text.outcomes.parses),
    "keeps half of them": lambda text: (text.outcomes.share or 0.0) >= 0.5 and bool(text.outcomes.parses),
    "crashes": lambda text: text.outcomes.error == "crash",
    "only assertions fail": lambda text: text.outcomes.error == "wrong",
}


def plausibility_table(texts: Sequence[Text]) -> CellTable:
    """How plausible the wrong texts are."""
    rows = []
    for names, key, found in streams_of(texts):
        wrong = [text for text in found if text.kind in ("counterfeit", "other")]
        projects = [text.project for text in wrong]
        cells = [
            share(f"P/{key}/{name.replace(' ', '_')}", [float(looks(text)) for text in wrong], projects, by=BY)
            for name, looks in _LOOKS.items()
        ]
        kept = [text.outcomes.share or 0.0 for text in wrong]
        rows.append(Row(names, (*cells, share(f"P/{key}/share_kept", kept, projects, by=BY))))
    notes = ("Of the tests that touch the text, at most 40 of them. A text that does not parse keeps none.",)
    columns = (*_LOOKS, "mean share of tests kept")
    return CellTable("P", "How plausible the wrong texts are", ("task", "wrong texts"), columns, tuple(rows), notes)


def repair_table(gaps: Sequence[Gap]) -> CellTable:
    """Fig. 5 and 21: repairing a counterfeit against drawing another text at the same gap."""
    rows = []
    for task in dict.fromkeys(gap.task for gap in gaps):
        found = [gap for gap in gaps if gap.task == task and gap.repair_rate is not None and gap.pass_rate is not None]
        repairs, drawn = [gap.repair_rate or 0.0 for gap in found], [gap.pass_rate or 0.0 for gap in found]
        projects = [gap.project for gap in found]
        pairs = list(zip(repairs, drawn, strict=True))
        place = f"R/{task}"
        cells = (
            share(f"{place}/repairs", repairs, projects, repaired(BENCHMARK, ""), "nothing was repaired", by=BY),
            share(f"{place}/drawn", drawn, projects, (), "nothing was repaired", by=BY),
            mean_cell(f"{place}/difference", [a - b for a, b in pairs], projects, by=BY),
            share(f"{place}/wins", [float(a > b) for a, b in pairs], projects, wins(BENCHMARK), "nothing was repaired", by=BY),
            share(f"{place}/ties", [float(a == b) for a, b in pairs], projects, (), "nothing was repaired", by=BY),
        )
        rows.append(Row((task,), cells))
    columns = ("repairs that pass", "draws that pass", "repairs minus draws", "places where repair wins", "ties")
    notes = (
        "Of at most 5 counterfeits of a gap, each repaired once greedily and 5 times at the temperature; n counts gaps.",
        "What the editor would not show counts as failed, among repairs and draws.",
        "The gaps are those where a text failed. This alone makes draws look worse than they are: by 1 to 2 points, of ten draws.",
    )
    return CellTable("R", "Repair against drawing again (figures 5 and 21)", ("task",), columns, tuple(rows), notes)


def difficulty_table(gaps: Sequence[Gap], verdicts: Verdicts | None) -> CellTable:
    """Fig. 6: judging and repairing by pass@1 of the model itself."""
    rates = {gap.id: gap.pass_rate for gap in gaps if gap.pass_rate is not None}
    by_id = {gap.id: gap for gap in gaps}
    rows = []
    for cut, buckets in CUTS.items():
        for bucket, found in buckets(rates).items():
            place, inside = f"D/{cut.split()[0]}/{bucket}", set(found)
            mended = [by_id[gap] for gap in found if by_id[gap].repair_rate is not None]
            judged = _accuracy(f"{place}/judging", verdicts, inside)
            repairs = share(f"{place}/repair", [gap.repair_rate or 0.0 for gap in mended], [gap.project for gap in mended], by=BY)
            rows.append(Row((cut, f"{bucket} ({len(found)})"), (judged, repairs)))
    name = verdicts.judge.name if verdicts else "no judge"
    columns = (f"judging, balanced accuracy: {name}", "repairs that pass")
    return CellTable("D", "By difficulty: pass@1 of the gap (figure 6)", ("cut", "gaps"), columns, tuple(rows))


def _accuracy(place: str, verdicts: Verdicts | None, gaps: set[str]) -> Cell:
    rows = [row for row, text in enumerate(verdicts.texts) if text.gap in gaps] if verdicts else []
    if verdicts is None or not rows:
        return Cell(place, why="nothing to judge", grouped_by=BY, percent=True)
    right, credit = verdicts.right, verdicts.credit
    projects = [verdicts.texts[row].project for row in rows]
    return of_two_classes(place, [bool(right[row]) for row in rows], [float(credit[row]) for row in rows], projects, 0.5, 0.0, by=BY)


def correlation_table(gaps: Sequence[Gap], verdicts: Verdicts | None) -> CellTable:
    """Fig. 7: Pearson's r over gaps between pass@1 and how well they are judged and repaired."""
    rates = {gap.id: gap.pass_rate for gap in gaps if gap.pass_rate is not None}
    projects = {gap.id: gap.project for gap in gaps}
    repairs = {gap.id: gap.repair_rate for gap in gaps if gap.repair_rate is not None}
    rows = [
        Row(
            ("judging",),
            (_correlation("Q/judge", rates, accuracy_by_gap(verdicts) if verdicts else {}, projects, median_correlation("judge")),),
        ),
        Row(("repair",), (_correlation("Q/repair", rates, repairs, projects, median_correlation("repair")),)),
    ]
    notes = ("Judging: the balanced accuracy at the gaps that have right texts and counterfeits.",)
    return CellTable("Q", "Pearson's r between pass@1 and success, over gaps (figure 7)", ("what",), ("r",), tuple(rows), notes)


def _correlation(
    place: str, rates: Mapping[str, float], success: Mapping[str, float], projects: Mapping[str, str], paper: tuple[PaperValue, ...]
) -> Cell:
    both = [gap for gap in rates if gap in success]
    names = [projects[gap] for gap in both]
    x, y = (np.array([of[gap] for gap in both]) for of in (rates, success))
    if len(both) < _MIN_GAPS or len(set(names)) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Cell(place, n=len(both), groups=len(set(names)), grouped_by=BY, paper=paper, why="too few gaps that differ")
    return with_interval(place, correlation(x, y, numbered(names)), len(both), len(set(names)), BY, paper=paper)
