"""How the plugin finds, starts and loses its server, and Neovim's own clients without the plugin; each in a Neovim of its own."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from editors.nvim_terminal import ROOT, Neovim, neovim, serve_command
from tiny_gguf import scripted, write_tiny_gguf

from assay.calibration.calibrator import load

from ..server.synthetic_log import Fate, write_log

pytestmark = [pytest.mark.slow, pytest.mark.editor]

CODE = "def add(a, b):\n    return "


def servers(nvim: Neovim) -> dict[int, str]:
    """The servers that this Neovim started: what was run, by process id."""
    found = subprocess.run(["ps", "-ww", "-o", "pid=,args=", "--ppid", str(nvim.pid)], capture_output=True, text=True, check=False).stdout
    lines = [line.split(maxsplit=1) for line in found.splitlines()]
    return {int(number): what for number, what in lines if what.endswith(" serve")}


def program(path: Path) -> Path:
    """An `assay` of this tree at a path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\nimport sys\nfrom assay.cli.main import main\nsys.exit(main())\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_server_that_is_killed_is_started_again_and_suggests(suite: str, folder: Path) -> None:
    with neovim(suite, folder) as nvim:
        nvim.edit("a.py", CODE)
        nvim.ready()
        (first,) = servers(nvim)
        os.kill(first, signal.SIGKILL)
        nvim.until(lambda: "is being restarted" in nvim.messages(), "a message")
        nvim.until(lambda: set(servers(nvim)) - {first}, "another server")
        nvim.ready()
        nvim.attached()
        nvim.press("A")
        assert nvim.wait_ghost()


def test_a_server_that_is_killed_again_and_again_is_let_go_and_restarted_on_demand(suite: str, folder: Path) -> None:
    with neovim(suite, folder) as nvim:
        nvim.edit("a.py", CODE)
        for _ in range(4):
            (running,) = nvim.until(lambda: servers(nvim), "a server")
            nvim.attached()
            os.kill(running, signal.SIGKILL)
            nvim.until(lambda running=running: running not in servers(nvim), "it ended")
            nvim.until(lambda: not nvim.lua("return require('assay.client').get() ~= nil") or servers(nvim), "Neovim noticed")
        nvim.until(lambda: "ended again (signal 9)" in nvim.messages(), "a message")
        assert not servers(nvim)
        assert nvim.lua("return require('assay').statusline()") == "Assay ✗"
        nvim.command("Assay restart")
        nvim.ready()
        assert len(servers(nvim)) == 1


def test_restart_leaves_one_server(suite: str, folder: Path) -> None:
    with neovim(suite, folder) as nvim:
        nvim.edit("a.py", CODE)
        nvim.ready()
        (first,) = servers(nvim)
        nvim.command("Assay restart")
        nvim.until(lambda: (now := servers(nvim)) and first not in now, "another server")
        nvim.ready()
        assert len(servers(nvim)) == 1
        assert "restarted" not in nvim.messages()


def test_a_model_without_calibrators_shows_no_digit(suite: str, folder: Path) -> None:
    model = write_tiny_gguf(folder / "answering.gguf", scripted(b" answer", b"\n"))
    options = f"cmd = {serve_command()}, settings = {{ model = [=[{model}]=], event = 'kept' }}"
    with neovim(suite, folder, setup=f"require('assay').setup({{ {options} }})") as nvim:
        nvim.edit("a.py", "# what?")
        nvim.ready()
        nvim.press("A")
        assert nvim.wait_ghost() == " answer"
        assert nvim.badge() == ("○ no evidence", "AssayNoEvidence")
        nvim.seen("# what? answer  ○ no evidence")


def test_one_server_serves_two_projects(suite: str, folder: Path) -> None:
    with neovim(suite, folder) as nvim:
        for name in ("one", "two"):
            (folder / name / ".git").mkdir(parents=True)
            nvim.edit(f"{name}/a.py", CODE)
        nvim.ready()
        assert len(servers(nvim)) == 1
        folders = nvim.lua("return vim.tbl_map(function(f) return f.name end, require('assay.client').get().workspace_folders)")
        assert folders == [str(folder / "one"), str(folder / "two")]


