"""The static type of a Java expression, where the file alone shows it (Java Language Specification, chapters 5 and 15)."""

from __future__ import annotations

from functools import lru_cache

from tree_sitter import Node

from .names import Variable, fields_of, may_inherit, names_of
from .syntax import COMMENTS, TYPE_BODIES, JavaSource, ancestors, bare, field, operator, walk, words

INTEGRAL = ("byte", "short", "char", "int", "long")
FLOATING = ("float", "double")
NUMERIC = (*INTEGRAL, *FLOATING)
PRIMITIVE = (*NUMERIC, "boolean")
_BOXES = {"char": "Character", "int": "Integer"}
UNBOXED = {_BOXES.get(kind, kind.capitalize()): kind for kind in PRIMITIVE}
COLLECTIONS = words(
    "Collection List ArrayList LinkedList Set HashSet LinkedHashSet TreeSet SortedSet NavigableSet Map HashMap LinkedHashMap TreeMap "
    "SortedMap NavigableMap Queue Deque ArrayDeque PriorityQueue Stack Vector"
)
_STRING_METHODS = {
    **dict.fromkeys(words("length indexOf lastIndexOf compareTo hashCode"), "int"),
    **dict.fromkeys(words("isEmpty isBlank equals equalsIgnoreCase startsWith endsWith contains matches"), "boolean"),
    **dict.fromkeys(words("substring trim strip toLowerCase toUpperCase concat repeat toString replace"), "String"),
    **{"charAt": "char", "toCharArray": "char[]", "split": "String[]"},
}
_COLLECTION_METHODS = {"size": "int", "isEmpty": "boolean", "contains": "boolean", "containsKey": "boolean", "equals": "boolean"}
_CLASS_METHODS = {
    "Math": dict.fromkeys(words("sqrt pow floor ceil"), "double"),
    "Integer": {"parseInt": "int", "compare": "int"},
    "Long": {"parseLong": "long"},
    "Double": {"parseDouble": "double"},
    "String": {"valueOf": "String"},
    "Character": dict.fromkeys(words("isDigit isLetter isLetterOrDigit isUpperCase isLowerCase isWhitespace isAlphabetic"), "boolean"),
    "Objects": {"equals": "boolean"},
    "Arrays": {"equals": "boolean"},
}
# Methods of Object and of common interfaces that return a boolean wherever they are declared.
_BOOLEAN_ANYWHERE = words(
    "equals equalsIgnoreCase isEmpty contains containsKey containsAll startsWith endsWith hasNext anyMatch allMatch noneMatch"
)
_LITERALS = {"character_literal": "char", "string_literal": "String", "true": "boolean", "false": "boolean"}
_COMPARING = ("==", "!=", "<", ">", "<=", ">=", "&&", "||")


def head(declared: str | None) -> str:
    """A type's name without its package and arguments: "List" for "java.util.List<Integer>". "" for None; arrays keep their brackets."""
    if declared is None:
        return ""
    start, end = declared.find("<"), declared.rfind(">")
    plain = declared if start < 0 else declared[:start] + declared[end + 1 :]
    return plain.strip().rsplit(".", 1)[-1].replace(" ", "")


def is_own(java: JavaSource, name: str) -> bool:
    """Whether the file declares a class, interface, enum, record or type parameter of that name, hiding the library's."""
    return name in _own_types(java)


def declares_method(java: JavaSource, name: str) -> bool:
    """Whether some class of the file has a method of that name, which a call may reach."""
    return any(n.type == "method_declaration" and java.text(field(n, "name")) == name for n in walk(java.root))


@lru_cache(maxsize=16)
def _own_types(java: JavaSource) -> frozenset[str]:
    found = set()
    for node in walk(java.root):
        if node.type.endswith("_declaration") and any(c.type in TYPE_BODIES for c in node.children):
            found.add(java.text(field(node, "name")))
        elif node.type == "type_parameter":
            found.update(java.text(c) for c in node.named_children if c.type in {"type_identifier", "identifier"})
        elif node.type == "import_declaration" and node.named_children and not any(c.type == "asterisk" for c in node.named_children):
            path = java.text(node.named_children[-1])
            if not path.startswith(("java.lang.", "java.util.")):
                found.add(path.rsplit(".", 1)[-1])
    return frozenset(found)


def library_class(java: JavaSource, expression: Node) -> str | None:
    """The class of java.lang or java.util that an identifier before a dot names; None where it may be anything else."""
    if expression.type != "identifier" or expression.id in names_of(java).meanings:
        return None
    name = java.text(expression)
    hidden = is_own(java, name) or any(name in fields_of(java, a) for a in ancestors(expression) if a.type in TYPE_BODIES)
    return None if hidden else name


