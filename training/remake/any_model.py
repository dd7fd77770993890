"""The blocks on the maps for any model: each model by a map of the others, own samples moving it, and quantisations of one model.

`MODELS` are those that they are fitted to, with what names the model, which lines it is asked about, and about how many functions of a
package in another language than Python. `KIN` are quantisations of one of them, with the first number:
`python -m training.remake.any_model FOLDER` makes their files, and `… RUNS NAME FILE-WITH-TASK` a model's own calibrators from few samples.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median

import llama_cpp
import numpy as np

from assay.calibration.calibrator import KIN_SD, Calibrator, load, save
from assay.calibration.confidence import confidence
from assay.calibration.evidence import evidence_of
from assay.calibration.fitting.fit import fit
from assay.calibration.fitting.folds import numbered
from assay.calibration.held_out import folds_path, held_out, load_folds
from assay.calibration.language_names import name_of_language
from assay.calibration.samples import Sample, read_samples
from assay.inference.opening import ModelChoice

from .calibrators import SHIPPED, TASKS, Folders
from .cells import code, interval, table

EVENT = "exact_match"
FEATURES = ("total_logprob", "length")
# Lines that Qwen2.5-Coder can't have seen.
_NEWER = "--code $self/code/* --older $self/older --languages python"
MODELS = {
    "embedded": ("the embedded one, 8 M", "", "--per-project 12", 6),
    "smollm2": ("SmolLM2 135M, Q4_1", "--prompt-size small --model $models/SmolLM2-135M-Instruct.Q4_1.gguf", "--per-project 5", 3),
    "gemma3": ("Gemma 3 270M, Q4_K_M", "--prompt-size small --model $models/gemma-3-270m-q4_k_m.gguf", "--per-project 5", 2),
    "qwen05": ("Qwen2.5-Coder 0.5B, Q4_K_M", "--model qwen2.5-coder-0.5b", f"{_NEWER} --per-project 24", 4),
    "qwen15": ("Qwen2.5-Coder 1.5B, Q4_K_M", "--model qwen2.5-coder-1.5b", f"{_NEWER} --per-project 6", 1),
}
KIN = {"q4_k_m": ("Q4_K_M, its own", 12), "q8_0": ("Q8_0", 2), "q4_0": ("Q4_0", 2)}
OWN = (0, 10, 20, 40)
_REPEATS = 8


def samples_of(at: Folders, name: str, task: str) -> list[Sample]:
    """The samples of a model with a label, in all languages; of kin in Python."""
    runs = [at["models/kin"] / name] if name in KIN else [at["models/any"] / name, at["models/any"] / f"{name}-packages"]
    return [sample for sample in read_samples([run / "samples" / f"{task}.jsonl" for run in runs]) if sample.labels.get(EVENT) is not None]


def common_without(at: Folders, task: str, name: str = "") -> Calibrator:
    """The map for any model, fitted without one of them."""
    samples = [sample for other in MODELS if other != name for sample in samples_of(at, other, task)]
    return fit(samples, EVENT, FEATURES, kind="platt", groups="model", least_models=len(MODELS) - 1, resamples=50).calibrator


def _judged(p: Sequence[float], samples: Sequence[Sample]) -> tuple[str, ...]:
    """The cells of `_HEADS` for probabilities and the samples that they are of."""
    y = np.array([sample.labels[EVENT] for sample in samples], dtype=np.bool_)
    found = evidence_of(np.array(p), y, numbered([sample.project for sample in samples]), 200)
    error = f"{found.smooth_ece.value:.3f} ({found.smooth_ece.noise_floor:.3f})"
    return str(len(p)), f"{np.mean(p):.1%}", f"{y.mean():.1%}", interval(found.skill), error


_HEADS = ("n", "promised", "right", "skill score", "smooth ECE (floor)")


def left_out(at: Folders) -> str:
    """Each model, judged by a map of the others."""
    rows = []
    for task in TASKS:
        for name, (shown, *_) in MODELS.items():
            common, samples = common_without(at, task, name), samples_of(at, name, task)
            found = [(confidence(common, sample.measures), sample) for sample in samples]
            having = [(said, sample) for said, sample in found if said.probability is not None]
            width = median(said.high - said.low for said, _ in having if said.high is not None and said.low is not None)
            cells = _judged([said.probability for said, _ in having if said.probability is not None], [sample for _, sample in having])
            rows.append((code(task), shown, *cells, f"{width:.0%}"))
    return table(("task", "model", *_HEADS, "median range"), "llrrrccr", rows)


def languages(at: Folders) -> str:
    """In each language, all models, each judged by a map of the others."""
    rows = []
    for task in TASKS:
        promised: dict[str, list[float]] = defaultdict(list)
        judged: dict[str, list[Sample]] = defaultdict(list)
        for name in MODELS:
            common = common_without(at, task, name)
            for sample in samples_of(at, name, task):
                if (p := confidence(common, sample.measures).probability) is not None:
                    promised[sample.language].append(p)
                    judged[sample.language].append(sample)
        rows += [(code(task), name_of_language(name), *_judged(promised[name], judged[name])) for name in sorted(judged)]
    return table(("task", "language", *_HEADS), "llrrrcc", rows)


def narrowing(at: Folders) -> str:
    """Mean difference from the model's own map, and median width of the range, by how many own samples the map was moved to.

    The mean over the models that have twice as many samples.
    """
    rows = []
    for task in TASKS:
        found = [each for name in MODELS if (each := _narrowed(at, task, name))]
        means = ([mean(of) for of in zip(*each, strict=True)] for each in zip(*found, strict=True))
        rows.append((code(task), len(found), *(f"{gap:.3f}, {width:.0%}" for gap, width in means)))
    return table(("task", "models", *(f"{n} own" for n in OWN)), "lr" + "c" * len(OWN), rows)


def _narrowed(at: Folders, task: str, name: str) -> list[tuple[float, float]]:
    """For each of `OWN` the mean difference and the width; empty for a model with too few samples."""
    common, own = common_without(at, task, name), samples_of(at, name, task)
    if len(own) < 2 * max(OWN):
        return []
    whole = fit(own, EVENT, FEATURES, kind="platt", resamples=20).calibrator
    return [
        (mean(gap for gap, _ in found), mean(width for _, width in found))
        for found in ([_moved(common, whole, own, n, seed) for seed in range(_REPEATS if n else 1)] for n in OWN)
    ]


def _moved(common: Calibrator, whole: Calibrator, own: Sequence[Sample], n: int, seed: int) -> tuple[float, float]:
    """Of n samples of some projects; judged on the other projects, against the map of all of the model's samples."""
    projects = sorted({sample.project for sample in own})
    random.Random(seed).shuffle(projects)
    mine = [sample for project in projects for sample in own if sample.project == project][:n]
    rest = [sample for sample in own if sample.project not in {one.project for one in mine}]
    used = fit(mine, EVENT, adapt_from=common, resamples=20).calibrator if n else common
    pairs = [(confidence(used, one.measures), confidence(whole, one.measures)) for one in rest]
    known = [(a, b.probability) for a, b in pairs if a.probability is not None and b.probability is not None]
    gap = mean(abs(a.probability - b) for a, b in known if a.probability is not None)
    return gap, median(a.high - a.low for a, _ in known if a.high is not None and a.low is not None)


