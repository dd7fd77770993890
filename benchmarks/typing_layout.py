"""What a keystroke costs in each prompt layout: the same editing with the suffix first (SPM) and with the prefix first (PSM).

    python benchmarks/typing_layout.py [--model FILE] [--threads N]

Lines of the example files are written again as a person would: characters, line ends, backspaces, moves to the next line, a look at
another place and back, a line inserted further up. After each edit the model is asked for one token, in both layouts, exactly (the default)
and with shifting (the model's `shift_tokens`), in alternating order. Prints for each kind of edit how many tokens had to be decoded, how
long that took, and how far shifting moves the log-probabilities.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from machine import described  # noqa: E402

from assay.inference.completion.context import excerpt_of  # noqa: E402
from assay.inference.completion.settings import Settings  # noqa: E402
from assay.inference.llamacpp.cores import physical_cores  # noqa: E402
from assay.inference.llamacpp.model import LlamaModel  # noqa: E402
from assay.inference.model import Generation, Layout, Prompt  # noqa: E402
from assay.inference.opening import EMBEDDED  # noqa: E402
from assay.inference.stopping.stop import NONE  # noqa: E402

SHIFT = 32
LAYOUTS: tuple[Layout, ...] = ("spm", "psm")


@dataclass(frozen=True, slots=True)
class Edit:
    """The text around the cursor after one edit."""

    kind: str
    prefix: str
    suffix: str


def session(text: str, line: int) -> Iterator[Edit]:
    """Two lines of a file removed and typed again, with what people do in between."""
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
    found = excerpt_of(lambda text: len(model.tokenize(text)), edit.prefix, edit.suffix, settings.prefix_tokens, settings.suffix_tokens)
    prefix, suffix = found.before, found.suffix
    pre, suf, mid = (model.control(f"<|fim_{part}|>") for part in ("prefix", "suffix", "middle"))
    assert pre is not None
    assert suf is not None
    assert mid is not None
    if layout == "spm":
        tokens = [pre, suf, *model.tokenize(suffix), mid, *model.tokenize(prefix)]
    else:
        tokens = [pre, *model.tokenize(prefix), suf, *model.tokenize(suffix), mid]
    return Prompt(tuple(tokens), layout)


@dataclass(slots=True)
class Way:
    """A layout, exactly or with shifting, and what each edit cost in it: tokens decoded and milliseconds, by kind.

    drifts: of each prompt of which tokens were shifted, how far its next token's log-probability is from the exact one, None where
    another token is the most likely one.
    """

    model: LlamaModel
    layout: Layout
    shift: int | None
    decoded: dict[str, list[int]]
    took: dict[str, list[float]]
    drifts: list[float | None]

    @property
    def name(self) -> str:
        return f"{self.layout.upper()}{'' if self.shift is None else f', shift {self.shift}'}"

    def ask(self, edit: Edit) -> Generation:
        made = self.model.generate(prompt(self.model, edit, self.layout), stop=NONE, max_tokens=1)
        self.decoded[edit.kind].append(made.timings.prompt_tokens - made.timings.reused_tokens)
        self.took[edit.kind].append(made.timings.prompt_ms)
        return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="a GGUF file with fill-in-the-middle tokens spelled as Qwen's")
    parser.add_argument("--threads", type=int, default=physical_cores(), help="(default: the machine's cores, %(default)s)")
    arguments = parser.parse_args()
    if not arguments.model.is_file():
        parser.error(f"{arguments.model}: no such model file")
    files = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.py"))]
    with ExitStack() as stack:
        ways = []
        for layout, shift in itertools.product(LAYOUTS, (None, SHIFT)):
            model = stack.enter_context(LlamaModel(arguments.model, threads=arguments.threads, shift_tokens=shift))
            ways.append(Way(model, layout, shift, defaultdict(list), defaultdict(list), []))
        edits = [edit for text in files for edit in session(text, text[: len(text) // 2].count("\n"))]
        for number, edit in enumerate(edits):
            turns = ways[:: -1 if number % 2 else 1]
            made = {way.name: way.ask(edit) for way in turns}
            for way in ways:
                if way.shift is not None and made[way.name].timings.shifted_tokens:
                    shifted, exact = made[way.name].tokens[0], made[way.layout.upper()].tokens[0]
                    way.drifts.append(abs(exact.logprob - shifted.logprob) if exact.id == shifted.id else None)
    print(f"{described('llama-cpp-python')}\n{arguments.model.name}, {arguments.threads} threads\n")
    print("| mean tokens, median ms (middle half) | n | " + " | ".join(way.name for way in ways) + " |\n|" + "---|" * (len(ways) + 2))
    for kind in dict.fromkeys(edit.kind for edit in edits):
        cells = [f"{statistics.mean(way.decoded[kind]):.0f} tokens, {middle(way.took[kind])} ms" for way in ways]
        print(f"| {kind} | {len(ways[0].decoded[kind])} | " + " | ".join(cells) + " |")
    print()
    for way in ways:
        if way.drifts:
            same = [drift for drift in way.drifts if drift is not None]
            average = f"; of those |Δ log p| mean {statistics.mean(same):.2g}, max {max(same):.2g} nats" if same else ""
            print(f"{way.name}: the same most likely token in {len(same)} of {len(way.drifts)} prompts with shifted tokens{average}.")


def middle(values: list[float]) -> str:
    """The median and the middle half."""
    low, mid, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return f"{mid:.1f} ({low:.1f}-{high:.1f})"


if __name__ == "__main__":
    main()
