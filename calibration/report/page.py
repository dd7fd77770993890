"""A report in its folder: Markdown, and one HTML page without scripts and without anything that is fetched, for screens and paper."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..atomic_write import write_atomically
from ..control_characters import escaped
from .blocks import Block, Table
from .markdown import as_markdown
from .plots import DARK, GRID, INK, PAPER, Picture, files_of

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup


def write_report_files(
    out: Path, title: str, blocks: Sequence[Block], pictures: Iterable[Picture], documents: Mapping[str, str]
) -> tuple[Path, ...]:
    """Write report.html, report.md, the pictures and other documents, by name, into a folder; gives the files.

    Files that point to others are written after them: if the disk is full, nothing points to what is not there.
    """
    contents = {**files_of(pictures), **documents, "report.html": as_page(title, blocks), "report.md": as_markdown(blocks)}
    for name, text in contents.items():
        with write_atomically(out / name, follow=False) as file:
            file.write(text.encode(errors="replace"))
    return tuple(out / name for name in contents)


def as_page(title: str, blocks: Sequence[Block]) -> str:
    """The page; pictures are drawn in it."""
    return _template().render(title=title, blocks=blocks)


@cache
def _template() -> Template:
    from jinja2 import Environment
    from markupsafe import Markup

    def side(table: Table, column: int) -> Markup:
        return Markup(' class="l"' if table.align[column] == "l" else "")

    def drawn(picture: Picture, number: int) -> Markup:
        """The SVG inside a page: its ids made its own, its namespaces, which HTML knows, left out."""
        svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>p{number}-", picture.svg)
        svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg, count=2)
        return Markup(svg.replace("<svg", f'<svg role="img" aria-label="{_in_html(picture.alt)}"', 1))

    environment = Environment(autoescape=False, finalize=_in_html, keep_trailing_newline=True)
    environment.globals |= {"kind_of": lambda block: type(block).__name__, "side": side, "drawn": drawn}
    environment.globals |= {"paper": PAPER, "ink": INK, "grid": GRID, "dark": DARK}
    return environment.from_string(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))


def _in_html(value: object) -> str:
    """A text as it may stand in HTML, with control characters written out. What is HTML already stays."""
    return str(value) if hasattr(value, "__html__") else html.escape(escaped(str(value)))
