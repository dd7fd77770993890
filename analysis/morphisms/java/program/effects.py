"""What evaluating a Java expression or running a statement reads, changes and may throw, and when two of them may change places."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from tree_sitter import Node

from .names import Variable, names_of
from .syntax import COMMENTS, LOOPS, JavaSource, ancestors, bare, field, operator, walk, words
from .types import (
    COLLECTIONS,
    FLOATING,
    PRIMITIVE,
    UNBOXED,
    arguments,
    declares_method,
    head,
    is_own,
    is_primitive,
    library_class,
    of_variable,
    type_of,
)

# Kinds of exception. ANYTHING also stands for never returning.
NULL, ANYTHING = "NullPointerException", "anything"


@dataclass(frozen=True, slots=True)
class Effects:
    """What a piece of code may do.

    reads, writes: names of local variables. heap_read, heap_written: fields, elements, objects, and the outside world. throws: kinds of
    exception. jumps: control may go elsewhere.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    heap_read: bool = False
    heap_written: bool = False
    throws: frozenset[str] = frozenset()
    jumps: bool = False

    def __or__(self, other: Effects) -> Effects:
        return Effects(*(getattr(self, each.name) | getattr(other, each.name) for each in fields(self)))

    @property
    def total(self) -> bool:
        """Whether it always returns its value and changes nothing."""
        return not (self.writes or self.heap_written or self.throws or self.jumps)


NONE = Effects()
_UNKNOWN = Effects(heap_read=True, heap_written=True, throws=frozenset({ANYTHING}))
_NULL = Effects(throws=frozenset({NULL}))
_JUMPS = Effects(jumps=True)
_LEAVES = words(
    "decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal decimal_floating_point_literal "
    "hex_floating_point_literal character_literal string_literal true false null_literal this super class_literal ;"
)
_JUMPING = words("return_statement break_statement continue_statement throw_statement yield_statement")
_PLAIN = words("parenthesized_expression array_initializer expression_statement block local_variable_declaration argument_list")
_PURE_STRING = words("length isEmpty isBlank equals equalsIgnoreCase toCharArray trim strip hashCode toString")
_PURE_MATH = words("abs max min sqrt pow floor ceil signum sin cos log exp round hypot cbrt")
_PURE_CHARACTER = words("isDigit isLetter isLetterOrDigit isUpperCase isLowerCase isWhitespace isAlphabetic toUpperCase toLowerCase")
_PURE_COLLECTION = frozenset({"size", "isEmpty"})
_PURE_CLASSES = (COLLECTIONS - {"Collection", "List", "Set", "Map", "Queue", "Deque"}) | {"StringBuilder", "StringBuffer", "Object"}


def effects(java: JavaSource, node: Node) -> Effects:
    """All that a node may do. Where the file does not show it, the worst is assumed."""
    if node.type in _LEAVES or node.type in COMMENTS or not node.is_named:
        return NONE
    if node.type in _PLAIN:
        return _several(java, node.named_children)
    match node.type:
        case "identifier":
            return Effects(reads=frozenset({java.text(node)}), heap_read=not _is_local(java, node))
        case "binary_expression":
            return _binary(java, node)
        case "unary_expression":
            return effects(java, field(node, "operand")) | _unboxing(java, field(node, "operand"))
        case "assignment_expression":
            return _assignment(java, node)
        case "update_expression":
            operand = next(c for c in node.named_children if c.type not in COMMENTS)
            return _target(java, operand) | effects(java, operand) | _unboxing(java, operand)
        case "ternary_expression":
            types = [type_of(java, field(node, part)) for part in ("consequence", "alternative")]
            parts = _several(java, node.named_children) | _unboxing(java, field(node, "condition"))
            return parts if types[0] is not None and types[0] == types[1] else parts | _NULL
        case "cast_expression":
            return _cast(java, node)
        case "array_access":
            index = _unboxing(java, field(node, "index"))
            return _several(java, node.named_children) | index | _throwing(NULL, "ArrayIndexOutOfBoundsException", heap_read=True)
        case "field_access":
            return _field(java, node)
        case "method_invocation":
            return _call(java, node)
        case "object_creation_expression":
            return _creation(java, node)
        case "array_creation_expression":
            return _array(java, node)
        case "lambda_expression":
            return Effects(reads=_identifiers(java, node))
        case "variable_declarator":
            return _declarator(java, node)
        case "instanceof_expression":
            return _instance(java, node)
        case "if_statement":
            return _several(java, node.named_children) | _unboxing(java, field(node, "condition"))
    if node.type in LOOPS:
        return _loop(java, node)
    if node.type in _JUMPING:
        return _several(java, node.named_children) | _JUMPS
    if node.type.endswith("_type") or node.type in {"type_identifier", "modifiers", "dimensions", "type_arguments"}:
        return NONE
    return _several(java, node.named_children) | _UNKNOWN | _words(java, node) | _JUMPS


