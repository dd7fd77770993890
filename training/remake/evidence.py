"""The evidence that a checkout ships, whether it is of the present model and prompt, and its withdrawal where it is not.

Evidence is the shipped calibrators, the pictures of docs/calibration, and blocks of the pages: text between two markers, of which the first
names the fingerprints that it was measured with.

    <!-- remake NAME: begin; model MODEL, prompt PROMPT … -->
    …
    <!-- remake NAME: end -->

A block whose evidence was withdrawn has the marker `<!-- remake NAME: begin; not measured -->`, and says so to the reader.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.calibration.atomic_write import write_atomically
from assay.calibration.calibrator import FittedOn, load
from assay.calibration.held_out import FOLDER as FOLDS
from assay.calibration.held_out import folds_path
from assay.calibration.validation.table import FOLDER as TABLES
from assay.inference.errors import NotDownloaded
from assay.inference.hub.catalogue import Entry, catalogue
from assay.inference.opening import ModelChoice
from assay.offline_eval.model import model_of
from assay.offline_eval.repairs.candidates import sources_of
from assay.offline_eval.sets.regions import TASKS
from assay.suggestion.repair.confidence import TASK as REPAIR
from assay.suggestion.repair.confidence import prompt_of
from assay.suggestion.repair.localisation import TASK as FAULT

from .calibrators import PICTURES, SHIPPED

PAGES = ("README.md", "docs/calibration.md", "docs/repository.md", "docs/validation.md", "training/README.md")
# Folders of what belongs to a calibrator, each file named by its id.
BESIDE = (FOLDS, TABLES)
NOT_MEASURED = "not measured"
_FOR_READERS = "Not measured for this version of the model and of how it is asked: `python -m training.remake` does it."
_BLOCK = re.compile(
    r"^(?P<indent> *)<!-- remake (?P<name>[\w-]+): begin; (?P<of>[^\n]*?) -->\n(?P<content>.*?)^ *<!-- remake (?P=name): end -->$",
    re.MULTILINE | re.DOTALL,
)
_MARKER = re.compile(r"<!-- remake [^\n]*?-->")
_NAMED = re.compile(r"model (\w+), prompt (\w+(?: \w+)*)")


class BlockError(ValueError):
    """A page whose markers can't be read, or that lacks a block; the message says which."""


@dataclass(frozen=True, slots=True)
class Present:
    """The fingerprints that evidence must name to count.

    model: of the embedded model. prompts: of prompt and decoder, by task. repairs: of how repairs are made. others: the prompts of other
    models, by their ids; empty for one that is not on this machine, whose prompts are not known.
    """

    model: str
    prompts: Mapping[str, str]
    repairs: str = ""
    others: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def prompt_of(self, task: str) -> str | None:
        """The fingerprint of a task of calibrators."""
        return self.repairs if task in (REPAIR, FAULT) else self.prompts.get(task)

    def fits(self, fitted_on: FittedOn, task: str) -> bool:
        """Whether a calibrator is for a model and a prompt of now."""
        if fitted_on.models:  # of none in particular
            return True
        other = self.others.get(fitted_on.model)
        if other is None:
            return (fitted_on.model, fitted_on.prompt) == (self.model, self.prompt_of(task))
        return not other or other.get(task) == fitted_on.prompt

    def named(self, *tasks: str) -> str:
        """What evidence on these tasks says that it is of. No tasks: all."""
        return f"model {self.model}, prompt {' '.join(dict.fromkeys(self.prompts[task] for task in tasks or self.prompts))}"

    def holds(self, named: str) -> bool:
        """Whether what evidence says that it is of, is present."""
        found = _NAMED.fullmatch(named)
        return found is not None and found[1] == self.model and set(found[2].split()) <= set(self.prompts.values())


def present() -> Present:
    """What holds now, by opening the embedded model as a study does, and the others that are on this machine."""
    found = model_of(ModelChoice(), TASKS)
    prompts = {str(task): prompt for task, prompt in found.prompts.items()}
    others = {entry.fingerprint: _prompts_of(entry) for entry in catalogue() if entry.prompt_size}
    return Present(found.id, prompts, prompt_of(prompts["line"], sources_of(found)), others)


def _prompts_of(entry: Entry) -> dict[str, str]:
    try:
        found = model_of(ModelChoice(entry.name), TASKS)
    except NotDownloaded:
        return {}
    return {str(task): prompt for task, prompt in found.prompts.items()}


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page. of: what its first marker says, "model M, prompt P" or NOT_MEASURED. content: without its indentation."""

    name: str
    of: str
    content: str


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of a page's text, in order. Raises BlockError where a marker is alone, or two blocks have one name."""
    seen: set[str] = set()
    for found in _BLOCK.finditer(text):
        name, indent = found["name"], found["indent"]
        if name in seen:
            raise BlockError(f"two blocks are named {name!r}")
        seen.add(name)
        lines = (line.removeprefix(indent) for line in found["content"].splitlines())
        yield Block(name, found["of"], "\n".join(lines).strip("\n"))
    if len(_MARKER.findall(text)) != 2 * len(seen):
        raise BlockError("a marker '<!-- remake …' has no partner: each block has 'begin; …' and 'end', each on a line of its own")


