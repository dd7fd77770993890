"""The evidence that a checkout ships, whether it is of the present model and prompt, and its withdrawal where it is not."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.calibration.atomic_write import write_atomically
from assay.calibration.calibrator import load
from assay.calibration.held_out import FOLDER as FOLDS
from assay.calibration.held_out import folds_path
from assay.calibration.validation.table import FOLDER as TABLES

from .blocks import NOT_MEASURED, Block, BlockError, blocks_of, filled, withdrawn
from .present import Present

SHIPPED = Path("calibration") / "shipped"
# Of each task a folder: report.md names what it is of, and pictures lie beside it.
REPORTS = Path("docs") / "calibration"
PAGES = (
    "README.md", "docs/calibration.md", "docs/commands.md", "docs/maps.md", "docs/repository.md", "docs/validation.md",
    "training/README.md",
)  # fmt: skip
# Folders of what belongs to a calibrator, each file named by its id.
BESIDE = (FOLDS, TABLES)


@dataclass(frozen=True, slots=True)
class Stale:
    """Evidence that names other fingerprints than the present ones. what: a file, or PAGE#BLOCK; of: what it names."""

    what: str
    of: str


def page_of(tree: Path, page: str) -> str:
    """The text of a page."""
    return (tree / page).read_text(encoding="utf-8")


def write_page(tree: Path, page: str, text: str) -> None:
    """Write a page whole, and only where it differs."""
    if text != page_of(tree, page):
        with write_atomically(tree / page) as file:
            file.write(text.encode())


def fill(tree: Path, page: str, contents: Mapping[str, str], of: str) -> None:
    """Write blocks of a page. of: `Present.named`. Raises BlockError that names the page."""
    text = page_of(tree, page)
    try:
        for name, content in contents.items():
            text = filled(text, name, content, of)
    except BlockError as error:
        raise BlockError(f"{page}: {error}") from None
    write_page(tree, page, text)


def blocks_in(tree: Path, page: str) -> list[Block]:
    """The blocks of a page. Raises BlockError that names the page."""
    try:
        return list(blocks_of(page_of(tree, page)))
    except BlockError as error:
        raise BlockError(f"{page}: {error}") from None


def stale(tree: Path, now: Present) -> list[Stale]:
    """All evidence that does not name the present fingerprints. Raises CalibratorError and BlockError."""
    return [*_stale_calibrators(tree, now), *_stale_reports(tree, now), *_stale_blocks(tree, now)]


def not_measured(tree: Path) -> list[str]:
    """The blocks that say so: PAGE#BLOCK."""
    return [f"{page}#{block.name}" for page in PAGES for block in blocks_in(tree, page) if block.of == NOT_MEASURED]


def withdraw(tree: Path, now: Present) -> list[Stale]:
    """Take back all evidence that is stale: calibrators and reports are deleted, blocks say that they are not measured."""
    found = stale(tree, now)
    for one in found:
        page, _, block = one.what.partition("#")
        if block:
            write_page(tree, page, withdrawn(page_of(tree, page), block))
        elif (tree / page).is_dir():
            shutil.rmtree(tree / page)
        else:
            (tree / page).unlink()
    for folder in (tree / SHIPPED / name for name in BESIDE):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    return found


def folds_of(tree: Path, calibrators: Iterable[str]) -> list[Path]:
    """The files of folds that some calibrators have, each named by its path in the tree."""
    files = [tree / name for name in calibrators if (tree / name).is_file()]
    return [path for file in files if (path := folds_path(load(file), file)).is_file()]


def _stale_calibrators(tree: Path, now: Present) -> Iterator[Stale]:
    """Those of other fingerprints, and what belongs to none of the others: folds and validation tables."""
    current = set()
    for path in sorted((tree / SHIPPED).glob("*.json")):
        made = load(path)
        if (made.fitted_on.model, made.fitted_on.prompt) != (now.model, now.prompt_of(made.task)):
            yield Stale(str(SHIPPED / path.name), f"model {made.fitted_on.model}, prompt {made.fitted_on.prompt}")
        else:
            current.add(made.id)
    for folder in BESIDE:
        for path in sorted((tree / SHIPPED / folder).glob("*.json")):
            if path.stem not in current:
                yield Stale(str(SHIPPED / folder / path.name), f"calibrator {path.stem}, which is stale or not shipped")


def _stale_reports(tree: Path, now: Present) -> Iterator[Stale]:
    for task, prompt in now.prompts.items():
        report = tree / REPORTS / task / "report.md"
        if not report.parent.is_dir():
            continue
        text = report.read_text(encoding="utf-8") if report.is_file() else ""
        if now.model not in text or prompt not in text:
            yield Stale(str(REPORTS / task), "other fingerprints")


def _stale_blocks(tree: Path, now: Present) -> Iterator[Stale]:
    for page in PAGES:
        for block in blocks_in(tree, page):
            if block.of != NOT_MEASURED and not now.holds(block.of):
                yield Stale(f"{page}#{block.name}", block.of)