def commute(first: Effects, second: Effects) -> str:
    """Why two pieces of code must not be swapped; "" where their order makes no difference.

    Two that may throw the same kind alone can be swapped: nothing shows which of them threw it.
    """
    if first.jumps or second.jumps:
        return "control may leave in between"
    if first.writes & (second.reads | second.writes) or second.writes & first.reads:
        return "one changes a variable that the other uses"
    if (first.heap_written and (second.heap_read or second.heap_written)) or (second.heap_written and first.heap_read):
        return "one may change what the other sees"
    either = first.throws | second.throws
    if first.throws and second.throws and (len(either) > 1 or ANYTHING in either):
        return "either may throw, and which comes first shows"
    for thrower, other in ((first, second), (second, first)):
        if thrower.throws and other.heap_written:
            return "one may throw, and what the other changes shows"
    return ""


def _several(java: JavaSource, nodes: list[Node]) -> Effects:
    total = NONE
    for node in nodes:
        total |= effects(java, node)
    return total


def _throwing(*kinds: str, heap_read: bool = False) -> Effects:
    return Effects(throws=frozenset(kinds), heap_read=heap_read)


def _identifiers(java: JavaSource, node: Node) -> frozenset[str]:
    return frozenset(java.text(n) for n in walk(node) if n.type == "identifier")


def _words(java: JavaSource, node: Node) -> Effects:
    """Every name inside counts as read and as written."""
    return Effects(reads=_identifiers(java, node), writes=_identifiers(java, node))


def _is_local(java: JavaSource, node: Node) -> bool:
    variable = names_of(java).meanings.get(node.id)
    return variable is not None and not variable.doubt


def _unboxing(java: JavaSource, *operands: Node) -> Effects:
    return NONE if all(is_primitive(java, o) for o in operands) else _NULL


def _joins_text(java: JavaSource, *operands: Node) -> Effects:
    """The effects of converting operands to strings, which runs an object's toString."""
    shown = {*PRIMITIVE, *UNBOXED, "String"}
    return NONE if all(type_of(java, o) in shown for o in operands) else _UNKNOWN


def _divides(java: JavaSource, kind: str | None, divisor: Node) -> Effects:
    if kind in FLOATING:
        return NONE
    text = java.text(bare(divisor)).rstrip("lL").replace("_", "")
    nonzero = bare(divisor).type == "decimal_integer_literal" and int(text) != 0
    return NONE if nonzero else _throwing("ArithmeticException")


def _binary(java: JavaSource, node: Node) -> Effects:
    left, right, sign = field(node, "left"), field(node, "right"), operator(node)
    both = effects(java, left) | effects(java, right)
    types = type_of(java, left), type_of(java, right)
    if sign == "+" and not all(UNBOXED.get(t or "", t) in PRIMITIVE for t in types):
        return both | _joins_text(java, left, right) | (NONE if "String" in types else _NULL)
    if sign in ("==", "!="):
        mixed = None in types or any(t in PRIMITIVE for t in types)
        null = any(bare(n).type == "null_literal" for n in (left, right))
        return both if null or not mixed else both | _unboxing(java, left, right)
    both |= _unboxing(java, left, right)
    return both | _divides(java, type_of(java, node), right) if sign in ("/", "%") else both


def _target(java: JavaSource, node: Node) -> Effects:
    target = bare(node)
    if target.type == "identifier" and _is_local(java, target):
        return Effects(writes=frozenset({java.text(target)}))
    seen = effects(java, target)
    return replace(seen, writes=seen.writes | ({java.text(target)} if target.type == "identifier" else set()), heap_written=True)


def _stored(java: JavaSource, kind: str | None, value: Node) -> Effects:
    """The effects of assigning a value to a variable of a type: a primitive one unboxes it."""
    if kind is not None and kind not in PRIMITIVE:
        return NONE
    return _unboxing(java, value)


def _assignment(java: JavaSource, node: Node) -> Effects:
    left, right, sign = field(node, "left"), field(node, "right"), operator(node)
    both = _target(java, left) | effects(java, right)
    kind = type_of(java, left)
    if bare(left).type == "array_access" and kind not in PRIMITIVE:
        both |= _throwing("ArrayStoreException")
    if sign == "=":
        return both | _stored(java, kind, right)
    both |= effects(java, left)
    if sign == "+=" and kind not in PRIMITIVE:
        return both | _joins_text(java, left, right)
    both |= _unboxing(java, left, right)
    return both | _divides(java, kind, right) if sign in ("/=", "%=") else both


