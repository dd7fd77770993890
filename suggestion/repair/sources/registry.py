"""The sources, one line each. A new one is a module beside this one, written like its neighbours, and a line here.

What the project's own files say of a line needs no source of its own: their memory is mixed into what the model writes and into what it
says of each candidate (`Asking.remember`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..candidate import Candidate
from ..request import Request
from . import fix_task, instruct, line, rules, token


def _always(_: Request) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where candidates come from. why_not: why it has none for a request; empty where it may have some."""

    name: str
    candidates: Callable[[Request], Iterable[Candidate]]
    why_not: Callable[[Request], str] = _always


# In the order in which they are asked: the quickest first.
SOURCES = (
    Source("fix_task", fix_task.candidates, fix_task.why_not),
    Source("line", line.candidates),
    Source("rules", rules.candidates, rules.why_not),
    Source("token", token.candidates),
    Source("instruct", instruct.candidates, instruct.why_not),
)
