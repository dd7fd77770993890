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
from training.model import Llama, Shape
from training.paths import run_folder, there
from training.pieces import join_weights, split_weights
from training.tokenizer import train
from training.train import DECAY, PRESETS, WARM_UP_STEPS, main, optimizers_of, rate, resume_from, save

ROOT = Path(__file__).parents[2]


def test_the_rate_warms_up_stays_and_falls_to_zero() -> None:
    assert rate(0, 0.0) == 1 / WARM_UP_STEPS
    assert rate(WARM_UP_STEPS, 0.5) == 1.0
    assert rate(10_000, 1 - DECAY / 2) == pytest.approx(0.5)
    assert rate(10_000, 1.0) == 0.0


def test_the_presets_stay_under_the_shipped_limit() -> None:
    for preset in PRESETS.values():
        s = preset.shape
        attention = s.width * s.width * (2 + 2 * s.kv_heads / s.heads)
        assert s.vocabulary * s.width + s.layers * (attention + 3 * s.width * s.hidden) <= 32_500_000


def test_a_run_goes_on_from_what_it_saved_and_from_no_other_models(tmp_path: Path) -> None:
    shape = Shape(vocabulary=600, width=64, layers=1, heads=4, kv_heads=2, hidden=96, context=64)
    preset = replace(PRESETS["dry-run"], shape=shape)
    model = Llama(shape)
    optimizers = optimizers_of(model, preset)
    save(tmp_path, model, optimizers, 7, 61.5)
    assert {p.name for p in tmp_path.iterdir()} == {"checkpoint.pt", "weights.safetensors", "shape.json"}
    taken_up = Llama(shape)
    assert resume_from(tmp_path, taken_up, optimizers_of(taken_up, preset)) == (7, 61.5, 0)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), taken_up.parameters(), strict=True))
    split_weights(tmp_path / "checkpoint.pt", tmp_path / "pieces")
    join_weights(tmp_path / "pieces", tmp_path / "joined")
    assert resume_from(tmp_path / "joined", taken_up, optimizers_of(taken_up, preset)) == (7, 61.5, 7)  # these warm up again
    other = Llama(replace(shape, vocabulary=608))
    with pytest.raises(ValueError, match="another --run begins anew"):
        resume_from(tmp_path, other, optimizers_of(other, preset))


@pytest.mark.slow
def test_a_run_goes_on_while_it_has_minutes_and_adds_nothing_to_its_curve_without_a_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, curve = tmp_path / "corpus.jsonl", tmp_path / "run" / "curve.jsonl"
    corpus.write_text("".join(json.dumps({"text": f.read_text()}) + "\n" for f in sorted((ROOT / "examples").glob("*.py"))))
    train(iter(load(corpus)), 600).save(str(tmp_path / "tokenizer.json"))
    paths = ["--corpus", str(corpus), "--validation", str(corpus), "--tokenizer", f"{tmp_path}/tokenizer.json", "--run", f"{tmp_path}/run"]

    def steps(*arguments: str) -> list[int]:
        monkeypatch.setattr(sys, "argv", ["train", "--preset", "dry-run", "--no-compile", *paths, *arguments])
        main()
        return [json.loads(line)["step"] for line in curve.read_text().splitlines()]

    first = steps("--minutes", "0.02")
    assert first[-1] > 0
    assert steps("--minutes", "0.02") == first
    assert "all of the 0.02 minutes are spent" in capsys.readouterr().out
    assert steps("--minutes", "9", "--call-minutes", "0") == first
    second = steps("--minutes", "9", "--call-minutes", "0.05")
    assert second[: len(first)] == first
    assert second[-1] > first[-1]


def test_what_a_command_needs_and_is_not_there_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match=r"corpus\.jsonl is not there; python -m training\.corpus build makes it"):
        there(str(tmp_path / "corpus.jsonl"))
    (tmp_path / "shape.json").write_text("{}")
    with pytest.raises(ArgumentTypeError, match=r"has no weights\.safetensors:"):
        run_folder(str(tmp_path))


@pytest.mark.slow
def test_a_toy_is_trained_stopped_taken_up_exported_and_completes(tmp_path: Path) -> None:
    files = sorted((ROOT / "examples").glob("*.py"))
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"project": "examples", "path": f.name, "text": f.read_text()}) + "\n" for f in files))
    train(iter(load(corpus)), PRESETS["dry-run"].shape.vocabulary).save(str(tmp_path / "tokenizer.json"))

    def run(module: str, *arguments: str) -> None:
        subprocess.run([sys.executable, "-m", module, *arguments, "--run", str(tmp_path / "run")], cwd=ROOT, check=True)

    paths = ("--corpus", str(corpus), "--validation", str(corpus), "--tokenizer", str(tmp_path / "tokenizer.json"))
    run("training.train", "--preset", "dry-run", "--no-compile", "--minutes", "0.1", *paths)
    first = (tmp_path / "run" / "curve.jsonl").read_text()
    run("training.train", "--preset", "dry-run", "--no-compile", "--minutes", "0.2", *paths)
    curve = [json.loads(line) for line in (tmp_path / "run" / "curve.jsonl").read_text().splitlines()]
    assert len(curve) > len(first.splitlines())
    assert curve[-1]["step"] > json.loads(first.splitlines()[-1])["step"]
    assert curve[-1]["held_out"] < 8.5  # a uniform guess over its vocabulary has about 9; a busy machine comes to few steps
    run("training.export", "--tokenizer", str(tmp_path / "tokenizer.json"), "--out", str(tmp_path / "toy.gguf"))
    with LlamaModel(tmp_path / "toy.gguf", threads=1) as model:
        assert model.fingerprint.quantisation == "Q8_0"
        assert complete(model, files[0].read_text()[:500], "").tokens
