"""A chat server that describes and rebuilds what a test tells it to."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

DESCRIBED = re.compile(r"# <<<region start>>>\n(.*)\n\s*# <<<region end>>>", re.DOTALL)
TODO = re.compile(r"# TODO\(LLM\): (.*)")

Reply = Callable[[dict[str, Any]], Sequence[str]]


def replying(descriptions: Mapping[str, str], code: Mapping[str, str], *, otherwise: str = "pass") -> Reply:
    """A reply that knows the description of each code, and the code of each description; the baseline and the unknown are `otherwise`."""

    def reply(body: dict[str, Any]) -> Sequence[str]:
        asked = next(message["content"] for message in reversed(body["messages"]) if message["role"] == "user")
        if marked := DESCRIBED.search(asked):
            return ["[DESCRIPTION]", descriptions.get(marked[1].strip(), "Do something."), "[/DESCRIPTION]"]
        if todo := TODO.search(asked):
            words = asked if todo[1].startswith("Do what") else todo[1]
            found = next((text for told, text in code.items() if told in words), otherwise)
            return ["[CODE]\n", found, "\n[/CODE]"]
        return ["Hello"]

    return reply
