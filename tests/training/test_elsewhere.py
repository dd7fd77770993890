"""The recipe for a machine that is lent for minutes, on this one and with the dry-run preset."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from training.data import load
from training.elsewhere import main, sampled
from training.model import Llama, Shape
from training.pieces import MAX_PIECE_BYTES, WEIGHTS, join, split, split_weights
from training.tokenizer import train
from training.train import PRESETS, optimizers_of, resume_from, save

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_training_needs_neither_assay_nor_what_reads_and_fetches_models() -> None:
    code = (
        "import sys, training.train, training.pieces, training.elsewhere\n"
        "print([name for name in ('assay', 'llama_cpp', 'gguf', 'platformdirs') if name in sys.modules])"
    )
    assert run("-c", code).strip() == "[]"


def test_a_sample_of_the_corpus_has_about_its_size_and_whole_lines(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"text": "x" * 100 * (i % 7)}) + "\n" for i in range(1000)))
    part = sampled(corpus, corpus.stat().st_size / 3e6)
    assert 0.3 < len(part) / corpus.stat().st_size < 0.37
    assert set(part.splitlines()) <= set(corpus.read_bytes().splitlines())
    assert sampled(corpus, 1e6) == corpus.read_bytes()


def test_packing_leaves_other_files_alone_and_refuses_weights_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("corpus.jsonl", "tokenizer.json"):
        (tmp_path / name).write_text("{}\n")
    packed = tmp_path / "packed"
    split(b"weights", packed, WEIGHTS)
    (packed / "mine.txt").write_text("not to be lost")
    given = [
        "--corpus",
        f"{tmp_path}/corpus.jsonl",
        "--validation",
        f"{tmp_path}/corpus.jsonl",
        "--tokenizer",
        f"{tmp_path}/tokenizer.json",
    ]
    pack = ["elsewhere", "pack", *given, "--packed", str(packed), "--effort", "0"]
    monkeypatch.setattr(sys, "argv", [*pack, "--weights", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"bf16\.safetensors\.json is missing"):
        main()
    monkeypatch.setattr(sys, "argv", [*pack, "--weights", str(packed)])
    main()
    assert join(packed, WEIGHTS) == b"weights"
    monkeypatch.setattr(sys, "argv", pack)
    main()
    assert not list(packed.glob(f"{WEIGHTS}.*"))
    assert (packed / "mine.txt").read_text() == "not to be lost"


def test_a_fresh_machine_unpacks_the_weights_and_the_loss_curve_of_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("corpus.jsonl", "tokenizer.json"):
        (tmp_path / name).write_text("{}\n")
    shape = Shape(vocabulary=300, width=32, layers=1, heads=2, kv_heads=1, hidden=32, context=64)
    model = Llama(shape)
    (tmp_path / "first").mkdir()
    save(tmp_path / "first", model, optimizers_of(model, replace(PRESETS["dry-run"], shape=shape)), 3, 9.0)
    split_weights(tmp_path / "first" / "checkpoint.pt", tmp_path / "out")
    (tmp_path / "out" / "curve.jsonl").write_text('{"step": 3}\n')
    folders = ["--packed", f"{tmp_path}/packed"]
    given = [
        "--corpus",
        f"{tmp_path}/corpus.jsonl",
        "--validation",
        f"{tmp_path}/corpus.jsonl",
        "--tokenizer",
        f"{tmp_path}/tokenizer.json",
    ]
    monkeypatch.setattr(sys, "argv", ["elsewhere", "pack", *folders, *given, "--weights", f"{tmp_path}/out", "--effort", "0"])
    main()
    folders += ["--run", f"{tmp_path}/second", "--out", f"{tmp_path}/out"]
    monkeypatch.setattr(sys, "argv", ["elsewhere", "train", *folders, "--minutes", "1", "--call-minutes", "0"])
    main()
    assert (tmp_path / "second" / "curve.jsonl").read_text() == '{"step": 3}\n'
    assert resume_from(tmp_path / "second", model, optimizers_of(model, replace(PRESETS["dry-run"], shape=shape))) == (3, 9.0, 3)


def test_a_call_that_finds_nothing_to_train_on_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = ["--packed", f"{tmp_path}/packed", "--run", f"{tmp_path}/run", "--out", f"{tmp_path}/out"]
    monkeypatch.setattr(sys, "argv", ["elsewhere", "train", *folders, "--minutes", "1", "--call-minutes", "1"])
    with pytest.raises(SystemExit, match=r"has corpus\.jsonl, validation\.jsonl, tokenizer\.json: bring what `pack` made"):
        main()


@pytest.mark.slow
def test_a_run_goes_on_from_call_to_call_and_from_pieces_on_a_fresh_machine(tmp_path: Path) -> None:
    files = sorted((ROOT / "examples").glob("*.py"))
    corpus, out = tmp_path / "corpus.jsonl", tmp_path / "out"
    corpus.write_text("".join(json.dumps({"project": "examples", "path": f.name, "text": f.read_text()}) + "\n" for f in files))
    train(iter(load(corpus)), 8192).save(str(tmp_path / "tokenizer.json"))
    packed, here = tmp_path / "packed", tmp_path / "run"
    given = ["--corpus", str(corpus), "--tokenizer", str(tmp_path / "tokenizer.json"), "--packed", str(packed), "--effort", "0"]
    run("-m", "training.elsewhere", "pack", *given, "--validation", str(corpus))
    assert all(path.stat().st_size <= MAX_PIECE_BYTES for path in packed.iterdir())

    there = ["--packed", str(packed), "--run", str(here), "--out", str(out), "--preset", "dry-run", "--workers", "1", "--no-compile"]
    run("-m", "training.elsewhere", "train", *there, "--minutes", "1", "--call-minutes", "0.8")
    first = [json.loads(line) for line in (out / "curve.jsonl").read_text().splitlines()]
    assert first[-1]["step"] > 0
    assert all(path.stat().st_size <= MAX_PIECE_BYTES for path in out.iterdir())

    shutil.rmtree(here)  # the machine was given back
    run("-m", "training.elsewhere", "pack", *given, "--validation", str(corpus), "--weights", str(out))
    run("-m", "training.elsewhere", "train", *there, "--minutes", "1", "--call-minutes", "0.8")
    second = [json.loads(line) for line in (out / "curve.jsonl").read_text().splitlines()]
    assert second[: len(first)] == first
    assert second[-1]["step"] > first[-1]["step"]
    assert second[-1]["minutes"] > first[-1]["minutes"]
    run("-m", "training.pieces", "join", str(out), str(tmp_path / "joined"))
    assert (tmp_path / "joined" / "weights.safetensors").exists()
