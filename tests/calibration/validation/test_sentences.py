"""Each figure of each study has a sentence, and clients are told all of a table with the primary figures first."""

from __future__ import annotations

import json
import re

import pytest

from assay.calibration.metrics.intervals import Interval
from assay.calibration.validation.figures import figure, not_run
from assay.calibration.validation.fresh import primary_of
from assay.calibration.validation.sentences import SENTENCES, sentence_of, statements, whole_json
from assay.calibration.validation.table import Validation, merged, rows_of
from assay.calibration.validation.words import MEANINGS

EMPTY = Validation("a" * 16, "tests_pass", "line", "b" * 16, "c" * 16, ())


@pytest.mark.parametrize("id", [*MEANINGS, *primary_of("tests_pass"), "M7.context_rename_variable", "M7.wrong_swap_operator"])
def test_each_figure_has_a_plain_sentence_of_its_own(id: str) -> None:
    sentence = sentence_of(not_run(id, "", "none"))
    assert id in SENTENCES or id.startswith("M7.")
    assert re.fullmatch(r"[A-Z][^\n]{10,130}[a-z0-9)]\.", sentence), sentence


def test_the_primary_figures_come_first_also_those_that_were_not_run() -> None:
    found = [
        figure("K3", Interval(0.8, 0.7, 0.9), 400, 20, "project", "> 0.5"),
        figure("K1", Interval(0.2, 0.1, 0.3), 400, 20, "project", "> 0", "held out"),
    ]
    table = merged(EMPTY, rows_of(found, "calibration", "run", "0" * 64))
    table = merged(table, rows_of([figure("F2", Interval(0.4, 0.3, 0.45), 90, 9, "project", "> 0.5")], "counterfeit", "run", "0" * 64))
    assert [each.figure.id for each in statements(table)] == [*primary_of("tests_pass"), "K3"]
    document = json.loads(json.dumps(whole_json(table), allow_nan=False))
    by_id = {each["id"]: each for each in document["figures"]}
    assert document["summary"] == "validated: 1 of 5 hold, 1 refuted, 3 not run"
    assert {id for id, each in by_id.items() if each["primary"]} == set(primary_of("tests_pass"))
    assert by_id["K1"] == {
        "id": "K1",
        "primary": True,
        "sentence": SENTENCES["K1"],
        "value": 0.2,
        "low": 0.1,
        "high": 0.3,
        "n": 400,
        "groups": 20,
        "unit": "project",
        "claim": "> 0",
        "reading": "holds",
        "study": "calibration",
        "note": "held out",
    }
    assert (by_id["M3"]["reading"], by_id["M3"]["value"], by_id["M3"]["study"]) == ("not run", None, "")
    assert (by_id["F2"]["reading"], by_id["F2"]["study"]) == ("refuted", "counterfeit")
