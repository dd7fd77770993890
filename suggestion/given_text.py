"""A given text as a generation at a cursor: what the model says of a text that it did not write, by the measures of what it writes."""

from __future__ import annotations

from dataclasses import replace

from ..inference.completion.prompt import Surroundings
from ..inference.completion.settings import Settings
from ..inference.completion.task import Kind
from ..inference.model import Generation, Model
from ..inference.project_memory.memory import Memory
from .complete import prompt_for
from .cursor import Cursor
from .cut.overlap import without_overlap
from .cut.steps import cut_after_writing, text_to_show
from .stopping_rule import stop_at
from .syntax.guard import breaks


def generation_of(
    model: Model,
    prefix: str,
    suffix: str,
    text: str,
    *,
    kind: Kind = "line",
    language: str = "plaintext",
    settings: Settings | None = None,
    surroundings: Surroundings | None = None,
    memory: Memory | None = None,
    cut_off: bool = False,
) -> Generation:
    r"""The generation that `complete` would have made at this cursor, had the model written this text (`Model.replay`).

    Of a text that `complete` gave it has the same measures. As there, a line may end behind what repeats the rest of the cursor's line,
    and a newline of any kind is `\n`.

    cut_off: the text is a block's or a function's first part, as `complete` leaves it where a budget or a loop ended the text. Then no
    token of its end counts. Raises what `Model.replay` raises.
    """
    cursor = Cursor(prefix, suffix, kind, language)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    prompt = prompt_for(model, prefix, suffix, kind=kind, settings=settings, surroundings=surroundings, memory=memory)
    stop, repeated = (None, ()) if cut_off else (stop_at(cursor), _repeated(text, cursor))
    generation = model.replay(prompt, text, stop=stop, repeated=repeated)
    cut = generation if cut_off else cut_after_writing(generation, cursor)
    shown = text_to_show(text, cursor)
    return replace(cut, text=text, memory="" if memory is None else memory.fingerprint, parses=shown is None or not breaks(shown, cursor))


def _repeated(text: str, cursor: Cursor) -> tuple[str, ...]:
    """The beginnings of the rest of the cursor's line that would be cut off again behind this text."""
    rest = cursor.rest_of_line if cursor.task == "line_middle" else ""
    beginnings = (rest[:size] for size in range(1, len(rest) + 1))
    return tuple(more for more in beginnings if without_overlap(text + more, cursor) == text)
