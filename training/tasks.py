"""What Assay asks of the model besides completion, as training items made from real code.

    python -m training.tasks --corpus .cache/corpus.jsonl --guesses .cache/guesses.jsonl --out .cache/tasks.jsonl

An item is an ordinary prompt for filling in the middle, then for some tasks a line in question, then the task's control token, then the
answer (SPM; no text has control tokens):

    <prefix> <suffix> after <middle> before [shown] <task> answer <end>

    implement   before ends behind a signature and its docstring                          answer: the function's body
    describe    before ends with a function without its docstring                         answer: the docstring's first line
    fix         shown is a line, with a bug of ours (mutate.py) or as it was               answer: the line as it was
    judge       shown is a line or its rest, real or as a model wrote it (guesses.py)      answer: True or False

So a question behind a completion costs only its own tokens: everything before them is in the cache. `before` never ends with the space that
belongs to the next word (tokenizer.token_start); shown and answer begin with it.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from .mutate import Function, bug, edits, parse
from .paths import CACHE, there
from .places import Place, read_places
from .tokenizer import token_start

Task = Literal["implement", "describe", "fix", "judge"]
# Of one file, so that no file's habits rule a task.
FUNCTIONS_PER_FILE = 2
FIXES_PER_FILE = 3
RIGHT_SHARE = 0.17  # of the lines to fix are right: a model that always changes something is no use
CONTEXT = 1200  # characters of the file around what an item is about, at most
MAX_BODY = 1000
MAX_FUNCTION = 1800
DESCRIPTION = range(12, 121)  # characters


@dataclass(frozen=True, slots=True)
class Item:
    """One question and its answer. before + shown + after is what a document holds when the question is asked.

    kind: of the bug (fix; "none" where the line is right), "real", "right" or "wrong" (judge; the last two are a model's texts), else "".
    function: the name of the function that it is about ("" for judge).
    """

    task: Task
    kind: str
    project: str
    before: str
    shown: str
    after: str
    answer: str
    function: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that Python parses. starts: the offset of each line, split at \n alone as Python's parser does."""

    project: str
    text: str
    lines: list[str]
    starts: list[int]
    functions: list[Function]

    def line_end(self, number: int) -> int:
        """The offset of the end of a line (numbered from 1), before its newline."""
        return self.starts[number - 1] + len(self.lines[number - 1])


def read(project: str, text: str) -> Source | None:
    """The parsed source; None for a text that Python does not parse, or with a carriage return."""
    if "\r" in text or (tree := parse(text)) is None:
        return None
    lines, starts = text.split("\n"), [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return Source(project, text, lines, starts, functions)


def docstring_lines(source: Source, function: Function) -> range | None:
    """The numbers of the lines that hold a function's docstring and nothing else; None where there are none, or nothing besides."""
    first = function.body[0]
    if len(function.body) < 2 or ast.get_docstring(function, clean=False) is None or first.end_lineno is None:
        return None
    before, behind = (
        source.lines[first.lineno - 1].encode()[: first.col_offset],
        source.lines[first.end_lineno - 1].encode()[first.end_col_offset :],
    )
    if before.strip() or behind.strip():
        return None
    return range(first.lineno, first.end_lineno + 1)


def without_docstring(source: Source, function: Function) -> tuple[str, str] | None:
    """A function's code without its docstring's lines, and the docstring; None where `docstring_lines` gives None."""
    numbers = docstring_lines(source, function)
    if numbers is None:
        return None
    end = source.line_end(function.end_lineno or function.lineno)
    code = (
        source.text[source.starts[function.lineno - 1] : source.starts[numbers.start - 1]]
        + source.text[source.starts[numbers.stop - 1] : end]
    )
    return code, ast.get_docstring(function) or ""


def above(source: Source, offset: int, characters: int) -> str:
    """Whole lines before an offset that begins a line, about so many characters."""
    if offset <= characters:
        return source.text[:offset]
    return source.text[source.text.find("\n", offset - characters - 1, offset) + 1 : offset]


def below(source: Source, offset: int, characters: int) -> str:
    """From an offset that ends a line to the end of a line, about so many characters."""
    if len(source.text) - offset <= characters:
        return source.text[offset:]
    return source.text[offset : max(offset, source.text.rfind("\n", offset, offset + characters) + 1)]


def implement(source: Source, function: Function, rng: random.Random) -> Item | None:
    """Signature and docstring to body."""
    numbers = docstring_lines(source, function)
    if numbers is None or isinstance(function.body[1], ast.Pass):
        return None
    top, start = source.starts[function.lineno - 1], source.starts[numbers.stop - 1]
    end = source.line_end(function.end_lineno or function.lineno)
    body = source.text[start:end]
    start += len(body) - len(body.lstrip())
    start = token_start(source.text, start)
    if end - start > MAX_BODY or start - top > CONTEXT:
        return None
    before = above(source, top, rng.randint(0, CONTEXT - (start - top))) + source.text[top:start]
    return Item(
        "implement", "", source.project, before, "", below(source, end, rng.randint(0, CONTEXT // 3)), source.text[start:end], function.name
    )


def describe(source: Source, function: Function, rng: random.Random) -> Item | None:
    """A function without its docstring to the docstring's first line."""
    parts = without_docstring(source, function)
    if parts is None or len(parts[0]) > MAX_FUNCTION:
        return None
    code, docstring = parts
    line = (docstring.strip().splitlines() or [""])[0].strip()
    if len(line) not in DESCRIPTION or " " not in line or not line[0].isalpha():
        return None
    before = above(source, source.starts[function.lineno - 1], rng.randint(0, CONTEXT // 2)) + code
    after = below(source, source.line_end(function.end_lineno or function.lineno), rng.randint(0, CONTEXT // 4))
    return Item("describe", "", source.project, before, "", after, line, function.name)


def fix(source: Source, function: Function, rng: random.Random) -> Item | None:
    """A line with a bug, or as it was, to the line as it was. The right lines are such as could have had a bug."""
    if rng.random() < RIGHT_SHARE:
        found = edits(function, source.lines)
        if not found:
            return None
        number, kind = rng.choice(found).line, "none"
        wrong = source.lines[number - 1]
    else:
        made = bug(function, source.lines, rng)
        if made is None:
            return None
        number, kind, wrong = made.line, str(made.kind), made.wrong
    right, top, start = source.lines[number - 1], source.starts[function.lineno - 1], source.starts[number - 1]
    begun = start + len(right) - len(right.lstrip())
    begun = token_start(source.text, begun)
    # From the function's head on where there is room; from somewhere in its body where it is long.
    shown = start - top if start - top <= CONTEXT else 0
    before = above(source, start, rng.randint(shown, CONTEXT)) + source.text[start:begun]
    after = below(source, source.line_end(number), rng.randint(CONTEXT // 8, CONTEXT // 2))
    return Item("fix", kind, source.project, before, wrong[begun - start :], after, right[begun - start :], function.name)


def items_of(project: str, text: str, seed: str) -> Iterator[Item]:
    """The items of one file, the same for the same seed. None of a file that Python does not parse."""
    source = read(project, text)
    if source is None:
        return
    rng = random.Random(seed)
    functions = rng.sample(source.functions, len(source.functions))
    for make, most in ((implement, FUNCTIONS_PER_FILE), (describe, FUNCTIONS_PER_FILE), (fix, FIXES_PER_FILE)):
        made = 0
        for function in functions[: 4 * most]:
            item = make(source, function, rng)
            if item is not None:
                yield item
                made += 1
                if made == most:
                    break
        rng.shuffle(functions)


def all_items(project: str, text: str, seed: str) -> list[Item]:
    """`items_of` as a list, for another process."""
    return list(items_of(project, text, seed))


def judge(place: Place) -> Iterator[Item]:
    """Whether a text is right: the real one, and each of the model's own."""

    def item(kind: str, shown: str, answer: bool) -> Item:
        return Item("judge", kind, place.project, place.before, shown, place.after, str(answer))

    yield item("real", place.real, True)
    for guess in place.guesses:
        yield item("right" if guess.right else "wrong", guess.text, guess.right)


def load(path: Path) -> list[Item]:
    """Read the file that `main` wrote."""
    with path.open(encoding="utf-8") as f:
        return [Item(**json.loads(line)) for line in f]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=there, default=str(CACHE / "corpus.jsonl"))
    parser.add_argument("--guesses", type=there, help="what guesses.py wrote; without it there is no item to judge")
    parser.add_argument(
        "--items", type=int, default=60_000, help="about so many from code alone; every guess is an item besides (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1, help="processes (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=CACHE / "tasks.jsonl")
    args = parser.parse_args()
    with args.corpus.open(encoding="utf-8") as f:
        files = [json.loads(line) for line in f]
    random.Random(args.seed).shuffle(files)
    counts: Counter[str] = Counter()
    temporary = args.out.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8") as out:

        def write(item: Item) -> None:
            out.write(json.dumps(asdict(item)) + "\n")
            counts[f"{item.task} {item.kind}".strip()] += 1

        seeds = [f"{args.seed}:{file['path']}" for file in files]
        with ProcessPoolExecutor(args.workers) as pool:
            for items in pool.map(all_items, *zip(*((f["project"], f["text"]) for f in files), strict=True), seeds, chunksize=16):
                if counts.total() >= args.items:
                    pool.shutdown(wait=False, cancel_futures=True)
                    break
                for item in items:
                    write(item)
        for place in read_places(args.guesses) if args.guesses else []:
            for item in judge(place):
                write(item)
    temporary.rename(args.out)
    for name, n in sorted(counts.items()):
        print(f"{n:9,} {name}")


if __name__ == "__main__":
    main()
