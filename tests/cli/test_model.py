"""`assay model`."""

import json
from pathlib import Path
from typing import Literal

import pytest
from house.running import assay_here

from ..inference.completion_server import Speech, serving


def test_a_server_that_is_not_there_ends_with_1_and_a_wrong_address_with_2() -> None:
    for address, code, said in (("http://127.0.0.1:9", 1, "can't be reached"), ("http://", 2, "http://HOST:PORT")):
        ran = assay_here("model", "info", "--model", address)
        assert (ran.returncode, said in ran.stderr, "Traceback" in ran.stderr) == (code, True, False), ran.stderr


def test_options_that_exclude_each_other_are_refused_in_one_line(tiny_gguf: Path) -> None:
    ran = assay_here("model", "info", "--model", tiny_gguf, "--kv-cache", "q8_0", "--flash-attention", "off")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "a cache of q8_0 is not possible here" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_model_info_says_what_the_model_is(tiny_gguf: Path) -> None:
    facts = json.loads(assay_here("model", "info", "--model", tiny_gguf, "--json").stdout)
    assert facts["architecture"] == "llama"
    assert facts["context_length"] == 512
    assert facts["layout"] == "anchored"
    assert len(facts["fingerprint"]) == 16
    assert facts["offload"]["total"] >= facts["offload"]["layers"] >= 0
    shown = assay_here("model", "info", "--model", tiny_gguf).stdout
    assert facts["fingerprint"] in shown
    assert "offload" in shown
    assert facts["memory"].endswith("fitted to another model, so counted by nine tenths")
    assert "note" not in facts


def test_the_model_is_named_with_an_option_or_without_one_and_not_twice(tiny_gguf: Path) -> None:
    named, bare = (json.loads(assay_here("model", "info", *how, tiny_gguf, "--json").stdout) for how in (["--model"], []))
    assert named | {"load_ms": 0} == bare | {"load_ms": 0}
    twice = assay_here("model", "info", tiny_gguf, "--model", "embedded")
    assert twice.returncode == 2
    assert f"the model is named twice, {tiny_gguf} and --model embedded" in twice.stderr


def test_model_info_says_that_a_quantised_cache_has_numbers_of_its_own() -> None:
    shown = assay_here("model", "info", "--kv-cache", "q8_0").stdout
    assert "With a cache of q8_0 it has numbers of its own" in shown


def test_the_number_of_threads_is_fixed_or_auto(tiny_gguf: Path) -> None:
    for given in ("1", "auto"):
        assert assay_here("model", "info", "--model", tiny_gguf, "--threads", given).returncode == 0
    for wrong, said in (("0", "threads"), ("all", "threads"), ("9" * 30, "threads are more than the 512 that a model can have")):
        ran = assay_here("model", "info", "--model", tiny_gguf, "--threads", wrong)
        assert (ran.returncode, said in ran.stderr) == (2, True), ran.stderr


@pytest.mark.parametrize("guides", ["structured_outputs", None])
def test_model_info_says_where_a_server_does_not_hold_the_model_to_a_word(guides: Literal["structured_outputs"] | None) -> None:
    with serving(Speech(guides=guides)) as address:
        shown = assay_here("model", "info", "--model", address).stdout
    assert shown.count("can't hold the model to what stands before the cursor") == (guides is None)
    assert ("heals yes" in shown) == (guides is not None)


def test_a_chunk_longer_than_the_context_takes_no_memory(tiny_gguf: Path) -> None:
    assert assay_here("model", "info", "--model", tiny_gguf, "--chunk", "99999999999").returncode == 0


@pytest.mark.slow
def test_model_check_measures_the_speed(tiny_gguf: Path) -> None:
    facts = json.loads(assay_here("model", "check", "--model", tiny_gguf, "--json").stdout)
    assert facts["prompt_tokens_per_second"] > facts["generated_tokens_per_second"] > 0
    assert facts["first_token_ms"] > 0
    assert facts["threads"]["cores"] >= 1
    assert not any("--threads" in row["flags"] for row in facts["tried"])


def test_model_info_says_how_a_server_is_asked_and_where_its_key_goes(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")
    with serving(Speech()) as address:
        for more, key in (((), "none"), (("--key-file", f"{address}=key"), f"of key, sent to {address} alone")):
            ran = assay_here("model", "info", "--json", "--model", address, *more, cwd=tmp_path, ASSAY_API_KEY="")
            said = json.loads(ran.stdout)
            assert (said["way"], said["key"]) == ("/v1/completions of vLLM: token ids, laid out for qwen2.5-coder", key)
            assert "secret" not in ran.stdout + ran.stderr


def test_two_keys_for_one_server_are_refused_in_one_line() -> None:
    server = "http://127.0.0.1:9"
    ran = assay_here("model", "info", "--model", server, "--key-file", f"{server}=a", "--key-file", f"{server}=b")
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1), ran.stderr
    assert f"--key-file names two files for {server}, a and b" in ran.stderr
