"""The example files and the marked places in them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.demo import Place, load_places

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted(EXAMPLES.glob("*.py"))
PLACES = load_places(EXAMPLES)


def test_every_example_runs() -> None:
    for file in FILES:
        ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=30, check=False)
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.strip()


def test_there_are_enough_files_and_places_of_every_kind() -> None:
    assert len(FILES) >= 6
    assert len(PLACES) >= 14
    assert {place.file for place in PLACES} == {file.name for file in FILES}
    assert {place.kind for place in PLACES} == {"line", "block"}
    assert any(place.suffix.split("\n")[0] for place in PLACES), "no place has text after the cursor"
    assert any(not place.prefix.split("\n")[-1].strip() for place in PLACES), "no place is an empty body"


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.file}:{place.line}")
def test_a_place_put_together_again_is_the_file(place: Place) -> None:
    text = (EXAMPLES / place.file).read_text(encoding="utf-8")
    assert place.prefix + place.cut + place.suffix == text
    assert place.prefix.count("\n") + 1 == place.line
    assert place.cut.strip()
    assert place.cut in text.split("\n")[place.line - 1] if place.kind == "line" else "\n" in place.cut


@pytest.mark.parametrize("place", [p for p in PLACES if p.kind == "block"], ids=lambda place: f"{place.file}:{place.line}")
def test_a_block_place_is_the_whole_body_of_a_function(place: Place) -> None:
    text = place.prefix + place.cut + place.suffix
    bodies = {
        (statements[0].lineno, statements[-1].end_lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and len(statements := node.body[1:])
    }
    assert (place.line, place.line + place.cut.count("\n")) in bodies


def test_a_place_that_is_not_in_its_file_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "places.toml").write_text('[[place]]\nfile = "a.py"\nline = 1\ncut = "2"\nwhat = "a number"\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.py:1.*'2'"):
        load_places(tmp_path)
