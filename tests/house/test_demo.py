"""`assay demo` on a real, tiny model, and what it shows of a suggestion."""

import json
import re
from pathlib import Path

import pytest
from house.running import assay

from assay.demo import Answer, Place, load_places, render, render_summary, summarise
from assay.terminal import Paint

ESCAPE = re.compile("\x1b\\[[0-9;]*m")
PLACE = Place("a.py", 4, "line", "the end of a line", "import a\n\ndef f(x):\n    y = ", "x + 1", ")\n    return y\n\n\nf(1)\n")


@pytest.fixture(scope="module")
def document(tiny_gguf: Path) -> dict:
    ran = assay("demo", "--json", "--model", tiny_gguf)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_every_place_is_completed_and_counted(document: dict) -> None:
    places = load_places()
    assert [(p["file"], p["line"], p["author"]) for p in document["places"]] == [(p.file, p.line, p.cut) for p in places]
    assert document["summary"]["places"] == len(places)
    assert document["summary"]["suggested"] == sum(p["suggestion"] is not None for p in document["places"])
    assert document["summary"]["first_suggestion_ms"] > document["summary"]["opened_ms"] > 0


def test_the_column_is_where_the_cut_text_began(document: dict) -> None:
    for place, told in zip(load_places(), document["places"], strict=True):
        line = (place.prefix + place.cut).split("\n")[place.line - 1]
        assert line[told["column"] - 1 :] == place.cut.split("\n")[0]


def test_a_model_without_a_calibrator_gets_no_number(document: dict) -> None:
    assert document["calibrators"] == []
    assert document["summary"]["with_probability"] == 0
    assert {p["suggestion"]["confidence"]["status"] for p in document["places"] if p["suggestion"]} == {"uncalibrated"}


def test_piped_it_has_no_colour_and_forced_it_says_the_same_in_colour(tiny_gguf: Path) -> None:
    plain = assay("demo", "--model", tiny_gguf).stdout
    coloured = assay("demo", "--model", tiny_gguf, FORCE_COLOR="1").stdout
    assert "\x1b" not in plain
    assert "«" in plain
    assert "\x1b[3;36m" in coloured
    speeds = re.compile(r"\d[\d,.]* (?:ms|tokens/s|of them)")
    assert speeds.sub("", ESCAPE.sub("", coloured)) == speeds.sub("", plain.replace("«", "").replace("»", ""))
    assert "No calibrator fits this model" in plain


def test_without_a_suggestion_the_place_is_shown_as_it_is_and_the_author_is_quoted() -> None:
    shown = render(Answer(PLACE, None, False, 12.3), 1, 9, Paint(colour=False), 80)
    assert shown.split("\n") == [
        "1/9 a.py:4 the end of a line",
        "    1  import a",
        "    2",
        "    3  def f(x):",
        "    4      y = )",
        "    5      return y",
        "    6",
        "       no suggestion  the author wrote: x + 1  12 ms",
    ]


def test_lines_around_the_suggestion_are_no_wider_than_the_window() -> None:
    wide = Place("a.py", 2, "line", "an end", "# " + "x" * 300 + "\ny = ", "1", "\n")
    assert max(map(len, render(Answer(wide, None, False, 1.0), 1, 1, Paint(colour=False), 60).split("\n")[1:3])) == 60


def test_the_summary_counts_what_the_author_wrote() -> None:
    answers = [Answer(PLACE, None, False, 10.0), Answer(PLACE, None, False, 30.0)]
    text = render_summary(summarise(answers, 100.0), [], Paint(colour=False))
    assert text.startswith("0 of 2 places")
    assert "20 ms for a suggestion; 110 ms to the first suggestion, 100 of them to open the model." in text
