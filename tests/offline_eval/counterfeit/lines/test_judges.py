"""Judges of texts: thresholds that other projects give, and how often a judge is right."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from assay.offline_eval.counterfeit.classes import Outcomes
from assay.offline_eval.counterfeit.lines.report import examples_of
from assay.offline_eval.counterfeit.lines.tables import (
    JUDGES,
    all_verdicts,
    best_threshold,
    calls_of,
    class_table,
    difficulty_table,
    plausibility_table,
    repair_table,
    rule_table,
    verdicts_of,
)
from assay.offline_eval.counterfeit.lines.texts import Gap, Text

RIGHT, HALF, FEW, CRASH, UNPARSED = (
    Outcomes(True, "passed", 4, 4),
    Outcomes(False, "wrong", 3, 4),
    Outcomes(False, "wrong", 1, 4),
    Outcomes(False, "crash", 0, 4),
    Outcomes(False, "unparsed"),
)


def text(number: int, outcomes: Outcomes, p: float, *, asked: float = math.nan, project: str = "p0", stream: str = "t0.6") -> Text:
    gap = f"{project}:{number // 5}"
    measures = {"total_logprob": math.log(p)} | ({} if math.isnan(asked) else {"ask_true_normalised": asked})
    return Text(f"{gap}:{number}", gap, "line", project, stream, f"{number}", "if ", f"x{number}", "y", outcomes, measures, 0.2, ())


@pytest.fixture
def texts() -> list[Text]:
    """Of six projects; right ones are surer, and the model, asked, calls everything right."""
    rng = np.random.default_rng(0)
    made = []
    for project in range(6):
        for number in range(25):
            kind = (RIGHT, HALF, FEW, CRASH, UNPARSED)[number % 5]
            p = rng.uniform(0.3, 0.9) if kind is RIGHT else rng.uniform(0.05, 0.6)
            made.append(text(number, kind, p, asked=1.0, project=f"p{project}"))
    return made


def test_a_threshold_never_sees_the_project_that_it_judges() -> None:
    scores, right = np.array([1.0, 2.0, 3.0, 4.0, 8.0, 9.0]), np.array([False, True, False, True, True, False])
    groups = np.array([0, 0, 1, 1, 2, 2])
    called = calls_of(scores, right, groups)
    changed = calls_of(scores, np.where(groups == 2, ~right, right), groups)
    assert called is not None
    assert changed is not None
    assert (called[groups == 2] == changed[groups == 2]).all()
    assert calls_of(scores[:2], right[:2], groups[:2]) is None, "there is no other project"
    # 2 of 3 right ones and no wrong one are at 4 or above
    assert 3 < best_threshold(np.arange(1.0, 6.0), np.array([False, True, False, True, True])) <= 4


def test_only_right_texts_and_counterfeits_are_judged(texts: Sequence[Text]) -> None:
    found = verdicts_of(JUDGES[0], texts)
    assert found is not None
    assert {each.outcomes.error for each in found.texts} == {"passed", "wrong"}
    assert verdicts_of(JUDGES[0], [text(0, Outcomes(None), 0.5)]) is None
    unasked = [text(number, RIGHT, 0.5) for number in range(3)]
    assert [each.judge.key for each in all_verdicts(unasked)] == ["own"]


def test_classes_rules_and_plausibility_are_counted_of_shown_drawn_and_distinct_texts(texts: Sequence[Text]) -> None:
    shown = [text(number, HALF, 0.5, stream="", project=f"p{number}") for number in range(6)]
    found = [*shown, *texts, *texts]
    cells = {cell.id: cell for table in (class_table(found), rule_table(found), plausibility_table(found)) for cell in table.cells()}
    assert cells["C/line/shown/counterfeit"].value == 1
    assert [cells[f"C/line/{stream}/right"].n for stream in ("draws", "distinct")] == [300, 150]
    assert [cells[f"C/line/draws/{kind}"].value for kind in ("right", "counterfeit", "other")] == [0.2, 0.4, 0.4]
    assert [cells[f"CR/line/draws/{rule}"].value for rule in ("kept", "wrong", "parses")] == pytest.approx([0.4, 0.4, 0.6])
    assert [cells[f"P/line/draws/{name}"].value for name in ("parses", "keeps_a_test", "crashes")] == [0.75, 0.5, 0.25]
    assert cells["P/line/draws/share_kept"].value == pytest.approx(0.25)


def test_repair_is_compared_with_drawing_again_at_the_same_gaps(texts: Sequence[Text]) -> None:
    gaps = [Gap(f"p{n}:0", "line", f"p{n}", 0.5, (1.0, 0.0) if n % 2 else (1.0,)) for n in range(6)]
    gaps += [Gap(f"p{n}:1", "line", f"p{n}", 0.9, ()) for n in range(6)]
    cells = {cell.id: cell for cell in repair_table(gaps).cells()}
    assert cells["R/line/repairs"].value == 0.75
    assert cells["R/line/difference"].value == pytest.approx(0.25)
    assert (cells["R/line/wins"].value, cells["R/line/ties"].value, cells["R/line/wins"].n) == (0.5, 0.5, 6)
    rows = difficulty_table(gaps, verdicts_of(JUDGES[0], texts)).rows
    assert [row.names[1] for row in rows[:3]] == ["difficult (0)", "medium (6)", "easy (6)"]


def test_examples_are_the_counterfeits_that_looked_surest_the_shown_ones_first() -> None:
    found = [text(0, HALF, 0.9), text(1, HALF, 0.95), text(5, FEW, 0.2, stream=""), text(10, RIGHT, 0.99, stream=""), text(15, CRASH, 0.9)]
    tables = list(examples_of(found, lambda _: "◆ likely"))
    assert [dict(table.rows)["+"] for table in tables] == ["if x5", "if x1"]
    assert [dict(table.rows)["badge"] for table in tables] == ["◆ likely", "none: drawn at t0.6, not shown"]
    assert dict(tables[0].rows)["−"] == "if y"
    assert list(examples_of([found[3]], lambda _: "")) == []
