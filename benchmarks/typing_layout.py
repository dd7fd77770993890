"""What a keystroke costs in each prompt layout: the same editing, once with the suffix first (SPM), once with the prefix first (PSM).

    python benchmarks/typing_layout.py [--model FILE] [--threads 2]

Lines of the example files are written again as a person would: characters, ends of lines, deleting backwards, moving to the next line, a
look at another place and back, a line put in further up. After each the model is asked for one token. Prints, for each kind of edit, how
many tokens had to be decoded and how long that took, exactly (the default) and with shifting (`--shift`), and how far shifting moves the
log-probabilities.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from assay.inference.completion import Settings  # noqa: E402
from assay.inference.context import fit  # noqa: E402
from assay.inference.cores import physical_cores  # noqa: E402
from assay.inference.llama import LlamaModel  # noqa: E402
from assay.inference.model import Layout, Prompt  # noqa: E402
from assay.inference.opening import EMBEDDED  # noqa: E402
from assay.inference.stops import NONE  # noqa: E402

SHIFT = 32


@dataclass(frozen=True, slots=True)
class Edit:
    """What the cursor's place looks like after one edit."""

    kind: str
    prefix: str
    suffix: str


def session(text: str, line: int) -> Iterator[Edit]:
    """Two lines of a file taken out and typed again, with what people do in between."""
    lines = text.splitlines(keepends=True)
    before, written, after = "".join(lines[:line]), "".join(lines[line : line + 2]), "".join(lines[line + 2 :])
    yield Edit("open", before, after)
    for end in range(1, len(written)):
        yield Edit("end of line" if written[end - 1] == "\n" else "character", before + written[:end], "\n" + after)
    for end in range(len(written) - 1, len(written) - 11, -1):
        yield Edit("delete backwards", before + written[:end], "\n" + after)
    whole = before + written + after
    place = len(before + written)
    for _ in range(4):
        place = whole.find("\n", place) + 1 or len(whole)
        yield Edit("next line", whole[:place], whole[place:])
    here = len(before) + 4
    yield Edit("another place", whole[: len(whole) // 4], whole[len(whole) // 4 :])
    yield Edit("and back", whole[:here], whole[here:])
    top = whole.find("\n", whole.find("import")) + 1
    added = "import functools\n"
    changed = whole[:top] + added + whole[top:]
    yield Edit("a line put in above", changed[: here + len(added)], changed[here + len(added) :])
    yield Edit("and taken out", whole[:here], whole[here:])


def prompt(model: LlamaModel, edit: Edit, layout: Layout) -> Prompt:
    settings = Settings()
    prefix, suffix = fit(lambda text: len(model.tokenize(text)), edit.prefix, edit.suffix, settings.prefix_tokens, settings.suffix_tokens)
    pre, suf, mid = (model.control(f"<|fim_{part}|>") for part in ("prefix", "suffix", "middle"))
    assert pre is not None
    assert suf is not None
    assert mid is not None
    if layout == "spm":
        tokens = [pre, suf, *model.tokenize(suffix), mid, *model.tokenize(prefix)]
    else:
        tokens = [pre, *model.tokenize(prefix), suf, *model.tokenize(suffix), mid]
    return Prompt(tuple(tokens), layout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a GGUF file with fill-in-the-middle tokens spelled as Qwen's")
    parser.add_argument("--threads", type=int, default=physical_cores())
    arguments = parser.parse_args()
    files = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.py"))]
    ways: list[tuple[Layout, int | None]] = [("spm", None), ("psm", None), ("spm", SHIFT), ("psm", SHIFT)]
    decoded: dict[tuple[str, int], list[int]] = defaultdict(list)
    took: dict[tuple[str, int], list[float]] = defaultdict(list)
    first: dict[Layout, list[tuple[int, float]]] = {"spm": [], "psm": []}
    moved: list[float] = []
    same: list[bool] = []
    for way, (layout, shift) in enumerate(ways):
        with LlamaModel(arguments.model, threads=arguments.threads, shift_tokens=shift) as model:
            number = 0
            for text in files:
                for edit in session(text, text[: len(text) // 2].count("\n")):
                    made = model.generate(prompt(model, edit, layout), stop=NONE, max_tokens=1)
                    timings, token = made.timings, made.tokens[0]
                    decoded[edit.kind, way].append(timings.prompt_tokens - timings.reused_tokens)
                    took[edit.kind, way].append(timings.prompt_ms)
                    if shift is None:
                        first[layout].append((token.id, token.logprob))
                    elif timings.shifted_tokens:
                        exact_id, exact = first[layout][number]
                        same.append(exact_id == token.id)
                        if exact_id == token.id:
                            moved.append(abs(exact - token.logprob))
                    number += 1
    names = [f"{layout.upper()}{'' if shift is None else f', shift {shift}'}" for layout, shift in ways]
    print("| | n | " + " | ".join(names) + " |\n|" + "---|" * (len(ways) + 2))
    for kind in dict.fromkeys(kind for kind, _ in decoded):
        cells = [f"{statistics.mean(decoded[kind, w]):.0f} tokens, {statistics.mean(took[kind, w]):.1f} ms" for w in range(len(ways))]
        print(f"| {kind} | {len(decoded[kind, 0])} | " + " | ".join(cells) + " |")
    if same:
        average = f"mean {statistics.mean(moved):.2g}, max {max(moved):.2g} nats (n = {len(moved)})" if moved else "never the same token"
        print(f"\nWith shifting: the same most likely token in {sum(same)} of {len(same)} shifted prompts; of those |Δ log p| {average}.")


if __name__ == "__main__":
    main()