def _cast(java: JavaSource, node: Node) -> Effects:
    value, kind = field(node, "value"), java.text(field(node, "type"))
    inner = effects(java, value)
    if is_primitive(java, value):
        return inner
    return inner | _NULL if kind in PRIMITIVE else inner | _throwing("ClassCastException")


def _field(java: JavaSource, node: Node) -> Effects:
    owner, name = field(node, "object"), java.text(field(node, "field"))
    if owner.type in {"this", "super"}:
        return Effects(reads=frozenset({name}), heap_read=True)
    if type_of(java, node) is not None and library_class(java, owner) is not None:
        return Effects(reads=frozenset({java.text(owner)}))
    if owner.type == "identifier" and _is_local(java, owner):
        return effects(java, owner) | _NULL | Effects(heap_read=not (type_of(java, owner) or "").endswith("[]"))
    return effects(java, owner) | _UNKNOWN  # a field of a class may run its static initialiser


def _call(java: JavaSource, node: Node) -> Effects:
    owner, name = node.child_by_field_name("object"), java.text(field(node, "name"))
    inside = _several(java, arguments(node))
    if owner is None or owner.type == "super":
        return inside | _UNKNOWN
    given = arguments(node)
    library = library_class(java, owner)
    if library in ("Math", "Character") and name in (_PURE_MATH if library == "Math" else _PURE_CHARACTER):
        return inside | _unboxing(java, *given) | Effects(reads=frozenset({java.text(owner)}))
    inside |= effects(java, owner)
    receiver = head(type_of(java, owner))
    if is_own(java, receiver):
        return inside | _UNKNOWN
    if receiver == "String" and name in _PURE_STRING and (not given or type_of(java, given[0]) == "String"):
        return inside if bare(owner).type == "string_literal" else inside | _NULL
    if receiver == "String" and name == "charAt" and len(given) == 1:
        return inside | _unboxing(java, *given) | _throwing(NULL, "StringIndexOutOfBoundsException")
    if (receiver in COLLECTIONS and name in _PURE_COLLECTION and not declares_method(java, name)) or (
        receiver in ("StringBuilder", "StringBuffer") and name == "length"
    ):
        return inside | _NULL | Effects(heap_read=True)
    return inside | _UNKNOWN


def _creation(java: JavaSource, node: Node) -> Effects:
    kind = head(java.text(field(node, "type")))
    plain = len(node.named_children) == 2 and not arguments(node)
    if plain and kind in _PURE_CLASSES and not is_own(java, kind):
        return NONE
    return _several(java, arguments(node)) | _UNKNOWN | _words(java, node)


def _array(java: JavaSource, node: Node) -> Effects:
    inside = _several(java, [n for c in node.named_children for n in ([c] if c.type == "array_initializer" else c.named_children)])
    sizes = [n for c in node.named_children if c.type == "dimensions_expr" for n in c.named_children if n.type not in COMMENTS]
    fixed = all(n.type == "decimal_integer_literal" for n in sizes)
    return inside if fixed else inside | _unboxing(java, *sizes) | _throwing("NegativeArraySizeException")


def _declarator(java: JavaSource, node: Node) -> Effects:
    written = Effects(writes=frozenset({java.text(field(node, "name"))}))
    value = node.child_by_field_name("value")
    if value is None:
        return written
    variable: Variable | None = names_of(java).meanings.get(field(node, "name").id)
    kind = None if variable is None else of_variable(java, variable)
    stored = NONE if value.type == "array_initializer" else _stored(java, kind, value)
    return written | effects(java, value) | stored


def _instance(java: JavaSource, node: Node) -> Effects:
    bound = _identifiers(java, node) if len(node.named_children) > 2 else frozenset()
    pattern = node.child_by_field_name("pattern")
    inside = effects(java, field(node, "left")) | Effects(writes=bound - {java.text(field(node, "left"))})
    return inside if pattern is None else inside | _UNKNOWN | _words(java, node)


def _loop(java: JavaSource, node: Node) -> Effects:
    inside = _several(java, node.named_children) | _throwing(ANYTHING)
    if node.type == "enhanced_for_statement":
        inside |= _UNKNOWN | Effects(writes=frozenset({java.text(field(node, "name"))}))
    return inside


def in_try(node: Node) -> bool:
    """Whether a statement stands in a try within its method, so that what it did before an exception can be seen there."""
    for above in ancestors(node):
        if above.type in {"try_statement", "try_with_resources_statement"}:
            return True
        if above.type in {"method_declaration", "constructor_declaration", "lambda_expression", "class_body"}:
            return False
    return False
