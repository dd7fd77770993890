"""How often the server says rightly what became of a suggestion: the tables of docs/outcomes.md.

    python benchmarks/outcomes.py [--sessions N] [--seed N] [--client CLIENT …]

A simulated editor with the embedded model behind a real server plays sessions of one place each, and notes what was on its screen and what
its user did with it; the log of events is then compared with these notes. It does what VS Code does: it asks at each key, goes on showing
what is typed along, closes brackets by itself and types them over, indents a new line, and leaves what it shows where alternatives are
invoked. What its user does is drawn from `ACTIONS`, evenly. Three clients: "all signals" tells what Assay's own plugins tell; "command"
runs the command of what was accepted whole, as any client does that knows inline completions; "nothing" tells nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "server"))
sys.path.insert(0, str(ROOT / "benchmarks"))

from client import Client, client_of, span  # noqa: E402
from machine import described  # noqa: E402

from assay.calibration.log.event_log import EventLog  # noqa: E402
from assay.calibration.log.events import RetentionChecked, ShowingEnded, ShowingSeen  # noqa: E402
from assay.calibration.log.retention import MIN_KEPT_SHARE, SEARCH_FACTOR, retained_share, text_to_search, tokens_of  # noqa: E402
from assay.calibration.metrics.bins import wilson  # noqa: E402
from assay.inference.opening import EMBEDDED  # noqa: E402

Style = Literal["all signals", "command", "nothing"]
STYLES: tuple[Style, ...] = ("all signals", "command", "nothing")
AUTOMATIC, INVOKED = 2, 1
# Between keys; and before something is done with what is on the screen (assumed: a person's times, a little hurried).
KEY_S, LOOK_S = (0.03, 0.15), (0.1, 0.9)
WAIT_S = 5.0
WORD = re.compile(r"\s*(?:\w+|[^\w\s]+)")
PAIRS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = ")]}"
# Code that the model was not trained on is not needed: what it suggests has to be plausible, not right.
SOURCES = (
    "textwrap.py",
    "shlex.py",
    "calendar.py",
    "csv.py",
    "bisect.py",
    "fnmatch.py",
    "statistics.py",
    "string.py",
    "sched.py",
    "queue.py",
)


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
        """What is on the screen is gone, and this is what became of it."""
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
        """One key, and what the editor makes of it; then the next question, which another key may overtake."""
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
        """A key that goes on with nothing that is offered."""
        starts = [text[:1] for _, text in [*self.screen.others, ("", self.screen.rest)]] if self.screen is not None else []
        return next(character for character in "qjzk" if character not in starts)


def alike(text: str, rest: str) -> bool:
    """Whether a suggestion is what is on the screen, but for brackets that have been closed since."""
    return text.rstrip(CLOSERS + " \n") == rest.rstrip(CLOSERS + " \n")


async def accept(editor: Editor) -> None:
    screen = editor.screen
    assert screen is not None
    editor.put_in(screen.rest)
    await editor.ask()


async def accept_and_edit(editor: Editor) -> None:
    """Accept, then replace the larger half of it, and save."""
    name, start = named(editor), editor.cursor
    await accept(editor)
    editor.over("superseded")
    size = editor.cursor - start
    editor.edit(start + size * 2 // 5, editor.cursor, "q" * 5)
    editor.save()
    editor.kept[name] = False


async def accept_and_format(editor: Editor) -> None:
    """Accept, save, let a formatter write the whole file anew, and save."""
    name = named(editor)
    await accept(editor)
    editor.over("superseded")
    text = re.sub(r"(?<=[\w)\]]) ?([-+*/=<>]+) ?(?=[\w(\[])", r"  \1  ", editor.text).replace("'", '"').replace("\n\n", "\n\n\n")
    editor.edit(0, len(editor.text), text)
    editor.save()
    editor.kept[name] = True


async def accept_word(editor: Editor) -> None:
    """Accept a word or two, then type something else."""
    for _ in range(editor.rng.randint(1, 2)):
        if editor.screen is None or (match := WORD.match(editor.screen.rest)) is None:
            return
        editor.put_in(match[0])
        await editor.ask()
        await editor.look()
    await editor.key(editor.something_else())


async def accept_words(editor: Editor) -> None:
    """Accept word after word until nothing is left."""
    name = named(editor)
    while editor.screen is not None and editor.screen.id == name and (match := WORD.match(editor.screen.rest)) is not None:
        editor.put_in(match[0])
        if editor.screen is not None:
            await editor.ask()


async def accept_line(editor: Editor) -> None:
    """Accept the first line, then go on elsewhere."""
    assert editor.screen is not None
    line, end, _ = editor.screen.rest.lstrip("\n").partition("\n")
    editor.put_in(editor.screen.rest[: editor.screen.rest.index(line) + len(line)] + end)
    await editor.ask()
    editor.over("ignored")
    editor.cursor = 0
    await editor.key("#")


async def type_through(editor: Editor) -> None:
    name = named(editor)
    while (screen := editor.screen) is not None and screen.id == name:
        await editor.key(screen.rest.lstrip(" ")[:1] if screen.rest.lstrip(" ").startswith("\n") else screen.rest[0])


async def type_then_accept(editor: Editor) -> None:
    name = named(editor)
    for _ in range(editor.rng.randint(1, 4)):
        screen = editor.screen
        if screen is None or screen.id != name or len(screen.rest.strip()) < 3:
            break
        await editor.key(screen.rest[0])
    await editor.ask()
    if editor.screen is not None:
        await editor.look()
        await accept(editor)


async def dismiss(editor: Editor) -> None:
    """Dismiss, then type something else."""
    other = editor.something_else()
    editor.tell("rejected", named(editor))
    editor.over("rejected")
    await editor.key(other)


async def dismiss_and_type_it(editor: Editor) -> None:
    """Dismiss, then put in the same from elsewhere, as who typed it fast would have it, and save."""
    assert editor.screen is not None
    name, text = named(editor), editor.screen.rest
    editor.tell("rejected", name)
    editor.over("rejected")
    editor.edit(editor.cursor, editor.cursor, "\n")
    editor.edit(editor.cursor - 1, editor.cursor, text)
    editor.save()
    editor.kept[name] = True


async def diverge(editor: Editor) -> None:
    """Type something else, and save."""
    name = named(editor)
    for character in editor.something_else() * 4:
        await editor.key(character)
    editor.save()
    editor.kept[name] = False


async def type_and_diverge(editor: Editor) -> None:
    assert editor.screen is not None
    await editor.key(editor.screen.rest[0])
    await editor.look()
    await editor.key(editor.something_else())


async def cursor_away(editor: Editor) -> None:
    """Go elsewhere and type there."""
    editor.over("ignored")
    editor.cursor = 0
    await editor.key("#")


async def backspace(editor: Editor) -> None:
    editor.over("ignored")
    editor.edit(editor.cursor - 1, editor.cursor, "")
    await editor.ask()


async def undo(editor: Editor) -> None:
    """Accept, look at it, and undo."""
    assert editor.screen is not None
    name, start, end = named(editor), editor.cursor, editor.cursor + len(editor.screen.rest)
    await accept(editor)
    await editor.look()
    editor.over("ignored")
    editor.edit(start, end, "")
    editor.truth[name] += ", undone"
    await editor.ask()


async def next_and_accept(editor: Editor) -> None:
    if await gone_on(editor):
        await accept(editor)


async def next_and_dismiss(editor: Editor) -> None:
    if await gone_on(editor):
        await dismiss(editor)


async def gone_on(editor: Editor) -> bool:
    """Invoke alternatives, and go on to the next."""
    await editor.ask(invoked=True)
    screen = editor.screen
    if screen is None or not screen.others:
        return False
    await editor.look()
    before = (screen.id, screen.rest)
    editor.over("superseded")
    (name, text), *others = screen.others
    editor.screen = Screen(name, text, [*others, before])
    editor.tell("shown", name)
    await editor.look()
    return True


async def close(editor: Editor) -> None:
    editor.close()


async def menu(editor: Editor) -> None:
    """Take an item of another list that begins so, then type something else: the suggestion was ignored, as far as anybody knows."""
    assert editor.screen is not None
    match = WORD.match(editor.screen.rest)
    assert match is not None
    editor.edit(editor.cursor, editor.cursor, match[0])
    editor.screen.rest = editor.screen.rest[match.end() :]
    if not editor.screen.rest.strip():
        editor.over("typed_through")
        return
    await editor.ask()
    await editor.look()
    await editor.key(editor.something_else())


ACTIONS: tuple[Callable[[Editor], Coroutine[Any, Any, None]], ...] = (
    accept, accept_and_edit, accept_and_format, accept_word, accept_words, accept_line, type_through, type_then_accept, dismiss,
    dismiss_and_type_it, diverge, type_and_diverge, cursor_away, backspace, undo, next_and_accept, next_and_dismiss, close, menu,
)  # fmt: skip


def named(editor: Editor) -> str:
    assert editor.screen is not None
    return editor.screen.id


def places(rng: random.Random) -> tuple[str, int, Literal["line", "block"]]:
    """A file with a line cut off, or with all behind a header gone, where that is, and what is to be asked for."""
    folder = Path(sysconfig.get_path("stdlib"))
    lines = (folder / rng.choice(SOURCES)).read_text(encoding="utf-8").split("\n")
    while True:
        number = rng.randrange(10, len(lines) - 10)
        line = lines[number]
        if len(line.strip()) < 12 or line.lstrip().startswith(("#", '"', "'")) or not line.isascii():
            continue
        block = line.endswith(":")
        if block:
            indent = len(line) - len(line.lstrip())
            end = next(
                (n for n in range(number + 1, len(lines)) if lines[n].strip() and not lines[n].startswith(" " * (indent + 1))), len(lines)
            )
            before, behind = [*lines[:number], line], lines[end:]
        else:
            if rng.random() < 0.7:  # there are more lines than headers
                continue
            cut = rng.randrange(len(line) - len(line.lstrip()) + 3, len(line) - 4)
            before, behind = [*lines[:number], line[:cut]], lines[number + 1 :]
        text = "\n".join(before[-25:])
        return text + "\n" + "\n".join(behind[:10]), len(text), "block" if block else "line"


async def play(style: Style, sessions: int, seed: int, log: Path) -> Editor:
    rng = random.Random(seed)
    async with client_of(Path(EMBEDDED)) as client:
        await client.initialize(options={"log.path": str(log), "showUncalibrated": True, "showAbove": 0.0})
        await client.ready()
        editor, played = Editor(client, style, rng), 0
        while played < sessions:
            text, cursor, kind = places(rng)
            client.notify("workspace/didChangeConfiguration", {"settings": {"kind": kind}})
            editor.open(text, cursor)
            await editor.ask()
            if editor.screen is None:
                continue
            editor.lines[editor.screen.rest.strip().count("\n") > 0] += 1
            await editor.look()
            await ACTIONS[played % len(ACTIONS)](editor)
            played += 1
            await asyncio.sleep(0.05)
            # the next file takes the cursor, and what is still on the screen goes
            editor.over("ignored")
        editor.truth |= {} if editor.screen is None else {editor.screen.id: "superseded"}
        await client.leave()
    return editor


def found_in(log: Path) -> tuple[dict[str, str], dict[str, float], set[str]]:
    """By showing: how it ended, the latest share at a save, and those that were shown."""
    endings: dict[str, str] = {}
    shares: dict[str, float] = {}
    shown: set[str] = set()
    undone: set[str] = set()
    with EventLog(log) as events:
        for row in events.rows():
            match row.event:
                case ShowingEnded() if row.showing is not None:
                    assert row.showing not in endings, "a showing ends once"
                    endings[row.showing] = row.event.ending.value
                case RetentionChecked(after_s=None, share=float(share), why=why) if row.showing is not None:
                    shares[row.showing] = share
                    if why == "undone":
                        undone.add(row.showing)
                case ShowingSeen() if row.showing is not None:
                    shown.add(row.showing)
                case _:
                    pass
    return {name: ending + ", undone" * (name in undone) for name, ending in endings.items()}, shares, shown


def rate(hits: int, n: int) -> str:
    low, high = wilson(hits, n) if n else (0.0, 1.0)
    return f"{hits} of {n}" + (f", {hits / n:.1%} ({low:.1%} to {high:.1%})" if n else "")


def report(style: Style, editor: Editor, log: Path) -> None:
    endings, shares, shown = found_in(log)
    pairs = Counter((truth, endings.get(name, "none")) for name, truth in editor.truth.items())
    columns = sorted({found for _, found in pairs})
    print(f"\n### {style}\n\nRows: what the user did. Columns: what the log says.\n")
    print(f"| | {' | '.join(columns)} | right |\n|:---|{'---:|' * len(columns)}:---|")
    for truth in sorted({truth for truth, _ in pairs}):
        n = sum(count for (each, _), count in pairs.items() if each == truth)
        cells = " | ".join(str(pairs[truth, column] or "") for column in columns)
        print(f"| {truth} | {cells} | {rate(pairs[truth, truth], n)} |")
    right = sum(count for (truth, found), count in pairs.items() if truth == found)
    print(f"\nAll: {rate(right, sum(pairs.values()))}. Of {editor.lines.total()} first suggestions {editor.lines[True]} had several lines.")
    unseen = endings.keys() - editor.truth.keys()
    print(f"Showings in the log that never came to the screen: {len(unseen)} of {len(endings)}, said to be shown {len(unseen & shown)}.")
    for kept in (True, False):
        names = [name for name, truth in editor.kept.items() if truth is kept and name in shares]
        asked = sum(truth is kept for truth in editor.kept.values())
        hits = sum((shares[name] >= MIN_KEPT_SHARE) is kept for name in names)
        print(f"{'Kept' if kept else 'Not kept'}, and so it is said at the save: {rate(hits, len(names))}; {asked - len(names)} not said.")


def by_chance(rng: random.Random, lines: int = 20_000) -> None:
    """How often a line, dismissed at its place, would count as kept because of what stands at another place of the same file."""
    files = [
        path.read_text(encoding="utf-8", errors="replace").split("\n") for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    ]
    long = [file for file in files if len(file) >= 20]
    pairs: list[tuple[str, str]] = []
    while len(pairs) < lines:
        file = rng.choice(long)
        here, there = rng.randrange(len(file) - 8), rng.randrange(len(file) - 8)
        line, other = file[here].strip(), "\n".join(file[there : there + 6]).strip()
        if abs(here - there) >= 8 and len(tokens_of(line)) >= 3 and not line.startswith("#") and other and file[there].strip() != line:
            pairs.append((line, other))
    print("\n### By chance\n\n| tokens looked at, for each of the line | kept |\n|---:|:---|")
    for room in (1.0, SEARCH_FACTOR, 2.0, 3.0):
        hits = sum(retained_share(line, text_to_search(line, "", other, room)) >= MIN_KEPT_SHARE for line, other in pairs)
        print(f"| {room:g} | {rate(hits, lines)} |")


async def main(sessions: int, seed: int, styles: Sequence[Style]) -> None:
    print(f"{described('llama-cpp-python', 'pygls')}\n{sessions} sessions with each client, seed {seed}.")
    with tempfile.TemporaryDirectory() as folder:
        for style in styles:
            log = Path(folder) / f"{STYLES.index(style)}.sqlite3"
            editor = await play(style, sessions, seed, log)
            report(style, editor, log)
            sys.stdout.flush()
    by_chance(random.Random(seed))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=380, help="with each client (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    parser.add_argument("--client", nargs="+", choices=STYLES, default=STYLES, help="(default: all)")
    given = parser.parse_args()
    asyncio.run(main(given.sessions, given.seed, given.client))
