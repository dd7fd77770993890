from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from training.model import Llama, Shape
from training.pieces import MAX_PIECE_BYTES, WEIGHTS, join, join_weights, split, split_weights
from training.train import PRESETS

SHAPE = Shape(vocabulary=600, width=64, layers=2, heads=4, kv_heads=2, hidden=96, context=256)


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=300), st.integers(40, 400))
def test_pieces_put_together_are_the_file_and_none_is_too_large(tmp_path_factory: pytest.TempPathFactory, data: bytes, most: int) -> None:
    folder = tmp_path_factory.mktemp("pieces")
    split(b"x" * 300, folder, "file", 40)  # what is left of another file is not taken for a piece of this one
    split(data, folder, "file", most)
    assert max(path.stat().st_size for path in folder.iterdir() if path.suffix != ".json") <= most
    assert join(folder, "file") == data


def test_a_missing_or_changed_piece_is_refused(tmp_path: Path) -> None:
    split(bytes(range(100)), tmp_path, "file", 30)
    (tmp_path / "file.001").write_bytes(b"?" * 30)
    with pytest.raises(ValueError, match="not those of one file"):
        join(tmp_path, "file")
    (tmp_path / "file.002").unlink()
    with pytest.raises(ValueError, match=r"file\.002 of 4 pieces are missing"):
        join(tmp_path, "file")
    (tmp_path / "file.json").unlink()
    with pytest.raises(ValueError, match=r"file\.json is missing"):
        join(tmp_path, "file")


def test_a_checkpoint_travels_in_half_its_size_to_the_nearest_bfloat16(tmp_path: Path) -> None:
    torch.manual_seed(0)
    weights = Llama(SHAPE).state_dict()
    torch.save({"model": weights, "optimizers": [], "step": 7, "spent": 61.5}, tmp_path / "checkpoint.pt")
    (tmp_path / "shape.json").write_text(json.dumps(asdict(SHAPE)))
    split_weights(tmp_path / "checkpoint.pt", tmp_path / "there", most=20_000)
    assert len(list((tmp_path / "there").glob(f"{WEIGHTS}.0*"))) > 5
    join_weights(tmp_path / "there", tmp_path / "run")
    state = torch.load(tmp_path / "run" / "checkpoint.pt", weights_only=True)
    assert (state["step"], state["spent"]) == (7, 61.5)
    assert Shape(**json.loads((tmp_path / "run" / "shape.json").read_text())) == SHAPE
    exported = load_file(tmp_path / "run" / "weights.safetensors")
    for name, weight in weights.items():
        assert (state["model"][name] == weight.to(torch.bfloat16).float()).all()
        assert (exported[name] == state["model"][name]).all()


@pytest.mark.parametrize("vocabulary", [8200, 16384])
def test_the_gpu_presets_weights_fit_the_shipped_file_and_four_pieces(vocabulary: int) -> None:
    shape = PRESETS["gpu"].shape
    with torch.device("meta"):
        model = Llama(Shape(**{**asdict(shape), "vocabulary": vocabulary}))
    parameters = sum(p.numel() for p in model.parameters())
    assert parameters <= 32_000_000
    assert shape.context == 2048
    assert -(-parameters * 2 // MAX_PIECE_BYTES) <= 4
    matrices = sum(p.numel() for p in model.parameters() if p.ndim == 2)
    assert matrices * 34 / 32 <= 36e6 - 1.5e6  # q8_0 has a 16-bit scale for each 32 weights; the rest is the tokenizer
