"""A real Neovim in a real terminal (tmux), with the plugin of this tree and the real server; keys go in, the screen comes out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "editors" / "nvim"
TIMEOUT_S = float(os.environ.get("ASSAY_EDITOR_TIMEOUT_S", "60"))
# The longest that one test may take.
PATIENCE_S = 180.0
COLUMNS, ROWS = 110, 30

# Debian suite, and the Neovim that it has.
VERSIONS = {"trixie": "0.10", "forky": "0.12"}

_INIT = """
vim.opt.runtimepath:prepend({plugin})
vim.opt.swapfile = false
vim.opt.shortmess:append('I')
vim.opt.more = false
vim.opt.termguicolors = true
vim.opt.background = 'dark'
vim.opt.expandtab = true
vim.opt.shiftwidth = 4
vim.opt.laststatus = 2
-- what the plugin sends, in its order
sent = {{}}
-- how often the server asked for the settings
configured = 0
local configuration = vim.lsp.handlers['workspace/configuration']
vim.lsp.handlers['workspace/configuration'] = function(...)
  configured = configured + 1
  return configuration(...)
end
default_tab = vim.fn.maparg('<Tab>', 'i', false, true)
{before}
local ok, pynvim_error = pcall(function() {setup} end)
if not ok then error(pynvim_error) end
vim.api.nvim_create_autocmd('LspAttach', {{ once = true, callback = function()
  local client = require('assay.client')
  local request, execute, cancel = client.request, client.execute, client.cancel
  client.request = function(method, params, ...)
    if method ~= 'workspace/executeCommand' then table.insert(sent, {{ method, vim.tbl_get(params, 'context', 'triggerKind') }}) end
    return request(method, params, ...)
  end
  client.execute = function(name, argument, ...)
    table.insert(sent, {{ name, argument.id or argument.minutes }})
    return execute(name, argument, ...)
  end
  client.cancel = function(id) table.insert(sent, {{ 'cancel', id }}) return cancel(id) end
end }})
"""

_FRESH = """
if vim.fn.reg_recording() ~= '' then vim.cmd('normal! q') end
local config, client = require('assay.config'), require('assay.client')
-- one in a hundred of what the dial hides would be shown, and the dial is about what is likely: most tests are not
require('assay').setup({ cmd = config.current.cmd, settings = { explore = 0, showAbove = 0 } })
client.execute('assay.pause', { minutes = 0 })
vim.o.completeopt, vim.o.wrap, vim.o.foldmethod, vim.o.statusline = 'menu,preview', true, 'manual', ''
vim.cmd('silent! iunmap <Tab> | imapclear <buffer> | messages clear')
if not vim.tbl_isempty(default_tab) then vim.fn.mapset('i', false, default_tab) end
"""

SETUP = "require('assay').setup({options})"

Found = TypeVar("Found")


def editors() -> Path:
    """Where `tests/editors/install-nvim` puts them."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("ASSAY_EDITORS") or cache / "assay" / "editors")


def why_not(suite: str) -> str:
    """Why tests in this suite's Neovim can't run here; empty where they can."""
    if shutil.which("tmux") is None:
        return "tmux is not installed"
    try:
        import pynvim  # noqa: F401
    except ImportError:
        return "pynvim is not installed: pip install -e '.[dev]'"
    if not (editors() / f"nvim-{suite}" / "nvim").exists():
        return f"Neovim {VERSIONS[suite]} is not there: run tests/editors/install-nvim {suite}"
    return ""


def serve_command(*more: str) -> str:
    """The server of this tree, as Lua's list."""
    return "{ " + ", ".join(f"[=[{part}]=]" for part in (sys.executable, "-m", "assay", "serve", *more)) + " }"


