"""A model is chosen in a real Neovim: from the list, and by its name."""

from __future__ import annotations

from pathlib import Path

import pytest
from editors.nvim_terminal import Neovim
from found_models import put

pytestmark = [pytest.mark.slow, pytest.mark.editor]

# Takes the entry whose text has what is looked for, and keeps what was offered.
CHOOSE = """
local wanted = ...
offered = nil
vim.ui.select = function(items, opts, choose)
  offered = vim.tbl_map(opts.format_item, items)
  for _, item in ipairs(items) do
    if opts.format_item(item):find(wanted, 1, true) then choose(item) end
  end
end
"""


def test_a_model_is_chosen_from_the_list_opened_and_the_next_step_is_told(nvim: Neovim, tiny_gguf: Path, tmp_path: Path) -> None:
    path = put(tiny_gguf, tmp_path / "mine/coder.gguf")
    half = put(tiny_gguf, tmp_path / "mine/half.gguf")
    half.write_bytes(tiny_gguf.read_bytes()[:9000])
    before = nvim.status()["model"]
    nvim.configure(lambda: nvim.lua("require('assay.client').change('modelFolders', { ... })", str(path.parent)))
    try:
        nvim.lua(CHOOSE, f"{path}  ")
        nvim.command("Assay model")
        nvim.seen("tiny is open. Its numbers are borrowed from other models")
        assert nvim.status()["model"]["name"] == "tiny"
        nvim.command("Assay calibrate 0.02")
        nvim.seen("suggestions of tiny have a number")
        offered = nvim.lua("return offered")
        assert any(line.startswith("● embedded  8M, Q8_0, 9 MB, fills in the middle, about ") for line in offered)
        assert any(f"{half}  can't be used: cut short" in line for line in offered)
        nvim.lua(CHOOSE, str(half))
        nvim.command("Assay model")
        nvim.seen("cut short")
        assert nvim.status()["model"]["name"] == "tiny"
        nvim.command("Assay model ollama:no-such-coder")
        nvim.seen("Ollama has no")
    finally:
        nvim.command("Assay model embedded")
        nvim.seen(f"{before['name']} is open.")
    assert nvim.status()["model"]["id"] == before["id"]


def test_of_the_models_of_one_server_the_one_that_is_loaded_is_marked(nvim: Neovim) -> None:
    where = "http://127.0.0.1:11434"
    marked = nvim.lua(
        "local where = ...; local list = { setting = where, fingerprint = 'b' }; "
        "return vim.tbl_map(function(name) return require('assay.models').is_now(list, "
        "{ names = { where }, where = where, server_model = name, fingerprint = name }) end, { 'a', 'b' })",
        where,
    )
    assert marked == [False, True]