def filled(text: str, name: str, content: str, of: str) -> str:
    """The page's text with other content in one block. Raises BlockError where there is no such block."""
    if name not in {block.name for block in blocks_of(text)}:
        raise BlockError(f"there is no block {name!r}")

    def written(found: re.Match[str]) -> str:
        if found["name"] != name:
            return found[0]
        indent = found["indent"]
        lines = [f"<!-- remake {name}: begin; {of} -->", "", *content.strip("\n").split("\n"), "", f"<!-- remake {name}: end -->"]
        return "\n".join(indent + line if line else "" for line in lines)

    return _BLOCK.sub(written, text)


def blocks_in(tree: Path, page: str) -> list[Block]:
    """The blocks of a page. Raises BlockError that names the page."""
    try:
        return list(blocks_of((tree / page).read_text(encoding="utf-8")))
    except BlockError as error:
        raise BlockError(f"{page}: {error}") from None


def fill(tree: Path, block: str, content: str, of: str) -> None:
    """Write PAGE#BLOCK. of: `Present.named`. Raises BlockError that names the page."""
    page, _, name = block.partition("#")
    try:
        text = filled((tree / page).read_text(encoding="utf-8"), name, content, of)
    except BlockError as error:
        raise BlockError(f"{page}: {error}") from None
    with write_atomically(tree / page) as file:
        file.write(text.encode())


@dataclass(frozen=True, slots=True)
class Stale:
    """Evidence that names other fingerprints than the present ones. what: a file, or PAGE#BLOCK; of: what it names."""

    what: str
    of: str


def stale(tree: Path, now: Present) -> list[Stale]:
    """All evidence that does not name the present fingerprints. Raises CalibratorError and BlockError."""
    blocks = [(page, block) for page in PAGES for block in blocks_in(tree, page)]
    of_pages = [Stale(f"{page}#{block.name}", block.of) for page, block in blocks if block.of != NOT_MEASURED and not now.holds(block.of)]
    return [*_stale_calibrators(tree, now), *_stale_pictures(tree, now), *of_pages]


def not_measured(tree: Path) -> list[str]:
    """The blocks that say so: PAGE#BLOCK."""
    return [f"{page}#{block.name}" for page in PAGES for block in blocks_in(tree, page) if block.of == NOT_MEASURED]


def withdraw(tree: Path, now: Present) -> list[Stale]:
    """Take back all evidence that is stale: calibrators and pictures are deleted, blocks say that they are not measured."""
    found = stale(tree, now)
    for one in found:
        if "#" in one.what:
            fill(tree, one.what, _FOR_READERS, NOT_MEASURED)
        elif (tree / one.what).is_dir():
            shutil.rmtree(tree / one.what)
        else:
            (tree / one.what).unlink()
    for folder in (tree / SHIPPED / name for name in BESIDE):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    return found


def folds_of(tree: Path, files: Iterable[str]) -> list[Path]:
    """The files of folds that calibrators have, each named by its path in the tree."""
    there = [tree / name for name in files if (tree / name).is_file()]
    return [path for file in there if (path := folds_path(load(file), file)).is_file()]


def _stale_calibrators(tree: Path, now: Present) -> Iterator[Stale]:
    """Those of other fingerprints, and what belongs to none of the others: folds and validation tables."""
    current = set()
    for path in sorted((tree / SHIPPED).glob("*.json")):
        made = load(path)
        if not now.fits(made.fitted_on, made.task):
            yield Stale(str(SHIPPED / path.name), f"model {made.fitted_on.model}, prompt {made.fitted_on.prompt}")
        else:
            current.add(made.id)
    for folder in BESIDE:
        for path in sorted((tree / SHIPPED / folder).glob("*.json")):
            if path.stem not in current:
                yield Stale(str(SHIPPED / folder / path.name), f"calibrator {path.stem}, which is stale or not shipped")


def _stale_pictures(tree: Path, now: Present) -> Iterator[Stale]:
    """The folders of pictures, which are of the same run as the block that shows them."""
    shown = next((block for block in blocks_in(tree, "docs/calibration.md") if block.name == "result"), None)
    if shown is None:
        raise BlockError("docs/calibration.md: there is no block 'result'")
    for task in now.prompts:
        if not now.holds(shown.of) and (tree / PICTURES / task).is_dir():
            yield Stale(str(PICTURES / task), shown.of)
