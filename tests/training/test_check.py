from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from assay.inference.completion.mending import mending_prompt
from assay.inference.llamacpp.model import LlamaModel
from assay.offline_eval.sets.projects import SourceFile
from training import check
from training.data import Rows
from training.export import saved, write_gguf
from training.fixes import Fix
from training.model import Llama, Shape
from training.tokenizer import train
from training.train import PRESETS, Run, optimizers_of

ROOT = Path(__file__).parents[2]
FILES = [
    SourceFile(name, path.name, path.read_text(encoding="utf-8"))
    for name, folder in (("one", "analysis/python"), ("two", "inference/healing"))
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path.stat().st_size > 2000
]
SHAPE = Shape(vocabulary=700, width=64, layers=2, heads=4, kv_heads=2, hidden=96, context=512)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained model with our tokenizer: what is measured of it is near chance, which is known."""
    folder = tmp_path_factory.mktemp("run")
    model = Llama(SHAPE)
    Run(folder, PRESETS["toy"], train((f.text for f in FILES), SHAPE.vocabulary), model, optimizers_of(model, PRESETS["toy"])).save()
    return folder


def test_a_run_is_checked_in_each_type_and_an_untrained_one_has_the_bits_of_a_uniform_guess(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = FILES[:6] + FILES[-6:]
    monkeypatch.setattr(check, "held_out_files", lambda: list(files))
    monkeypatch.setattr(sys, "argv", ["check", str(run)])
    check.main()
    *compared, bits = capsys.readouterr().out.splitlines()
    means = [float(re.search(r"mean (\S+),", line)[1]) for line in compared]  # type: ignore[index]
    assert means[0] < 1e-3
    assert means[0] <= means[1] < means[2] < 0.1
    assert all(line.endswith("0 of 12 files are cut differently") for line in compared)
    tokenizer = Tokenizer.from_file(str(run / "tokenizer.json"))
    ids = [tokenizer.encode(file.text).ids[: SHAPE.context] for file in files]
    tokens, size = sum(len(each) - 1 for each in ids), sum(len(tokenizer.decode(each[1:]).encode()) for each in ids)
    value = float(re.search(r"bits per byte (\S+)", bits)[1])  # type: ignore[index]
    assert value == pytest.approx(np.log2(SHAPE.vocabulary) * tokens / size, rel=0.03)
    assert bits.endswith("12 files of 2 projects")


def test_a_question_is_asked_as_it_is_taught(run: Path, tmp_path: Path) -> None:
    weights, shape, tokenizer = saved(run)
    write_gguf(tmp_path / "model.gguf", weights, shape, tokenizer, "q8_0")
    rows = Rows(["x"], Tokenizer.from_file(str(run / "tokenizer.json")), 1024, 0)
    item = Fix("comparison", "def f(a, b):\n   ", " return a < b * 3", "\n", " return a <= b", "f")
    with LlamaModel(tmp_path / "model.gguf", threads=1) as model:
        asked = mending_prompt(model, model.fim(item.before, item.after), item.shown).tokens
    assert rows.fix(item).tokens == [*asked, *rows.encode(item.answer), rows.end]
