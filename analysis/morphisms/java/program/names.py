"""Which identifiers of a Java file mean which local variable (Java Language Specification, sections 6.3 and 6.4)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from tree_sitter import Node

from .syntax import METHODS, TYPE_BODIES, JavaSource, ancestors, bare, callable_around, role, walk, words
from .syntax import field as part

Kind = Literal["local", "parameter", "each", "catch", "resource", "lambda", "pattern"]

# Supertypes that give a class no fields, so that a simple name in its body is never an inherited one.
_FIELDLESS = words(
    "Object Runnable Callable Comparator Comparable Iterator Iterable Supplier Consumer BiConsumer Function BiFunction UnaryOperator "
    "BinaryOperator Predicate BiPredicate IntFunction IntPredicate IntUnaryOperator IntBinaryOperator ToIntFunction AutoCloseable "
    "Closeable Cloneable Serializable CharSequence Record"
)
_DECLARING = words("variable_declarator formal_parameter enhanced_for_statement catch_formal_parameter resource instanceof_expression")
_NEVER_VARIABLES = METHODS | words(
    "package_declaration import_declaration module_declaration scoped_identifier scoped_type_identifier labeled_statement break_statement "
    "continue_statement annotation marker_annotation enum_constant inferred_parameters receiver_parameter record_pattern "
    "record_pattern_component type_pattern class_declaration interface_declaration enum_declaration record_declaration "
    "annotation_type_declaration annotation_type_element_declaration"
)
# The field of a node that is a name and no use of a variable.
_OTHER_NAMES = dict.fromkeys(_DECLARING | {"method_invocation"}, "name")
_OTHER_NAMES |= {"lambda_expression": "parameters", "field_access": "field", "element_value_pair": "key"}
# Names for new variables; none is a keyword anywhere in the language.
FRESH = sorted(
    words(
        "acc amount base bound cell chunk count cur current cursor data delta depth elem entry extra factor head idx index inner item "
        "key left limit mark member node number offset other outer part piece place pos prev probe rank rest right row scratch seed "
        "slot span spare state step store sum tail target temp tmp token total unit val value view width word work"
    )
)


@dataclass(frozen=True, slots=True)
class Variable:
    """A local variable, a parameter, or what a pattern, catch clause or resource names.

    type: as declared; None where it is inferred. scope: the bytes in which the name means it, unless hidden. uses: every other identifier
    that means it. doubt: why some uses may be unknown; empty where all are known.
    """

    name: str
    kind: Kind
    declared: Node
    declaration: Node
    type: str | None
    initial: Node | None
    scope: tuple[int, int]
    uses: tuple[Node, ...] = ()
    doubt: str = ""


@dataclass(slots=True)
class _Found:
    variable: Variable
    uses: list[Node] = field(default_factory=list)
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Names:
    """The local variables of a file.

    variables: in the order of the source. meanings: the variable of each identifier that names one, by node id. used: every identifier.
    """

    variables: tuple[Variable, ...]
    meanings: dict[int, Variable]
    used: frozenset[str]


@lru_cache(maxsize=16)
def names_of(java: JavaSource) -> Names:
    """The local variables of a file, with every identifier that means one."""
    every = [n for n in walk(java.root) if n.type in {"identifier", "type_identifier"}]
    found = [_Found(variable) for variable in _declarations(java)]
    by_name: dict[str, list[_Found]] = {}
    for one in found:
        by_name.setdefault(one.variable.name, []).append(one)
    declared = {one.variable.declared.id for one in found}
    fields = {name for body in walk(java.root) if body.type in TYPE_BODIES for name in fields_of(java, body)}
    for one in found:
        if one.variable.kind == "pattern" and (one.variable.name in fields or _pattern_rivals(one.variable, by_name[one.variable.name])):
            one.doubt = "where a pattern's variable is in scope depends on the flow, and the name means something else, too"
        elif one.variable.kind == "pattern" and any(
            may_inherit(java, a) for a in ancestors(one.variable.declared) if a.type in TYPE_BODIES
        ):
            one.doubt = "where a pattern's variable is in scope depends on the flow, and the class may inherit a field of that name"
    for node in every:
        rivals = by_name.get(java.text(node), [])
        if node.id in declared or not rivals or not _may_mean_variable(node):
            continue
        _resolve(java, node, rivals)
    variables = tuple(replace(one.variable, uses=tuple(one.uses), doubt=one.doubt) for one in found)
    meanings = {node.id: v for v in variables for node in (*v.uses, v.declared)}
    return Names(variables, meanings, frozenset(java.text(n) for n in every))


def _resolve(java: JavaSource, node: Node, rivals: list[_Found]) -> None:
    inside = [r for r in rivals if r.variable.scope[0] <= node.start_byte < r.variable.scope[1]]
    if not inside:
        return
    one = max(inside, key=lambda r: r.variable.scope[0] - r.variable.scope[1])
    name = one.variable.name
    for above in ancestors(node):
        if above.start_byte <= one.variable.declared.start_byte and above.end_byte >= one.variable.declared.end_byte:
            break
        if above.type in TYPE_BODIES:
            if name in fields_of(java, above):
                return
            if may_inherit(java, above):
                one.doubt = one.doubt or f"{name} in the body of a class inside may be a field that the class inherits"
    if node.parent is not None and node.parent.type == "switch_label":
        one.doubt = one.doubt or f"case {name} may be a constant of an enum"
    one.uses.append(node)


def fields_of(java: JavaSource, body: Node) -> frozenset[str]:
    """The fields that the body of a class, interface, enum or record declares."""
    names: set[str] = set()
    members = list(body.named_children)
    for member in body.named_children:
        if member.type == "enum_body_declarations":
            members.extend(member.named_children)
        if member.type == "enum_constant":
            names.add(java.text(part(member, "name")))
    for member in members:
        if member.type in {"field_declaration", "constant_declaration"}:
            names.update(java.text(part(d, "name")) for d in member.children_by_field_name("declarator"))
    if body.parent is not None and body.parent.type == "record_declaration":
        names.update(java.text(n) for p in part(body.parent, "parameters").named_children for n in p.children_by_field_name("name"))
    return frozenset(names)


def may_inherit(java: JavaSource, body: Node) -> bool:
    """Whether a class has a supertype that may give it fields and methods that the file does not show."""
    owner = body.parent
    if owner is None or owner.type == "enum_constant":
        return True
    if owner.type == "object_creation_expression":
        supers = [part(owner, "type")]
    else:
        supers = [n for c in owner.children if c.type in {"superclass", "super_interfaces", "extends_interfaces"} for n in c.named_children]
        supers = [m for n in supers for m in (n.named_children if n.type == "type_list" else [n])]
    return any(java.text(t).split("<")[0].strip() not in _FIELDLESS for t in supers)


def _may_mean_variable(node: Node) -> bool:
    above = node.parent
    if node.type != "identifier" or above is None or above.type in _NEVER_VARIABLES:
        return False
    if above.type == "method_reference":
        return above.children[0] == node
    return role(node) != _OTHER_NAMES.get(above.type, "")


def _pattern_rivals(variable: Variable, rivals: list[_Found]) -> bool:
    outer = _outermost(variable.declared)
    return any(r.variable.declared != variable.declared and _outermost(r.variable.declared) == outer for r in rivals)


def _outermost(node: Node) -> Node | None:
    inner = callable_around(node)
    return None if inner is None else _outermost(inner) or inner


def _declarations(java: JavaSource) -> Iterator[Variable]:
    for node in walk(java.root):
        above = node.parent
        if node.type in _DECLARING and above is not None:
            found = _declared_here(java, node, above)
            if found is not None:
                yield found
        elif node.type in {"type_pattern", "record_pattern_component"}:
            names = [c for c in node.named_children if c.type == "identifier"]
            if names:
                yield _pattern(java, node, names[-1], node.named_children[0])
        elif node.type == "inferred_parameters" and above is not None:
            for name in node.named_children:
                if name.type == "identifier":
                    yield Variable(java.text(name), "lambda", name, node, None, None, above.byte_range)
        elif node.type == "lambda_expression" and part(node, "parameters").type == "identifier":
            name = part(node, "parameters")
            yield Variable(java.text(name), "lambda", name, node, None, None, node.byte_range)


def _declared_here(java: JavaSource, node: Node, above: Node) -> Variable | None:
    name, value, owner = node.child_by_field_name("name"), node.child_by_field_name("value"), above.parent
    if name is None or name.type != "identifier":
        return None
    text = java.text(name)
    match node.type, above.type:
        case "variable_declarator", "spread_parameter":
            owner = owner.parent if owner is not None else None
            if owner is None or owner.type == "record_declaration":
                return None
            element = next((c for c in above.named_children if c.type.endswith(("_type", "type_identifier"))), None)
            declared = None if element is None else java.text(element) + "[]"
            return Variable(text, "parameter", name, above, declared, None, owner.byte_range)
        case "variable_declarator", "local_variable_declaration" if owner is not None:
            place = owner if owner.type != "switch_block_statement_group" else owner.parent or owner
            declared = _type(java, above)
            if declared is not None:
                declared += _dimensions(java, node)
            return Variable(text, "local", name, node, declared, value, (name.start_byte, place.end_byte))
        case "formal_parameter", _ if owner is not None and owner.type != "record_declaration":
            kind: Kind = "lambda" if owner.type == "lambda_expression" else "parameter"
            return Variable(text, kind, name, node, _type(java, node), None, owner.byte_range)
        case "enhanced_for_statement", _:
            return Variable(text, "each", name, node, _type(java, node), None, part(node, "body").byte_range)
        case "catch_formal_parameter", _:
            return Variable(text, "catch", name, node, None, None, above.byte_range)
        case "resource", _:
            end = next(part(a, "body") for a in ancestors(node) if a.type == "try_with_resources_statement").end_byte
            return Variable(text, "resource", name, node, _type(java, node), value, (node.start_byte, end))
        case "instanceof_expression", _:
            return _pattern(java, node, name, part(node, "right"))
    return None


def _pattern(java: JavaSource, node: Node, name: Node, declared: Node) -> Variable:
    text, outer = java.text(declared), _outermost(name) or java.root
    return Variable(java.text(name), "pattern", name, node, None if text in {"var", "final"} else text, None, outer.byte_range)


def _type(java: JavaSource, node: Node) -> str | None:
    declared = node.child_by_field_name("type")
    text = "var" if declared is None else java.text(declared) + _dimensions(java, node)
    return None if text == "var" else text


def _dimensions(java: JavaSource, node: Node) -> str:
    """The brackets of an array behind a name."""
    return "" if node.child_by_field_name("dimensions") is None else java.text(part(node, "dimensions")).replace(" ", "")


def is_write(node: Node) -> bool:
    """Whether an identifier is the target of `=`, a compound assignment, `++` or `--`."""
    at = node
    while at.parent is not None and at.parent.type == "parenthesized_expression":
        at = at.parent
    above = at.parent
    if above is None:
        return False
    return above.type == "update_expression" or (above.type == "assignment_expression" and above.child_by_field_name("left") == at)


def lacks_initial_value(variable: Variable) -> bool:
    """Whether a local is declared without a value, so that javac checks that it gets one before it is read."""
    return variable.kind == "local" and variable.initial is None


def is_final(java: JavaSource, variable: Variable) -> bool:
    """Whether it is declared final."""
    holder = variable.declaration.parent if variable.declaration.type == "variable_declarator" else variable.declaration
    return holder is not None and any("final" in java.text(c).split() for c in holder.children if c.type == "modifiers")


def variable_at(java: JavaSource, expression: Node) -> Variable | None:
    """The local variable that an expression is, parentheses aside; None where it is something else."""
    node = bare(expression)
    return names_of(java).meanings.get(node.id) if node.type == "identifier" else None


def fresh_name(java: JavaSource, rng: random.Random) -> str:
    """Draw a name that stands nowhere in the file, so that it hides nothing and nothing hides it."""
    used = names_of(java).used
    free = [name for name in FRESH if name not in used]
    if free:
        return rng.choice(free)
    number = 2
    while f"{FRESH[0]}{number}" in used:
        number += 1
    return f"{FRESH[0]}{number}"
