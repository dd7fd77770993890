"""What evaluating an expression may do besides giving a value, and whether a local variable surely has a value.

In doubt the answer is the unsafe one: an expression counts as free of effects only where that can be shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from .exact_types import ATOMS, NUMBERS, ExactTypes, exact_types
from .parsed import Parsed
from .scopes import Scopes, Variable, scopes

# Words by which a program may look at its own or a caller's variables. A file with one of them must not get or lose a local name.
REFLECTIVE = frozenset(
    {"locals", "vars", "eval", "exec", "dir", "globals", "inspect", "_getframe", "currentframe", "f_locals", "f_back", "f_code"}
    | {"gi_frame", "cr_frame", "settrace", "setprofile", "co_varnames", "co_code", "co_names", "__code__", "__closure__", "getsource"}
    | {"breakpoint", "pdb", "monitoring", "tracemalloc"}
)


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """The effects of expressions of one program."""

    parsed: Parsed
    scopes: Scopes
    types: ExactTypes

    def quiet(self, node: cst.BaseExpression) -> bool:
        """Whether evaluating it ends, raises and changes nothing, and depends on nothing but variables."""
        match node:
            case cst.Integer() | cst.Float() | cst.Imaginary() | cst.SimpleString() | cst.Lambda():
                return not isinstance(node, cst.Lambda) or not _defaults(node)
            case cst.Name():
                return node.value in ("True", "False", "None") or self.surely_bound(node)
            case cst.Tuple() | cst.List():
                return all(isinstance(e, cst.Element) and self.quiet(e.value) for e in node.elements)
            case cst.Set():
                return all(isinstance(e, cst.Element) and self._atom(e.value) for e in node.elements)
            case cst.Dict():
                return all(isinstance(e, cst.DictElement) and self._atom(e.key) and self.quiet(e.value) for e in node.elements)
            case cst.UnaryOperation(operator=cst.Not()):
                return self._atom(node.expression)
            case cst.UnaryOperation(operator=cst.Minus() | cst.Plus()):
                return self._atom(node.expression) and self.types.only(node.expression, NUMBERS)
            case cst.BinaryOperation(operator=cst.Add() | cst.Subtract()):
                return all(self._atom(side) and self.types.only(side, NUMBERS) for side in (node.left, node.right)) and self._no_overflow(
                    node
                )
            case cst.BooleanOperation():
                return self._atom(node.left) and self.quiet(node.right)
            case cst.IfExp():
                return self._atom(node.test) and self.quiet(node.body) and self.quiet(node.orelse)
            case cst.Comparison():
                return self._compares_quietly(node)
        return False

    def still(self, node: cst.BaseExpression, other: cst.CSTNode) -> bool:
        """Whether the node is quiet and has the same value before and after the other one is executed, whatever that calls."""
        if not self.quiet(node):
            return False
        read = [self.scopes.of[n] for n in self.parsed.inside(node) if isinstance(n, cst.Name) and n in self.scopes.of]
        if any(bound_elsewhere(variable) for variable in read):
            return False
        bound = {o.node for v in read for o in v.bindings}
        return not any(n in bound for n in self.parsed.inside(other))

    def _atom(self, node: cst.BaseExpression) -> bool:
        """Whether it is quiet, and its value an immutable built-in whose truth, hash and comparison are quiet, too."""
        return self.quiet(node) and self.types.only(node, ATOMS)

    def _no_overflow(self, node: cst.BinaryOperation) -> bool:
        """Whether the sum can't raise for an int that is too large for a float."""
        found = (self.types(node.left) or frozenset()) | (self.types(node.right) or frozenset())
        return "float" not in found or found == {"float"}

    def _compares_quietly(self, node: cst.Comparison) -> bool:
        operands = [node.left, *(target.comparator for target in node.comparisons)]
        for target, left, right in zip(node.comparisons, operands, operands[1:], strict=False):
            match target.operator:
                case cst.Is() | cst.IsNot():
                    quiet = self.quiet(left) and self.quiet(right)
                case cst.Equal() | cst.NotEqual():
                    quiet = self._atom(left) and self._atom(right)
                    # bytes against str or int warns under -b, and raises under -bb
                    quiet = quiet and not any("bytes" in (self.types(side) or ()) for side in (left, right))
                case cst.LessThan() | cst.LessThanEqual() | cst.GreaterThan() | cst.GreaterThanEqual():
                    alike = any(self.types.only(left, kinds) and self.types.only(right, kinds) for kinds in (NUMBERS, frozenset({"str"})))
                    quiet = alike and self._atom(left) and self._atom(right)
                case _:
                    quiet = False
            if not quiet:
                return False
        return True

    def surely_bound(self, node: cst.Name) -> bool:
        """Whether the name is a function's variable that has a value whenever this place is reached, and that nothing deletes."""
        variable = self.scopes.of.get(node)
        if variable is None or variable.scope.kind not in ("function", "comprehension"):
            return False
        if any(o.how in ("del", "except") for o in variable.occurrences):
            return False
        if variable.scope.kind == "comprehension":
            return any(o.node is not node for o in variable.bindings) and not self._in_own_target(node, variable)
        if any(o.how == "parameter" for o in variable.bindings):
            return True
        child: cst.CSTNode = node
        for parent in self.parsed.ancestors(node):
            if parent is variable.scope.node:
                return False
            if isinstance(parent, cst.IndentedBlock | cst.SimpleStatementSuite | cst.SimpleStatementLine):
                before = parent.body[: list(parent.body).index(child)]
                if any(self._binds(statement, variable) for statement in before):
                    return True
            if isinstance(parent, cst.For) and child is parent.body and self._targets(parent.target, variable):
                return True
            if isinstance(parent, cst.With) and child is parent.body and self._binds_with(parent, variable):
                return True
            child = parent
        return False

    def _in_own_target(self, node: cst.Name, variable: Variable) -> bool:
        """Whether the name stands in a comprehension's own clause, where its variable may not have a value yet."""
        return any(isinstance(parent, cst.CompFor) for parent in self.parsed.ancestors(node) if parent is not variable.scope.node)

    def _targets(self, target: cst.BaseExpression, variable: Variable) -> bool:
        if isinstance(target, cst.Tuple | cst.List):
            return any(self._targets(element.value, variable) for element in target.elements)
        return isinstance(target, cst.Name) and self.scopes.of.get(target) is variable

    def _binds_with(self, node: cst.With, variable: Variable) -> bool:
        return any(item.asname is not None and self._targets(item.asname.name, variable) for item in node.items)

    def _binds(self, node: cst.CSTNode, variable: Variable) -> bool:
        """Whether the variable has a value when the next statement is reached."""
        match node:
            case cst.SimpleStatementLine() | cst.SimpleStatementSuite() | cst.IndentedBlock():
                return any(self._binds(small, variable) for small in node.body)
            case cst.Assign():
                return any(self._targets(target.target, variable) for target in node.targets)
            case cst.AnnAssign():
                return node.value is not None and self._targets(node.target, variable)
            case cst.AugAssign():
                return self._targets(node.target, variable)
            case cst.FunctionDef() | cst.ClassDef():
                return self.scopes.of.get(node.name) is variable
            case cst.Return() | cst.Raise() | cst.Break() | cst.Continue():
                return True
            case cst.If():
                return node.orelse is not None and self._binds(node.body, variable) and self._binds(node.orelse, variable)
            case cst.Else():
                return self._binds(node.body, variable)
        return False


def bound_elsewhere(variable: Variable) -> bool:
    """Whether another function or a generator may bind the variable, so that any call may do so."""
    return any(o.how == "declaration" for o in variable.occurrences) or any(o.scope is not variable.scope for o in variable.bindings)


def _defaults(node: cst.Lambda) -> bool:
    return any(p.default is not None for p in (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params))


def effects(parsed: Parsed) -> Effects:
    """The effects of a program's expressions."""
    return Effects(parsed, scopes(parsed), exact_types(parsed))


def reflective(parsed: Parsed) -> str | None:
    """A word of the file's code by which it may look at its own variables; None where there is none."""
    return min((name.value for name in parsed.all(cst.Name) if name.value in REFLECTIVE), default=None)
