"""An instruct model is shown the lines in their file, and what a failing test says, and is asked for the right ones.

The prompt is that of Gu et al. (arXiv 2402.19475, appendix B.2), for lines instead of a whole program.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ....inference.asking.asker import Message, last_block
from ....inference.asking.prompts import PromptFile, load_prompt
from ..candidate import Candidate, change_of, indent_of
from ..request import Failure, Request

_PROMPT = Path(__file__).parents[1] / "prompts" / "lines.txt"
# Lines of the file that are shown before and behind the wrong ones.
_BEFORE, _AFTER = 60, 30
_MAX_TOKENS = 1_024
# A test may compare whole files.
_MAX_MESSAGE = 2_000


def why_not(request: Request) -> str:
    """Why there is nobody to ask; empty where there is."""
    return "" if request.asker else "no instruct model was named"


def candidates(request: Request) -> Iterator[Candidate]:
    """What the model answers, greedily and drawn; what can't be read is no candidate. Raises what `Asker.say` raises."""
    asker, messages = request.asker, messages_of(request)
    if asker is None:
        return
    for temperature, count in ((0.0, 1), (request.temperature, request.draws)):
        for number in range(count):
            if request.asking.is_over():
                return
            (said,) = asker.say(
                messages, temperature=temperature, seed=request.seed + number, max_tokens=_MAX_TOKENS, stop=("[/LINES]",)
            )  # fmt: skip
            if (lines := lines_of(said.text, request.lines[request.first])) is not None:
                yield Candidate(change_of(request.lines, request.first, request.end, lines), "instruct", is_drawn=True)


def messages_of(request: Request) -> tuple[Message, ...]:
    """What the model is asked."""
    lines, first, end = request.lines, request.first, request.end
    return _prompt().render(
        language=request.language,
        before="\n".join(lines[max(0, first - _BEFORE) : first]),
        wrong="\n".join(lines[first:end]),
        after="\n".join(lines[end : end + _AFTER]),
        failure=told(request.failure),
    )


def told(failure: Failure | None) -> str:
    """What is said of a failing test."""
    if failure is None:
        return "With them, the program fails hidden tests."
    test = f"With them, the test {failure.test} fails." if failure.test else "With them, a test fails."
    said = [("[ASSERTION]", failure.assertion, "[/ASSERTION]"), ("[ERROR]", failure.message[:_MAX_MESSAGE], "[/ERROR]")]
    return "\n".join([test, *("\n".join(part) for part in said if part[1].strip()), ""])


def lines_of(answer: str, wrong: str) -> list[str] | None:
    """The lines that an answer gives, indented as the first wrong line is; None where it gives none."""
    block = last_block(answer, "LINES", strip=False)
    lines = [line.rstrip() for line in (block or "").split("\n") if not line.lstrip().startswith("```")]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    if not lines:
        return None
    given, wanted = indent_of(lines[0]), indent_of(wrong)
    if given == wanted or not all(line.startswith(given) for line in lines if line):
        return lines
    return [wanted + line.removeprefix(given) if line else line for line in lines]


@cache
def _prompt() -> PromptFile:
    return load_prompt(_PROMPT)
