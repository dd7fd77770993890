"""Check that memory stays flat: requests of every kind, many of them cancelled, and the size of this process after each fifty.

    python benchmarks/soak.py [--model FILE.gguf] [--requests 5000] [--threads N] [--plot docs/soak.svg]

Prints the resident size at the start of the second half and at the end, and the slope over the second half (least squares) in KiB per 1,000
requests, with a 95 % interval from 2,000 resamples of ten blocks. The first half fills what is bounded (the cache's parked sequences, the
allocator's arenas).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from machine import described  # noqa: E402

from assay.inference.completion.prompt import prompt_at  # noqa: E402
from assay.inference.llamacpp.cores import physical_cores  # noqa: E402
from assay.inference.llamacpp.model import LlamaModel  # noqa: E402
from assay.inference.model import Prompt  # noqa: E402
from assay.inference.opening import EMBEDDED  # noqa: E402
from assay.inference.stopping.stop import LINE  # noqa: E402
from assay.suggestion.complete import complete  # noqa: E402

EVERY = 50


def resident_kib() -> int:
    """The process's resident size."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except OSError:
        return int(subprocess.run(["ps", "-o", "rss=", "-p", str(os.getpid())], capture_output=True, check=True, text=True).stdout)


def request(model: LlamaModel, texts: list[str], random: np.random.Generator) -> bool:
    """Make one request such as an editor makes. Returns whether it was cancelled."""
    text = texts[random.integers(len(texts))]
    at = int(random.integers(len(text)))
    flag = threading.Event()
    timer = threading.Timer(random.exponential(0.02), flag.set) if random.random() < 0.4 else None
    if timer is not None:
        timer.start()
    kind = random.random()
    if kind < 0.6:  # a line, then what is typed next
        complete(model, text[:at], text[at:], cancel=flag.is_set)
        complete(model, text[: at + 1], text[at + 1 :], cancel=flag.is_set)
    elif kind < 0.75:
        complete(model, text[:at], text[at:], kind="block", cancel=flag.is_set)
    else:
        prompt = prompt_at(model, text[:at], text[at:])
        made = model.alternatives(prompt, 4, stop=LINE, max_tokens=24, temperature=0.8, cancel=flag.is_set)
        if made[0].tokens:
            asked = Prompt((*prompt.tokens, *(t.id for t in made[0].tokens)), prompt.layout)
            model.next_token_logprobs(asked, ["True", "False"])
    if timer is not None:
        timer.cancel()
    return flag.is_set()


def slope(requests: NDArray[np.float64], kib: NDArray[np.float64]) -> tuple[float, float, float]:
    """The slope in KiB per 1,000 requests, with its 95 % interval."""
    blocks = np.array_split(np.arange(len(kib)), 10)
    random = np.random.default_rng(0)
    drawn = []
    for _ in range(2000):
        taken = np.concatenate([blocks[i] for i in random.integers(10, size=10)])
        if np.ptp(requests[taken]) > 0:
            drawn.append(np.polyfit(requests[taken], kib[taken], 1)[0] * 1000)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(np.polyfit(requests, kib, 1)[0] * 1000), float(low), float(high)


def plot_all(requests: Sequence[float], kib: Mapping[str, Sequence[float]], file: Path, title: str) -> None:
    """Plot sizes over requests, a curve for each name."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3), layout="constrained")
    for name, sizes in kib.items():
        axes.plot(requests, np.divide(sizes, 1024), label=name)
    axes.set(xlabel="requests", ylabel="resident size, MiB", ylim=(0, None), title=title)
    if len(kib) > 1:
        axes.legend()
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a GGUF file (the embedded model)")
    parser.add_argument("--requests", type=int, default=5000, help="at least 1,000 (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=physical_cores(), help="(default: the machine's cores, %(default)s)")
    parser.add_argument("--plot", type=Path, help="write the curve to this file (SVG)")
    arguments = parser.parse_args()
    if arguments.requests < 1000:
        parser.error("--requests is at least 1000: fewer say nothing of a slope")
    if not arguments.model.is_file():
        parser.error(f"{arguments.model}: no such model file")
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.py"))]
    random = np.random.default_rng(0)
    counts, sizes, cancelled, began = [], [], 0, time.monotonic()
    with LlamaModel(arguments.model, threads=arguments.threads) as model:
        for number in range(1, arguments.requests + 1):
            cancelled += request(model, texts, random)
            if number % EVERY == 0:
                counts.append(number)
                sizes.append(resident_kib())
        spent = time.monotonic() - began
    requests, kib = np.array(counts, dtype=np.float64), np.array(sizes, dtype=np.float64)
    half = len(kib) // 2
    value, low, high = slope(requests[half:], kib[half:])
    print(described("llama-cpp-python"))
    print(f"{arguments.model.name}, {arguments.threads} threads")
    print(f"{arguments.requests:,} requests, {cancelled:,} cancelled, {spent:.0f} s; {threading.active_count()} threads at the end")
    print(f"resident: {kib[half] / 1024:.1f} MiB in the middle, {kib[-1] / 1024:.1f} MiB at the end, {kib.max() / 1024:.1f} MiB at most")
    print(f"slope over the second half: {value:.0f} KiB per 1,000 requests ({low:.0f} to {high:.0f})")
    if arguments.plot:
        plot_all(counts, {"": sizes}, arguments.plot, "Memory over requests, four in ten with a cancel")


if __name__ == "__main__":
    main()
