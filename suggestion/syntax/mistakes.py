"""How many mistakes of syntax a part of a file has, by the parsers of its language."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from ...analysis.lines.grammars import has_grammar, mistakes_in, parser_of

# The number of mistakes in a text.
Mistakes = Callable[[str], int]

# Texts whose mistakes are known: what stands around a cursor is asked about again at each key.
_MAX_REMEMBERED = 512
# What Python says of a text that only is not whole yet.
_AT_THE_END = ("never closed", "unterminated", "expected")
_CLASS = ("class _ {\n", "}\n")
# What a part of a file may need around it to stand alone: a method is nothing outside of a class.
_AROUND = {
    "csharp": (_CLASS,),
    "java": (_CLASS,),
    "javascript": (_CLASS,),
    "javascriptreact": (_CLASS,),
    "typescript": (_CLASS,),
    "typescriptreact": (_CLASS,),
}


def readings(language: str) -> Sequence[Sequence[Mistakes]]:
    """The ways to read a part of a file, the strictest first, each with what it may be a part of; none for a language without a parser."""
    if not has_grammar(language):
        return ()
    by_grammar = [partial(in_tree, language, around=around) for around in (("", ""), *_AROUND.get(language, ()))]
    return (STRICT, by_grammar) if language == "python" else (by_grammar,)


@lru_cache(_MAX_REMEMBERED)
def _in_python(text: str) -> int:
    """1 where this Python does not read it. Its own parser knows of indentation what the grammar lets pass."""
    return int(_refusal(text) is not None)


def is_wrong_before_its_end(text: str) -> bool:
    """Whether Python stops at a word of the last line, so that nothing behind it can be right."""
    refusal, last = _refusal(text), text.rsplit("\n", 1)[-1]
    if isinstance(refusal, ValueError) and not isinstance(refusal, SyntaxError):  # a character that is in no program
        return True
    if not isinstance(refusal, SyntaxError) or refusal.text is None or any(words in refusal.msg for words in _AT_THE_END):
        return False
    return refusal.text.rstrip("\n") == last and (refusal.offset or 0) <= len(last.rstrip())


def _refusal(text: str) -> Exception | None:
    first = next((line for line in text.split("\n") if line.strip()), "")
    around = "if 1:\n" if first[:1].isspace() else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(around + text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error
    return None


STRICT: Sequence[Mistakes] = (_in_python,)


@lru_cache(_MAX_REMEMBERED)
def in_tree(language: str, text: str, *, around: tuple[str, str] = ("", "")) -> int:
    """The places that the grammar does not understand. around: what is put above and below the text."""
    above, below = around
    if above and not text[:1].isspace():  # it is no part of anything
        return in_tree(language, text)
    above = _tag(language, text) + above
    return len(mistakes_in(parser_of(language).parse(f"{above}{text}{below}".encode(errors="surrogatepass"))))


def is_comment_at(language: str, text: str, offset: int) -> bool:
    """Whether a character of a text is in a comment."""
    tag = _tag(language, text)
    at = len((tag + text[:offset]).encode(errors="surrogatepass"))
    node = parser_of(language).parse((tag + text).encode(errors="surrogatepass")).root_node.descendant_for_byte_range(at, at + 1)
    return node is not None and "comment" in node.type


def _tag(language: str, text: str) -> str:
    """What a part of a file needs above it to be read as code."""
    return "<?php\n" if language == "php" and "<?" not in text else ""
