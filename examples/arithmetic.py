"""Evaluate arithmetic expressions such as "2 * (x - 3)": a tokenizer, a recursive-descent parser and a tree."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<operator>[-+*/^()]))")

OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
}


class ParseError(ValueError):
    """The text is not an expression."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} at position {position}")
        self.position = position


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: its kind, what it spells, and where it starts."""

    kind: str
    text: str
    position: int


@dataclass(frozen=True, slots=True)
class Number:
    """A literal number."""

    value: float

    def evaluate(self, variables: Mapping[str, float]) -> float:  # noqa: ARG002
        """Return the number itself."""
        return self.value


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that stands for a number."""

    name: str

    def evaluate(self, variables: Mapping[str, float]) -> float:
        """Return the value of the variable. Raises KeyError if it has none."""
        return variables[self.name]


@dataclass(frozen=True, slots=True)
class Binary:
    """An operator and its two operands."""

    symbol: str
    left: Node
    right: Node

    def evaluate(self, variables: Mapping[str, float]) -> float:
        """Evaluate both operands, then apply the operator."""
        left = self.left.evaluate(variables)
        right = self.right.evaluate(variables)
        return OPERATORS[self.symbol](left, right)


Node = Number | Variable | Binary


def tokenize(text: str) -> Iterator[Token]:
    """Yield the tokens of the text and an "end" token after the last one."""
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise ParseError(f"unexpected character {text[position]!r}", position)
        kind = match.lastgroup or ""
        yield Token(kind, match.group(kind), match.start(kind))
        position = match.end()
    yield Token("end", "", len(text))


class Parser:
    """Turns tokens into a tree; each method reads one level of precedence."""

    def __init__(self, text: str) -> None:
        self.tokens = list(tokenize(text))
        self.index = 0

    @property
    def current(self) -> Token:
        """The token that is read next."""
        return self.tokens[self.index]

    def accept(self, *symbols: str) -> str | None:
        """Read the current token if it is one of the symbols and return it."""
        if self.current.kind != "operator" or self.current.text not in symbols:
            return None
        symbol = self.current.text
        self.index += 1
        return symbol

    def parse(self) -> Node:
        """Read the whole text as one expression."""
        node = self.sum()
        if self.current.kind != "end":
            raise ParseError(f"unexpected {self.current.text!r}", self.current.position)
        return node

    def sum(self) -> Node:
        """Read terms joined by + and -."""
        node = self.product()
        while symbol := self.accept("+", "-"):
            node = Binary(symbol, node, self.product())
        return node

    def product(self) -> Node:
        """Read factors joined by * and /."""
        node = self.power()
        while symbol := self.accept("*", "/"):
            node = Binary(symbol, node, self.power())
        return node

    def power(self) -> Node:
        """Read a base and its exponent; powers associate to the right."""
        base = self.atom()
        if self.accept("^"):
            return Binary("^", base, self.power())
        return base

    def atom(self) -> Node:
        """Read a number, a name, an expression in parentheses, or one of these with a minus sign."""
        if self.accept("-"):
            return Binary("-", Number(0.0), self.power())
        if self.accept("("):
            node = self.sum()
            if not self.accept(")"):
                raise ParseError("expected ')'", self.current.position)
            return node
        token = self.current
        if token.kind not in ("number", "name"):
            raise ParseError("expected a number or a name", token.position)
        self.index += 1
        return Number(float(token.text)) if token.kind == "number" else Variable(token.text)


def evaluate(text: str, **variables: float) -> float:
    """Return the value of an expression for the given values of its variables."""
    return Parser(text).parse().evaluate(variables)


def main() -> None:
    """Evaluate three expressions."""
    print(evaluate("2 + 3 * 4"), evaluate("2 ^ 3 ^ 2"), evaluate("-(x - 3) / 2", x=8))


if __name__ == "__main__":
    main()
