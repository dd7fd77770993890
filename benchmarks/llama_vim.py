"""What llama.vim does, to the letter of its source (ggml-org/llama.vim, autoload/llama.vim, January 2026), against a llama-server.

Its defaults are kept: 256 lines before and 64 behind the cursor, up to 128 tokens of as many lines as the model writes; 250 ms of writing
for what is asked for first, 1,000 ms for what is asked in advance, behind the suggestion that was just shown; one request at a time, which
is never cancelled: what comes meanwhile waits for a timer of 100 ms; answers kept by hash, 250 of them, and looked for up to 128 characters
back; nothing is asked for where more than 8 characters stand behind the cursor.

A model whose metadata asks for an order of its own (`assay.fim.layout`: spm, the suffix first and the prefix behind the mark of the middle)
answers neither order of /infill with what has to do with the text. The same prompt, cut as /infill cuts it, then goes to /completion in the
model's own order; it is tokenized in this process for that, not by the server.

Left out: the ring of chunks from other places (there is one file, and fewer tokens are in its favour); curl, which llama.vim starts for
each request (here the request is sent by this process, which is faster). Where Vim counts bytes, this counts code points.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import harness
from llama_server import built_folder, free_port, wait_until_healthy
from replay import Buffer, Edit, GhostText

from assay.inference.llamacpp.gguf_header import read_header
from assay.inference.llamacpp.session import runtime
from assay.inference.llamacpp.vocabulary import Vocabulary

N_PREFIX, N_SUFFIX, N_PREDICT = 256, 64, 128
MAX_PROMPT_MS, FIRST_PREDICT_MS, MAX_PREDICT_MS = 500, 250, 1000
MAX_LINE_SUFFIX = 8
CACHE_KEYS = 250
LOOKED_BACK = 128
RETRY_S = 0.1
# What llama-server is started with for llama.vim (`--fim-qwen-1.5b-default`): a batch that the prompt is cut to, 3 of 4 tokens before the
# cursor, and the least that is taken over from the last prompt by shifting. A smaller context leaves room for what is written.
BATCH, CACHE_REUSE = 1024, 256
_JOINT = "Î"


@dataclass(frozen=True, slots=True)
class _Context:
    prefix: str
    middle: str
    suffix: str
    indent: int
    line_suffix: str


def batch_of(model: Path) -> int:
    """The tokens of a batch, to which a prompt is cut."""
    return min(BATCH, (read_header(model).context_length or 4 * BATCH) * 3 // 4)


class SuffixFirst:
    """Prompts in the order of a model that wants the suffix first, cut as llama-server cuts those of /infill."""

    def __init__(self, model: Path) -> None:
        self._llama, _ = runtime()
        parameters = self._llama.llama_model_default_params()
        parameters.vocab_only = True
        self._model = self._llama.llama_model_load_from_file(os.fsencode(model), parameters)
        self._vocabulary = Vocabulary(self._llama, self._llama.llama_model_get_vocab(self._model))
        self._batch = batch_of(model)

    def prompt(self, prefix: str, middle: str, suffix: str) -> list[int]:
        """Of 4 tokens up to 3 for the lines before the cursor's, and 1 for what stands behind the cursor, less what its line has."""
        assert self._vocabulary.fim is not None
        pre, suf, mid = self._vocabulary.fim
        before, line, behind = map(self._vocabulary.tokenize, (prefix, middle, suffix))
        kept = max(0, self._batch // 4 - 2 - len(line))
        return [*self._vocabulary.beginning, pre, suf, *behind[:kept], mid, *before[-3 * (self._batch // 4) :], *line]

    def close(self) -> None:
        self._llama.llama_model_free(self._model)


@contextmanager
def own_order(model: Path) -> Iterator[SuffixFirst | None]:
    """How prompts are made for this model, or None where /infill makes them."""
    if read_header(model).metadata.get("assay.fim.layout") != "spm":
        yield None
        return
    prompts = SuffixFirst(model)
    try:
        yield prompts
    finally:
        prompts.close()


@contextmanager
def llama_server(model: Path, threads: int) -> Iterator[tuple[str, int]]:
    """A llama-server as llama.vim's documentation starts it: its address and process."""
    batch, port = batch_of(model), free_port()
    command = [built_folder() / "llama-server", "--model", model, "--port", port, "--threads", threads, "--parallel", 1, "--ctx-size", 0]
    command += ["--batch-size", batch, "--ubatch-size", batch, "--cache-reuse", CACHE_REUSE, "--log-disable", "--no-webui"]
    with subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_healthy(process, f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.kill()


class LlamaVim:
    """The plugin with its editor; a `Contender`."""

    def __init__(self, name: str, address: str, process: int, prompts: SuffixFirst | None) -> None:
        self.name = name
        self.shown: GhostText | None = None
        self.news = asyncio.Event()
        self._address = urlsplit(address)
        self._process = process
        self._prompts = prompts
        self._buffer = Buffer("")
        self._cache: OrderedDict[str, str] = OrderedDict()
        self._job: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._hint: list[str] | None = None
        self._can_accept = False
        self._last_indent = -1
        self._error: Exception | None = None

    async def open(self, _file: Path, buffer: Buffer, /) -> None:
        self._buffer = buffer

    def changed(self, _edit: Edit, /) -> None:
        self.moved()

    def moved(self) -> None:
        """The autocommands for a cursor that moved in insert mode."""
        self._hide()
        self._try_hint()
        self._ask(None, [], automatic=True, cached=True)

    def invoked(self) -> None:
        if self._hint is not None:
            self._hide()
        else:
            self._ask(None, [], automatic=False, cached=False)

    def accepted(self, _edit: Edit, /) -> None:
        self.moved()

    async def rest(self) -> None:
        while self._job is not None or self._timer is not None:
            await asyncio.sleep(0.01)
        self._hide()
        if self._error is not None:
            raise self._error

    def cpu_seconds(self) -> float:
        return harness.cpu_seconds(self._process)

    def _context(self, line: int, column: int, previous: list[str]) -> _Context:
        """The text around a place; previous: a suggestion there, as if it had been accepted."""
        lines = self._buffer.lines
        current = lines[line] if line < len(lines) else ""
        behind = lines[line + 1 : line + 1 + N_SUFFIX]
        if not previous:
            before, blank = lines[max(0, line - N_PREFIX) : line], not current.strip(" \t")
            middle, line_suffix = ("", "") if blank else (current[:column], current[column:])
            indent = 0 if blank else len(current) - len(current.lstrip(" \t"))
        else:
            before = lines[max(0, line - N_PREFIX + len(previous) - 1) : line]
            whole = [current + previous[0], *previous[1:]]
            before, middle, line_suffix, indent = [*before, *whole[:-1]], whole[-1], "", self._last_indent
        return _Context("\n".join(before) + "\n", middle, line_suffix + "\n" + "\n".join(behind) + "\n", indent, line_suffix)

    def _ask(self, place: tuple[int, int] | None, previous: list[str], *, automatic: bool, cached: bool) -> None:
        """Ask the server. place: None for the cursor at the time of asking."""
        if self._job is not None:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(RETRY_S, self._ask_again, place, previous, cached)
            return
        context = self._context(*(place or (self._buffer.line, self._buffer.column)), previous)
        if automatic and len(context.line_suffix) > MAX_LINE_SUFFIX:
            return
        hashes = _hashes(context)
        if cached and any(self._cached(key) is not None for key in hashes):
            return
        self._last_indent = context.indent
        self._job = asyncio.create_task(self._request(context, hashes, MAX_PREDICT_MS if previous else FIRST_PREDICT_MS))

    def _ask_again(self, place: tuple[int, int] | None, previous: list[str], cached: bool) -> None:
        self._timer = None
        self._ask(place, previous, automatic=True, cached=cached)

    async def _request(self, context: _Context, hashes: list[str], max_ms: int) -> None:
        text = (context.prefix, context.middle, context.suffix)
        asked: dict[str, Any] = dict(zip(("input_prefix", "prompt", "input_suffix"), text, strict=True))
        path = "/infill"
        if self._prompts is not None:
            asked, path = {"prompt": self._prompts.prompt(*text)}, "/completion"
        body = asked | {
            "id_slot": 0,
            "input_extra": [],
            "n_predict": N_PREDICT,
            "stop": [],
            "n_indent": context.indent,
            "top_k": 40,
            "top_p": 0.90,
            "samplers": ["top_k", "top_p", "infill"],
            "stream": False,
            "cache_prompt": True,
            "t_max_prompt_ms": MAX_PROMPT_MS,
            "t_max_predict_ms": max_ms,
            "response_fields": ["content", "timings/prompt_n", "timings/predicted_n", "truncated", "tokens_cached"],
        }
        try:
            response = await _post(self._address.hostname or "", self._address.port or 0, path, body)
            for key in hashes:
                self._keep(key, response["content"])
            # The job counts as running until here: what is asked for in advance of this suggestion waits for the timer.
            if self._hint is None or not self._can_accept:
                self._try_hint()
        except (OSError, RuntimeError) as error:
            self._error = error
        finally:
            self._job = None

    def _try_hint(self) -> None:
        """Show what is kept for this place, or for a place shortly before it if what was typed since agrees."""
        line, column = self._buffer.line, self._buffer.column
        context = self._context(line, column, [])
        content = self._cached(_hash(context.prefix + context.middle, context.suffix))
        if content is None:
            typed, longest = context.prefix + context.middle, 0
            for count in range(1, min(LOOKED_BACK, len(typed)) + 1):
                earlier = self._cached(_hash(typed[:-count], context.suffix))
                if earlier is None or earlier[:count] != typed[-count:]:
                    continue
                rest = earlier[count:]
                if rest and content is None:
                    content = rest
                elif len(rest) > longest:  # the first one's length is not taken note of there either
                    content, longest = rest, len(rest)
        if content is None:
            return
        self._render(content)
        if self._hint is not None:
            self._ask((line, column), self._hint, automatic=True, cached=True)

    def _render(self, text: str) -> None:
        buffer = self._buffer
        lines, following = text.split("\n"), buffer.lines[buffer.line + 1 :]
        while lines and not lines[-1]:
            lines.pop()
        self._can_accept, lines = bool(lines), lines or [""]
        current = buffer.lines[buffer.line]
        if not current.strip(" \t"):
            lead = min(len(lines[0]) - len(lines[0].lstrip(" \t")), len(current))
            current, lines[0] = lines[0][:lead], lines[0][lead:]
        before, behind = current[: buffer.column], current[buffer.column :]
        if _repeats(lines, before, behind, following):
            lines = [""]
        lines[-1] += behind
        self._can_accept = self._can_accept and any(line.strip(" \t") for line in lines)
        self._hint = lines
        seen = [*lines[:-1], lines[-1].removesuffix(behind)]
        if any(line.strip() for line in seen):
            self.shown = GhostText("\n".join(seen), before + "\n".join(seen), time.perf_counter())
            self.news.set()

    def _hide(self) -> None:
        self.shown = self._hint = None

    def _cached(self, key: str) -> str | None:
        if key in self._cache:
            self._cache.move_to_end(key)
        return self._cache.get(key)

    def _keep(self, key: str, answer: str) -> None:
        if len(self._cache) > CACHE_KEYS - 1:
            self._cache.popitem(last=False)
        self._cache[key] = answer
        self._cache.move_to_end(key)


def _hash(before: str, suffix: str) -> str:
    return hashlib.sha256((before + _JOINT + suffix).encode("utf-8", "surrogatepass")).hexdigest()


def _hashes(context: _Context) -> list[str]:
    """The hashes of this place, and of the same with up to three lines less at the top, as when the window has moved."""
    prefix, found = context.prefix, []
    for _ in range(4):
        found.append(_hash(prefix + context.middle, context.suffix))
        prefix = prefix.partition("\n")[2]
        if not prefix:
            break
    return found


def _repeats(lines: list[str], before: str, behind: str, following: list[str]) -> bool:
    """Whether a suggestion repeats what is there already: the rest of the line, or the next lines."""
    first, rest = lines[0], lines[1:]
    if not first and rest and rest == following[: len(rest)]:
        return True
    if not rest and first == behind:
        return True
    at = next((n for n, line in enumerate(following[:-1]) if line.strip(" \t")), max(0, len(following) - 1))
    if not following or before + first != following[at]:
        return False
    after = following[at + 1 :]
    if len(rest) == 1:
        return bool(after) and after[0].startswith(rest[0])
    return rest == after[: len(rest)]


async def _post(host: str, port: int, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """One request on a connection of its own. Raises RuntimeError for any answer but 200."""
    data = json.dumps(body).encode()
    lines = (
        f"POST {path} HTTP/1.1",
        f"Host: {host}",
        "Content-Type: application/json",
        f"Content-Length: {len(data)}",
        "Connection: close",
    )
    head = "".join(f"{line}\r\n" for line in (*lines, ""))
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(head.encode() + data)
        header, _, content = (await reader.read()).partition(b"\r\n\r\n")
    finally:
        writer.close()
    if b" 200 " not in header.partition(b"\r\n")[0]:
        raise RuntimeError(f"llama-server refused: {header.partition(bytes([13]))[0].decode()} {content.decode(errors='replace')[:300]}")
    answer: dict[str, Any] = json.loads(content)
    return answer
