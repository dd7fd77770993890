from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from assay.inference.llamacpp.model import LlamaModel
from assay.offline_eval.sets.projects import SourceFile
from training.data import Rows
from training.evaluate import in_turn, language_figures, line_figures, quantisation_figures, span_figures, table
from training.export import write_gguf
from training.fix_scores import collected, fix_figures, question
from training.model import Llama, Shape
from training.mutate import KINDS
from training.ngram import NGrams
from training.tokenizer import train

ROOT = Path(__file__).parents[2]
FILES = [
    SourceFile(name, path.name, path.read_text(encoding="utf-8"))
    for name, folder in (("one", "analysis/python"), ("two", "inference"))
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path.stat().st_size > 2000
]
SHAPE = Shape(vocabulary=700, width=64, layers=2, heads=4, kv_heads=2, hidden=96, context=1024)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model with our tokenizer in two types: what is measured of it is near chance, which is known."""
    folder = tmp_path_factory.mktemp("model")
    tokenizer = train((f.text for f in FILES), SHAPE.vocabulary)
    tokenizer.save(str(folder / "tokenizer.json"))
    weights = {k: v.detach().numpy() for k, v in Llama(SHAPE).state_dict().items()}
    for kind in ("f16", "q8_0"):
        write_gguf(folder / f"{kind}.gguf", weights, SHAPE, json.loads(tokenizer.to_str()), kind)
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> LlamaModel:
    return LlamaModel(folder / "q8_0.gguf", threads=1)


def test_the_first_files_in_turn_are_of_as_many_projects_as_can_be() -> None:
    files = [SourceFile(p, f"{p}{i}", "") for p, n in (("a", 5), ("b", 1), ("c", 3)) for i in range(n)]
    order = [file.project for file in in_turn(files, 0)]
    assert order == ["a", "b", "c", "a", "c", "a", "c", "a", "a"]
    assert in_turn(files, 0) == in_turn(files, 0)


@pytest.mark.slow
def test_an_untrained_model_has_the_bits_of_a_uniform_guess_and_the_n_grams_are_scored_on_the_same_tokens(model: LlamaModel) -> None:
    ngrams = NGrams(model.tokenize("".join(f.text for f in FILES)), SHAPE.vocabulary)
    figures = language_figures(model, ngrams, FILES[:4])
    assert figures["nats per token"].value == pytest.approx(np.log(SHAPE.vocabulary), abs=0.1)
    tokens = figures["nats per token"].n
    size = sum(len(b"".join(map(model.token_bytes, model.tokenize(f.text)[: SHAPE.context][1:]))) for f in FILES[:4])
    assert figures["bits per byte"].value == pytest.approx(figures["nats per token"].value * tokens / np.log(2) / size)
    assert figures["bits per byte, n-gram"].value < 0.5 * figures["bits per byte"].value  # they were counted on these very files


@pytest.mark.slow
def test_n_grams_of_the_file_itself_complete_its_lines_and_an_untrained_model_does_not(model: LlamaModel) -> None:
    ngrams = NGrams(model.tokenize("".join(f.text for f in FILES) * 3), SHAPE.vocabulary, order=12)
    figures = line_figures(model, ngrams, FILES, 24)
    # Not all: a line that begins as many others do may end as one of them.
    assert figures["next line n-gram: exact match"].value > 0.3
    assert figures["next line with suffix: exact match"].value == 0
    assert {f.n for f in figures.values()} == {24}
    assert span_figures(model, FILES, 3)["span: exact match"].n == 3


def test_a_file_of_another_type_is_compared_token_by_token(folder: Path, model: LlamaModel) -> None:
    with LlamaModel(folder / "f16.gguf", threads=1) as other:
        different = quantisation_figures(model, other, FILES[:2])
        same = quantisation_figures(other, other, FILES[:2])
    assert set(different) == {"Q8_0 against F16: mean |Δ log p|", "Q8_0 against F16: same most likely token"}
    assert 0 < different["Q8_0 against F16: mean |Δ log p|"].value < 0.1
    assert same["F16 against F16: mean |Δ log p|"].value == 0
    assert same["F16 against F16: same most likely token"].value == 1


def test_a_question_is_asked_as_it_is_taught(folder: Path, model: LlamaModel) -> None:
    from tokenizers import Tokenizer

    rows = Rows(["x"], Tokenizer.from_file(str(folder / "tokenizer.json")), 1024, 0)
    items = [item for found in collected(model, FILES, 2).values() for _, item in found]
    assert {item.kind for item in items} == {*KINDS, "none"}
    for item in items:
        asked = list(question(model, item).tokens)
        assert rows.fix(item).tokens == [*asked, *rows.encode(item.answer), rows.end]


def test_lines_to_mend_have_figures_by_kind_and_a_table_shows_them(model: LlamaModel) -> None:
    figures = fix_figures(model, FILES, 2)
    assert len(figures) == len(KINDS) + 2
    fix = figures["fix: exact match"]
    assert fix.value == 0
    assert f"| fix: exact match | 0.000 | 0.000 to {1 - 0.025 ** (1 / fix.n):.3f} | {fix.n} lines | {fix.projects} |" in table(figures)
