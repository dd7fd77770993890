"""Which names of a Python program are the same variable, by Python's rules of scope (reference, section 4.2; PEP 227, 572, 634, 695)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import libcst as cst

from .parsed import Parsed

Kind = Literal["module", "function", "class", "comprehension", "type parameters"]
How = Literal[
    "read", "assign", "augmented", "walrus", "for", "with", "except", "capture", "parameter", "annotation", "del",
    "import", "def", "class", "type", "declaration",
]  # fmt: skip
Comprehension = cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp
CONSTANTS = frozenset({"True", "False", "None"})


@dataclass(slots=True, eq=False)
class Scope:
    """Where names are looked up. node: the module, function, lambda, class or comprehension, or the owner of type parameters."""

    kind: Kind
    node: cst.CSTNode
    parent: Scope | None
    bound: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """A name at one place of the text. how: how it is used there. scope: the one that it stands in."""

    node: cst.Name
    how: How
    scope: Scope


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    """A name of one scope, with every place that means it, also in nested scopes. A module's variables include possible built-ins."""

    name: str
    scope: Scope
    occurrences: tuple[Occurrence, ...]

    @property
    def bindings(self) -> tuple[Occurrence, ...]:
        """The places that give it a value, or delete it."""
        return tuple(o for o in self.occurrences if o.how not in ("read", "declaration", "annotation"))


@dataclass(frozen=True, slots=True, eq=False)
class Scopes:
    """The variables of a program.

    variables: in the order of their first occurrence. of: the variable of each name's node. star_import: whether `from x import *` may bind
    any name.
    """

    variables: tuple[Variable, ...]
    of: Mapping[cst.Name, Variable]
    star_import: bool

    def is_builtin(self, node: cst.CSTNode, *names: str) -> bool:
        """Whether the node is one of these names, and the file binds it nowhere, so that it is the built-in."""
        if not isinstance(node, cst.Name) or node.value not in names or self.star_import:
            return False
        variable = self.of.get(node)
        return variable is not None and self.unbound(node.value)

    def unbound(self, *names: str) -> bool:
        """Whether no scope of the file binds one of these names, so that they are the built-ins."""
        return not self.star_import and not any(v.name in names and v.bindings for v in self.variables)


@lru_cache(maxsize=32)
def scopes(parsed: Parsed) -> Scopes:
    """The variables of a program."""
    walker = _Walker()
    walker.walk(parsed.tree, Scope("module", parsed.tree, None))
    for found in walker.found:
        if found.how not in ("read", "declaration"):
            home = _home(found)
            name = _normal(found.node.value)
            if name not in home.globals and name not in home.nonlocals:
                home.bound.add(name)
    grouped: dict[tuple[Scope, str], list[Occurrence]] = {}
    for found in sorted(walker.found, key=lambda o: parsed.spans[o.node][0]):
        name = _normal(found.node.value)
        grouped.setdefault((_resolved(name, _home(found)), name), []).append(found)
    variables = tuple(Variable(name, scope, tuple(found)) for (scope, name), found in grouped.items())
    return Scopes(variables, {o.node: v for v in variables for o in v.occurrences}, walker.star_import)


def _normal(name: str) -> str:
    return unicodedata.normalize("NFKC", name)


def _home(found: Occurrence) -> Scope:
    """The scope in which an occurrence is looked up: a walrus binds outside of the comprehensions around it."""
    scope = found.scope
    while found.how == "walrus" and scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    return scope


def _resolved(name: str, start: Scope) -> Scope:
    """The scope that a name belongs to; the module where no function binds it."""
    scope, sees_class, outer = start, True, False
    while scope.parent is not None:
        if name in scope.globals and (sees_class or scope.kind != "class"):
            break
        nonlocal_here = name in scope.nonlocals
        if not nonlocal_here and name in scope.bound and (scope.kind != "class" or (sees_class and not outer)):
            return scope
        sees_class = sees_class and scope.kind == "type parameters"
        outer = outer or nonlocal_here
        scope = scope.parent
    while scope.parent is not None:
        scope = scope.parent
    return scope


