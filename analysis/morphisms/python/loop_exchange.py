"""Write a `for` as a `while`, and a `while` as a `for`.

`for x in range(a, b)` with certain ints counts by a hidden variable, which is raised before the body, so that `continue`, the value of x
after the loop and what the body does to x stay as they are. Any other `for` asks a hidden iterator for its next item until that is a
sentinel that no iterator can give; where the iterator may be one that notices its end (a generator with `finally`), it is dropped when the
loop is left in any way, as `for` does. `while` becomes a `for` over an endless iterator that leaves when the condition is false.

Precondition: in a function, so that the hidden variables are its own; not `async for`; not a `while` with `else`, which a `break` would
skip; the body on its own lines; `iter`, `next`, `object`, `int` and `range` mean what Python gives; the file can't look at its own frames.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import libcst as cst

from ...python.syntax.effects import reflective
from ...python.syntax.exact_types import INTS, exact_types
from ...python.syntax.layout import fresh, line_end, newline, own_block, reindented, statement_start
from ...python.syntax.parsed import Parsed
from ...python.syntax.scopes import scopes
from ...text_edits import Edit
from ..morphism import Refused, Site

EXAMPLE = (
    "def total(items):\n    s = 0\n    for i in range(len(items)):\n        s += items[i]\n    return s\n",
    "def total(items):\n    s = 0\n    index, stop = 0, len(items)\n    while index < stop:\n        i = index\n        index += 1\n"
    "        s += items[i]\n    return s\n",
)
INDICES, STOPS, STEPS = ("index", "position", "counter", "at"), ("stop", "limit", "bound", "until"), ("step", "turn", "round_", "again")
ITERATORS, ITEMS, SENTINELS = ("iterator", "items_left", "source"), ("item", "entry", "element"), ("sentinel", "done", "missing", "nothing")
# iterators over these run no code of the program when they end
_PLAIN = frozenset({"range", "str", "bytes", "list", "tuple", "dict", "set", "frozenset"})


def places(parsed: Parsed) -> Iterator[tuple[Site, cst.For | cst.While]]:
    """Each `for` and `while` statement; what: which of the two."""
    yield from ((Site(*parsed.spans[node], "for"), node) for node in parsed.all(cst.For))
    yield from ((Site(*parsed.spans[node], "while"), node) for node in parsed.all(cst.While))


def edits(parsed: Parsed, node: cst.For | cst.While, rng: random.Random) -> list[Edit]:
    """Write the other kind of loop. Raises Refused."""
    if parsed.function_of(node) is None:
        raise Refused("outside of a function the hidden variables would be seen by others")
    if (word := reflective(parsed)) is not None:
        raise Refused(f"the file uses {word}, which may see a new variable")
    indentation, inner = parsed.indentation(node), own_block(parsed, node.body)
    if indentation is None or inner is None:
        raise Refused("the loop or its body does not begin a line")
    if isinstance(node, cst.While):
        return _as_for(parsed, node, inner, rng)
    if node.asynchronous is not None:
        raise Refused("async for awaits its items")
    counted = _counted(parsed, node)
    if counted is not None:
        return _counting(parsed, node, counted, inner, rng)
    if not scopes(parsed).unbound("iter", "next", "object"):
        raise Refused("iter, next or object is bound to something else")
    return _iterating(parsed, node, (indentation, inner), rng)


def _as_for(parsed: Parsed, node: cst.While, inner: str, rng: random.Random) -> list[Edit]:
    if node.orelse is not None:
        raise Refused("the else of a while would be skipped by a break")
    if not scopes(parsed).unbound("iter", "int"):
        raise Refused("iter or int is bound to something else")
    start, (test, test_end) = parsed.spans[node][0], parsed.span(node.test)
    edits = [Edit(start, test_end, f"for {fresh(parsed, rng, STEPS)} in iter(int, 1)")]
    if parsed.text(node.test) != "True":
        unit = inner.removeprefix(parsed.indentation(node) or "")
        text = f"{inner}if not ({parsed.source[test:test_end]}):{newline(parsed)}{inner}{unit}break{newline(parsed)}"
        edits.append(Edit(*_before_body(parsed, node), text))
    return edits


def _before_body(parsed: Parsed, node: cst.For | cst.While) -> tuple[int, int]:
    at = parsed.line_start(statement_start(parsed, node.body.body[0]))
    return at, at


def _counted(parsed: Parsed, node: cst.For) -> tuple[str, str] | None:
    """Start and stop of a loop over a range of certain ints by steps of 1; None for any other."""
    call = node.iter
    if not isinstance(call, cst.Call) or not scopes(parsed).is_builtin(call.func, "range") or len(call.args) not in (1, 2):
        return None
    if any(arg.star or arg.keyword is not None for arg in call.args):
        return None
    *starts, stop = [arg.value for arg in call.args]
    types = exact_types(parsed)
    # a bool as the start would be the first index
    if not types.only(stop, INTS) or any(not types.only(start, frozenset({"int"})) for start in starts):
        return None
    return _alone(parsed, starts[0]) if starts else "0", _alone(parsed, stop)


def _alone(parsed: Parsed, node: cst.BaseExpression) -> str:
    """The text of an argument as it can stand outside of the call's brackets, which let it go on to the next line, or bind a name."""
    text = parsed.text(node)
    whole = isinstance(node, cst.Name | cst.Integer) or bool(node.lpar)
    return text if whole or not ("\n" in text or "\r" in text or isinstance(node, cst.NamedExpr)) else f"({text})"


