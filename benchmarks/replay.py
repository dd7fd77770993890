"""Play an author's typing to a program that suggests, in real time, and record what was on the screen after each key.

The author accepts where a suggestion is what comes next: the whole of it (at least 4 characters, or the rest of the line), else its first
line. This happens three times in four, at most once a line, and as long after it appeared as a person takes to read it. The next keys come
meanwhile, and what is on the screen at that time is accepted if it is still right. Of a program that says how likely a suggestion is to be
right, the author takes only what is at least as likely as `DIAL`. So what is typed depends on what is suggested, but the text that is
written does not, and neither does what the author does at a given place in it.
"""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from typing_trace import Author, Delete, Event, Invoke, Move, Segment, Type

MIN_ACCEPTED = 4
DIAL = 0.5
# Assumed: how often one who sees a right suggestion takes it, and the ms until then (median, spread of the logarithm).
ACCEPTS, REACTION = 0.75, (500.0, 0.3)
# Assumed: how long the author looks at a place before beginning to write there, in a file that was just opened.
OPENED_MS = 3000.0
# After the last key, so that its suggestion can still come.
AFTERWARDS_MS = 1000.0


@dataclass(frozen=True, slots=True)
class Edit:
    """Text in place of a range: (line, column) from 0, columns in UTF-16 units as an editor sends them."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


class Buffer:
    """An open file: its lines, without their newlines, and the cursor (line and column from 0, in code points)."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.line = self.column = 0

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def before(self) -> str:
        """The cursor's line up to the cursor."""
        return self.lines[self.line][: self.column]

    @property
    def behind(self) -> str:
        """The cursor's line from the cursor on."""
        return self.lines[self.line][self.column :]

    def go(self, line: int, column: int) -> None:
        """Move the cursor. A column beyond the line's end becomes its end."""
        self.line = line
        self.column = min(column, len(self.lines[line]))

    def insert(self, text: str) -> Edit:
        return self.replace(self.column, text)

    def delete(self, count: int) -> Edit:
        """Backspace, within the line."""
        return self.replace(self.column - count, "")

    def replace(self, column: int, text: str) -> Edit:
        """Text in place of what stands between a column of the cursor's line and the cursor, which is behind it then."""
        line, behind = self.lines[self.line], self.behind
        edit = Edit((self.line, utf16(line[:column])), (self.line, utf16(line[: self.column])), text)
        new = (line[:column] + text).split("\n")
        self.lines[self.line : self.line + 1] = [*new[:-1], new[-1] + behind]
        self.line += len(new) - 1
        self.column = len(new[-1])
        return edit

    def rewrite(self, text: str) -> Edit:
        """Text in place of the cursor's line up to the cursor, where only what differs is replaced."""
        common = next((i for i, (a, b) in enumerate(zip(self.before, text, strict=False)) if a != b), min(self.column, len(text)))
        return self.replace(common, text[common:])


@dataclass(frozen=True, slots=True)
class GhostText:
    """A suggestion on the screen.

    text: what is seen. whole: what the cursor's line up to the cursor becomes with it, and the lines behind. at: time.perf_counter
    when it appeared. probability: that it is right, where the program gives one; calibrator: the id of what that is from.
    """

    text: str
    whole: str
    at: float
    probability: float | None = None
    calibrator: str | None = None


class Contender(Protocol):
    """A program that suggests, with what an editor does for it."""

    name: str
    shown: GhostText | None
    """What is on the screen: only what fits the text as it is."""
    news: asyncio.Event
    """Set when `shown` is."""

    async def open(self, file: Path, buffer: Buffer, /) -> None:
        """A file is opened, and edited from here on."""
        ...

    def changed(self, edit: Edit, /) -> None:
        """The buffer has changed by a key."""
        ...

    def moved(self) -> None:
        """The cursor has moved, and nothing else."""
        ...

    def invoked(self) -> None:
        """A suggestion is asked for by a key."""
        ...

    def accepted(self, edit: Edit, /) -> None:
        """The buffer has changed by accepting what was on the screen."""
        ...

    async def rest(self) -> None:
        """The file is closed: wait until nothing is in progress."""
        ...

    def cpu_seconds(self) -> float:
        """Processor time so far of all of the program's processes."""
        ...


