from __future__ import annotations

import json
import subprocess
import sys
from argparse import ArgumentTypeError
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from assay.inference.llamacpp.model import LlamaModel
from assay.suggestion.complete import complete
from training.data import load
from training.export import saved, write_gguf
from training.paths import there
from training.tokenizer import train
from training.train import DECAY, PRESETS, WARM_UP_STEPS, Run, rate

ROOT = Path(__file__).parents[2]
TEXTS = [path.read_text() for path in sorted((ROOT / "examples").glob("*.py"))]
CPU = torch.device("cpu")


def test_the_rate_warms_up_stays_and_falls_to_zero() -> None:
    assert rate(0, 0.0) == 1 / WARM_UP_STEPS
    assert rate(WARM_UP_STEPS, 0.5) == 1.0
    assert rate(10_000, 1 - DECAY / 2) == pytest.approx(0.5)
    assert rate(10_000, 1.0) == 0.0


def test_a_run_goes_on_from_what_it_saved_or_exported_and_no_other_shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRESETS, "other", replace(PRESETS["toy"], shape=replace(PRESETS["toy"].shape, layers=1)))
    train(iter(TEXTS), 600).save(str(tmp_path / "tokenizer.json"))
    run = Run.opened(tmp_path / "run", "toy", tmp_path / "tokenizer.json", None, CPU)
    run.step, run.spent = 7, 61.5
    run.save()
    assert {p.name for p in run.folder.iterdir()} == {"checkpoint.pt", "weights.safetensors", "shape.json", "tokenizer.json"}
    again = Run.opened(tmp_path / "run", "toy", tmp_path / "none.json", None, CPU)
    assert (again.step, again.spent) == (7, 61.5)
    assert all(torch.equal(a, b) for a, b in zip(run.model.parameters(), again.model.parameters(), strict=True))
    write_gguf(tmp_path / "model.gguf", *saved(run.folder), "f32")
    started = Run.opened(tmp_path / "second", "toy", tmp_path / "none.json", tmp_path / "model.gguf", CPU)
    assert (started.step, started.tokenizer.get_vocab()) == (0, run.tokenizer.get_vocab())
    assert all(torch.equal(a, b) for a, b in zip(run.model.parameters(), started.model.parameters(), strict=True))
    for start in (None, tmp_path / "model.gguf"):
        with pytest.raises(ValueError, match="another --run begins anew"):
            Run.opened(tmp_path / ("third" if start else "run"), "other", tmp_path / "none.json", start, CPU)


def test_what_a_command_needs_and_is_not_there_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match=r"corpus\.jsonl is not there; python -m training\.corpus makes it"):
        there(str(tmp_path / "corpus.jsonl"))
    with pytest.raises(ValueError, match=r"has no weights\.safetensors:"):
        saved(tmp_path)


@pytest.mark.slow
def test_a_toy_is_trained_stopped_taken_up_exported_and_completes(tmp_path: Path) -> None:
    corpus, curve = tmp_path / "corpus.jsonl", tmp_path / "run" / "curve.jsonl"
    for path in (corpus, tmp_path / "validation.jsonl"):
        path.write_text("".join(json.dumps({"project": "examples", "path": "x.py", "text": text}) + "\n" for text in TEXTS))
    train(iter(load(corpus)), PRESETS["toy"].shape.vocabulary).save(str(tmp_path / "tokenizer.json"))

    def run(module: str, *arguments: str) -> str:
        command = [sys.executable, "-m", module, *arguments, "--run", str(tmp_path / "run")]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    def steps(minutes: str) -> tuple[str, list[int]]:
        said = run("training.train", "--preset", "toy", "--no-compile", "--minutes", minutes, "--corpus", str(corpus))
        return said, [json.loads(line)["step"] for line in curve.read_text().splitlines()]

    _, first = steps("0.1")
    said, again = steps("0.1")
    assert "all of the 0.1 minutes are spent" in said
    assert again == first
    _, second = steps("0.2")
    assert second[: len(first)] == first
    assert second[-1] > first[-1]
    assert (
        json.loads(curve.read_text().splitlines()[-1])["held_out"] < 8.5
    )  # a uniform guess has about 9; a busy machine comes to few steps
    run("training.export", "--out", str(tmp_path / "toy.gguf"))
    with LlamaModel(tmp_path / "toy.gguf", threads=1) as model:
        assert model.fingerprint.quantisation == "Q8_0"
        assert complete(model, TEXTS[0][:500], "").tokens
