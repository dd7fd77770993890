"""A report in its folder: Markdown, and one HTML page without scripts and without anything that is fetched, for screens and paper."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..atomic_write import write_atomically
from ..control_characters import escaped
from .blocks import Block, Bullets, Code, Heading, Paragraph, Table
from .markdown import as_markdown
from .plots import DARK, GRID, INK, PAPER, Picture, files_of

_STYLE = f"""
:root {{ color-scheme: light dark; --paper: {PAPER}; --ink: {INK}; --grid: {GRID}; --stripe: #f6f6f6; }}
@media screen and (prefers-color-scheme: dark) {{
  :root {{ --paper: {DARK[PAPER]}; --ink: {DARK[INK]}; --grid: {DARK[GRID]}; --stripe: #262626; }}
}}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }}
h2 {{ margin-top: 2.5rem; padding-top: .5rem; border-top: 2px solid var(--grid); }}
h1, h2, h3, caption, figcaption {{ line-height: 1.25; break-after: avoid; }}
figure, .wide {{ margin: 1.5rem 0; overflow-x: auto; }}
svg {{ display: block; }}
pre {{ margin: 0; padding: .5rem; background: var(--stripe); font-size: .85rem; white-space: pre-wrap; }}
table {{ border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; overflow-wrap: break-word; }}
caption, figcaption {{ text-align: left; font-weight: 600; padding: .25rem 0; }}
th, td {{ padding: .2rem 1rem .2rem 0; border-bottom: 1px solid var(--grid); text-align: right; vertical-align: top; }}
tbody th {{ min-width: 6rem; max-width: 24rem; font-weight: 400; }}
td:not(.l) {{ white-space: nowrap; }}
tbody tr:nth-child(even) {{ background: var(--stripe); }}
.l {{ text-align: left; }}
@media print {{
  body {{ max-width: none; font-size: 10pt; }}
  svg {{ max-width: 100%; height: auto; }}
  table {{ font-size: 8pt; }}
  td:not(.l) {{ white-space: normal; }}
  figure, tr {{ break-inside: avoid; }}
  figure, .wide {{ overflow: visible; }}
}}
"""


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
    body = "\n".join(_block(block, number) for number, block in enumerate(blocks))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # a browser is held to it that the page fetches nothing and runs nothing
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{_escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _block(block: Block, number: int) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{_escape(text)}</h{level}>"
        case Paragraph(text, lead):
            return f"<p><strong>{_escape(lead)}</strong> {_escape(text)}</p>" if lead else f"<p>{_escape(text)}</p>"
        case Bullets(items):
            return f"<ul>{''.join(f'<li>{_escape(item)}</li>' for item in items)}</ul>"
        case Table():
            return _table(block)
        case Code(title, text):
            return f"<figure><figcaption>{_escape(title)}</figcaption>\n<pre><code>{_escape(text)}</code></pre></figure>"
        case Picture():
            return f"<figure><figcaption>{_escape(block.title)}</figcaption>\n{_inline(block, number)}</figure>"


def _table(table: Table) -> str:
    sides = [' class="l"' if side == "l" else "" for side in table.align]
    head = "".join(f'<th scope="col"{side}>{_escape(cell)}</th>' for cell, side in zip(table.columns, sides, strict=True))
    rows = (
        f'<tr><th scope="row"{sides[0]}>{_escape(row[0])}</th>'
        + "".join(f"<td{side}>{_escape(cell)}</td>" for cell, side in zip(row[1:], sides[1:], strict=True))
        + "</tr>"
        for row in table.rows
    )
    body = "\n".join(rows)
    return (
        f'<div class="wide"><table><caption>{_escape(table.title)}</caption>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _inline(picture: Picture, number: int) -> str:
    """The SVG inside a page: its ids made its own, its namespaces, which HTML knows, left out."""
    if not picture.svg:
        return f"<p>{_escape(picture.alt)}</p>"
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>p{number}-", picture.svg)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg, count=2)
    return svg.replace("<svg", f'<svg role="img" aria-label="{_escape(picture.alt)}"', 1)


def _escape(text: str) -> str:
    """The text as it may stand in HTML, with control characters written out."""
    return html.escape(escaped(text))
