"""What a user sets and asks for in a real Neovim: the dial, commands, help, health and setup."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from editors.nvim_suggestion import RETURN, STATUSLINE, setup_again, suggest
from editors.nvim_terminal import Neovim

pytestmark = [pytest.mark.slow, pytest.mark.editor]


def test_the_dial_hides_what_is_below_it_and_not_what_is_asked_for(nvim: Neovim) -> None:
    nvim.configure(lambda: nvim.command("Assay dial 0.9"))
    nvim.lua(STATUSLINE)
    hidden = nvim.status()["hidden"]
    try:
        nvim.edit("a.py", nvim.text + RETURN)
        nvim.press("A")
        nvim.until(lambda: nvim.status()["hidden"] > hidden, "a suggestion was hidden")
        assert nvim.ghost() is None
        nvim.seen("hidden)")
        nvim.press("M-\\")
        assert nvim.wait_ghost()
        nvim.seen(nvim.badge_text())
    finally:
        nvim.configure(lambda: nvim.command("Assay dial 0"))


def test_pause_and_resume(nvim: Neovim) -> None:
    nvim.lua(STATUSLINE)
    nvim.command("Assay pause 5")
    nvim.seen("paused until ")
    nvim.edit("a.py", nvim.text + RETURN)
    nvim.press("A")
    nvim.until_sent("textDocument/inlineCompletion")
    assert nvim.status()["paused"]
    assert nvim.ghost() is None
    nvim.keys("Escape")
    nvim.command("Assay resume")
    nvim.gone("paused until ")
    nvim.press("A")
    assert nvim.wait_ghost()


def test_the_stops_of_the_dial_have_names(nvim: Neovim) -> None:
    for name, setting in (("quiet", "quiet"), ("balanced", "auto"), ("everything", 0)):
        nvim.command(f"messages clear | Assay {name}")
        nvim.until(lambda name=name: f"Assay: {name}: shows " in nvim.messages(), "it was said what it does")
        assert nvim.lua("return require('assay.config').current.settings.showAbove") == setting
        nvim.until(lambda name=name: nvim.status()["dial"]["stop"] == name, "the server was told")


def test_automatic_toggles_whether_suggestions_come_only_when_asked_for(nvim: Neovim) -> None:
    nvim.configure(lambda: nvim.command("Assay automatic"))
    try:
        nvim.edit("a.py", nvim.text + RETURN)
        nvim.press("A")
        nvim.until(lambda: nvim.status()["state"] == "ready", "the server answers")
        assert nvim.ghost() is None
        nvim.keys("M-\\")
        assert nvim.wait_ghost()
    finally:
        nvim.configure(lambda: nvim.command("Assay automatic"))
    nvim.keys("Escape", "A")
    assert nvim.wait_ghost()


def test_explain_shows_the_evidence_beside_the_cursor(nvim: Neovim) -> None:
    suggest(nvim)
    badge = nvim.badge_text()
    nvim.until_sent("assay.shown")
    nvim.lua("vim.cmd('Assay explain')")
    nvim.seen("Calibrator:")
    assert badge in nvim.screen().text
    nvim.keys("Escape")
    nvim.gone("Calibrator:")


def test_the_dial_s_menu_says_what_each_level_would_have_shown(nvim: Neovim) -> None:
    nvim.lua("vim.ui.select = function(items, opts, choose) offered = vim.tbl_map(opts.format_item, items); choose(items[9]) end")
    nvim.command("Assay dial")
    offered = nvim.until(lambda: nvim.lua("return offered"), "the levels")
    assert len(offered) == 13
    assert [
        bool(re.match(rf"{now} {name} +shows .*suggestions", line))
        for now, name, line in zip(" ●", ("balanced", "everything"), offered[1:3], strict=True)
    ] == [True] * 2
    assert offered[0].startswith("  quiet ")
    assert offered[3].startswith("  all")
    offered = offered[3:]
    level = r"(line|rest|middle) (not known|[\d.]+ %(, [\d.]+ % right( \(\d+-\d+\))?)?)"
    assert all(re.match(rf"  ≥ \d0 %  (here: shows ([\d.]+ %|–).* · )?{level}; {level}; {level}$", line) for line in offered[1:])
    assert re.search(r"line [\d.]+ %, \d+ % right \(\d+-\d+\); rest", offered[2])
    assert nvim.lua("return require('assay.config').current.settings.showAbove") == 0.5


def test_the_dial_s_menu_names_the_languages_where_several_calibrators_are_of_one_task(nvim: Neovim) -> None:
    evidence = ", ".join(
        f"{{ task = '{task}', languages = {{ {languages} }}, event = 'exact_match', levels = {{ {{ share = 0.5 }} }} }}"
        for task, languages in (("line", "'python'"), ("line", "'c', 'go'"), ("line_rest", "'python'"))
    )
    dial = f"{{ n = 0, days = 0, labelled = 0, levels = {{ {{ showAbove = 0.1 }} }}, evidence = {{ {evidence} }} }}"
    (level,) = nvim.lua(f"return (require('assay.report').dial({dial}))")
    assert level["text"].endswith("line (python) 50 %; line (2 languages) 50 %; rest 50 %")


def test_the_report_has_the_reliability_of_each_calibrator(nvim: Neovim) -> None:
    nvim.command("Assay report")
    nvim.until(lambda: nvim.lua("return vim.api.nvim_buf_get_name(0)") == "assay://confidence", "the report")
    text = "\n".join(nvim.lines())
    assert "## line: informative" in text
    assert re.search(r"skill +0\.\d\d \(0\.\d\d to 0\.\d\d\)", text)
    assert re.search(r"\d+ %  +\d+ % to +\d+ % +\d+  [█░┃]{20}", text)
    assert "no number" not in text
    nvim.keys("q")
    nvim.until(lambda: nvim.lua("return vim.api.nvim_buf_get_name(0)") != "assay://confidence", "it is closed")


def test_the_report_says_in_a_line_what_studies_say_of_a_calibrator(nvim: Neovim) -> None:
    judge = {
        "status": "informative",
        "id": "a",
        "origin": "user",
        "file": "c.json",
        "features": ["total_logprob"],
        "fittedOn": 9,
        "n": 9,
        "groupedBy": "project",
        "groups": 3,
        "baseRate": 0.4,
    }
    validation: dict[str, Any] = {"summary": "validated: 4 of 5 hold, 1 refuted", "refuted": ["Its numbers are off."]}
    report = {"event": "exact_match", "tasks": [{"task": "line", "because": "", "calibrator": judge | {"validation": validation}}]}
    told = nvim.lua("return require('assay.report').confidence(...)", report)
    at = told.index("  validated    4 of 5 hold, 1 refuted")
    assert told[at + 1] == "  refuted      Its numbers are off."
    figure = {"id": "K1", "primary": True, "sentence": "It has skill.", "value": 0.2, "low": 0.1, "high": 0.3, "n": 400, "groups": 20}
    figure |= {"unit": "project", "claim": "> 0", "reading": "holds", "note": ""}
    not_run = figure | {"id": "R2", "primary": False, "value": None, "low": None, "high": None, "n": 0, "groups": 0, "reading": "not run"}
    validation["figures"] = [figure, not_run]
    told = nvim.lua("return require('assay.report').confidence(...)", report)
    at = told.index("  What the studies found (★: counted)")
    assert told[at + 2] == "  ★ K1             It has skill."
    assert told[at + 3].split(maxsplit=1) == ["holds:", "0.200 (0.100 to 0.300), 400 of 20 projects, claim > 0"]
    assert (told[at + 4].split()[0], told[at + 5].strip()) == ("R2", "not run")
    report["tasks"][0]["calibrator"] = judge | {"status": "refuted", "reason": "The catcode study refutes M3."}  # type: ignore[index]
    refuted = nvim.lua("return require('assay.report').confidence(...)", report)
    assert "## line: refuted" in refuted
    assert "  no number    The catcode study refutes M3." in refuted
    report["tasks"][0]["calibrator"] = judge  # type: ignore[index]
    assert not any("validated" in line for line in nvim.lua("return require('assay.report').confidence(...)", report))


def test_status_says_what_the_server_has(nvim: Neovim) -> None:
    nvim.command("Assay status")
    nvim.seen("assay-embedded, loaded in")


def test_commands_are_completed_and_unknown_ones_are_told(nvim: Neovim) -> None:
    complete = nvim.v.funcs.getcompletion
    first = ["automatic", "balanced", "calibrate", "dial", "everything", "explain", "model", "pause", "quiet", "recalibrate"]
    everything = [*first, "repair", "report", "restart", "resume", "status", "surprise", "tests"]
    assert complete("Assay ", "cmdline") == everything
    assert complete("Assay re", "cmdline") == ["recalibrate", "repair", "report", "restart", "resume"]
    assert complete("Assay pause ", "cmdline") == ["5", "15", "30", "60"]
    assert complete("Assay status ", "cmdline") == []
    nvim.command("Assay nonsense")
    assert "there is no :Assay nonsense" in nvim.messages()
    for wrong in ("dial nan", "dial 2", "dial x", "pause abc", "pause inf", "pause nan", "pause -3", "calibrate x", "calibrate 0"):
        nvim.command(f"messages clear | Assay {wrong}")
        assert " needs a number " in nvim.messages(), wrong
    assert nvim.status().get("paused") is None
    assert nvim.lua("return require('assay.config').current.settings.showAbove") == 0


def test_checkhealth_says_what_works_and_which_keys_are_taken(nvim: Neovim) -> None:
    nvim.command("silent checkhealth assay")
    text = "\n".join(nvim.lines())
    for line in ("found in the option cmd", "the server runs (client", "the model is ready: assay-embedded", "calibrators were found"):
        assert line in text
    assert "ERROR" not in text
    assert re.search(r"<Tab>: accept", text)
    assert "(else: Assay" not in text
    nvim.command("silent! bwipeout!")
    nvim.lua("vim.keymap.set('i', '<Tab>', 'x', { buffer = true, desc = 'some other plugin' })")
    nvim.command("silent checkhealth assay")
    assert "<Tab>: accept is taken by: some other plugin" in "\n".join(nvim.lines())


def test_the_help_has_tags_for_all_that_it_describes(nvim: Neovim, folder: Path) -> None:
    nvim.command(f"silent !cp -r {Path(__file__).parents[2] / 'editors' / 'nvim'} {folder}/plugin")
    nvim.command(f"helptags {folder}/plugin/doc")
    tags = [line.split("\t")[0] for line in (folder / "plugin" / "doc" / "tags").read_text().splitlines()]
    commands = nvim.lua("return vim.tbl_keys(require('assay.commands').COMMANDS)")
    options = nvim.lua("local d = vim.deepcopy(require('assay.config').defaults); d.cmd = false; return vim.tbl_keys(d)")
    keys = nvim.lua("return vim.tbl_keys(require('assay.keys').ACTIONS)")
    functions = ["setup", "statusline", "visible", *keys]
    wanted = {"assay", "assay.nvim", *(f":Assay-{name}" for name in commands), *(f"assay-option-{name}" for name in options)}
    wanted |= {f"assay.{name}()" for name in functions} | {f"assay-key-{name}" for name in keys}
    assert wanted - set(tags) == set()


def test_what_can_not_be_is_told_by_setup_and_the_rest_holds(nvim: Neovim) -> None:
    problems = nvim.lua(
        "return require('assay.config').set({ colour = 'red', badge = 1, keys = { acept = 'x', next = 3 }, exclude = {'lua'} })"
    )
    assert [problem.split(" ")[2] for problem in problems] == ["badge", "colour", "keys.acept", "keys.next"]
    assert nvim.lua("return require('assay.config').current.exclude") == ["lua"]
    assert nvim.lua("return require('assay.config').current.badge") is True
    problems = nvim.lua("return require('assay.config').set({ keys = { next = '<C-y>', accept = '<C-y>' } })")
    assert problems == ["  keys.accept and keys.next are both <C-y>"]


def test_setup_again_changes_settings_and_keys_of_what_runs(nvim: Neovim) -> None:
    setup_again(nvim, "settings = { showAbove = 0.9, explore = 0 }")
    hidden = nvim.status()["outcomes"]["hidden"]
    nvim.edit("a.py", nvim.text + RETURN)
    nvim.lua("vim.keymap.set('i', '<C-l>', 'OWN', { buffer = true })")
    nvim.press("A")
    nvim.until(lambda: nvim.status()["outcomes"]["hidden"] > hidden, "a suggestion was hidden")
    setup_again(nvim, "keys = { accept = '<C-l>' }")
    nvim.press("Escape", "A")
    ghost = nvim.wait_ghost()
    nvim.press("C-l")
    assert nvim.lines()[-1] == RETURN + ghost
    setup_again(nvim)
    nvim.press("Escape", "o", "C-l")
    assert nvim.lines()[-1].strip() == "OWN"
    assert nvim.lua("return vim.fn.maparg('<Tab>', 'i', false, true).desc") == "Assay: accept the suggestion"


def test_setup_again_lets_go_of_what_is_excluded_then(nvim: Neovim) -> None:
    assert nvim.lua("return require('assay.client').attached(0)")
    setup_again(nvim, "exclude = { 'python' }")
    assert not nvim.lua("return require('assay.client').attached(0)")
    assert nvim.lua("return vim.fn.maparg('<M-Right>', 'i')") == ""
    setup_again(nvim)
    nvim.attached()
