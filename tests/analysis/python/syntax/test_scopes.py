from __future__ import annotations

import symtable
import sysconfig
import warnings
from collections import Counter
from pathlib import Path

import libcst as cst
import pytest

from assay.analysis.python.lines import UnreadableSource
from assay.analysis.python.syntax.exact_types import exact_types
from assay.analysis.python.syntax.parsed import Parsed, parse
from assay.analysis.python.syntax.scopes import scopes

STDLIB = Path(sysconfig.get_path("stdlib"))


def locals_by_python(source: str) -> Counter[tuple[str, frozenset[str]]]:
    """Of each function and comprehension its name and the names that are its own."""
    found: Counter[tuple[str, frozenset[str]]] = Counter()

    def walk(table: symtable.SymbolTable) -> None:
        if table.get_type() == "function":
            own = frozenset(s.get_name() for s in table.get_symbols() if s.is_local() and not s.get_name().startswith("."))
            found[table.get_name(), own] += 1
        for child in table.get_children():
            walk(child)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        walk(symtable.symtable(source, "file", "exec"))
    return found


def locals_by_us(parsed: Parsed) -> Counter[tuple[str, frozenset[str]]]:
    kinds = {cst.Lambda: "lambda", cst.ListComp: "listcomp", cst.SetComp: "setcomp", cst.DictComp: "dictcomp", cst.GeneratorExp: "genexpr"}
    own: dict[cst.CSTNode, set[str]] = {node: set() for kind in (cst.FunctionDef, *kinds) for node in parsed.all(kind)}
    for variable in scopes(parsed).variables:
        if variable.scope.kind in ("function", "comprehension"):
            own[variable.scope.node].add(variable.name)
    return Counter((n.name.value if isinstance(n, cst.FunctionDef) else kinds[type(n)], frozenset(names)) for n, names in own.items())


@pytest.mark.parametrize("name", ["contextlib.py", "string.py", "reprlib.py"])
def test_scopes_are_those_of_pythons_own_compiler(name: str) -> None:
    source = (STDLIB / name).read_text(encoding="utf-8")
    # Python mangles private names, which no rule renames
    ours, theirs = locals_by_us(parse(source)), locals_by_python(source)
    plain = {key for key in theirs if not any(n.startswith("_") and "__" in n[1:] for n in key[1])}
    assert {key: ours[key] for key in plain} == {key: theirs[key] for key in plain}


@pytest.mark.slow
def test_scopes_are_those_of_pythons_own_compiler_in_every_fourth_file_of_the_standard_library() -> None:
    refused = 0
    for path in sorted(STDLIB.glob("*.py"))[::4]:
        try:
            test_scopes_are_those_of_pythons_own_compiler(path.name)
        except UnreadableSource:
            refused += 1  # what libcst does not give back byte for byte
    assert refused < 3


TRICKY = """
import os.path as p, sys.flags
from a import *
def f(a, /, b=[x for x in ()], *c, d: "t" = 1, **e):
    global g
    x = [(y := z) for z in a if (w := z)]
    def inner():
        nonlocal x
        x, *g2 = (lambda k=a: k + x)(),
        class C:
            x = x
            y = [x for _ in x]
        del x
    try:
        import m
    except E as err:
        pass
    with a as (h, i[j]):
        match a:
            case {"k": v, **rest} | C(attr=v) as whole if v: pass
            case [q, *more]: pass
    for l.m in a: pass
    g = f(keyword=1)
"""


def test_every_kind_of_binding_is_seen() -> None:
    parsed = parse(TRICKY)
    by_scope: dict[str, set[str]] = {}
    for v in scopes(parsed).variables:
        node = v.scope.node
        where = node.name.value if isinstance(node, cst.FunctionDef | cst.ClassDef) else v.scope.kind
        by_scope.setdefault(where, set()).update({v.name} if v.bindings or any(o.how != "read" for o in v.occurrences) else set())
    assert by_scope["f"] == {*"abcdehqvwxy", "inner", "m", "err", "rest", "whole", "more"}
    assert by_scope["inner"] == {"g2", "C"}
    assert by_scope["C"] == {"x", "y"}
    assert by_scope["comprehension"] == {"x", "z", "_"}
    assert by_scope["module"] == {"p", "sys", "f", "g"}
    assert scopes(parsed).star_import


def test_syntax_of_later_pythons_has_its_scopes() -> None:
    parsed = parse('type A[T] = list[T]\ndef f[T: int](x: T) -> T:\n    y = f"{f"{x}"}"\n    return y\nclass C[U](B[U]): pass\n')
    found = {(v.scope.kind, v.name) for v in scopes(parsed).variables}
    assert {("type parameters", "T"), ("type parameters", "U"), ("function", "x"), ("function", "y"), ("module", "A")} <= found


def test_places_are_of_characters_and_parentheses_are_told_apart() -> None:
    source = '\ufeffé = "ü"\r\nx = (a + é)'
    parsed = parse(source)
    (sum_,) = parsed.all(cst.BinaryOperation)
    assert source[slice(*parsed.spans[sum_])] == "a + é"
    assert parsed.text(sum_) == "(a + é)"


def types_of(body: str, name: str) -> frozenset[str] | None:
    parsed = parse("def f(unknown):\n" + "".join(f"    {line}\n" for line in body.split("\n")))
    last = [node for node in parsed.all(cst.Name) if node.value == name][-1]
    return exact_types(parsed)(last)


@pytest.mark.parametrize(
    ("body", "types"),
    [
        ("x = 0\nx += len(unknown)\nx", {"int"}),
        ("x = y = 0\nx, y = y, x + 1\nx", {"int"}),
        ("x = 'a'\nx = x.upper()[0]\nx", {"str"}),
        ("for x, y in enumerate(unknown):\n    x", {"int"}),
        ("x = unknown is None\nx |= not unknown\nx", {"bool"}),
        ("x = 0\ndef g():\n    nonlocal x\n    x = ''\nx", {"int", "str"}),
        ("x = 0\ndef g():\n    nonlocal x\n    x = unknown\nx", None),
        ("len = unknown\nx = len(unknown)\nx", None),
        ("x = 0\nx += unknown\nx", None),
        ("x: int = unknown\nx", None),
    ],
)
def test_a_type_is_certain_only_where_every_binding_says_so(body: str, types: set[str] | None) -> None:
    assert types_of(body, "x") == types