def test_without_a_server_it_is_said_once_what_to_do(suite: str, folder: Path) -> None:
    before = f"vim.env.PATH = [=[{folder}]=]"
    with neovim(suite, folder, before=before, setup="require('assay').setup()") as nvim:
        for name in ("a.py", "b.py"):
            (folder / name).write_text(CODE, encoding="utf-8")
            nvim.command(f"edit {folder / name}")
        messages = nvim.messages()
        assert messages.count("no `assay` on PATH") == 1
        nvim.command("silent checkhealth assay")
        assert "no `assay` on PATH" in "\n".join(nvim.lines())
        assert nvim.lua("return require('assay').statusline()") == "Assay ✗"


def test_of_two_setups_at_the_start_the_second_holds(suite: str, folder: Path) -> None:
    with neovim(suite, folder, options="settings = { showAbove = 0.9 }") as nvim:
        (folder / "a.py").write_text(CODE, encoding="utf-8")
        nvim.lua(
            """vim.cmd('silent edit ' .. ...)
            require('assay').setup({ cmd = require('assay.config').current.cmd, settings = { showAbove = 0.1 } })""",
            str(folder / "a.py"),
        )
        nvim.ready()
        nvim.until(lambda: nvim.ask("assay/dial")["showAbove"] == 0.1, "the server has the second's settings")


def test_the_server_is_found_on_path_before_the_project_s(suite: str, folder: Path) -> None:
    program(folder / "bin" / "assay")
    program(folder / "project" / ".venv" / "bin" / "assay")
    (folder / "project" / ".git").mkdir()
    before = f"vim.env.PATH = [=[{folder}/bin:]=] .. vim.env.PATH"
    with neovim(suite, folder, before=before, setup="require('assay').setup()") as nvim:
        nvim.edit("project/a.py", CODE)
        nvim.ready()
        (what,) = servers(nvim).values()
        assert what.endswith(f" {folder}/bin/assay serve")


def test_a_project_s_own_program_is_run_only_with_the_user_s_leave(suite: str, folder: Path) -> None:
    own = program(folder / "project" / ".venv" / "bin" / "assay")
    (folder / "project" / ".git").mkdir()
    (folder / "project" / "a.py").write_text(CODE, encoding="utf-8")
    path = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if not (Path(part) / "assay").exists())
    with neovim(suite, folder, before=f"vim.env.PATH = [=[{path}]=]", setup="require('assay').setup()") as nvim:
        nvim.type(f":edit {folder}/project/a.py")
        nvim.keys("Enter")
        nvim.seen("trusted")
        assert not servers(nvim)
        nvim.write("i")  # ignore
        nvim.command(f"edit {folder}/project/b.py")
        assert not servers(nvim)
        nvim.command("silent checkhealth assay")
        assert "the project's own `assay` is not trusted" in "\n".join(nvim.lines())
        nvim.command("bwipeout")
        nvim.type(":Assay restart")
        nvim.keys("Enter")
        nvim.seen("trusted")
        nvim.write("v")  # view
        assert nvim.v.api.buf_get_name(0) == str(own)
        assert not servers(nvim)
        nvim.command("trust | close | Assay restart")
        nvim.ready()
        (what,) = servers(nvim).values()
        assert what.endswith(f" {own} serve")


# so that the log has what the test put there, and no more
SILENT = "settings = { automatic = false }"


def log_of(folder: Path, fates: list[Fate]) -> None:
    """The log of the user whose Neovim runs in the folder."""
    home = folder / "assay"
    home.mkdir()
    write_log(home / "events.sqlite3", fates)


def recalibrate(nvim: Neovim) -> str:
    """What `:Assay recalibrate` tells of its end while somebody types, who loses no key by it."""
    nvim.edit("a.txt", "")
    nvim.ready()
    nvim.press("i")
    nvim.command("Assay recalibrate")

    def told() -> str | None:
        assert not nvim.v.api.get_mode()["blocking"]
        last: str = nvim.messages().splitlines()[-1]
        return None if "fitting" in last else last

    message = nvim.until(told, "how it ended")
    nvim.write("typed")
    assert nvim.lines() == ["typed"]
    return message


