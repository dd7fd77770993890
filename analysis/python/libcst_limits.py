"""Refuse sources that are nested too deep for libcst: its parser recurses in native code, and a stack overflow ends the process."""

from __future__ import annotations

import io
import tokenize

from .source_text import UnreadableSource

# at most an eighth of what was seen to overflow a thread's stack of 8 MiB
_MAX_DEPTH = 100
_MAX_CHAIN = 1000
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_LINKS = frozenset(("+", "-", "~", "*", "**", "/", "//", "%", "@", "&", "|", "^", "<<", ">>", ".", ":=", "=", "==", "<", ">"))
_LINKS |= frozenset(("not", "and", "or", "in", "is", "if", "else", "await", "yield"))
# words that nest across commas
_CLAUSES = frozenset(("lambda", "for"))


def check_nesting(text: str) -> None:
    """Raise UnreadableSource for far deeper nesting than code has: of brackets, and chains of operators, calls, strings or `elif`s."""
    # counts for each open bracket, the innermost last
    links, clauses = [0], [0]
    strings = elifs = 0
    before = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.string in _OPENING:
                links[-1] += before in _CLOSING
                links.append(0)
                clauses.append(0)
            elif token.string in _CLOSING and len(links) > 1:
                links.pop()
                clauses.pop()
            elif token.type == tokenize.NEWLINE:
                links[-1] = clauses[-1] = 0
            elif token.string == ",":
                links[-1] = 0
            else:
                clauses[-1] += token.string in _CLAUSES
                links[-1] += token.string in _LINKS
            strings = strings + 1 if token.type == tokenize.STRING else strings if token.type == tokenize.NL else 0
            elifs += token.string == "elif"
            before = token.string
            if len(links) > _MAX_DEPTH or max(sum(links), sum(clauses), strings, elifs) > _MAX_CHAIN:
                raise UnreadableSource(f"line {token.start[0]}: nested too deep, or too long a chain of operators, for libcst")
    except (tokenize.TokenError, SyntaxError):
        pass  # newer syntax, which libcst may read, or a text that it will refuse