@dataclass(slots=True)
class Key:
    """A key and what it brought to the screen before the next event; shown_ms None: nothing.

    pressed: when, in seconds. exact: the whole suggestion is what the author wrote up to the end of a line; first_line: so is what it says
    up to its first line that is not blank. written: offset of the truth up to which the text stood there; said: characters of the
    suggestion; came: how many of them, from its beginning, the author then wrote; saves: characters that accepting what is right of it
    would have written. line, whole: of the buffer, and as in `GhostText`.
    """

    pressed: float = 0.0
    shown_ms: float | None = None
    exact: bool = False
    first_line: bool = False
    probability: float | None = None
    written: int = 0
    said: int = 0
    came: int = 0
    saves: int = 0
    calibrator: str | None = None
    line: int = 0
    whole: str = ""


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one segment. cpu_s: of the program; late_ms: the most that an event came after its time."""

    keys: tuple[Key, ...]
    accepts: int
    characters: int
    cpu_s: float
    late_ms: float


async def play(segment: Segment, author: Author, contender: Contender, file: Path) -> Played:
    """Write the segment's truth into the file, with the contender's help. The file must hold what is there before."""
    buffer = Buffer(segment.before + author.truth[: author.start] + segment.after)
    buffer.go(segment.before.count("\n"), author.start)
    cpu = contender.cpu_seconds()
    await contender.open(file, buffer)
    session = Session(author, contender, buffer)
    await session.write()
    await contender.rest()
    assert buffer.text == segment.before + segment.truth + segment.after, "what was written is not what was meant"
    characters = len(author.truth) - author.start
    return Played(tuple(session.keys), session.accepts, characters, contender.cpu_seconds() - cpu, session.late_ms)


@dataclass(slots=True)
class Session:
    """The author at the keyboard. deciding: when what is on the screen will be accepted; decided: lines in which that was thought about."""

    author: Author
    contender: Contender
    buffer: Buffer
    keys: list[Key] = field(default_factory=list)
    accepts: int = 0
    late_ms: float = 0.0
    first_line: int = field(init=False)
    end: tuple[int, int] = field(init=False)
    due: float = field(init=False)
    pressed: float = 0.0
    deciding: float | None = None
    decided: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.first_line = self.buffer.line
        self.end = (self.buffer.line, self.buffer.column)
        self.due = time.perf_counter()

    async def write(self) -> None:
        at = self.author.start
        await self.wait(OPENED_MS, accepting=False)
        while at < len(self.author.truth):
            step = self.author.step(at)
            for event in step.events:
                if await self.wait(event.wait_ms):
                    at = len(self.written() or "")
                    break
                self.do(event)
            else:
                at = step.to
        await self.wait(AFTERWARDS_MS, accepting=False)

    def do(self, event: Event) -> None:
        self.pressed = time.perf_counter()
        if not isinstance(event, Move):
            self.keys.append(Key(self.pressed))
        match event:
            case Type(_, text):
                edit = self.buffer.insert(text)
                self.end = (self.buffer.line, self.buffer.column if "\n" in text else self.end[1] + len(text))
                self.contender.changed(edit)
            case Delete(_, count):
                self.end = (self.end[0], self.end[1] - count)
                self.contender.changed(self.buffer.delete(count))
            case Invoke():
                self.contender.invoked()
            case Move(_, lines, left):
                here = (max(0, self.buffer.line - lines), 0) if lines else (self.buffer.line, self.buffer.column - left)
                self.buffer.go(*(here if lines or left else self.end))
                self.contender.moved()

    async def wait(self, wait_ms: float, *, accepting: bool = True) -> bool:
        """Wait for the next event. Returns whether the author accepted a suggestion instead."""
        self.due += wait_ms / 1e3
        while True:
            self.contender.news.clear()
            self.look(accepting)
            now = time.perf_counter()
            if self.deciding is not None and self.deciding <= min(now, self.due):
                self.deciding = None
                if self.accept():
                    return True
                continue
            if now >= self.due:
                break
            until = min(self.due, self.deciding or self.due)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.contender.news.wait(), until - now)
        late = (time.perf_counter() - self.due) * 1e3
        self.late_ms = max(self.late_ms, late)
        return False

    def look(self, accepting: bool) -> None:
        """Record what is on the screen, and decide about accepting it."""
        shown = self.contender.shown
        if shown is None:
            return
        written = self.written()
        if self.keys and self.keys[-1].shown_ms is None and shown.at >= self.pressed:
            key = self.keys[-1]
            key.shown_ms = (shown.at - self.pressed) * 1e3
            key.probability, key.calibrator = shown.probability, shown.calibrator
            key.line, key.whole = self.buffer.line, shown.whole
            if written is not None:
                key.written, key.said, key.came = len(written), len(shown.text), common_start(shown.text, self.author.truth[len(written) :])
                accepted = self.acceptable(shown)
                key.saves = 0 if accepted is None else self.line_start() + len(accepted) - len(written)
                key.exact = self.is_next(shown.whole, to_line_end=True)
                key.first_line = self.is_next(first_line(shown, self.buffer), to_line_end=True)
        line = self.buffer.line - self.first_line
        if accepting and written is not None and self.deciding is None and line not in self.decided and self.taken(shown) is not None:
            self.decided.add(line)
            rng = random.Random(f"{self.author.seed}:accept:{line}")
            if rng.random() < ACCEPTS:
                median, spread = REACTION
                self.deciding = shown.at + median / 1e3 * rng.lognormvariate(0.0, spread)

    def accept(self) -> bool:
        """Accept what is on the screen, if it is right."""
        shown = self.contender.shown
        text = None if shown is None or self.written() is None else self.taken(shown)
        if text is None:
            return False
        self.pressed = self.due = time.perf_counter()
        edit = self.buffer.rewrite(text)
        self.end = (self.buffer.line, self.buffer.column)
        self.accepts += 1
        self.keys.append(Key(self.pressed))
        self.contender.accepted(edit)
        return True

    def taken(self, shown: GhostText) -> str | None:
        """What the cursor's line becomes if the author accepts; None: this is not right, or not likely enough to be looked at."""
        return None if shown.probability is not None and shown.probability < DIAL else self.acceptable(shown)

    def acceptable(self, shown: GhostText) -> str | None:
        """What the cursor's line becomes if the author takes what is right of this: the whole, or its first line; None: nothing."""
        whole = shown.whole.rstrip()
        if self.is_next(whole, to_line_end=len(shown.text) < MIN_ACCEPTED):
            return whole
        first = whole.partition("\n")[0]
        return first if first != self.buffer.before and self.is_next(first, to_line_end=True) else None

    def is_next(self, whole: str, *, to_line_end: bool) -> bool:
        """Whether the author means to write this from the start of the cursor's line on."""
        truth = self.author.truth
        start = self.line_start()
        whole = whole.rstrip()
        end = start + len(whole)
        right = len(whole) > self.buffer.column and truth.startswith(whole, start)
        return right and (not to_line_end or end == len(truth) or truth[end] == "\n")

    def line_start(self) -> int:
        """Offset in the truth of the cursor's line, where the text is as it should be."""
        return sum(len(line) + 1 for line in self.buffer.lines[self.first_line : self.buffer.line])

    def written(self) -> str | None:
        """How much is written so far, if all of it is right and the cursor is at its end."""
        if self.buffer.line < self.first_line or self.buffer.behind:
            return None
        text = "\n".join([*self.buffer.lines[self.first_line : self.buffer.line], self.buffer.before])
        return text if self.author.truth.startswith(text) and (self.buffer.line, self.buffer.column) == self.end else None


def common_start(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def first_line(shown: GhostText, buffer: Buffer) -> str:
    """`shown.whole` up to the end of the first line in which the suggestion says something."""
    lines = shown.whole.split("\n")
    if lines[0][buffer.column :].strip():
        return lines[0]
    said = next((n for n, line in enumerate(lines[1:], 1) if line.strip()), 0)
    return "\n".join(lines[: said + 1])


def utf16(text: str) -> int:
    """How many UTF-16 units a text has."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
