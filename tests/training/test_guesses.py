from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from assay.inference.completion.settings import Settings
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.opening import EMBEDDED
from assay.suggestion.complete import complete
from training.guesses import gaps_of, guess, places_of
from training.places import read_places

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not EMBEDDED.exists(), reason="the embedded model is not in this checkout")
FILES = [(Path(sysconfig.get_path("stdlib")) / f"{name}.py").read_text(encoding="utf-8") for name in ("heapq", "bisect", "ast", "textwrap")]


@pytest.fixture(scope="module")
def model() -> LlamaModel:
    return LlamaModel(EMBEDDED, threads=1)


def test_a_greedy_guess_is_what_an_editor_would_show_and_right_where_it_is_what_was_there(model: LlamaModel) -> None:
    seen = 0
    s = Settings(prefix_tokens=120, suffix_tokens=40, line_tokens=48)
    for source in FILES:
        for gap in gaps_of(source, "0"):
            budgets = {"before_tokens": s.prefix_tokens, "after_tokens": s.suffix_tokens}
            place = guess(model, "python", "x.py", source, gap, sampled=0, seed=0, **budgets)
            before, after, real = source[: gap.start], source[gap.end :], source[gap.start : gap.end].rstrip()
            text = complete(model, before, after, settings=s).text.rstrip()
            assert [g.text.removeprefix(before[len(before.rstrip(" \t")) :][-1:]) for g in place.guesses] == ([text] if text else [])
            assert all(g.right == (text == real) for g in place.guesses)
            assert source[: gap.end].rstrip().endswith(place.before + place.real)
            assert after.startswith(place.after)
            assert not place.before.endswith((" ", "\t")) or place.real.startswith((" ", "\t"))
            seen += 1
    assert seen > 10


def test_guesses_are_the_same_for_the_same_seed_and_none_is_given_twice(model: LlamaModel) -> None:
    first = list(places_of(model, "python", "x.py", FILES[0], 0))
    assert first == list(places_of(model, "python", "x.py", FILES[0], 0))
    assert first
    for place in first:
        assert len({g.text for g in place.guesses}) == len(place.guesses)
        assert sum(g.greedy for g in place.guesses) <= 1
        assert all(g.text.strip() and g.logprob < 0 for g in place.guesses)


def test_what_python_does_not_parse_has_no_places(model: LlamaModel) -> None:
    assert list(places_of(model, "p", "x.py", "print 'Python 2'", 0)) == []


def test_the_command_writes_what_read_places_reads(model: LlamaModel, tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus.jsonl", tmp_path / "guesses.jsonl"
    corpus.write_text(json.dumps({"project": "python", "path": "x.py", "text": FILES[0]}) + "\n")
    arguments = ["--model", str(EMBEDDED), "--corpus", str(corpus), "--minutes", "1", "--out", str(out)]
    subprocess.run([sys.executable, "-m", "training.guesses", *arguments], cwd=ROOT, check=True, capture_output=True)
    written, made = read_places(out), list(places_of(model, "python", "x.py", FILES[0], 0))
    assert written
    for a, b in zip(written, made, strict=True):
        # What was in the cache makes a small difference to 8-bit sums, and a near tie may fall the other way.
        assert replace(a, guesses=()) == replace(b, guesses=())
        assert a.guesses
