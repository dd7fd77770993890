"""A model's own chat template: from messages to the prompt that the model was trained with, for the models of this process."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..chat_format import ChatFormat
from ..errors import NoChat
from ..model import Fingerprint, Prompt
from .asker import Message

# For starting the process, too, on a machine that does much else.
SECONDS = 20.0
# -P, and no module of the package: a workspace's json.py must not be imported in place of Python's own.
_COMMAND = ("-P", str(Path(__file__).with_name("render.py")))
# More than any context holds.
_MAX_CHARACTERS = 1 << 22
_ASKED, _ANSWERED, _ASKED_AGAIN, _SYSTEM = "Say one word.", "Assay.", "Say another one.", "You say little."
# For private use, so that hardly a text has them.
_MARKS = range(0xF0000, 0xFFFFE)


class ChatTemplate:
    """Makes prompts of messages. It owns a process that renders the template, within bounds of time, memory and length.

    What spells a control token in a message stays text: only the template places control tokens. A system message goes in front of the
    user's first one where the template has no place for it. The beginning of an answer stands behind what the template writes before one.

    Parameters
        where: the model, for error messages.

    Raises in all methods NoChat where the template fails.
    """

    def __init__(self, chat_format: ChatFormat, where: str, seconds: float = SECONDS) -> None:
        self._format, self._where, self._seconds = chat_format, where, seconds
        spellings = "|".join(re.escape(each) for each in sorted(chat_format.controls, key=len, reverse=True)) or r"(?!)"
        self._control, self._spelled = re.compile(f"({spellings})"), re.compile(f"(?s)(?={spellings}).")
        self._child: subprocess.Popen[str] | None = None

    @functools.cached_property
    def asks(self) -> bool:
        """Whether what the user asks is in the prompt."""
        return _ASKED in self._rendered([Message("user", _ASKED)])

    @functools.cached_property
    def stop(self) -> tuple[str, ...]:
        """What an answer ends with, where that is a text: a control token ends one by itself."""
        with contextlib.suppress(NoChat):
            turns = [Message("user", _ASKED), Message("assistant", _ANSWERED), Message("user", _ASKED_AGAIN)]
            between = self._rendered(turns).partition(_ANSWERED)[2].partition(_ASKED_AGAIN)[0]
            return tuple(line.strip() for line in self._control.split(between)[0].splitlines() if line.strip())[:1]
        return ()

    def identify(self, model: Fingerprint) -> Fingerprint:
        """What is asked: the model with this template."""
        if self._format.hashed:
            return model
        return replace(model, tokenizer=hashlib.sha256(f"{model.tokenizer}:{self._format.template}".encode()).hexdigest())

    def prompt(self, messages: Sequence[Message]) -> Prompt:
        """The prompt that asks for the answer, or for the rest of one that begins as the last message."""
        mark = next(chr(mark) for mark in _MARKS if not any(chr(mark) in message.text for message in messages))
        marked = [replace(message, text=self._spelled.sub(rf"\g<0>{mark}", message.text)) for message in messages]
        parts, controls = self._control.split(self.text(marked)), self._format.controls
        tokens: list[int] = []
        for number, part in enumerate(parts):
            if number % 2:
                tokens.append(controls[part].id)
                continue
            if number and controls[parts[number - 1]].strips_behind:
                part = part.lstrip()
            if number + 1 < len(parts) and controls[parts[number + 1]].strips_before:
                part = part.rstrip()
            tokens += self._format.tokenize(part.replace(mark, ""), number == 0) if part else []
        beginning = self._format.beginning
        return Prompt(tuple(tokens) if tuple(tokens[: len(beginning)]) == beginning else (*beginning, *tokens), "left_to_right")

    def text(self, messages: Sequence[Message]) -> str:
        """The prompt as text."""
        *before, last = messages
        asked, begun = (before, last.text) if last.role == "assistant" else (messages, "")
        if asked[0].role == "system" and not self._takes_system:
            asked = _without_system(asked)
        return self._rendered(asked) + begun

    def close(self) -> None:
        """End the process. A second time does nothing."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    @functools.cached_property
    def _takes_system(self) -> bool:
        with contextlib.suppress(NoChat):
            return _SYSTEM in self._rendered([Message("system", _SYSTEM), Message("user", _ASKED)])
        return False

    def _rendered(self, messages: Sequence[Message]) -> str:
        sent = [{"role": message.role, "content": message.text} for message in messages]
        asked = {"template": self._format.template, "named": dict(self._format.named), "messages": sent, "most": _MAX_CHARACTERS}
        if self._child is None:
            pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
            self._child = subprocess.Popen([sys.executable, *_COMMAND], stdin=pipe, stdout=pipe, stderr=nothing, text=True)
        child, late = self._child, threading.Event()

        def end() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(self._seconds, end)
        timer.start()
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(json.dumps(asked) + "\n")
            child.stdin.flush()
            answer = json.loads(child.stdout.readline())
        except (OSError, ValueError):  # the process has ended
            self.close()
            answer = {"error": f"it is not done after {self._seconds:g} seconds" if late.is_set() else "its process ended"}
        except BaseException:  # its answer must not be taken for that to another question
            self.close()
            raise
        finally:
            timer.cancel()
        if "error" in answer:
            raise NoChat(self._where, f"its chat template fails: {answer['error']}".rstrip("."))
        return str(answer["text"])


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """The same, with the system message in front of the user's first."""
    system, *others = messages
    first = next(number for number, message in enumerate(others) if message.role == "user")
    others[first] = Message("user", f"{system.text}\n\n{others[first].text}")
    return others
