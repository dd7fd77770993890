from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_hf import END, byte_level, family_tokenizer, sentencepiece, write_tiny_hf
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from assay.inference.completion.fim_families import FAMILIES, Family
from assay.inference.errors import DamagedModel
from assay.inference.hf.folder import read_folder
from assay.inference.hf.model import HFModel
from assay.inference.hf.tokenizer import TextTokenizer
from assay.inference.stopping.stop import NONE

NAMES = [family.name for family in FAMILIES]
TEXT = "def area(width):\n    '''é 𝕏 ☺'''\n    return\twidth"


def family(name: str) -> Family:
    return FAMILIES[NAMES.index(name)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("families")
    return {name: write_tiny_hf(root / name, tokenizer=family_tokenizer(name), name=f"some-{family(name).names[0]}") for name in NAMES}


@pytest.fixture(scope="module")
def tokenizers(folders: dict[str, Path]) -> dict[str, TextTokenizer]:
    return {name: TextTokenizer(read_folder(folder)) for name, folder in folders.items()}


def text_of(tokenizer: TextTokenizer, tokens: tuple[int, ...] | list[int]) -> str:
    return b"".join(map(tokenizer.piece, tokens)).decode()


def made(tmp_path: Path, tokenizer: str, **options: Any) -> TextTokenizer:
    return TextTokenizer(read_folder(write_tiny_hf(tmp_path / "model", tokenizer=tokenizer, **options)))


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_of_each_family_is_its_control_tokens_around_the_texts(folders: dict[str, Path], name: str) -> None:
    known = family(name)
    content = Tokenizer.from_file(str(folders[name] / "tokenizer.json"))
    with HFModel(folders[name], device="cpu") as model:
        assert (model.layout, model.capabilities.fim) == (known.layout, True)
        prompt = model.fim("w = 1\nx = area(width", ")\n")
        held = prompt.held
        assert held in ("width", "(width"), "as the vocabulary joins a sign to the word behind it, or not"
        controls = [content.id_to_token(token) for token in prompt.tokens if not model.token_bytes(token)]
        assert controls == list(known.required)
        above, line = (" " if known.dummy_space else "") + "w = 1\n", "x = area(width".removesuffix(held)
        texts = {"PREFIX": above if "BEGUN" in known.order else above + line, "SUFFIX": ")\n", "BEGUN": line}
        expected = "".join(texts.get(part, "") for part in known.order)
        assert b"".join(map(model.token_bytes, prompt.tokens)).decode() == expected
        assert model.generate(prompt, stop=NONE, max_tokens=2).tokens


@pytest.mark.parametrize("name", NAMES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text()
    | st.text(alphabet=" \t\nabdefr()=é<|>_▁")
    | st.lists(st.sampled_from([c for f in FAMILIES for c in f.controls])).map("x".join)
)
def test_no_text_ever_becomes_a_control_token(tokenizers: dict[str, TextTokenizer], name: str, text: str) -> None:
    tokenizer = tokenizers[name]
    tokens = tokenizer.tokenize(text)
    assert tokenizer.controls.isdisjoint(tokens)
    written = text.replace("▁", " ") if name in ("codellama", "codestral", "codegemma") else text
    assert text_of(tokenizer, tokens) == written
    prompt = tokenizer.fim(text, text)
    assert sum(token in tokenizer.controls for token in prompt.tokens) == len(family(name).required)


def test_an_added_token_that_is_text_stays_one_token(tmp_path: Path) -> None:
    content = json.loads(byte_level())
    size = max(token["id"] for token in content["added_tokens"]) + 1
    common = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    content["added_tokens"].append({"id": size, "content": "\n\n\n\n", **common})
    whole = Tokenizer.from_str(json.dumps(content))
    whole.enable_truncation(3)  # which counts for nothing here
    tokenizer = made(tmp_path, whole.to_str())
    assert text_of(tokenizer, tokenizer.tokenize(TEXT)) == TEXT
    assert tokenizer.tokenize("a\ud800b") == tokenizer.tokenize("a?b")
    assert tokenizer.tokenize("a\n\n\n\nb")[1] == size
    assert tokenizer.piece(size) == b"\n\n\n\n"
    assert not tokenizer.ends(size)


def test_a_control_token_that_the_vocabulary_also_holds_as_a_piece_is_spelled_out(tmp_path: Path) -> None:
    content = json.loads(byte_level(("<z>",)))
    content["model"]["merges"] += [["<", "z"], ["<z", ">"]]
    size = max(token["id"] for token in content["added_tokens"])
    content["model"]["vocab"] |= {"<z>": size, "<z": size + 1}
    content["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": r"<z>|\s?\w+|\s+|[^\s\w]+"}
    tokenizer = made(tmp_path, json.dumps(content))
    assert size in tokenizer.controls
    assert [tokenizer.piece(token) for token in tokenizer.tokenize("a<z>b")] == [b"a", b"<", b"z", b">", b"b"]


@pytest.mark.parametrize("legacy", [False, True])
def test_a_text_in_the_middle_has_no_space_before_it_and_one_at_the_beginning_has(tmp_path: Path, legacy: bool) -> None:
    tokenizer = made(tmp_path, sentencepiece(legacy=legacy))
    assert text_of(tokenizer, tokenizer.tokenize("width")) == "width"
    assert text_of(tokenizer, tokenizer.tokenize(" width")) == " width"
    prompt = tokenizer.fim("width\n", "ignored")
    assert (text_of(tokenizer, prompt.tokens), prompt.layout, prompt.held) == (" width", "left_to_right", "\n")
    assert tokenizer.piece(prompt.tokens[0]) == b""


def test_tokens_of_plain_text_are_those_of_transformers(folders: dict[str, Path], tokenizers: dict[str, TextTokenizer]) -> None:
    for name in ("starcoder", "deepseek-coder", "assay"):
        theirs = AutoTokenizer.from_pretrained(folders[name])
        assert tokenizers[name].tokenize(TEXT) == theirs.encode(TEXT, add_special_tokens=False)


@pytest.mark.parametrize(
    ("config", "begins"),
    [
        ({}, True),
        ({"bos_token": "<s>", "add_bos_token": False}, False),
        ({"bos_token": {"content": "<s>"}, "add_bos_token": True}, True),
    ],
)
def test_a_text_begins_with_bos_where_the_tokenizer_asks_for_it(tmp_path: Path, config: dict[str, Any], begins: bool) -> None:
    tokenizer = made(tmp_path, sentencepiece(), tokenizer_config=config)
    tokens = tokenizer.fim("x", "").tokens
    assert (tokens[0] == 1, 1 in tokens[1:]) == (begins, False)
    assert tokenizer.fim("", "").tokens


def test_control_tokens_that_the_network_does_not_know_do_not_exist_and_another_models_tokenizer_is_refused(tmp_path: Path) -> None:
    path = write_tiny_hf(tmp_path / "model")
    content = json.loads(family_tokenizer("starcoder"))
    content["added_tokens"][-1] |= {"content": "    ", "special": False}
    (path / "tokenizer.json").write_text(json.dumps(content))
    with HFModel(path, device="cpu") as model:
        assert (model.layout, model.capabilities.fim) == ("left_to_right", False)
        text = "    x = '<fim_prefix>'"
        assert b"".join(map(model.token_bytes, model.tokenize(text))).decode() == text
        assert model.generate(model.fim(text, "y"), stop=NONE, max_tokens=2).tokens
    path = write_tiny_hf(tmp_path / "model")
    (path / "tokenizer.json").write_text(sentencepiece())
    with pytest.raises(DamagedModel, match="the network knows 331 tokens"):
        HFModel(path, device="cpu")


def test_what_ends_a_text_is_every_control_token_and_what_the_configurations_name(tmp_path: Path) -> None:
    path = write_tiny_hf(tmp_path / "model", tokenizer=byte_level(("<|im_end|>", "<other>")), tokenizer_config={"eos_token": "a"})
    (path / "generation_config.json").write_text('{"eos_token_id": [3, 4]}')
    tokenizer = TextTokenizer(read_folder(path))
    ids = Tokenizer.from_file(str(path / "tokenizer.json"))
    named = {ids.token_to_id(spelling) for spelling in (END, "<|im_end|>", "<other>", "a")}
    assert {token for token in range(ids.get_vocab_size()) if tokenizer.ends(token)} == named | {3, 4}