def test_recalibrating_fits_calibrators_to_the_user_s_own_log(suite: str, folder: Path) -> None:
    chances = random.Random(0)
    fates = []
    for number in range(300):
        logprob = -chances.expovariate(0.5)
        kept = chances.random() < 1 / (1 + math.exp(-2 - 1.5 * logprob))
        fates.append(Fate(None, kept, f"d{number % 9}", f"p{number % 7}", total_logprob=logprob))
    log_of(folder, fates)
    with neovim(suite, folder, options=SILENT) as nvim:
        assert recalibrate(nvim) == "Assay: 1 calibrator written, 0 refused; see :Assay report"
        (written,) = (folder / "assay" / "calibrators").glob("*.json")
        assert load(written).evidence.n == 300


def test_recalibrating_from_few_labels_is_refused_and_the_report_says_why(suite: str, folder: Path) -> None:
    log_of(folder, [Fate(None, True)] * 20)
    with neovim(suite, folder, options=SILENT) as nvim:
        assert recalibrate(nvim) == "Assay: 0 calibrators written, 1 refused; see :Assay report"
        assert not list((folder / "assay").glob("calibrators/*"))
        nvim.command("Assay report")
        nvim.until(lambda: "No suggestion of this model has a label yet" in "\n".join(nvim.lines()), "why")


def test_recalibrating_from_an_empty_log_is_refused(suite: str, folder: Path) -> None:
    with neovim(suite, folder, options=SILENT) as nvim:
        assert recalibrate(nvim) == "Assay: your log has no suggestion yet that a calibrator could be fitted to"


def test_excluded_and_unnamed_buffers_are_left_alone(suite: str, folder: Path) -> None:
    with neovim(suite, folder, options="exclude = { 'markdown' }, keys = { accept = '<C-y>', dismiss = false }") as nvim:
        nvim.edit("a.py", CODE)
        nvim.ready()
        mapped = nvim.lua("return vim.tbl_map(function(m) return m.lhs end, vim.api.nvim_buf_get_keymap(0, 'i'))")
        assert "<C-Y>" in mapped
        assert "<C-]>" not in mapped
        (folder / "a.md").write_text("# Title\n", encoding="utf-8")
        for command in (f"edit {folder}/a.md", "enew | set filetype=python", f"edit {folder}/b.py | let b:assay = v:false | edit"):
            nvim.command(command)
            nvim.settle()
            attached = nvim.lua("return require('assay.client').attached(0)")
            assert not attached or "b:assay" in command


BUILT_IN = """
vim.lsp.config('assay', {{ cmd = {cmd}, init_options = {{ showAbove = 0 }}, filetypes = {{ 'python' }} }})
vim.lsp.enable('assay')
vim.lsp.inline_completion.enable()
vim.keymap.set('i', '<Tab>', function()
  if not vim.lsp.inline_completion.get() then return '<Tab>' end
end, {{ expr = true }})
"""


def test_neovim_s_own_inline_completion_works_without_the_plugin(suite: str, folder: Path) -> None:
    if suite == "trixie":
        pytest.skip("Neovim 0.10 has no inline completion of its own")
    with neovim(suite, folder, setup=BUILT_IN.format(cmd=serve_command())) as nvim:
        (folder / "a.py").write_text(CODE, encoding="utf-8")
        nvim.command(f"edit {folder}/a.py")
        nvim.until(lambda: nvim.lua("local c = vim.lsp.get_clients()[1]; return c and c.initialized"), "the server answers")
        nvim.keys("G", "A")
        space = """local space = vim.api.nvim_create_namespace('nvim.lsp.inline_completion')
            return vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })"""
        (mark,) = nvim.until(lambda: nvim.lua(space), "ghost text")
        ghost = mark[3]["virt_text"][0][0]
        nvim.seen(f"    return {ghost}")
        nvim.keys("Tab")
        nvim.until(lambda: nvim.lines()[-1] == f"    return {ghost}", "it was put in")


