from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assay.inference.completion import complete
from assay.inference.llama import LlamaModel
from training.data import load
from training.tokenizer import train
from training.train import DECAY, PRESETS, WARM_UP_STEPS, rate

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
    assert curve[-1]["held_out"] < 6.0  # a uniform guess over its vocabulary has about 9
    run("training.export", "--tokenizer", str(tmp_path / "tokenizer.json"), "--out", str(tmp_path / "toy.gguf"))
    with LlamaModel(tmp_path / "toy.gguf", threads=1) as model:
        assert model.fingerprint.quantisation == "Q8_0"
        assert complete(model, files[0].read_text()[:500], "").tokens
