"""What may stand below a line so that it is whole: an empty body of what it opens, the end of what it begins.

A user who accepts such a line goes on typing there. What has another end than those below counts as broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .fragments import unpaired

_PAIRS = {"(": ")", "[": "]", "{": "}"}
# A line that ends behind an opened bracket, a comma in it, or the parameters of a closure.
_GOES_ON = re.compile(r"(?:[(\[{,]|->|=>|\bin|\|)\s*(?:(?://|\#).*)?\Z")
_HEADER = re.compile(r":\s*(?:#.*)?\Z")
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
