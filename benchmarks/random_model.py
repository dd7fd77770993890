"""Models of a wanted size with random weights, made when needed: speed does not depend on what a model has learned.

A GGUF (q8_0) and a transformers folder (float32) of the same shape. The tokenizer is the embedded model's, filled up to the wanted
vocabulary with tokens that no text yields.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from assay.inference.file_hash import file_sha256  # noqa: E402
from assay.inference.opening import EMBEDDED  # noqa: E402
from training.export import write_gguf, write_transformers  # noqa: E402
from training.model import Shape  # noqa: E402
from training.shipped import read  # noqa: E402

FIRST_MERGES = 512  # ids below are control tokens, the 256 bytes, and the shortest merges
SHAPES = {
    "120M": Shape(vocabulary=32_768, width=768, layers=12, heads=12, kv_heads=4, hidden=2560, context=2048),
    "500M": Shape(vocabulary=32_768, width=1280, layers=24, heads=20, kv_heads=4, hidden=4096, context=2048),
}


def weights_of(shape: Shape, seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Normal weights by the names of training/model.py, scaled so that nothing overflows."""
    random = np.random.default_rng(seed)
    kv = shape.width // shape.heads * shape.kv_heads

    def normal(rows: int, columns: int) -> NDArray[np.float32]:
        return random.standard_normal((rows, columns), dtype=np.float32) * np.float32(columns**-0.5)

    weights = {"embed_tokens.weight": normal(shape.vocabulary, shape.width), "norm.weight": np.ones(shape.width, np.float32)}
    for layer in range(shape.layers):
        at = f"layers.{layer}."
        for name, rows, columns in (
            ("self_attn.q_proj", shape.width, shape.width),
            ("self_attn.k_proj", kv, shape.width),
            ("self_attn.v_proj", kv, shape.width),
            ("self_attn.o_proj", shape.width, shape.width),
            ("mlp.gate_proj", shape.hidden, shape.width),
            ("mlp.up_proj", shape.hidden, shape.width),
            ("mlp.down_proj", shape.width, shape.hidden),
        ):
            weights[f"{at}{name}.weight"] = normal(rows, columns)
        for name in ("input_layernorm", "post_attention_layernorm"):
            weights[f"{at}{name}.weight"] = np.ones(shape.width, np.float32)
    # Never the most likely: tokens that end a text, and single bytes, behind which create_completion goes on until the character is whole.
    weights["embed_tokens.weight"][:FIRST_MERGES] = 0
    return weights


def make(name: str, folder: Path) -> tuple[Path, Path]:
    """The GGUF and the transformers folder of "embedded" or one of SHAPES, made in `folder` where they are missing."""
    # A folder made of an embedded model that has since been replaced is another model.
    embedded = f"embedded-{file_sha256(EMBEDDED)[:12]}"
    file, hf = (
        (EMBEDDED, folder / f"{embedded}-transformers")
        if name == "embedded"
        else (folder / f"{name}.gguf", folder / f"{name}-transformers")
    )
    if file.is_file() and (hf / "config.json").is_file():
        return file, hf
    weights, shape, tokenizer = read(EMBEDDED)
    described = json.loads(tokenizer.to_str())
    if name != "embedded":
        shape = SHAPES[name]
        described["model"]["vocab"] |= {f"<unused {i}>": i for i in range(tokenizer.get_vocab_size(), shape.vocabulary)}
        weights = weights_of(shape)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_gguf(file, weights, shape, described, "q8_0")
    run = folder / f"{name}-run"
    run.mkdir(parents=True, exist_ok=True)
    save_file(weights, run / "weights.safetensors")
    (run / "tokenizer.json").write_text(json.dumps(described))
    write_transformers(hf, run, shape, run / "tokenizer.json")
    shutil.rmtree(run)
    return file, hf
