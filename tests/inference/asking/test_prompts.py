"""Prompt files: what they hold, what their slots take, and what is told of a file that is wrong."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.asking.asker import Message
from assay.inference.asking.prompts import load_prompt
from assay.inference.errors import BadPromptFile

JUDGE = Path(__file__).with_name("judge.txt")


def test_a_prompt_is_its_messages_with_the_slots_filled() -> None:
    prompt = load_prompt(JUDGE)
    messages = prompt.render(program="def f():\n    return {{program}}, {}")
    assert [message.role for message in messages] == ["system", *["user", "assistant"] * 3]
    assert messages[2] == Message("assistant", "[ANSWER]Correct[/ANSWER]")
    assert messages[-2].text == "[PYTHON]\ndef f():\n    return {{program}}, {}\n[/PYTHON]"
    assert (prompt.version, prompt.fingerprint) == (1, hashlib.sha256(JUDGE.read_bytes()).hexdigest())


def test_a_slot_that_is_missing_or_unknown_is_named() -> None:
    with pytest.raises(ValueError, match=r"slots \['code'\] were given, the prompt has \['program'\]"):
        load_prompt(JUDGE).render(code="")


@given(st.text(st.characters(codec="utf-8")))
def test_what_fills_a_slot_stands_there_unchanged(text: str) -> None:
    assert load_prompt(JUDGE).render(program=text)[-2].text == f"[PYTHON]\n{text}\n[/PYTHON]"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "1: the first line is not"),
        ("assay/prompt/2\nversion: 1\n=== user\nHi", "1: the first line is not"),
        ("assay/prompt/1\n=== user\nHi", '2: the second line is not "version: N"'),
        ("assay/prompt/1\nversion: 0\n=== user\nHi", "2: the second line"),
        ("assay/prompt/1\nversion: 1\nHi\n=== user\nHi", "3: text before"),
        ("assay/prompt/1\nversion: 1\n=== robot\nHi", '3: "robot" is no role: system, user, assistant'),
        ("assay/prompt/1\nversion: 1\n=== system\n\n=== user\nHi", "3: the message is empty"),
        ("assay/prompt/1\nversion: 1\n=== system\nHi", "4: no message is the user's"),
    ],
)
def test_a_file_that_is_no_prompt_is_refused_with_its_line(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text(text)
    with pytest.raises(BadPromptFile) as refused:
        load_prompt(file)
    assert str(refused.value).startswith(f"{file}:{told}")


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    for file in (binary, tmp_path / "missing", tmp_path):
        with pytest.raises(BadPromptFile, match="can't be read"):
            load_prompt(file)


def test_line_ends_of_windows_make_the_same_messages(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_bytes(JUDGE.read_bytes().replace(b"\n", b"\r\n"))
    assert load_prompt(file).messages == load_prompt(JUDGE).messages
