"""The generated blocks of the pages: text between two markers, of which the first names the fingerprints that it was measured with.

    <!-- remake NAME: begin; model MODEL, prompt PROMPT … -->
    …
    <!-- remake NAME: end -->

A block whose evidence was withdrawn has the marker `<!-- remake NAME: begin; not measured -->`, and says so to the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLOCK = re.compile(
    r"^(?P<indent> *)<!-- remake (?P<name>[\w-]+): begin; (?P<of>[^\n]*?) -->\n(?P<content>.*?)^ *<!-- remake (?P=name): end -->$",
    re.MULTILINE | re.DOTALL,
)
_MARKER = re.compile(r"<!-- remake [^\n]*?-->")
NOT_MEASURED = "not measured"
_FOR_READERS = "Not measured for this version of the model and of how it is asked: `python -m training.remake` does it."


class BlockError(ValueError):
    """A page whose markers can't be read, or that lacks a block; the message says which."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page. of: what its first marker says, "model M, prompt P" or NOT_MEASURED. content: without its indentation."""

    name: str
    of: str
    content: str


def blocks_of(page: str) -> Iterator[Block]:
    """The blocks of a page, in order. Raises BlockError where a marker is alone, or two blocks have one name."""
    seen: set[str] = set()
    for found in _BLOCK.finditer(page):
        name, indent = found["name"], found["indent"]
        if name in seen:
            raise BlockError(f"two blocks are named {name!r}")
        seen.add(name)
        lines = (line.removeprefix(indent) for line in found["content"].splitlines())
        yield Block(name, found["of"], "\n".join(lines).strip("\n"))
    if len(_MARKER.findall(page)) != 2 * len(seen):
        raise BlockError("a marker '<!-- remake …' has no partner: each block has 'begin; …' and 'end', each on a line of its own")


def filled(page: str, name: str, content: str, of: str) -> str:
    """The page with other content in one block. Raises BlockError where there is no such block."""
    if name not in {block.name for block in blocks_of(page)}:
        raise BlockError(f"there is no block {name!r}")

    def written(found: re.Match[str]) -> str:
        if found["name"] != name:
            return found[0]
        indent = found["indent"]
        lines = [f"<!-- remake {name}: begin; {of} -->", "", *content.strip("\n").split("\n"), "", f"<!-- remake {name}: end -->"]
        return "\n".join(indent + line if line else "" for line in lines)

    return _BLOCK.sub(written, page)


def withdrawn(page: str, name: str) -> str:
    """The page without what one block claims. Raises BlockError where there is no such block."""
    return filled(page, name, _FOR_READERS, NOT_MEASURED)
