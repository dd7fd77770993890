"""A typing trace: how an author writes a piece of a real file back into it, keystroke by keystroke. Pure, and the same for the same seed.

A segment is of a file of a project that nothing was trained on: from any line of a function on, its lines and those of a few more functions
are taken out, and the author writes the first of these again. What happens at an offset of that text depends on the seed and the offset
alone. So an author who accepts a suggestion goes on behind it as one who has typed it does, and all that are compared meet the same author,
whatever they suggest.

Speed and slips are those of Dhakal et al., "Observations on Typing from 136 Million Keystrokes" (CHI 2018, doi 10.1145/3173574.3174220):
51.56 words a minute in the mean, or 233 ms for a character; of 100 characters 1.65 replaced, 0.8 left out, 0.67 too many. That is people
who copy sentences. How often somebody who writes code stops to think, looks elsewhere or asks for a suggestion is assumed.
"""

from __future__ import annotations

import ast
import math
import random
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.offline_eval.sets.projects import Project, SourceFile, is_fetched, is_test, measured_projects, sources

# Mean milliseconds between two keys: those of Dhakal et al., twice, three quarters and half of them.
SPEEDS = {"slow": 466.0, "normal": 233.0, "brisk": 175.0, "fast": 117.0}
# Of the logarithm of an interval: a factor of 1.6 up and down holds two thirds of them.
SPREAD = 0.45
# Of 100 characters, replaced, left out and too many (Dhakal et al.); the keys that follow before it is noticed, each as likely.
REPLACED, LEFT_OUT, TOO_MANY = 0.0165, 0.008, 0.0067
NOTICED_AFTER = (0, 1, 1, 2, 3, 5)
# Keys that it takes to notice a slip. Of the slips that were replaced and noticed late, those mended where they stand.
NOTICING_KEYS = 2.0
MENDED_IN_PLACE = 0.4
# Assumed: how often a line begins with a thought, a word with a shorter one, and how long they are in ms (median, spread of the logarithm).
THINKS_AT_LINE, THOUGHT = 0.5, (900.0, 0.7)
THINKS_AT_WORD, SHORT_THOUGHT = 0.04, (600.0, 0.5)
# Assumed: at the start of a line, how often the author looks at an earlier place, so many lines up, for so long; and asks for a suggestion.
LOOKS_UP, LINES_UP, LOOK = 0.04, (5, 60), (1500.0, 0.5)
INVOKES = 0.05

MIN_LINES, MAX_LINES = 100, 5000
MIN_FUNCTION_LINES = 4
LEVEL = 4
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "1234567890")
_UNUSUAL = re.compile(r"[\t\f\r]|[^\x00-\uffff]|[ ]\n|[ ]\Z")


class NoSources(Exception):
    """No archive of a measured project lies where it was looked for."""


@dataclass(frozen=True, slots=True)
class Segment:
    r"""A piece of a file of so many lines. before + after is the file without it; truth is what is written between them, without its last
    `\n`."""

    project: str
    path: str
    lines: int
    before: str
    truth: str
    after: str


