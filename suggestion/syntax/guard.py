"""The parse guard: whether a text leaves the code around the cursor as whole as it was.

Code is mostly broken while a line of it is typed. So it is compared with what it is without the cursor's line: if that is whole, it must be
whole with the text, too. A line that opens a block, or whose statement goes on below, counts as whole with what ends it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

from ...analysis.grammars import has_grammar, mistakes_in, parser_of
from ...analysis.python.source_text import without_warnings
from ..cursor import Cursor
from .fragments import Fragment, fragments, unpaired

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
        with without_warnings():
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


_PAIRS = {"(": ")", "[": "]", "{": "}"}
# A line that ends behind an opened bracket, a comma in it, or the parameters of a closure.
_GOES_ON = re.compile(r"(?:[(\[{,]|->|=>|\bin|\|)\s*(?:(?://|\#).*)?\Z")
# A quote of strings with several lines, and where one opens a string: behind it words stand, in front of it none.
_LONG_QUOTE = re.compile(r"""\"{3}|'{3}|`""")
_OPENS_A_STRING = re.compile(r"""(?:\A|[=(,\[{:+]|\breturn)\s*[a-zA-Z@$]{0,2}(?:\"{3}|'{3}|`)""")
_HEREDOC = re.compile(r"<<[-~<]?\s*[\"']?(\w+)[\"']?")
_OPERATOR = re.compile(r"[=+\-*/%&|?:.,]\s*\Z")
_BRACES = frozenset(
    ["c", "cpp", "csharp", "go", "java", "javascript", "javascriptreact", "kotlin", "php", "rust", "swift", "typescript", "typescriptreact"]
)
# Below a brace that is opened: what a `try` and a `do` want, and what a type or a value ends with.
_BEHIND_BRACE = ("", ";", ",", " catch (E e) {}", " catch {}", " finally {}", " while (0);", " _;")
# What ends a block that a line opens by a word.
_WORDS = {
    "lua": ("end", "until _"),
    "ruby": ("end",),
    "shellscript": (":\nfi", ":\ndone", "esac", "then :\nfi", "do :\ndone", "{ :; }", ":"),
}
# Of an annotation in front of what it stands above: a type, a method, a function, a field, one of an enumeration.
_ANNOTATED = ("class _ {}", "void _() {}", "_() {}", "fn _f() {}", "_f: u8,", "_F,")


def ends_of(line: str, language: str) -> Iterator[str]:
    """Each end that a line may have below it, as text; none for a line that is whole or nothing."""
    if len(quotes := _LONG_QUOTE.findall(line)) % 2 and _OPENS_A_STRING.search(line):
        yield from (quotes[-1], f"{quotes[-1]};")
    if heredoc := _HEREDOC.search(line):
        yield from (heredoc[1], f"{heredoc[1]};")
    if language == "python":
        yield from _of_python(line)
    elif language in _BRACES:
        yield from _of_braces(line)
    elif language in _WORDS:
        within = _brackets(line) if re.search(r"\b(?:do|function)\b", line) else ""
        yield from (end + within if end == "end" else end for end in _WORDS[language])
        yield from _closed(line)


def _of_python(line: str) -> Iterator[str]:
    indent = _indent(line)
    if line.lstrip().startswith("@"):
        yield f"{indent}def _(): pass"
    if _HEADER.search(line):
        yield from (f"{indent} pass", f"{indent} pass\n{indent}finally: pass", f"{indent} case _: pass")
    for closed in _closed(line):
        decorated = f"\n{indent}def _(): pass" if line.lstrip().startswith("@") else ""
        yield from (closed + decorated, f"_{closed}", f"{closed}:\n{indent} pass")


def _of_braces(line: str) -> Iterator[str]:
    if line.endswith("{"):
        for closed in _closed(line):
            yield from (closed + behind for behind in _BEHIND_BRACE)
        return
    for closed in _closed(line):
        yield from (closed, f"{closed};", f"{closed} {{}}", f"_{closed}", f"_{closed};")
    if _OPERATOR.search(line):
        yield from (f"_{_brackets(line)}", f"_{_brackets(line)};", f"_{_brackets(line)} {{}}")
    if line.lstrip().startswith(("@", "#[", "[")):
        yield from _ANNOTATED
    elif line.lstrip().startswith("/*") and "*/" not in line:
        yield "*/"
    elif re.match(r"\s*#\s*if", line):
        yield "#endif"
    else:  # a header whose brace stands on the next line
        yield from ("{}", "{};")


