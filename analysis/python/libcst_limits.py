"""What libcst can't be given: its parser recurses in native code, and the end of the stack is the end of the process."""

from __future__ import annotations

import io
import tokenize

from .source_text import UnreadableSource

# an eighth and less of what was seen to overflow the 8 MiB of stack that a thread has
_MAX_DEPTH = 100
_MAX_CHAIN = 1000
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_LINKS = frozenset(("+", "-", "~", "*", "**", "/", "//", "%", "@", "&", "|", "^", "<<", ">>", ".", ":=", "=", "==", "<", ">"))
_LINKS |= frozenset(("not", "and", "or", "in", "is", "if", "else", "await", "yield"))
# What nests though there are commas in it.
_CLAUSES = frozenset(("lambda", "for"))


def check_nesting(text: str) -> None:
    """Raises UnreadableSource for what nests far deeper than code does: brackets, and chains of operators, calls, strings or `elif`s."""
    # of the chain that each bracket that is open stands in, and of the innermost one
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
        pass  # of the newer syntax that libcst is asked for, or of text that it will refuse
