"""An instruct model is shown the function around the lines, and what a failing test says, and writes the function anew.

Small models keep to that form: of ten answers of a 0.5B model that was asked for lines between marks none could be read. Only the
difference at the lines is kept, so the answer begins with the code above them, and ends where the code below them begins: a model that
goes on from a given beginning writes two lines, not forty.
The model is the editor's own, where it has a chat template, or the one that is named for it. It is told of the test as in Gu et al.
(arXiv 2402.19475, appendix B.2), and where the bug is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from ....inference.asking.asker import Message
from ....inference.asking.prompts import PromptFile, load_prompt
from ....inference.errors import ContextTooLong
from ....inference.model import StopReason
from ..candidate import Candidate, Change, Lines, change_of, indent_of
from ..request import Failure, Request

_PROMPT = Path(__file__).parents[1] / "prompts" / "function.txt"
# A longer function is shown, and asked for, as far as so many lines before and behind the wrong ones.
_BEFORE, _AFTER = 60, 30
# An answer may have as many tokens as the function has if two characters make one, and these more.
_CHARACTERS, _MORE_TOKENS, _MAX_TOKENS = 2, 64, 1_024
_BLOCK_DRAWS = 2
# A test may compare whole files.
_MAX_MESSAGE = 2_000
# A word that defines a function or class, and what follows it; or a method of C's family, which has no such word.
_DEFINES = re.compile(
    r"\s*(?:[\w*&<>:\[\],]+\s+)*?(?:def|class|func|fun|fn|function|sub|proc)(?=\s+[\w(*{]|\*)"
    r"|(?!\s*(?:if|elseif|for|foreach|while|switch|catch|else|return|do|try|with|match|synchronized|using|lock)\b)"
    r"[\w<>\[\],.?:*&~ \t]*\w\s*\([^;]*\{\s*$"
)
_CLOSES = re.compile(r"\s*(?:[})\]]|end\b)")
_COMMENTS = ("#", "//", "--", "/*", "*")
_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_OPENED = re.compile(r"^[ \t]*```[^\n`]*\n(.*)\Z", re.DOTALL | re.MULTILINE)


def why_not(request: Request) -> str:
    """Why there is nobody to ask; empty where there is."""
    return "" if request.asker else "the model is not asked in chat, and no instruct model was named"


def candidates(request: Request) -> Iterator[Candidate]:
    """What the model answers, greedily and drawn, which may be the lines as they are; what can't be read is no candidate.

    Raises what `Asker.say` raises.
    """
    asker, (first, end) = request.asker, function_at(request.lines, request.first, request.end)
    if asker is None:
        return
    messages, below = messages_of(request), code_below(request, first, end)
    stop = [] if below is None else [f"\n{request.lines[below]}\n"]
    most = min(sum(len(line) + 1 for line in request.lines[first:end]) // _CHARACTERS + _MORE_TOKENS, _MAX_TOKENS)
    # A block takes long to write, and other sources wait for it.
    draws = request.draws if request.end - request.first == 1 else min(request.draws, _BLOCK_DRAWS)
    for temperature, count in ((0.0, 1), (request.temperature, draws)):
        if not count or request.asking.is_over():
            return
        try:
            answers = asker.say(messages, n=count, temperature=temperature, seed=request.seed, max_tokens=most, stop=stop)
        except ContextTooLong:
            return
        for said in answers:
            rest = () if below is None else request.lines[below:end]
            made = lines_of(said.text, request.lines[first], rest, whole=said.stopped_by is StopReason.END)
            for number, new in enumerate(made):
                yield Candidate(difference(request, first, end, new), "instruct", is_drawn=number == 0)


def messages_of(request: Request) -> tuple[Message, ...]:
    """What the model is asked, and the beginning of its answer: the code above the lines, without the last newline."""
    first, end = function_at(request.lines, request.first, request.end)
    asked = _prompt().render(
        language=request.language,
        code="\n".join(request.lines[first:end]),
        wrong="\n".join(request.lines[request.first : request.end]),
        failure=told(request.failure),
    )
    return *asked, Message("assistant", "\n".join([f"```{request.language}", *request.lines[first : request.first]]))


def code_below(request: Request, first: int, end: int) -> int | None:
    """The first line of code behind those of a request that stands once in lines[first:end]; None where there is none."""
    lines = request.lines
    return next((at for at in range(request.end, end) if _is_code(lines[at]) and lines[first:end].count(lines[at]) == 1), None)


def told(failure: Failure | None) -> str:
    """What is said of a failing test."""
    if failure is None:
        return "With it, the program fails hidden tests."
    test = f"With it, the test {failure.test} fails." if failure.test else "With it, a test fails."
    said = [("[ASSERTION]", failure.assertion, "[/ASSERTION]"), ("[ERROR]", failure.message[:_MAX_MESSAGE], "[/ERROR]")]
    return "\n".join([test, *("\n".join(part) for part in said if part[1].strip())])


def function_at(lines: Lines, first: int, end: int) -> tuple[int, int]:
    """The lines of the innermost function or class around lines[first:end], by indentation, so that a file need not parse."""
    said = [number for number in range(first, end) if lines[number].strip()]
    start, indent = first, min((len(indent_of(lines[number])) for number in said), default=0)
    while indent > 0 and start > 0 and not _DEFINES.match(lines[first]):
        start -= 1
        # what closes a bracket at the margin ends a signature of several lines, whose head is above
        if _is_code(lines[start]) and not _CLOSES.match(lines[start]) and len(indent_of(lines[start])) < indent:
            indent = len(indent_of(lines[start]))
            if _DEFINES.match(lines[start]):
                break
    stop = end
    while stop < len(lines) and (not _is_code(lines[stop]) or len(indent_of(lines[stop])) > indent):
        stop += 1
    if stop < len(lines) and _CLOSES.match(lines[stop]) and start < first:
        stop += 1
    start, stop = max(start, first - _BEFORE), min(stop, end + _AFTER)
    while stop > end and not _is_code(lines[stop - 1]) and len(indent_of(lines[stop - 1])) <= indent:
        stop -= 1
    while start < first and not lines[start].strip():
        start += 1
    return start, stop


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith(_COMMENTS)


def lines_of(answer: str, wanted: str, rest: Sequence[str] = (), *, whole: bool) -> list[list[str]]:
    """The lines of the last block of an answer, indented as a line that they begin with; none where there is no block.

    rest: the code behind what was asked for, where an answer ends. A block that was closed without it may leave it out, or may have lost
    it: both are given. whole: whether the answer ended by itself or before the rest, so that a block which is not closed is no part of one.
    """
    closed = _FENCED.findall(answer)
    blocks = closed or (_OPENED.findall(answer) if whole else [])
    if not blocks:
        return []
    lines = str(blocks[-1]).removesuffix("\n").split("\n")
    has_rest = not rest or rest[0].rstrip() in map(str.rstrip, lines)
    made = [lines] if has_rest else [lines, [*lines, *rest]] if closed else [[*lines, *rest]]
    return [found for each in made if (found := _indented(each, wanted))]


def _indented(block: Sequence[str], wanted: str) -> list[str]:
    """Lines without blank ones at their ends, indented as a line; none where all are blank."""
    lines = [line.rstrip() for line in block]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    if not lines:
        return []
    given, indent = indent_of(lines[0]), indent_of(wanted)
    if given == indent or not all(line.startswith(given) for line in lines if line):
        return lines
    return [indent + line.removeprefix(given) if line else line for line in lines]


def difference(request: Request, first: int, end: int, new: Sequence[str]) -> Change:
    """What `new` changes of lines[first:end] at the lines of a request or right beside them; the lines as they are for nothing."""
    matcher = SequenceMatcher(None, [line.rstrip() for line in request.lines[first:end]], new, autojunk=False)
    at = [
        (old, until, begin, stop)
        for kind, old, until, begin, stop in matcher.get_opcodes()
        if kind != "equal" and old + first <= request.end and request.first <= until + first
    ]
    if not at:
        return Change(request.first, request.end, request.lines[request.first : request.end])
    (old, _, begin, _), (_, until, _, stop) = at[0], at[-1]
    return change_of(request.lines, first + old, first + until, new[begin:stop])


@cache
def _prompt() -> PromptFile:
    return load_prompt(_PROMPT)