def _counting(parsed: Parsed, node: cst.For, counted: tuple[str, str], inner: str, rng: random.Random) -> list[Edit]:
    index, (start, stop) = fresh(parsed, rng, INDICES), counted
    end, indentation, line = newline(parsed), parsed.indentation(node) or "", parsed.text(node.target)
    if stop.isdecimal():
        before = f"{index} = {start}"
    else:
        limit = fresh(parsed, rng, STOPS)
        before, stop = f"{index}, {limit} = {start}, {stop}", limit
    head = Edit(parsed.spans[node][0], parsed.span(node.iter)[1], f"{before}{end}{indentation}while {index} < {stop}")
    return [head, Edit(*_before_body(parsed, node), f"{inner}{line} = {index}{end}{inner}{index} += 1{end}")]


def _iterating(parsed: Parsed, node: cst.For, indentations: tuple[str, str], rng: random.Random) -> list[Edit]:
    outer, inner = indentations
    end, types = newline(parsed), exact_types(parsed)
    iterator, item, sentinel = (fresh(parsed, rng, words) for words in (ITERATORS, ITEMS, SENTINELS))
    iterable = parsed.text(node.iter)
    if isinstance(node.iter, cst.Tuple) and not node.iter.lpar:
        iterable = f"({iterable})"
    prepare = f"{iterator}, {sentinel} = iter({iterable}), object()"
    head = f"while ({item} := next({iterator}, {sentinel})) is not {sentinel}"
    take = f"{parsed.text(node.target)} = {item}{end}"
    start, stop, (first, _) = parsed.spans[node][0], parsed.span(node.iter)[1], _before_body(parsed, node)
    if types.only(node.iter, frozenset({"range", "str", "bytes"})):
        return [Edit(start, stop, f"{prepare}{end}{outer}{head}"), Edit(first, first, inner + take)]
    if types.only(node.iter, _PLAIN):
        # an object that the loop's variable lets go must not be kept by the hidden one
        return [Edit(start, stop, f"{prepare}{end}{outer}{head}"), Edit(first, first, f"{inner}{take}{inner}del {item}{end}")]
    unit = inner.removeprefix(outer)
    last = line_end(parsed, parsed.spans[node][1])
    colon = parsed.source.index(":", stop)
    lines = reindented(parsed, first - 1, last, outer, outer + unit)[1:]
    above = reindented(parsed, colon, first, outer, outer + unit)
    text = f"{prepare}{end}{outer}try:{end}{outer}{unit}{head}{above}{inner}{unit}{take}{inner}{unit}del {item}{end}{lines}"
    return [Edit(start, last, f"{text}{end}{outer}finally:{end}{outer}{unit}del {iterator}")]
