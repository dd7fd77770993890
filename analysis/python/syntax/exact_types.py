"""Which built-in types an expression's value certainly has: exactly one of these, no subclass that may overload an operator.

Parameters, attributes, annotations, and calls of anything but built-ins tell nothing. A local variable has the types of all values that any
scope binds to it. These sets are found together: they start empty and grow until nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import libcst as cst

from .parsed import Parsed
from .scopes import Occurrence, Scopes, Variable, scopes

Types = frozenset[str] | None
"""The types that a value may have; None where they are not known; empty for a value that never exists."""

INTS = frozenset({"int", "bool"})
NUMBERS = frozenset({"int", "bool", "float"})
ATOMS = frozenset({"int", "bool", "float", "str", "bytes", "NoneType"})
CONTAINERS = frozenset({"list", "tuple", "dict", "set", "frozenset", "range"})
ITERATORS = frozenset({"enumerate", "zip", "map", "filter", "reversed"})
"""Built-in iterators, which hold another that may be anything."""

_BOOL, _INT, _STR, _LIST = frozenset({"bool"}), frozenset({"int"}), frozenset({"str"}), frozenset({"list"})
_CALLS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("bool", "isinstance", "issubclass", "callable", "hasattr", "any", "all"), _BOOL),
    **dict.fromkeys(("len", "int", "ord", "hash", "id"), _INT),
    **dict.fromkeys(("chr", "bin", "hex", "oct", "ascii"), _STR),
    **dict.fromkeys(("sorted", "list"), _LIST),
    **{name: frozenset({name}) for name in ("float", "tuple", "dict", "set", "frozenset", "range", "enumerate", "zip", "map", "filter")},
}
_STR_METHODS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("lower", "upper", "strip", "lstrip", "rstrip", "replace", "join", "title", "capitalize", "swapcase", "zfill"), _STR),
    **dict.fromkeys(("split", "rsplit", "splitlines"), _LIST),
    **dict.fromkeys(("find", "rfind", "index", "rindex", "count"), _INT),
    **dict.fromkeys(("startswith", "endswith", "isdigit", "isalpha", "isalnum", "isupper", "islower", "isspace", "isnumeric"), _BOOL),
}
_LIST_METHODS: Mapping[str, frozenset[str]] = {"copy": _LIST, "count": _INT, "index": _INT}
_NEVER: frozenset[str] = frozenset()


class ExactTypes:
    """The types of the expressions of one program."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self._scopes: Scopes = scopes(parsed)
        self._of: dict[Variable, Types] = {}
        local = [v for v in self._scopes.variables if v.scope.kind in ("function", "comprehension")]
        self._of = dict.fromkeys(local, _NEVER)
        changed = True
        while changed:
            changed = False
            for variable in local:
                found = self._united(*(self._bound(occurrence) for occurrence in variable.bindings))
                if found != self._of[variable]:
                    self._of[variable], changed = found, True

    def __call__(self, node: cst.BaseExpression) -> Types:
        """The types that the expression's value certainly has one of; None where that is not known."""
        match node:
            case cst.Integer():
                return _INT
            case cst.Float():
                return frozenset({"float"})
            case cst.SimpleString():
                return frozenset({"bytes"}) if "b" in node.prefix.lower() else _STR
            case cst.FormattedString():
                return _STR
            case cst.ConcatenatedString():
                return self(node.left)
            case cst.Tuple():
                return frozenset({"tuple"})
            case cst.List() | cst.ListComp():
                return _LIST
            case cst.Set() | cst.SetComp():
                return frozenset({"set"})
            case cst.Dict() | cst.DictComp():
                return frozenset({"dict"})
            case cst.Name():
                return self._name(node)
            case cst.NamedExpr():
                return self(node.value)
            case cst.IfExp():
                return self._united(self(node.body), self(node.orelse))
            case cst.BooleanOperation():
                return self._united(self(node.left), self(node.right))
            case cst.UnaryOperation():
                return self._unary(node)
            case cst.BinaryOperation():
                return self.operated(type(node.operator).__name__, self(node.left), self(node.right))
            case cst.Comparison():
                return self._comparison(node)
            case cst.Call():
                return self._call(node)
            case cst.Subscript():
                return self._subscript(node)
        return None

    def only(self, node: cst.BaseExpression, allowed: frozenset[str]) -> bool:
        """Whether the value certainly has one of the allowed types."""
        found = self(node)
        return found is not None and found <= allowed

    @staticmethod
    def _united(*parts: Types) -> Types:
        found: frozenset[str] = _NEVER
        for part in parts:
            if part is None:
                return None
            found |= part
        return found

    def _name(self, node: cst.Name) -> Types:
        if node.value in ("True", "False"):
            return _BOOL
        if node.value == "None":
            return frozenset({"NoneType"})
        return self._of.get(self._scopes.of[node]) if node in self._scopes.of else None

    def _bound(self, occurrence: Occurrence) -> Types:
        """The types of what one place binds to its variable."""
        node: cst.CSTNode = occurrence.node
        parent = self._parsed.parents[node]
        match occurrence.how, parent:
            case "del", _:
                return _NEVER
            case "assign", cst.AssignTarget():
                assigned = self._parsed.parents[parent]
                return self(assigned.value) if isinstance(assigned, cst.Assign) else None
            case "assign", cst.AnnAssign(value=value) if value is not None:
                return self(value)
            case "assign", cst.Element():
                return self._unpacked(parent)
            case "augmented", cst.AugAssign():
                name = type(parent.operator).__name__.removesuffix("Assign")
                before, added = self._of[self._scopes.of[occurrence.node]], self(parent.value)
                # a list takes any iterable by +=, and stays the list that it is
                return before if before in (_NEVER, _LIST) and name == "Add" else self.operated(name, before, added)
            case "walrus", cst.NamedExpr():
                return self(parent.value)
            case "for", cst.For() | cst.CompFor():
                return self._item(parent.iter)
            case "for", cst.Element():
                return self._counted(parent)
        return None

    def _unpacked(self, element: cst.Element) -> Types:
        """Of one name of `a, b = c, d`."""
        targets = self._parsed.parents[element]
        assignment = self._parsed.parents[self._parsed.parents[targets]]
        if not isinstance(targets, cst.Tuple | cst.List) or not isinstance(assignment, cst.Assign):
            return None
        values = assignment.value
        if not isinstance(values, cst.Tuple | cst.List) or len(values.elements) != len(targets.elements):
            return None
        if any(isinstance(e, cst.StarredElement) for e in (*values.elements, *targets.elements)):
            return None
        return self(values.elements[list(targets.elements).index(element)].value)

    def _counted(self, element: cst.Element) -> Types:
        """Of the first name of `for i, item in enumerate(…)`."""
        targets = self._parsed.parents[element]
        loop = self._parsed.parents[targets]
        if isinstance(targets, cst.Tuple) and isinstance(loop, cst.For | cst.CompFor) and targets.elements[0] is element:
            call = loop.iter
            if isinstance(call, cst.Call) and self._scopes.is_builtin(call.func, "enumerate") and len(call.args) == 1:
                return _INT
        return None

    def _item(self, iterable: cst.BaseExpression) -> Types:
        found = self(iterable)
        if found == _NEVER:
            return _NEVER
        return {frozenset({"range"}): _INT, _STR: _STR, frozenset({"bytes"}): _INT}.get(found) if found is not None else None

    def _unary(self, node: cst.UnaryOperation) -> Types:
        if isinstance(node.operator, cst.Not):
            return _BOOL
        found = self(node.expression)
        if found is None or not found <= (INTS if isinstance(node.operator, cst.BitInvert) else NUMBERS):
            return None
        return frozenset("int" if kind == "bool" else kind for kind in found)

    @staticmethod
    def operated(operator: str, left: Types, right: Types) -> Types:
        """The types of `left operator right`, the operator by libcst's name of it."""
        if left == _NEVER or right == _NEVER:
            return _NEVER
        if left is None or right is None:
            return None
        if operator in ("BitAnd", "BitOr", "BitXor") and left <= INTS and right <= INTS:
            return _BOOL if left == _BOOL == right else _INT if "bool" not in left or "bool" not in right else INTS
        if operator in ("LeftShift", "RightShift") and left <= INTS and right <= INTS:
            return _INT
        if operator in ("Add", "Subtract", "Multiply", "FloorDivide", "Modulo") and left <= NUMBERS and right <= NUMBERS:
            return (_INT if left & INTS and right & INTS else _NEVER) | ((left | right) & {"float"})
        if operator == "Divide" and left <= NUMBERS and right <= NUMBERS:
            return frozenset({"float"})
        if operator == "Power" and left <= INTS and right <= INTS:
            return frozenset({"int", "float"})
        if operator == "Add" and left == right and left in (_STR, _LIST, frozenset({"bytes"}), frozenset({"tuple"})):
            return left
        if operator == "Multiply" and left <= {"str", "list", "tuple", "bytes"} and right <= INTS:
            return left
        if operator == "Multiply" and right <= {"str", "list", "tuple", "bytes"} and left <= INTS:
            return right
        return None

    def _comparison(self, node: cst.Comparison) -> Types:
        operands = [node.left, *(target.comparator for target in node.comparisons)]
        for target, left, right in zip(node.comparisons, operands, operands[1:], strict=False):
            match target.operator:
                case cst.Is() | cst.IsNot() | cst.In() | cst.NotIn():
                    continue
                case cst.Equal() | cst.NotEqual():
                    # exact containers compare their items and say True or False, whatever the items say
                    allowed = ATOMS | CONTAINERS
                    if self.only(left, allowed) and self.only(right, allowed):
                        continue
                case _:
                    if self.only(left, ATOMS) and self.only(right, ATOMS):
                        continue
            return None
        return _BOOL

    def _call(self, node: cst.Call) -> Types:
        if isinstance(node.func, cst.Name):
            name = node.func.value
            if name in ("min", "max") and self._scopes.is_builtin(node.func, name) and len(node.args) > 1:
                plain = all(not arg.star and arg.keyword is None for arg in node.args)
                return self._united(*(self(arg.value) for arg in node.args)) if plain else None
            if name in ("str", "repr") and len(node.args) == 1 and not node.args[0].star and self._scopes.is_builtin(node.func, name):
                # an object may give back a subclass of str
                return _STR if self.only(node.args[0].value, ATOMS) else None
            if name == "abs" and len(node.args) == 1 and self._scopes.is_builtin(node.func, name):
                return _INT if self.only(node.args[0].value, INTS) else None
            return _CALLS[name] if name in _CALLS and self._scopes.is_builtin(node.func, name) else None
        if isinstance(node.func, cst.Attribute):
            of, method = self(node.func.value), node.func.attr.value
            if of == _NEVER:
                return _NEVER
            if of == _STR:
                return _STR_METHODS.get(method)
            if of == _LIST:
                return _LIST_METHODS.get(method)
        return None

    def _subscript(self, node: cst.Subscript) -> Types:
        of = self(node.value)
        if of in (_NEVER, _STR):
            return of
        if of in (_LIST, frozenset({"tuple"})) and len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Slice):
            return of
        return None


@lru_cache(maxsize=32)
def exact_types(parsed: Parsed) -> ExactTypes:
    """The types of a program's expressions."""
    return ExactTypes(parsed)