class _Walker:
    """Collects each name with its use and scope. Nodes with rules of their own have a method; of others the children are walked."""

    def __init__(self) -> None:
        self.found: list[Occurrence] = []
        self.star_import = False

    def walk(self, node: cst.CSTNode | None, scope: Scope) -> None:
        if node is None:
            return
        special = _SPECIAL.get(type(node))
        if special is not None:
            special(self, node, scope)
            return
        for child in node.children:
            self.walk(child, scope)

    def add(self, node: cst.CSTNode, how: How, scope: Scope) -> None:
        if isinstance(node, cst.Name) and node.value not in CONSTANTS:
            self.found.append(Occurrence(node, how, scope))

    def target(self, node: cst.CSTNode, how: How, scope: Scope) -> None:
        if isinstance(node, cst.Name):
            self.add(node, how, scope)
        elif isinstance(node, cst.Tuple | cst.List):
            for element in node.elements:
                self.target(element.value, how, scope)
        else:
            self.walk(node, scope)

    def name(self, node: cst.Name, scope: Scope) -> None:
        self.add(node, "read", scope)

    def attribute(self, node: cst.Attribute, scope: Scope) -> None:
        self.walk(node.value, scope)

    def arg(self, node: cst.Arg, scope: Scope) -> None:
        self.walk(node.value, scope)

    def assign_target(self, node: cst.AssignTarget, scope: Scope) -> None:
        self.target(node.target, "assign", scope)

    def ann_assign(self, node: cst.AnnAssign, scope: Scope) -> None:
        self.target(node.target, "annotation" if node.value is None else "assign", scope)
        self.walk(node.annotation, scope)
        self.walk(node.value, scope)

    def aug_assign(self, node: cst.AugAssign, scope: Scope) -> None:
        self.target(node.target, "augmented", scope)
        self.walk(node.value, scope)

    def named(self, node: cst.NamedExpr, scope: Scope) -> None:
        self.target(node.target, "walrus", scope)
        self.walk(node.value, scope)

    def for_loop(self, node: cst.For, scope: Scope) -> None:
        self.target(node.target, "for", scope)
        self.walk(node.iter, scope)
        self.walk(node.body, scope)
        self.walk(node.orelse, scope)

    def with_item(self, node: cst.WithItem, scope: Scope) -> None:
        self.walk(node.item, scope)
        if node.asname is not None:
            self.target(node.asname.name, "with", scope)

    def handler(self, node: cst.ExceptHandler | cst.ExceptStarHandler, scope: Scope) -> None:
        self.walk(node.type, scope)
        if node.name is not None:
            self.target(node.name.name, "except", scope)
        self.walk(node.body, scope)

    def delete(self, node: cst.Del, scope: Scope) -> None:
        self.target(node.target, "del", scope)

    def import_names(self, node: cst.Import | cst.ImportFrom, scope: Scope) -> None:
        if isinstance(node.names, cst.ImportStar):
            self.star_import = True
            return
        for alias in node.names:
            bound: cst.BaseExpression = alias.asname.name if alias.asname is not None else alias.name
            while isinstance(bound, cst.Attribute):
                bound = bound.value
            self.add(bound, "import", scope)

    def declare(self, node: cst.Global | cst.Nonlocal, scope: Scope) -> None:
        for item in node.names:
            (scope.globals if isinstance(node, cst.Global) else scope.nonlocals).add(_normal(item.name.value))
            self.add(item.name, "declaration", scope)

    def capture(self, node: cst.MatchAs | cst.MatchStar, scope: Scope) -> None:
        if isinstance(node, cst.MatchAs):
            self.walk(node.pattern, scope)
        if node.name is not None:
            self.add(node.name, "capture", scope)

    def mapping(self, node: cst.MatchMapping, scope: Scope) -> None:
        for element in node.elements:
            self.walk(element, scope)
        if node.rest is not None:
            self.add(node.rest, "capture", scope)

    def keyword_pattern(self, node: cst.MatchKeywordElement, scope: Scope) -> None:
        self.walk(node.pattern, scope)

    def comprehension(self, node: Comprehension, scope: Scope) -> None:
        inner = Scope("comprehension", node, scope)
        clause: cst.CompFor | None = node.for_in
        iterable_scope = scope
        while clause is not None:
            self.walk(clause.iter, iterable_scope)
            self.target(clause.target, "for", inner)
            for condition in clause.ifs:
                self.walk(condition, inner)
            iterable_scope, clause = inner, clause.inner_for_in
        for part in (node.key, node.value) if isinstance(node, cst.DictComp) else (node.elt,):
            self.walk(part, inner)

    def type_scope(self, node: cst.FunctionDef | cst.ClassDef | cst.TypeAlias, scope: Scope) -> Scope:
        if node.type_parameters is None:
            return scope
        inner = Scope("type parameters", node, scope)
        for parameter in node.type_parameters.params:
            self.add(parameter.param.name, "type", inner)
            if isinstance(parameter.param, cst.TypeVar):
                self.walk(parameter.param.bound, inner)
            self.walk(parameter.default, inner)
        return inner

    def parameters(self, node: cst.Parameters, outer: Scope, annotations: Scope, inner: Scope) -> None:
        stars = [star for star in (node.star_arg, node.star_kwarg) if isinstance(star, cst.Param)]
        for parameter in (*node.posonly_params, *node.params, *node.kwonly_params, *stars):
            self.walk(parameter.default, outer)
            self.walk(parameter.annotation, annotations)
            self.add(parameter.name, "parameter", inner)

    def function(self, node: cst.FunctionDef, scope: Scope) -> None:
        for decorator in node.decorators:
            self.walk(decorator, scope)
        self.add(node.name, "def", scope)
        outer = self.type_scope(node, scope)
        inner = Scope("function", node, outer)
        self.parameters(node.params, scope, outer, inner)
        self.walk(node.returns, outer)
        self.walk(node.body, inner)

    def lambda_(self, node: cst.Lambda, scope: Scope) -> None:
        inner = Scope("function", node, scope)
        self.parameters(node.params, scope, scope, inner)
        self.walk(node.body, inner)

    def class_(self, node: cst.ClassDef, scope: Scope) -> None:
        for decorator in node.decorators:
            self.walk(decorator, scope)
        self.add(node.name, "class", scope)
        outer = self.type_scope(node, scope)
        for argument in (*node.bases, *node.keywords):
            self.walk(argument, outer)
        self.walk(node.body, Scope("class", node, outer))

    def type_alias(self, node: cst.TypeAlias, scope: Scope) -> None:
        self.add(node.name, "type", scope)
        self.walk(node.value, self.type_scope(node, scope))