@dataclass
class Screen:
    """What the terminal shows."""

    lines: list[str]
    coloured: str

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Neovim:
    """One Neovim. `v` is its API, `keys` types as a person does."""

    def __init__(self, suite: str, folder: Path, *, options: str = "", before: str = "", setup: str | None = None) -> None:
        import pynvim

        self.folder = folder
        self.text = ""
        folder.mkdir(parents=True, exist_ok=True)
        self.socket, self.init = folder / "s", folder / "init.lua"
        if setup is None:
            setup = SETUP.format(options="{ cmd = " + serve_command() + ", settings = { showAbove = 0 }, " + options + " }")
        self.init.write_text(_INIT.format(plugin=f"[=[{PLUGIN}]=]", before=before, setup=setup), encoding="utf-8")
        self._tmux = ["tmux", "-S", str(folder / "t"), "-f", "/dev/null"]
        environment = os.environ | {
            **{f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")},
            "ASSAY_DATA_HOME": str(folder / "assay"),
            "TERM": "tmux-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT / ".typing"),
            "OMP_NUM_THREADS": "1",
        }
        environment.pop("NVIM", None)
        environment.pop("TMUX", None)
        program = editors() / f"nvim-{suite}" / "nvim"
        command = f"exec {program} --clean -u {self.init} --listen {self.socket} 2> {folder / 'stderr'}"
        subprocess.run(
            [*self._tmux, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), command], check=True, env=environment, cwd=folder
        )
        subprocess.run([*self._tmux, "set-option", "-g", "escape-time", "0"], check=True)
        subprocess.run([*self._tmux, "set-option", "-ga", "terminal-overrides", ",*:Tc"], check=True)

        def attached() -> Any:
            # the socket's file is there a moment before somebody listens
            with suppress(OSError):
                return pynvim.attach("socket", path=str(self.socket))

        self.v: Any = self.until(attached, "Neovim listens")
        # asked for now: while it waits for a person it answers nothing but its mode
        self.pid: int = self.v.funcs.getpid()
        self._watch: threading.Timer | None = None
        self.watch()
        # it listens before it has read its configuration
        self.until(lambda: not self.v.api.get_mode()["blocking"] and self.v.vvars["vim_did_enter"], "Neovim has started")

    def watch(self) -> None:
        """Give it so much time from now on: a Neovim that does not answer would be waited for without end, for pynvim knows no timeout."""
        if self._watch is not None:
            self._watch.cancel()
        self._watch = threading.Timer(PATIENCE_S, self._kill)
        self._watch.daemon = True
        self._watch.start()

    def _kill(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)

    # -- the screen

    def screen(self) -> Screen:
        plain = self._capture("-p")
        return Screen([line.rstrip() for line in plain.splitlines()], self._capture("-p", "-e"))

    def _capture(self, *how: str) -> str:
        return subprocess.run([*self._tmux, "capture-pane", *how], capture_output=True, text=True, check=True).stdout

    def until(self, found: Callable[[], Found], what: str, timeout_s: float = TIMEOUT_S) -> Found:
        """The first result that is true. Raises AssertionError with the screen after the time."""
        ends = time.monotonic() + timeout_s
        while True:
            if result := found():
                return result
            if time.monotonic() > ends:
                raise AssertionError(f"not seen within {timeout_s:.0f} s: {what}\n{self._capture('-p')}")
            time.sleep(0.01)

    def seen(self, text: str) -> None:
        """Wait until the screen shows a text."""
        self.until(lambda: text in self.screen().text, f"{text!r} on the screen")

    def gone(self, text: str) -> None:
        """Wait until the screen does not show it."""
        self.until(lambda: text not in self.screen().text, f"no {text!r} on the screen")

    def frames(self, act: Callable[[], None]) -> list[list[str]]:
        """Every picture that Neovim draws while something is done. A look at the terminal sees some of them, and those half drawn, too."""
        grid = [[" "] * COLUMNS for _ in range(ROWS)]
        frames: list[list[str]] = []
        self.v.ui_attach(COLUMNS, ROWS, rgb=True, ext_linegrid=True)
        try:
            self._free()
            act()
            self._free()
            self.v.call("rpcnotify", self.v.channel_id, "done")
            while (message := self.v.next_message())[1] != "done":
                for name, *calls in message[2]:
                    for call in calls:
                        _draw(grid, name, call)
                    if name == "flush":
                        frames.append(["".join(row).rstrip() for row in grid])
        finally:
            self.v.ui_detach()
        return frames

    # -- keys

    def keys(self, *keys: str) -> None:
        """Press keys by tmux's names: Escape, Tab, Enter, C-], M-Right."""
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def type(self, text: str) -> None:
        """Type a text as it is."""
        subprocess.run([*self._tmux, "send-keys", "-l", text], check=True)

    def press(self, *keys: str) -> None:
        """Press keys, and wait until Neovim has taken them."""
        self.keys(*keys)
        self.settle()

    def write(self, text: str) -> None:
        """Type a text, and wait until Neovim has taken it."""
        self.type(text)
        self.settle()

    def settle(self) -> None:
        """Wait until Neovim has taken all keys that were sent: a mark that travels behind them comes out."""
        self._free()
        self.v.vars["settled"] = 0
        self.keys("F12")
        self.until(lambda: not self.v.api.get_mode()["blocking"] and self.v.vars["settled"], "the keys were taken")

    # -- the state

    def lua(self, code: str, *arguments: Any) -> Any:
        self._free()
        return self.v.exec_lua(code, *arguments)

    def command(self, command: str) -> None:
        """Run an Ex command, without keys."""
        self._free()
        self.v.command(command)

    def _free(self) -> None:
        """A Neovim that waits for a person, for example to press Enter, answers nothing: say so instead of waiting with it."""
        self.until(lambda: not self.v.api.get_mode()["blocking"], "Neovim waits for no key", 5.0)

    def lines(self) -> list[str]:
        lines: list[str] = self.v.api.buf_get_lines(0, 0, -1, False)
        return lines

    def cursor(self) -> tuple[int, int]:
        row, col = self.v.api.win_get_cursor(0)
        return row, col

    def marks(self) -> dict[int, dict[str, Any]]:
        """The plugin's extmarks in the current buffer: 1 is the ghost text, 2 the badge."""
        space = self.v.api.create_namespace("assay")
        found = self.v.api.buf_get_extmarks(0, space, 0, -1, {"details": True})
        return {number: details | {"row": row, "col": col} for number, row, col, details in found}

    def ghost(self) -> str | None:
        """The ghost text, None where there is none."""
        mark = self.marks().get(1)
        if mark is None:
            return None
        first = "".join(chunk[0] for chunk in mark.get("virt_text") or [])
        below = ["".join(chunk[0] for chunk in line) for line in mark.get("virt_lines") or [] if line[0][1] == "AssayGhost"]
        return "\n".join([first, *below])

    def badge(self) -> tuple[str, str] | None:
        """Text and highlight group of the badge, None where there is none."""
        marks = self.marks()
        if 2 in marks:
            text, group = marks[2]["virt_text"][0]
            return text.strip(), group
        for line in marks.get(1, {}).get("virt_lines") or []:
            if line[0][1] != "AssayGhost":
                return line[0][0].strip(), line[0][1]
        return None

    def badge_text(self) -> str:
        return (self.badge() or ("", ""))[0]

    def wait_ghost(self) -> str:
        """The ghost text, when there is one."""
        return self.until(self.ghost, "ghost text")

    def sent(self, name: str) -> list[Any]:
        """What came with each message of this name that the plugin sent."""
        return [what for method, *rest in self.lua("return sent") if method == name for what in (rest or [None])]

    def until_sent(self, name: str) -> list[Any]:
        """What came with the messages of this name, when there is one."""
        return self.until(lambda: self.sent(name), f"{name} was sent")

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """The server's answer to a request."""
        return self.lua(
            """local method, params, answer = ...
            require('assay.client').request(method, params or vim.empty_dict(), function(_, result) answer = result end)
            vim.wait(10000, function() return answer end, 5)
            return answer""",
            method,
            *([params] if params else []),
        )

    def status(self) -> dict[str, Any]:
        """What the server says of itself."""
        found: dict[str, Any] = self.ask("assay/status")
        return found

    def messages(self) -> str:
        found: str = self.v.command_output("messages")
        return found

    def configure(self, change: Callable[[], Any]) -> None:
        """Change settings, and wait until the server has them: it asks for them, and only then takes them."""
        before = self.lua("return configured")
        change()
        self.until(lambda: self.lua("return configured") > before, "the server asked for the settings")
        for _ in range(2):
            self.status()

    def set(self, name: str, value: Any) -> None:
        """Change one setting of the server."""
        self.configure(lambda: self.lua("require('assay.client').change(...)", name, value))

    def ready(self) -> None:
        """Wait until the server has its model."""
        self.until(lambda: self.lua("local s = require('assay.status').last; return s and s.state == 'ready'"), "the model is ready")

    def attached(self) -> None:
        """Wait until the server has the current buffer."""
        self.until(lambda: self.lua("return require('assay.client').attached(0)"), "the server is attached")

    def fresh(self) -> None:
        """As it was at its start, but for the server, which has its model and its memory."""
        self.watch()
        self.press("Escape", "Escape")
        self.configure(lambda: self.lua(_FRESH))
        self.set("kind", "auto")
        self.settle()

    def edit(self, name: str, text: str, *, at: tuple[int, int] | None = None) -> None:
        """Begin anew with one window and one file; the cursor on `at` (line from 1, byte from 0), by default at the end."""
        self.press("Escape")
        path = self.folder / name
        path.write_bytes(text.encode())
        self.command("silent! only! | silent! %bwipeout!")
        self.command(f"edit {path}")
        self.lua("sent = {}")
        self.attached()
        lines = self.lines()
        self.v.api.win_set_cursor(0, list(at or (len(lines), len(lines[-1].encode()))))

    def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        with suppress(Exception):
            self._free()
            self.v.command("qall!")
        with suppress(Exception):
            self.v.close()
        self._kill()
        # The next one listens at the same socket.
        deadline = time.monotonic() + TIMEOUT_S
        with suppress(ProcessLookupError):
            while time.monotonic() < deadline:
                os.kill(self.pid, 0)
                time.sleep(0.01)