def _closed(line: str) -> Iterator[str]:
    """The brackets that a line leaves open, closed, where it ends within them."""
    if (brackets := _brackets(line)) and _GOES_ON.search(line):
        yield brackets


def _brackets(line: str) -> str:
    return "".join(_PAIRS[bracket] for bracket in reversed(unpaired(line)) if bracket in _PAIRS)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


# With more mistakes than this around, the grammar does not know the file's dialect, or its macros.
_MAX_MISTAKES = 2

_INDENT = re.compile(r"[ \t]*")
_HEADER = re.compile(r":\s*(?:#.*)?\Z")
_COMMENT_SIGN = re.compile(r"#|//|/\*|--")


def breaks(text: str, cursor: Cursor) -> bool | None:
    """Whether a text at a cursor breaks code that is whole without it; None where nothing tells.

    That is so in a language without a parser, where the parser does not understand what is around, because it does not know the file's
    dialect, and where the code is broken already, on the cursor's line or around it, unless the text adds a mistake. A text that turns the
    rest of the line into a comment breaks the code, too.
    """
    ways = readings(cursor.language)
    parts = list(fragments(cursor, text)) if ways else []
    if parts and all(_makes_a_comment(part, text, cursor.language) for part in parts):
        return True
    for alike in ways:
        for part in parts:
            for mistakes in alike:
                if mistakes(part.having(text)) == 0:
                    return False
                if all(mistakes(before) for before in _without(part, cursor.language)):
                    continue  # this part tells nothing, and trying each end in it would take most of the time
                if any(mistakes(after) == 0 for after in _ended(part, text, cursor.language)):
                    return False
                if alike is STRICT:
                    return None if is_wrong_before_its_end(part.above + part.start) else True
                return True if _mistakes_around(parts[-1], cursor) <= _MAX_MISTAKES else None
    if not parts:
        return None
    if cursor.language == "python" and is_wrong_before_its_end(parts[-1].start.lstrip()):
        return None
    before = _mistakes_around(parts[-1], cursor)
    if before > _MAX_MISTAKES or in_tree(cursor.language, parts[-1].having(text)) <= before:
        return None
    return None if any(in_tree(cursor.language, after) <= before for after in _ended(parts[-1], text, cursor.language)) else True


def _makes_a_comment(part: Fragment, text: str, language: str) -> bool:
    """Whether the rest of the cursor's line is code, and a comment behind the text."""
    blanks = len(part.rest) - len(part.rest.lstrip())
    if blanks == len(part.rest) or not _COMMENT_SIGN.search(text):
        return False
    at = len(part.above + part.start) + blanks
    return is_comment_at(language, part.having(text), at + len(text)) and not is_comment_at(language, part.having(""), at)


def _mistakes_around(part: Fragment, cursor: Cursor) -> int:
    return min(in_tree(cursor.language, before) for before in _without(part, cursor.language))


def _without(fragment: Fragment, language: str) -> Iterator[str]:
    """The code without the cursor's line, or with the least that may stand in its place; last as it is."""
    indent, skeleton = _INDENT.match(fragment.line)[0], unpaired(fragment.line)  # type: ignore[index]
    is_header = language == "python" and _HEADER.search(fragment.line)
    yield fragment.with_line(indent + (skeleton or "if 1") + ":" if is_header else indent + skeleton if skeleton else "")
    if language == "python":
        yield fragment.with_line(f"{indent}pass")
    if fragment.line.strip():
        yield fragment.having("")


def _ended(fragment: Fragment, text: str, language: str) -> Iterator[str]:
    """The code with a text and what would end it below, if the text ends in the middle of a statement or opens a block."""
    line = (fragment.start + text + fragment.rest).rsplit("\n", 1)[-1].rstrip()
    for end in ends_of(line, language):
        yield fragment.having(text)[: -1 - len(fragment.below)] + f"\n{end}\n{fragment.below}"
