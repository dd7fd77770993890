"""What people call a language, by the protocol's identifier."""

from __future__ import annotations

_NAMES = {
    "c": "C",
    "cpp": "C++",
    "csharp": "C#",
    "html": "HTML",
    "javascriptreact": "JavaScript with JSX",
    "javascript": "JavaScript",
    "json": "JSON",
    "php": "PHP",
    "plaintext": "plain text",
    "shellscript": "shell scripts",
    "sql": "SQL",
    "toml": "TOML",
    "typescript": "TypeScript",
    "typescriptreact": "TypeScript with JSX",
    "yaml": "YAML",
}


def name_of_language(identifier: str) -> str:
    """Its name: "Python" for "python"; of one that is not known, the identifier with a capital."""
    return _NAMES.get(identifier, identifier[:1].upper() + identifier[1:])


def names_of_languages(identifiers: tuple[str, ...]) -> str:
    """Their names, in order.

    >>> names_of_languages(("python", "go", "javascript"))
    'Go, JavaScript and Python'
    """
    *others, last = sorted(map(name_of_language, identifiers))
    return f"{', '.join(others)} and {last}" if others else last
