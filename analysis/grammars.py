"""The parsers of tree-sitter by the protocol's identifiers of languages, and what their nodes are called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Parser, Tree

# The first and the last line of each place that a parser does not understand.
Mistakes = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Grammar:
    """A parser, and the nodes of its trees.

    package: the Python package; entry: its function that gives the language.
    units: what one line is drawn of: functions, and what a script has instead.
    imports: what names other files.
    """

    package: str
    units: frozenset[str]
    imports: frozenset[str] = frozenset()
    entry: str = "language"


def _of(*names: str) -> frozenset[str]:
    return frozenset(names)


_FUNCTIONS_OF_JAVASCRIPT = _of(
    "arrow_function",
    "function_declaration",
    "function_expression",
    "generator_function",
    "generator_function_declaration",
    "method_definition",
)
_IMPORTS_OF_JAVASCRIPT = _of("import_statement", "import_alias")
_JAVASCRIPT = Grammar("tree_sitter_javascript", _FUNCTIONS_OF_JAVASCRIPT, _IMPORTS_OF_JAVASCRIPT)

GRAMMARS: Mapping[str, Grammar] = {
    "c": Grammar("tree_sitter_c", _of("function_definition"), _of("preproc_include")),
    "cpp": Grammar("tree_sitter_cpp", _of("function_definition", "lambda_expression"), _of("preproc_include", "using_declaration")),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        _of(
            "accessor_declaration",
            "anonymous_method_expression",
            "constructor_declaration",
            "lambda_expression",
            "local_function_statement",
            "method_declaration",
        ),
        _of("using_directive"),
    ),
    "go": Grammar(
        "tree_sitter_go", _of("func_literal", "function_declaration", "method_declaration"), _of("import_declaration", "package_clause")
    ),
    "java": Grammar(
        "tree_sitter_java",
        _of("compact_constructor_declaration", "constructor_declaration", "lambda_expression", "method_declaration", "static_initializer"),
        _of("import_declaration", "package_declaration"),
    ),
    "javascript": _JAVASCRIPT,
    "javascriptreact": _JAVASCRIPT,
    "kotlin": Grammar(
        "tree_sitter_kotlin",
        _of(
            "anonymous_function",
            "anonymous_initializer",
            "function_declaration",
            "getter",
            "lambda_literal",
            "secondary_constructor",
            "setter",
        ),
        _of("import", "package_header"),
    ),
    "lua": Grammar("tree_sitter_lua", _of("function_declaration", "function_definition")),
    "php": Grammar(
        "tree_sitter_php",
        _of("anonymous_function", "arrow_function", "function_definition", "method_declaration"),
        _of(
            *("include_expression", "include_once_expression", "namespace_use_declaration", "require_expression", "require_once_expression")
        ),
        entry="language_php",
    ),
    "ruby": Grammar("tree_sitter_ruby", _of("block", "do_block", "lambda", "method", "singleton_method")),
    "rust": Grammar("tree_sitter_rust", _of("closure_expression", "function_item"), _of("extern_crate_declaration", "use_declaration")),
    "shellscript": Grammar(
        "tree_sitter_bash",
        _of("c_style_for_statement", "case_statement", "for_statement", "function_definition", "if_statement", "while_statement"),
    ),
    "sql": Grammar("tree_sitter_sql", _of("statement")),
    "swift": Grammar(
        "tree_sitter_swift",
        _of("computed_property", "deinit_declaration", "function_declaration", "init_declaration", "lambda_literal"),
        _of("import_declaration"),
    ),
    "typescript": Grammar("tree_sitter_typescript", _FUNCTIONS_OF_JAVASCRIPT, _IMPORTS_OF_JAVASCRIPT, entry="language_typescript"),
    "typescriptreact": Grammar("tree_sitter_typescript", _FUNCTIONS_OF_JAVASCRIPT, _IMPORTS_OF_JAVASCRIPT, entry="language_tsx"),
}

# Lines of Python are drawn by its own parser.
_PYTHON = Grammar("tree_sitter_python", _of())


def has_grammar(language: str) -> bool:
    """Whether there is a parser of a language."""
    return _grammar(language) is not None


def parser_of(language: str) -> Parser:
    """A parser of a language that has a grammar, for one thread."""
    from tree_sitter import Parser

    return Parser(_language(language))


@cache
def _language(language: str) -> Language:
    from tree_sitter import Language

    grammar = _grammar(language)
    assert grammar is not None, f"{language} has no grammar"
    return Language(getattr(importlib.import_module(grammar.package), grammar.entry)())


def mistakes_in(tree: Tree) -> Mistakes:
    """What the parser does not understand, or misses. It goes on behind each."""
    found, left = [], [tree.root_node] if tree.root_node.has_error else []
    while left:
        node = left.pop()
        below = [child for child in node.children if child.has_error]
        # What is missing may be in no node of its own.
        if node.is_error or not below:
            found.append((node.start_point[0], node.end_point[0]))
        left += below
    return found


def _grammar(language: str) -> Grammar | None:
    return _PYTHON if language == "python" else GRAMMARS.get(language)
