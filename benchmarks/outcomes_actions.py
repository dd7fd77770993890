"""What the user of benchmarks/outcomes.py does with a suggestion: one function for each way, drawn from `ACTIONS`."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Any

from outcomes_editor import Editor, Screen, named

WORD = re.compile(r"\s*(?:\w+|[^\w\s]+)")


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
    """Accept the first line, then type elsewhere."""
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
    if await cycled(editor):
        await accept(editor)


async def next_and_dismiss(editor: Editor) -> None:
    if await cycled(editor):
        await dismiss(editor)


async def cycled(editor: Editor) -> bool:
    """Invoke alternatives, and cycle to the next."""
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