_SPECIAL: dict[type[cst.CSTNode], Callable[[_Walker, Any, Scope], None]] = {
    cst.Name: _Walker.name,
    cst.Attribute: _Walker.attribute,
    cst.Arg: _Walker.arg,
    cst.AssignTarget: _Walker.assign_target,
    cst.AnnAssign: _Walker.ann_assign,
    cst.AugAssign: _Walker.aug_assign,
    cst.NamedExpr: _Walker.named,
    cst.For: _Walker.for_loop,
    cst.WithItem: _Walker.with_item,
    cst.ExceptHandler: _Walker.handler,
    cst.ExceptStarHandler: _Walker.handler,
    cst.Del: _Walker.delete,
    cst.Import: _Walker.import_names,
    cst.ImportFrom: _Walker.import_names,
    cst.Global: _Walker.declare,
    cst.Nonlocal: _Walker.declare,
    cst.MatchAs: _Walker.capture,
    cst.MatchStar: _Walker.capture,
    cst.MatchMapping: _Walker.mapping,
    cst.MatchKeywordElement: _Walker.keyword_pattern,
    cst.ListComp: _Walker.comprehension,
    cst.SetComp: _Walker.comprehension,
    cst.DictComp: _Walker.comprehension,
    cst.GeneratorExp: _Walker.comprehension,
    cst.FunctionDef: _Walker.function,
    cst.Lambda: _Walker.lambda_,
    cst.ClassDef: _Walker.class_,
    cst.TypeAlias: _Walker.type_alias,
}
