"""What of a generation's text is shown at its place: pure functions on the text and what stands around it."""

from __future__ import annotations

import re

from ..inference.completion.completion import Kind, next_lines, rest_of_line, start_of_line
from ..inference.stopping.statements import open_brackets, unpaired_closing
from ..inference.stopping.stops import is_common
from .positions import bare_lines

# So many characters on either side of the cursor are looked at for the lines next to it and for the document's indentation.
_NEAR = 1 << 12
# Spaces of a level of indentation where nothing speaks against it.
_LEVEL = 4

_LINE_END = re.compile(r"\r\n|\r|\n")
_INDENT = re.compile(r"^[ \t]+(?=[^\s])", re.MULTILINE)
# Not of the first line: it may be the rest of one.
_INDENT_BELOW = re.compile(r"[\r\n]([ \t]+)(?=[^\s])")
_CLOSING_RUN = re.compile(r"[)\]}]*")


def shown(text: str, prefix: str, suffix: str, kind: Kind) -> str | None:
    r"""What of a text may be shown between prefix and suffix; None where nothing of it adds anything.

    Nothing is left of a text that is blank, that only says again the lines above or below it, or, in a line, what stands behind the
    cursor. Else: without white space at its end (which stays where text stands behind the cursor), of a block or a function without the
    closing brackets that stand behind it already, and indented as the document is where that has one style. Showing what is shown
    changes nothing. The text's lines may end in any way.
    """
    rest = rest_of_line(suffix)
    if not rest.strip():
        text = text.rstrip()
    if kind != "line":
        text = _without_closed(text, prefix, suffix)
    if not text.strip():
        return None
    text = _in_style(text, prefix, suffix)
    if _repeats_the_rest(text, rest) or _repeats_lines(text, prefix, suffix):
        return None
    return text


def _repeats_the_rest(text: str, rest: str) -> bool:
    """Whether a text says what stands behind it on its line. A lone bracket may be one more."""
    said = text.strip()
    if not any(map(str.isalnum, said)) or not rest.strip().startswith(said):
        return False
    following = rest.strip()[len(said) :][:1]
    return not (_in_word(said[-1]) and _in_word(following))


def _repeats_lines(text: str, prefix: str, suffix: str) -> bool:
    """Whether the lines that come of a text are those that stand next to it, below or above."""
    made = _visible(start_of_line(prefix) + text + rest_of_line(suffix))
    below = list(next_lines(suffix, len(made)))
    above = _visible(prefix[-_NEAR:].removesuffix(start_of_line(prefix)))[-len(made) :]
    if all(map(is_common, made)):
        # A bracket or a `return` below another is none the same unless it stands in the same column.
        return made in (below, above)
    stripped = [line.strip() for line in made]
    return any(stripped == [line.strip() for line in lines] for lines in (below, above))


def _without_closed(text: str, prefix: str, suffix: str) -> str:
    """The text without closing brackets at its end where what is open before it is closed by it and again by what follows."""
    following = rest_of_line(suffix).strip() or "".join(next_lines(suffix, 1)).strip()
    there = _CLOSING_RUN.match(following)
    closing = unpaired_closing(text)
    if not there or not there[0] or not closing:
        return text
    opened = open_brackets(prefix)
    there_too = there[0][:opened]
    surplus = len(closing) + len(there_too) - opened
    if not 0 < surplus <= len(there_too):
        return text
    start = closing[-surplus]
    end = "".join(text[start:].split())
    return text[:start].rstrip() if len(end) == surplus and there_too.endswith(end) else text


def _in_style(text: str, prefix: str, suffix: str) -> str:
    """The text with its lines indented by tabs or by spaces, as all of the document's that are indented."""
    first = 0 if not start_of_line(prefix).strip() else len(_LINE_END.split(text, maxsplit=1)[0])
    indents = [match[0] for match in _INDENT.finditer(text) if match.start() >= first]
    if not indents:
        return text
    around = [indent for near in (prefix[-_NEAR:], suffix[:_NEAR]) for indent in _INDENT_BELOW.findall(near)]
    styles = {indent[0] for indent in around}
    if styles == {"\t"}:
        widths = [len(indent) for indent in indents if "\t" not in indent]
        level = next((level for level in (_LEVEL, 2) if not any(width % level for width in widths)), None)
        if level is None or any("\t" in indent and " " in indent for indent in indents):
            return text
        converted = {" " * width: "\t" * (width // level) for width in widths}
    elif styles == {" "}:
        # One level: the least indentation beyond 1.
        level = min((len(indent) for indent in around if 1 < len(indent) <= 8), default=_LEVEL)
        converted = {indent: indent.replace("\t", " " * level) for indent in indents}
    else:
        return text
    return _INDENT.sub(lambda match: converted.get(match[0], match[0]) if match.start() >= first else match[0], text)


def _visible(text: str) -> list[str]:
    return [line.rstrip() for line in bare_lines(text) if line.strip()]


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