PLAIN = """
vim.api.nvim_create_autocmd('FileType', {{ pattern = 'python', callback = function(event)
  vim.lsp.start({{ name = 'assay', cmd = {cmd}, init_options = {{ plainCompletion = 'on', showAbove = 0 }} }})
end }})
"""


def test_the_ordinary_completion_of_neovim_has_suggestions_with_their_band(suite: str, folder: Path) -> None:
    with neovim(suite, folder, setup=PLAIN.format(cmd=serve_command())) as nvim:
        (folder / "a.py").write_text(CODE, encoding="utf-8")
        nvim.command(f"edit {folder}/a.py")
        nvim.until(lambda: nvim.lua("return vim.bo.omnifunc") == "v:lua.vim.lsp.omnifunc", "the server offers completion")
        nvim.command("set completeopt=menuone,noselect")
        nvim.keys("G", "A", "C-x", "C-o")
        nvim.until(lambda: nvim.lua("return vim.fn.pumvisible()") == 1, "the menu is open")
        (item,) = nvim.lua("return vim.fn.complete_info({ 'items' }).items")
        nvim.seen(item["abbr"])
        nvim.seen("exact match")


def test_neovim_s_own_ghost_text_makes_way_for_the_plugin_s(suite: str, folder: Path) -> None:
    if suite == "trixie":
        pytest.skip("Neovim 0.10 has no inline completion of its own")
    with neovim(suite, folder, before="vim.lsp.inline_completion.enable()") as nvim:
        nvim.edit("a.py", CODE)
        nvim.ready()
        nvim.press("A")
        ghost = nvim.wait_ghost()
        own = "return #vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('nvim.lsp.inline_completion'), 0, -1, {})"
        nvim.lua("vim.wait(400)")
        assert nvim.lua(own) == 0
        assert nvim.screen().text.count(f"    return {ghost}") == 1


def test_a_terminal_of_256_colours_shows_the_bands_in_colour(suite: str, folder: Path) -> None:
    with neovim(suite, folder, before="vim.opt.termguicolors = false") as nvim:
        nvim.lua("vim.o.termguicolors = false; require('assay.highlights').define()")
        nvim.edit("a.py", CODE)
        nvim.ready()
        nvim.press("A")
        nvim.wait_ghost()
        badge, group = nvim.badge() or ("", "")
        nvim.seen(badge)
        wanted = nvim.lua("return vim.api.nvim_get_hl(0, { name = ... }).ctermfg", group)
        from editors.nvim_terminal import colour_of

        assert colour_of(nvim.screen().coloured, badge) == str(wanted)


def test_the_tree_s_plugin_is_what_runs(suite: str, folder: Path) -> None:
    with neovim(suite, folder) as nvim:
        (found,) = nvim.lua("return vim.api.nvim_get_runtime_file('lua/assay/init.lua', true)")
        assert found.startswith(str(ROOT))


ANSWERS = """
asked = 0
local function answer(text)
  asked = asked + (text:find('calibrators of its own') and 1 or 0)
end
vim.fn.inputlist = function(lines) answer(table.concat(lines, ' ')) return 2 end
vim.ui.select = function(items, options, choose) answer(options.prompt) choose(items[2]) end
"""


def test_a_project_with_calibrators_of_its_own_is_asked_about_once_and_the_answer_is_remembered(suite: str, folder: Path) -> None:
    shipped = ROOT / "calibration" / "shipped" / "exact_match-line.json"
    for number in range(2):
        with neovim(suite, folder) as nvim:
            nvim.lua(ANSWERS)
            own = nvim.folder / ".assay" / "calibrators" / "own.json"
            own.parent.mkdir(parents=True, exist_ok=True)
            (nvim.folder / ".git").mkdir(exist_ok=True)
            own.write_bytes(shipped.read_bytes())
            nvim.edit("a.py", CODE)
            nvim.ready()
            (answer,) = nvim.until(lambda: list(folder.rglob("trust/*.json")), "the answer")
            assert '"trusted": true' in answer.read_text()
            nvim.keys("A")
            nvim.wait_ghost()
            assert nvim.lua("return asked") == (0 if number else 1)
