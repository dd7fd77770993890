from __future__ import annotations

import ast
import random
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.bugs import KINDS
from training.fixes import Fix, drawn

STDLIB = [p.read_text(encoding="utf-8") for p in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))]
SMALL = [text for text in STDLIB if len(text) < 30_000][:40]


def items(count: int) -> list[tuple[str, Fix]]:
    rng = random.Random(0)
    made = [(text, drawn(text, rng)) for text in (rng.choice(SMALL) for _ in range(count))]
    return [(text, item) for text, item in made if item is not None]


@pytest.mark.slow
def test_what_an_item_shows_and_answers_is_the_file_itself() -> None:
    kinds = set()
    for text, item in items(200):
        kinds.add(item.kind)
        assert item.before + item.answer + item.after in text
        assert (item.kind == "none") == (item.shown == item.answer)
        assert "\n" not in item.shown + item.answer
        # The cursor stands where code begins, and the space there is held back.
        assert item.answer.strip()
        assert item.answer[:1].isspace() or item.before.endswith("\n")
        assert not item.answer[1:2].isspace()
        if item.kind != "none":
            wrong = item.before + item.shown + item.after
            assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(text.replace(item.before + item.answer + item.after, wrong)))
    # Of a removed guard several lines go.
    assert kinds == {*KINDS, "none"} - {"removed_guard"}


@given(st.text(), st.integers())
def test_any_text_gives_an_item_or_none_but_no_error(text: str, seed: int) -> None:
    drawn(text, random.Random(seed))
    drawn("def f(a, b):\n    return a < b\n" + text, random.Random(seed))


def test_the_same_seed_gives_the_same_item() -> None:
    assert items(20) == items(20)