def kin(at: Folders) -> str:
    """Quantisations of a model, judged by the calibrator of the one that it is shipped for: by the map that did not see the project."""
    rows = []
    for task in TASKS:
        file = at["tree"] / SHIPPED / f"{EVENT}-{task}-qwen2.5-coder-0.5b.json"
        shipped = load(file)
        probability = held_out(shipped, load_folds(folds_path(shipped, file)))
        for name, (shown, _) in KIN.items():
            found = [(p, sample) for sample in samples_of(at, name, task) if (p := probability(sample)) is not None]
            rows.append((code(task), shown, *_judged([p for p, _ in found], [sample for _, sample in found])))
    return f"{table(('task', 'quantisation', *_HEADS), 'llrrrcc', rows)}\n\nThe range of another quantisation has {KIN_SD} log odds more."


def quantise(folder: Path) -> None:
    """Write the quantisations of `KIN`, from the model's own file, into a folder."""
    source = ModelChoice("qwen2.5-coder-0.5b").located
    itself = folder / "q4_k_m.gguf"
    itself.unlink(missing_ok=True)
    itself.symlink_to(source)
    for name in list(KIN)[1:]:
        options = llama_cpp.llama_model_quantize_default_params()
        options.ftype, options.allow_requantize = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{name.upper()}"), True
        to = folder / f"{name}.gguf"
        if llama_cpp.llama_model_quantize(str(source).encode(), str(to).encode(), options):
            sys.exit(f"{to}: llama.cpp could not write it")


def moved(at: Folders, task: str, name: str) -> Calibrator:
    """A model's own calibrator: the map of the other models, moved to its own samples in Python."""
    samples = [sample for sample in samples_of(at, name, task) if sample.language == "python"]
    return fit(samples, EVENT, adapt_from=common_without(at, task, name)).calibrator


if __name__ == "__main__":
    folder, *of = sys.argv[1:]
    if not of:
        quantise(Path(folder))
    else:
        for each in TASKS:
            save(moved({"models/any": Path(folder)}, each, of[0]), Path(of[1].replace("TASK", each)))
