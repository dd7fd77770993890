"""Check that exported files give the numbers of the trained weights, on files of the held-out projects.

    python -m training.check_export

Prints how many held-out files the GGUF's tokenizer cuts differently than the trained one, and how far the log-probabilities of f32, f16 and
q8_0 files in llama.cpp are from float32 in torch.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt

from .export import vocabulary_of, write_gguf
from .model import Llama, Shape
from .paths import CACHE, run_folder, there
from .tokenizer import for_text
from .train import held_out_texts

VARIANTS = (("f32", "f32"), ("f32", "f16"), ("f16", "f16"), ("q8_0", "f16"))


@torch.no_grad()
def logprobs(model: Llama, ids: list[int]) -> NDArray[np.float64]:
    """log p of ids[1:] given what stands before each, in nats."""
    logits = F.linear(model(torch.tensor([ids])), model.embed_tokens.weight)[0]
    chosen = torch.log_softmax(logits.double(), -1)[:-1].gather(1, torch.tensor(ids[1:])[:, None])
    return chosen[:, 0].numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=run_folder, default=str(CACHE / "run"))
    parser.add_argument("--tokenizer", type=there, default=str(CACHE / "tokenizer.json"))
    args = parser.parse_args()
    shape = Shape(**json.loads((args.run / "shape.json").read_text()))
    weights = load_file(args.run / "weights.safetensors")  # read once: a training that still runs replaces the file
    model = Llama(shape).eval()
    model.load_state_dict({name: torch.from_numpy(w) for name, w in weights.items()})
    try:
        vocabulary_of(json.loads(args.tokenizer.read_text()), shape)
    except ValueError as error:
        sys.exit(f"{args.tokenizer}: {error}")
    plain = for_text(Tokenizer.from_file(str(args.tokenizer)))
    texts = held_out_texts()

    with tempfile.TemporaryDirectory() as folder:
        for kind, cache in VARIANTS:
            path = Path(folder) / f"{kind}.gguf"
            write_gguf(path, weights, shape, json.loads(args.tokenizer.read_text()), kind)
            with LlamaModel(path, kv_type="f32" if cache == "f32" else "f16", flash_attention=None if cache == "f16" else False) as gguf:
                if kind == cache == "f32":
                    cut = [(plain.encode(t).ids, gguf.tokenize(t)) for t in texts]
                    differing, total = sum(a != b for a, b in cut), sum(len(a) for a, _ in cut)
                    print(f"tokenizer: {differing} of {len(texts)} held-out files ({total:,} tokens) are cut differently by the GGUF")
                deltas = []
                for text in texts[:40]:
                    ids = plain.encode(text).ids[: shape.context]
                    deltas.append(np.abs(np.array(gguf.score(Prompt(tuple(ids[:1]), "left_to_right"), ids[1:])) - logprobs(model, ids)))
                delta = np.concatenate(deltas)
                print(f"weights {kind}, cache {cache}: |Δ log p| mean {delta.mean():.1e}, max {delta.max():.1e} ({len(delta):,} tokens)")


if __name__ == "__main__":
    main()