def type_of(java: JavaSource, expression: Node) -> str | None:
    """The static type of an expression, as written in Java; None where the file does not show it."""
    node = bare(expression)
    if node.type in _LITERALS:
        return _LITERALS[node.type]
    if node.type.endswith("integer_literal"):
        return "long" if java.text(node)[-1] in "lL" else "int"
    if node.type.endswith("floating_point_literal"):
        return "float" if java.text(node)[-1] in "fF" else "double"
    match node.type:
        case "identifier":
            variable = names_of(java).meanings.get(node.id)
            if variable is None:
                return _field_type(java, node, java.text(node))
            return None if variable.doubt else of_variable(java, variable)
        case "binary_expression":
            return _of_binary(java, node)
        case "unary_expression":
            return "boolean" if operator(node) == "!" else _promoted(type_of(java, field(node, "operand")))
        case "method_invocation":
            return _of_call(java, node)
        case "array_access":
            array = type_of(java, field(node, "array"))
            return array[:-2].strip() if array is not None and array.endswith("[]") else None
        case "field_access":
            return _of_field(java, node)
        case "ternary_expression":
            types = {type_of(java, field(node, "consequence")), type_of(java, field(node, "alternative"))}
            return types.pop() if len(types) == 1 else None
        case "cast_expression" | "object_creation_expression":
            declared = java.text(field(node, "type"))
            return None if "&" in declared or any(c.type == "class_body" for c in node.children) else declared
        case "instanceof_expression":
            return "boolean"
        case "assignment_expression":
            return type_of(java, field(node, "left"))
        case "update_expression":
            return type_of(java, next(c for c in node.named_children if c.type not in COMMENTS))
    return None


def is_primitive(java: JavaSource, expression: Node) -> bool:
    """Whether an expression is shown to have a primitive type, so that using it unboxes nothing."""
    return type_of(java, expression) in PRIMITIVE


def is_boolean(java: JavaSource, expression: Node) -> bool:
    """Whether an expression is shown to be a boolean or Boolean by itself, whatever it is assigned to."""
    node = bare(expression)
    if type_of(java, node) in ("boolean", "Boolean"):
        return True
    return node.type == "method_invocation" and java.text(field(node, "name")) in _BOOLEAN_ANYWHERE


def of_variable(java: JavaSource, variable: Variable) -> str | None:
    """A variable's type: as declared, or that of its value where it is declared with var."""
    if variable.type is not None or variable.initial is None or variable.kind not in ("local", "resource"):
        return variable.type
    if variable.initial.start_byte <= variable.declared.start_byte:
        return None
    return type_of(java, variable.initial)


def _field_type(java: JavaSource, node: Node, name: str) -> str | None:
    body = next((a for a in ancestors(node) if a.type in TYPE_BODIES), None)
    if body is None or name not in fields_of(java, body):
        return None
    for member in body.named_children:
        if member.type == "field_declaration":
            for declarator in member.children_by_field_name("declarator"):
                if java.text(field(declarator, "name")) == name and declarator.child_by_field_name("dimensions") is None:
                    return java.text(field(member, "type"))
    return None


def _promoted(*types: str | None) -> str | None:
    plain = [UNBOXED.get(t or "", t) for t in types]
    if any(t not in NUMERIC for t in plain):
        return None
    return next((wide for wide in ("double", "float", "long") if wide in plain), "int")


def _of_binary(java: JavaSource, node: Node) -> str | None:
    sign = operator(node)
    if sign in _COMPARING:
        return "boolean"
    left, right = type_of(java, field(node, "left")), type_of(java, field(node, "right"))
    if sign == "+" and "String" in (left, right):
        return "String"
    if sign in ("<<", ">>", ">>>"):
        return _promoted(left)
    if sign in "&|^" and UNBOXED.get(left or "", left) == UNBOXED.get(right or "", right) == "boolean":
        return "boolean"
    return _promoted(left, right)


def _of_field(java: JavaSource, node: Node) -> str | None:
    owner, name = field(node, "object"), java.text(field(node, "field"))
    if owner.type == "this":
        return _field_type(java, node, name)
    if name == "length" and (type_of(java, owner) or "").endswith("[]"):
        return "int"
    if library_class(java, owner) in ("Integer", "Long", "Double") and name in ("MAX_VALUE", "MIN_VALUE"):
        return UNBOXED[java.text(owner)]
    return None


def arguments(call: Node) -> list[Node]:
    """The arguments of a call."""
    return [c for c in field(call, "arguments").named_children if c.type not in COMMENTS]


def _of_call(java: JavaSource, node: Node) -> str | None:
    owner, name = node.child_by_field_name("object"), java.text(field(node, "name"))
    if owner is None or owner.type == "this":
        return _own_method(java, node, name)
    library = library_class(java, owner)
    if library == "Math" and name in ("abs", "max", "min"):
        return _promoted(*(type_of(java, a) for a in arguments(node)))
    if library is not None and (found := _CLASS_METHODS.get(library, {}).get(name)) is not None:
        return found
    receiver = head(type_of(java, owner))
    if is_own(java, receiver):
        return None
    if receiver == "String":
        return _STRING_METHODS.get(name)
    if receiver in ("StringBuilder", "StringBuffer"):
        return {"length": "int", "charAt": "char", "toString": "String"}.get(name)
    return _COLLECTION_METHODS.get(name) if receiver in COLLECTIONS else None


def _own_method(java: JavaSource, call: Node, name: str) -> str | None:
    body = next((a for a in ancestors(call) if a.type in TYPE_BODIES), None)
    if body is None or may_inherit(java, body):
        return None
    methods = [m for m in body.named_children if m.type == "method_declaration" and java.text(field(m, "name")) == name]
    if not methods or any(m.child_by_field_name("type_parameters") or m.child_by_field_name("dimensions") for m in methods):
        return None
    types = {java.text(field(m, "type")) for m in methods}
    return types.pop() if len(types) == 1 else None
