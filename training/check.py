"""Check a run, or the file that ships: whether llama.cpp has the numbers of its weights, and bits per byte of the held-out projects.

    python -m training.check [RUN or FILE.gguf]

Of weights in f32, f16 and q8_0: how far the log-probabilities in llama.cpp are from float32 in torch, and how many texts the tokenizer
cuts differently. The weights of a file are its own, rounded as they are. Bits per byte are of q8_0 and of the beginnings of files, as far
as the context reaches; the 95 % interval is that of percentiles over resamples of whole projects.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from tokenizers import Tokenizer

from assay.calibration.fitting.folds import numbered
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt
from assay.offline_eval.sets.projects import ProjectError, SourceFile

from .corpus import held_out_files
from .export import saved, write_gguf
from .model import Llama
from .paths import CACHE
from .shipped import read
from .tokenizer import for_text

COMPARED, FILES, RESAMPLES = 40, 200, 2000


@torch.no_grad()
def logprobs(model: Llama, ids: list[int]) -> NDArray[np.float64]:
    """log p of ids[1:] given what stands before each, in nats."""
    logits = F.linear(model(torch.tensor([ids])), model.embed_tokens.weight)[0]
    chosen = torch.log_softmax(logits.double(), -1)[:-1].gather(1, torch.tensor(ids[1:])[:, None])
    return chosen[:, 0].numpy()


def compared(gguf: LlamaModel, weights: Llama, tokenizer: Tokenizer, texts: Sequence[str]) -> str:
    """How differently a file cuts texts, and how far its log-probabilities are off, of some texts."""
    differing, deltas = 0, []
    for number, text in enumerate(texts):
        ids = list(tokenizer.encode(text).ids)
        differing += ids != gguf.tokenize(text)
        if number < COMPARED:
            ids = ids[: weights.shape.context]
            deltas.append(np.abs(np.array(gguf.score(Prompt(tuple(ids[:1]), "left_to_right"), ids[1:])) - logprobs(weights, ids)))
    delta = np.concatenate(deltas)
    cut = f"{differing} of {len(texts)} files are cut differently"
    return f"|Δ log p| mean {delta.mean():.1e}, max {delta.max():.1e} ({len(delta):,} tokens); {cut}"


def bits_per_byte(model: LlamaModel, files: Sequence[SourceFile]) -> str:
    """The figure with its interval."""
    ids = [model.tokenize(file.text)[: model.context_length] for file in files]
    groups = numbered([file.project for file in files])
    nats = [-sum(model.score(Prompt(tuple(each[:1]), "left_to_right"), each[1:])) for each in ids]
    bits = np.bincount(groups, nats) / np.log(2)
    size = np.bincount(groups, [sum(len(model.token_bytes(token)) for token in each[1:]) for each in ids])
    times = np.random.default_rng(0).multinomial(len(bits), np.full(len(bits), 1 / len(bits)), size=RESAMPLES)
    low, high = np.percentile(times @ bits / (times @ size), [2.5, 97.5])
    return f"bits per byte {bits.sum() / size.sum():.3f} ({low:.3f} to {high:.3f}), {len(files)} files of {len(bits)} projects"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", type=Path, nargs="?", default=CACHE / "run", help="a run's folder, or a GGUF file (default: %(default)s)")
    what = parser.parse_args().what
    try:
        if what.is_file():
            arrays, shape, cut = read(what)
            tokenizer = json.loads(cut.to_str())
        else:
            arrays, shape, tokenizer = saved(what)
        files = held_out_files()
    except (ProjectError, ValueError) as error:
        sys.exit(str(error))
    random.Random(0).shuffle(files)
    weights, plain = Llama(shape).eval(), for_text(Tokenizer.from_str(json.dumps(tokenizer)))
    weights.load_state_dict({name: torch.from_numpy(w) for name, w in arrays.items()})
    for kind in ("f32", "f16", "q8_0"):
        with tempfile.TemporaryDirectory() as folder:
            write_gguf(Path(folder) / "model.gguf", arrays, shape, tokenizer, kind)
            with LlamaModel(Path(folder) / "model.gguf", kv_type="f32" if kind == "f32" else "f16") as gguf:
                print(f"{kind}: {compared(gguf, weights, plain, [file.text for file in files])}", flush=True)
                if kind == "q8_0":
                    print(f"{kind}: {bits_per_byte(gguf, files[:FILES])}")


if __name__ == "__main__":
    main()
