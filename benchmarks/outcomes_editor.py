"""The simulated editor of benchmarks/outcomes.py. It does what VS Code does with suggestions, and notes what became of each.

It asks at each key, continues to show what is typed along, closes brackets and types over them, indents a new line, and keeps what it
shows where alternatives are invoked.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from client import Client, span

Style = Literal["all signals", "command", "nothing"]
STYLES: tuple[Style, ...] = ("all signals", "command", "nothing")
AUTOMATIC, INVOKED = 2, 1
# Between keys; and before something is done with what is on the screen (assumed: a person's times, a little hurried).
KEY_S, LOOK_S = (0.03, 0.15), (0.1, 0.9)
WAIT_S = 5.0
PAIRS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = ")]}"


@dataclass
class Screen:
    """What is shown at the cursor. id: of the suggestion by which it came; rest: what is still to come; others: alternatives."""

    id: str
    rest: str
    others: list[tuple[str, str]] = field(default_factory=list)
    part: bool = False


class Editor:
    """One editor with one file at a time."""

    def __init__(self, client: Client, style: Style, rng: random.Random) -> None:
        self.style = style
        self.rng = rng
        self.truth: dict[str, str] = {}
        self.kept: dict[str, bool] = {}
        self.lines = Counter[bool]()
        self.screen: Screen | None = None
        self.text = ""
        self.cursor = 0
        self._client = client
        self._uri = ""
        self._files = self._version = 0
        self._latest: dict[str, Any] = {}
        self._closed = ""

    def open(self, text: str, cursor: int) -> None:
        self.text, self.cursor, self._version, self._closed = text, cursor, 1, ""
        self._files += 1
        self._uri = f"file:///project/{self._files}.py"
        self._client.open(self._uri, text)

    async def ask(self, *, invoked: bool = False, wait_s: float = WAIT_S) -> None:
        """Ask, and show what comes in time."""
        before = self.text[: self.cursor]
        params = {
            "textDocument": {"uri": self._uri},
            "position": {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1},
            "context": {"triggerKind": INVOKED if invoked else AUTOMATIC},
        }
        number = self._client.ask("textDocument/inlineCompletion", params)
        asking = asyncio.ensure_future(self._client.answer(number))
        asking.add_done_callback(lambda asked: asked.cancelled() or asked.exception())
        await asyncio.wait({asking}, timeout=wait_s)
        if not asking.done():
            self._client.notify("$/cancelRequest", {"id": number})
        if not asking.done() or asking.exception() is not None:
            return
        items = asking.result()["items"]
        offered = [(item["command"]["arguments"][0]["id"], item["insertText"]) for item in items]
        self._latest |= {name: item["command"] for (name, _), item in zip(offered, items, strict=True)}
        self._show(offered, invoked=invoked)

    def _show(self, offered: list[tuple[str, str]], *, invoked: bool) -> None:
        screen = self.screen
        if screen is not None:
            same = next((index for index, (_, text) in enumerate(offered) if alike(text, screen.rest)), None)
            if same == 0 or (invoked and offered):
                if same is not None:
                    screen.rest = offered.pop(same)[1]
                screen.others = offered or screen.others
                return
            self.over("superseded")
        if offered:
            (name, text), *others = offered
            self.screen = Screen(name, text, others)
            self.tell("shown", name)

    def over(self, how: str) -> None:
        """Remove what is on the screen, and record what became of it."""
        if self.screen is not None:
            self.truth[self.screen.id] = "partly_accepted" if self.screen.part and how != "accepted" else how
        self.screen = None

    def tell(self, what: str, name: str) -> None:
        if self.style == "all signals" or (self.style == "command" and what == "accepted"):
            arguments = self._latest[name]["arguments"] if what == "accepted" else [{"id": name}]
            number = self._client.ask("workspace/executeCommand", {"command": f"assay.{what}", "arguments": arguments})
            task = asyncio.ensure_future(self._client.answer(number))
            task.add_done_callback(lambda done: done.exception())

    def edit(self, start: int, end: int, added: str) -> None:
        before, removed = self.text[:start], self.text[start:end]
        line, column = before.count("\n"), len(before) - before.rfind("\n") - 1
        last = removed.rfind("\n")
        end_line, end_column = line + removed.count("\n"), column + len(removed) if last < 0 else len(removed) - last - 1
        self._version += 1
        self._client.change(self._uri, self._version, {"range": span(line, column, end_line, end_column), "text": added})
        self.text = before + added + self.text[end:]
        self.cursor = start + len(added)

    def save(self) -> None:
        self._client.notify("textDocument/didSave", {"textDocument": {"uri": self._uri}})

    def close(self) -> None:
        self.over("superseded")
        self._client.notify("textDocument/didClose", {"textDocument": {"uri": self._uri}})

    async def key(self, character: str) -> None:
        """Press one key, with what the editor does then, and ask the next question, which another key may overtake."""
        screen = self.screen
        if screen is not None:
            along = screen.rest.lstrip(" \t") if character == "\n" else screen.rest
            if not along.startswith(character):
                self.over("ignored")
            else:
                screen.rest = along[1:]
        if self._closed.startswith(character) and self.text.startswith(character, self.cursor):
            self._closed, self.cursor = self._closed[1:], self.cursor + 1
            self._typed_through()
            return
        if character == "\n":
            self._break_line()
        elif character in PAIRS and not self.text[self.cursor :].split("\n", 1)[0].strip(CLOSERS):
            self.edit(self.cursor, self.cursor, character + PAIRS[character])
            self.cursor -= 1
            self._closed = PAIRS[character] + self._closed
        else:
            self.edit(self.cursor, self.cursor, character)
        self._typed_through()
        await self.ask(wait_s=self.rng.uniform(*KEY_S))

    def _break_line(self) -> None:
        line = self.text[: self.cursor].rpartition("\n")[2]
        indent = " " * (len(line) - len(line.lstrip()) + 4 * line.rstrip().endswith(":"))
        self.edit(self.cursor, self.cursor, "\n" + indent)
        self._closed = ""
        if self.screen is not None:
            wanted = len(self.screen.rest) - len(self.screen.rest.lstrip(" "))
            self.screen.rest = self.screen.rest[min(wanted, len(indent)) :]
            if wanted < len(indent):
                self.edit(self.cursor - (len(indent) - wanted), self.cursor, "")

    def _typed_through(self) -> None:
        screen = self.screen
        if screen is not None and not screen.rest.strip().removesuffix(self._closed).strip():
            self.over("typed_through")

    async def look(self) -> None:
        await asyncio.sleep(self.rng.uniform(*LOOK_S))

    def put_in(self, text: str) -> None:
        """The editor puts in the beginning of what is on the screen, and the command runs where that is all of it."""
        screen = self.screen
        assert screen is not None
        self.edit(self.cursor, self.cursor, text)
        screen.rest = screen.rest[len(text) :]
        if screen.rest.strip():
            screen.part = True
            self.tell("acceptedPart", screen.id)
            return
        name = screen.id
        self.over("accepted")
        self.tell("accepted", name)

    def something_else(self) -> str:
        """A key with which no offered text begins."""
        starts = [text[:1] for _, text in [*self.screen.others, ("", self.screen.rest)]] if self.screen is not None else []
        return next(character for character in "qjzk" if character not in starts)


def alike(text: str, rest: str) -> bool:
    """Whether a suggestion is what is on the screen, but for brackets that have been closed since."""
    return text.rstrip(CLOSERS + " \n") == rest.rstrip(CLOSERS + " \n")


def named(editor: Editor) -> str:
    assert editor.screen is not None
    return editor.screen.id