@dataclass(frozen=True, slots=True)
class Type:
    """A key that inserts text, wait_ms after the event before: one character, or what an editor inserts for Enter or Tab."""

    wait_ms: float
    text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Backspace: `count` characters before the cursor go, several where they are a level of indentation."""

    wait_ms: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class Move:
    """The cursor goes `lines` up and `left` characters to the left; where both are 0, back behind what is written."""

    wait_ms: float
    lines: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class Invoke:
    """The author asks for a suggestion."""

    wait_ms: float


Event = Type | Delete | Move | Invoke


@dataclass(frozen=True, slots=True)
class Step:
    """Events after which truth[:to] stands, and the cursor behind it."""

    events: tuple[Event, ...]
    to: int


@dataclass(frozen=True, slots=True)
class Author:
    """Somebody who writes a text at a mean interval of `key_ms`."""

    truth: str
    key_ms: float
    seed: str

    @property
    def start(self) -> int:
        """Offset where the writing begins: behind the indentation of the first line, which the editor puts there."""
        return len(self.truth) - len(self.truth.lstrip(" "))

    def step(self, at: int) -> Step:
        """What the author does where truth[:at] stands. Raises IndexError where there is nothing left to write."""
        rng = random.Random(f"{self.seed}:{at}")
        written, character = self.truth[:at], self.truth[at]
        if character == "\n":
            return self._new_line(at, rng)
        line = written[written.rfind("\n") + 1 :]
        if character == " " and not line.strip():
            indent = len(self.truth) - at - len(self.truth[at:].lstrip(" "))
            return Step((Type(self._interval(rng), " " * indent),), at + indent)
        first = self._first_wait(rng, line, character)
        before = self._elsewhere(rng, first) if not line.strip() else ()
        wait = self._interval(rng) if before else first
        slip = rng.random() if character.isalnum() else 1.0
        if slip < REPLACED + LEFT_OUT + TOO_MANY:
            step = self._slip(at, slip, wait, rng)
            return Step((*before, *step.events), step.to)
        return Step((*before, Type(wait, character)), at + 1)

    def _interval(self, rng: random.Random) -> float:
        return rng.lognormvariate(math.log(self.key_ms) - SPREAD**2 / 2, SPREAD)

    def _first_wait(self, rng: random.Random, line: str, character: str) -> float:
        """Before a character: a key's interval, and a thought where one is due."""
        wait = self._interval(rng)
        if not line.strip():
            return wait + (_drawn(rng, THOUGHT) if rng.random() < THINKS_AT_LINE else 0.0)
        if character.isalnum() and not line[-1].isalnum() and rng.random() < THINKS_AT_WORD:
            return wait + _drawn(rng, SHORT_THOUGHT)
        return wait

    def _elsewhere(self, rng: random.Random, wait: float) -> tuple[Event, ...]:
        if rng.random() < LOOKS_UP:
            return Move(wait, lines=rng.randint(*LINES_UP)), Move(_drawn(rng, LOOK))
        return (Invoke(wait),) if rng.random() < INVOKES else ()

    def _new_line(self, at: int, rng: random.Random) -> Step:
        """Enter; the editor indents as deep as the last line that is not blank, or deeper behind an opening; then what that is off by."""
        first = Type(self._interval(rng), "\n")
        rest = self.truth[at + 1 :]
        line = rest.partition("\n")[0]
        if not line.strip():
            return Step((first,), at + 1)
        wanted = len(line) - len(line.lstrip(" "))
        indent = _indent_behind(self.truth[:at])
        events: list[Event] = [Type(first.wait_ms, "\n" + " " * indent)]
        if indent < wanted:
            events.append(Type(self._interval(rng), " " * (wanted - indent)))
        while indent > wanted:
            shallower = max(wanted, (indent - 1) // LEVEL * LEVEL)
            events.append(Delete(self._interval(rng), indent - shallower))
            indent = shallower
        return Step(tuple(events), at + 1 + wanted)

    def _slip(self, at: int, kind: float, wait: float, rng: random.Random) -> Step:
        """A wrong key, what follows before it is noticed, and the correction."""
        right = self.truth[at]
        more = rng.choice(NOTICED_AFTER)
        line = self.truth[at:].partition("\n")[0]
        if kind < REPLACED:
            wrong = _neighbour(right, rng) + line[1 : 1 + more]
            if len(wrong) > 2 and rng.random() < MENDED_IN_PLACE:
                return self._mended(at, wait, wrong, rng)
        elif kind < REPLACED + LEFT_OUT:
            wrong = line[1 : 2 + more]
        else:
            wrong = _neighbour(right, rng) + line[:more]
        events: list[Event] = [Type(wait if n == 0 else self._interval(rng), c) for n, c in enumerate(wrong)]
        events += [Delete(self._interval(rng) * (1.0 if n else NOTICING_KEYS)) for n in range(len(wrong))]
        events.append(Type(self._interval(rng) if events else wait, right))
        return Step(tuple(events), at + 1)

    def _mended(self, at: int, wait: float, wrong: str, rng: random.Random) -> Step:
        """The wrong character is replaced where it stands, and the cursor goes back to the end."""
        typed: list[Event] = [Type(wait if n == 0 else self._interval(rng), c) for n, c in enumerate(wrong)]
        behind = len(wrong) - 1
        there = Move(self._interval(rng) * (NOTICING_KEYS + behind), left=behind)
        mending = (there, Delete(self._interval(rng)), Type(self._interval(rng), self.truth[at]), Move(self._interval(rng)))
        return Step((*typed, *mending), at + 1 + behind)


def segments(folder: Path, files: int, characters: int, seed: int) -> list[Segment]:
    """Segments of so many files, each of another project as far as there are enough; each truth ends with the line that makes it
    `characters` long. folder: holds archives of the projects in offline_eval/sets/projects.toml, of which as many
    are read as are needed.

    Raises NoSources, ProjectError.
    """
    rng = random.Random(f"segments:{seed}")
    projects = [project for project in measured_projects() if is_fetched(project, folder)]
    if not projects:
        raise NoSources(f"{folder}: holds none of the source distributions that offline_eval/sets/projects.toml names")
    rng.shuffle(projects)
    found: list[Segment] = []
    for round_ in range(files):
        for project in projects:
            if len(found) == files:
                return found
            taken = {(segment.project, segment.path) for segment in found}
            segment = _segment_of(_candidates(project, folder, taken), characters, random.Random(f"{seed}:{project.name}:{round_}"))
            found += [] if segment is None else [segment]
        if len(found) == round_ * len(projects):
            break
    return found


def cut(file: SourceFile, characters: int, rng: random.Random) -> Segment | None:
    """A segment of one file; None where it has no functions that make one."""
    lines = file.text.splitlines(keepends=True)
    functions = _functions(file.text)
    starts = list(range(len(functions)))
    rng.shuffle(starts)
    for index in starts:
        begun, end = functions[index]
        first = rng.choice([number for number in range(begun, end + 1) if lines[number - 1].strip()])
        last = next((last for _, last in functions[index:] if sum(map(len, lines[first - 1 : last])) >= characters), None)
        if last is None:
            continue
        truth = _whole_lines("".join(lines[first - 1 : last]), characters)
        if not _UNUSUAL.search(truth):
            return Segment(file.project, file.path, len(lines), "".join(lines[: first - 1]), truth, "\n" + "".join(lines[last:]))
    return None


def _whole_lines(text: str, characters: int) -> str:
    """The first lines of a text, as many as have so many characters, without the last newline."""
    end = text.find("\n", characters - 1)
    return (text if end < 0 else text[:end]).rstrip("\n")


def _candidates(project: Project, folder: Path, taken: set[tuple[str, str]]) -> list[SourceFile]:
    return [
        file
        for file in sources(project, folder)
        if not is_test(file.path) and (file.project, file.path) not in taken and MIN_LINES <= file.text.count("\n") <= MAX_LINES
    ]


def _segment_of(files: Sequence[SourceFile], characters: int, rng: random.Random) -> Segment | None:
    """Of the file whose length is nearest to one that is drawn, each order of magnitude as likely; else of the next."""
    drawn = rng.uniform(math.log(MIN_LINES), math.log(MAX_LINES))
    near = sorted(files, key=lambda file: (abs(math.log(file.text.count("\n")) - drawn), file.path))
    return next((segment for file in near if (segment := cut(file, characters, rng)) is not None), None)


def _functions(text: str) -> list[tuple[int, int]]:
    """First and last line (from 1) of each function and method that is long enough, decorators included, in order."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's code
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    bodies: Iterable[list[ast.stmt]] = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    found = []
    for body in bodies:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                last = node.end_lineno or first
                if last - first + 1 >= MIN_FUNCTION_LINES:
                    found.append((first, last))
    return sorted(found)


def _indent_behind(written: str) -> int:
    """How far an editor indents the line behind this text."""
    last = next((line for line in reversed(written.split("\n")) if line.strip()), "")
    return len(last) - len(last.lstrip(" ")) + (LEVEL if last.rstrip().endswith((":", "(", "[", "{")) else 0)


def _neighbour(character: str, rng: random.Random) -> str:
    """A key beside this one; x where it is on no row."""
    for row in _ROWS:
        if (at := row.find(character.lower())) >= 0:
            beside = rng.choice([row[i] for i in (at - 1, at + 1) if 0 <= i < len(row)])
            return beside.upper() if character.isupper() else beside
    return "x"


def _drawn(rng: random.Random, pause: tuple[float, float]) -> float:
    median, spread = pause
    return rng.lognormvariate(math.log(median), spread)