@contextmanager
def neovim(suite: str, folder: Path, **how: Any) -> Iterator[Neovim]:
    editor = Neovim(suite, folder, **how)
    try:
        editor.lua("for _, mode in ipairs({'n', 'i', 'x', 's'}) do vim.keymap.set(mode, '<F12>', '<Cmd>let g:settled = 1<CR>') end")
        yield editor
    finally:
        editor.close()


def _draw(grid: list[list[str]], name: str, call: list[Any]) -> None:
    """What an event of Neovim's `ui-linegrid` does to the screen's cells."""
    if name == "grid_clear":
        for row in grid:
            row[:] = [" "] * len(row)
    elif name == "grid_line":
        _, number, column, cells, *_ = call
        for text, *more in cells:
            times = more[1] if len(more) > 1 else 1
            grid[number][column : column + times] = [text] * times
            column += times
    elif name == "grid_scroll":
        _, top, bottom, left, right, rows, _ = call
        before = [row[left:right] for row in grid]
        for number in range(max(top, top - rows), min(bottom, bottom - rows)):
            grid[number][left:right] = before[number + rows]


def colour_of(coloured: str, text: str) -> str | None:
    """The foreground of a text in what `capture-pane -e` gives: "#RRGGBB" or a number of 256; None where the text is not there."""
    for line in coloured.splitlines():
        foreground, plain, colours = "", "", []
        for piece in re.split(r"(\x1b\[[0-9;:]*m)", line):
            if piece.startswith("\x1b["):
                numbers = [int(n or 0) for n in re.split("[;:]", piece[2:-1])]
                foreground = _after(numbers, foreground)
            else:
                plain += piece
                colours += [foreground] * len(piece)
        if (at := plain.find(text)) >= 0:
            return colours[at]
    return None


def _after(numbers: list[int], foreground: str) -> str:
    index = 0
    while index < len(numbers):
        number = numbers[index]
        if number in (38, 48):
            if numbers[index + 1] == 2:
                red, green, blue = numbers[index + 2 : index + 5]
                value, index = f"#{red:02X}{green:02X}{blue:02X}", index + 5
            else:
                value, index = str(numbers[index + 2]), index + 3
            foreground = value if number == 38 else foreground
            continue
        if number in (0, 39):
            foreground = ""
        index += 1
    return foreground
