"""The program that renders a model's chat template for `template.py`: a process of its own, because the template is a stranger's program.

Each line that it reads and writes is JSON: the template (one for all lines), what is named in it, the messages, and how many characters
there may be; the answer is the text, or what went wrong.

References: transformers, src/transformers/utils/chat_template_utils.py, `_cached_compile_jinja_template`; llama-cpp-python,
llama_cpp/llama_chat_format.py, `Jinja2ChatFormatter`. What templates may use is the same here.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

_MAX_MEMORY_BYTES = 1 << 29
_MAX_SAID = 200
# More than is waited for an answer (`template.py`).
_MAX_S = 30


class _Generation(Extension):
    """`{% generation %}`, which marks answers for training, and changes no text."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _PlainNamespace(Namespace):
    """Without names that begin with an underscore, which lead into Python."""

    def __init__(self, /, *args: Any, **named: Any) -> None:
        super().__init__()
        for name, value in dict(*args, **named).items():
            self[name] = value

    def __setitem__(self, name: str, value: object) -> None:
        if str(name).startswith("_"):
            raise jinja2.TemplateError(f"the name {name} is not allowed")
        super().__setitem__(name, value)


def compiled(template: str, named: Mapping[str, str]) -> jinja2.Template:
    """A template, ready to be rendered. Raises TemplateSyntaxError and what else compiling untrusted text may raise."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols])
    environment.filters["tojson"] = _to_json
    environment.globals |= {
        **named,
        "raise_exception": _refuse,
        "strftime_now": lambda form: datetime.now().strftime(form),
        "namespace": _PlainNamespace,
        "dict": lambda *args, **named: dict(*args, **named),
    }
    return environment.from_string(template)


def rendered(template: jinja2.Template, messages: list[dict[str, str]], most: int) -> str:
    """The text up to where the answer begins. Raises what a stranger's program may raise, and ValueError where it is longer than `most`."""
    parts, size = [], 0
    for part in template.generate(messages=messages, add_generation_prompt=True, tools=None, documents=None):
        size += len(part)
        if size > most:
            raise ValueError(f"it writes more than {most:,} characters")
        parts.append(part)
    return "".join(parts)


def _refuse(message: object) -> NoReturn:
    raise jinja2.TemplateError(str(message))


def _to_json(
    value: Any, ensure_ascii: bool = False, indent: int | None = None, separators: Any = None, sort_keys: bool = False
) -> str:  # web pages' escapes, which Jinja's own has, are no part of a prompt
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _why(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"it takes more than {_MAX_MEMORY_BYTES >> 20} MB of memory"
    if isinstance(error, RecursionError):
        return "it calls itself without end"
    said = " ".join("".join(letter if letter.isprintable() else " " for letter in str(error)[: 4 * _MAX_SAID]).split())[:_MAX_SAID]
    where = f"line {error.lineno}: " if isinstance(error, jinja2.TemplateSyntaxError) else ""
    return where + (said if isinstance(error, jinja2.TemplateError | ValueError) and said else f"{type(error).__name__}: {said}")


def _limit_memory() -> None:
    # Windows has no such limit, and macOS does not keep it: there the time is the only bound on a single value.
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))


def main() -> None:
    """Answer each line of stdin on stdout, until stdin ends."""
    _limit_memory()
    template: jinja2.Template | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        if hasattr(signal, "alarm"):  # who asked may have ended, and nobody else would end this
            signal.alarm(_MAX_S)
        try:
            template = template or compiled(asked["template"], asked["named"])
            answer = {"text": rendered(template, asked["messages"], asked["most"])}
        except Exception as error:  # a stranger's program may raise anything
            answer = {"error": _why(error)}
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
