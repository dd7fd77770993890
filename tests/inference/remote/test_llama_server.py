"""The server backend against a real llama-server, beside the runtime in this process with the same file."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import gguf
import pytest
from llama_server import EXACT, HOW_TO_BUILD, free_port, is_built, running
from tiny_gguf import END, FIM_MIDDLE, FIM_PREFIX, TinyModel, scripted, write_tiny_gguf

from assay.inference.completion.prompt import prompt_at
from assay.inference.errors import ModelClosed, ServerUnreachable, Unavailable
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Capabilities, Generation, Model, Prompt, StopReason, Token
from assay.inference.opening import EMBEDDED, open_model
from assay.inference.remote.http import Timeouts
from assay.inference.remote.model import RemoteModel
from assay.inference.stopping.stop import LINE, NONE, Stop
from assay.suggestion.complete import complete

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not is_built(), reason=HOW_TO_BUILD)]

PREFIX = "def add(a, b):\n    return a + b\n\n\ndef multiply(a, b):\n    return a"
SUFFIX = "\n\n\nprint(multiply(2, 3))\n"


def open_local(path: Path) -> LlamaModel:
    return LlamaModel(path, threads=1, kv_type="f32", flash_attention=False)


@pytest.fixture(scope="module")
def embedded_f32(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded model's weights in 32 bits, so that all kernels compute the same: a model that writes text."""
    path = tmp_path_factory.mktemp("gguf") / "assay.gguf"
    reader = gguf.GGUFReader(EMBEDDED)
    writer = gguf.GGUFWriter(path, "llama")
    for field in reader.fields.values():
        if not field.name.startswith("GGUF.") and field.name not in ("general.architecture", "general.file_type"):
            writer.add_key_value(field.name, field.contents(), field.types[0], field.types[-1] if len(field.types) > 1 else None)
    writer.add_file_type(0)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, gguf.quants.dequantize(tensor.data, tensor.tensor_type))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def pair(embedded_f32: Path) -> Iterator[tuple[RemoteModel, LlamaModel]]:
    """The same real model behind a server of two slots, and here."""
    with running(embedded_f32, *EXACT, slots=2) as address, RemoteModel(address) as remote, open_local(embedded_f32) as local:
        yield remote, local


@pytest.fixture(scope="module")
def tiny_pair(tiny_gguf: Path) -> Iterator[tuple[RemoteModel, LlamaModel]]:
    with running(tiny_gguf, *EXACT, slots=2) as address, RemoteModel(address) as remote, open_local(tiny_gguf) as local:
        yield remote, local


def assert_agree(one: Generation, other: Generation, tolerance: float = 1e-3) -> None:
    assert (one.text, one.stopped_by) == (other.text, other.stopped_by)
    assert [(token.id, token.text) for token in one.tokens] == [(token.id, token.text) for token in other.tokens]
    for mine, theirs in zip(one.tokens, other.tokens, strict=True):
        assert mine.logprob == pytest.approx(theirs.logprob, abs=tolerance)
        assert mine.best_other_logprob == pytest.approx(theirs.best_other_logprob, abs=tolerance)


def busy_slots(address: str) -> int:
    with urllib.request.urlopen(f"{address}/slots", timeout=5) as answer:
        return sum(slot["is_processing"] for slot in json.load(answer))


def wait_until_free(address: str, seconds: float = 3.0) -> float:
    began = time.monotonic()
    while busy_slots(address):
        assert time.monotonic() - began < seconds, "the server goes on generating"
        time.sleep(0.005)
    return time.monotonic() - began


def test_what_llama_server_can_do_is_found_and_questions_are_answered_as_here(tiny_pair: tuple[RemoteModel, LlamaModel]) -> None:
    remote, local = tiny_pair
    assert remote.capabilities == Capabilities(entropy=False, memory=False)
    assert (remote.served.kind, remote.layout, remote.context_length, remote.warnings) == ("llama-server", "anchored", 512, ())
    fingerprint = remote.fingerprint
    assert (fingerprint.name, fingerprint.weights[:7]) == ("tiny.gguf", "served:")
    assert fingerprint.runtime.startswith("llama-server ")
    for prefix, suffix in ((PREFIX, SUFFIX), ("", ""), (f"x = '{FIM_PREFIX}{END}'", "é 😀\n"), ("lone \ud800", "\n\n")):
        assert remote.fim(prefix, suffix) == local.fim(prefix, suffix)
        assert remote.tokenize(prefix + suffix) == local.tokenize(prefix + suffix)
    prompt = local.fim(PREFIX, SUFFIX)
    given = local.tokenize(" return a * b\né")
    assert remote.score(prompt, given) == pytest.approx(local.score(prompt, given), abs=1e-3)
    candidates = ["return", "x", "\n", "é", "def "]
    assert remote.next_token_logprobs(prompt, candidates) == pytest.approx(local.next_token_logprobs(prompt, candidates), abs=1e-3)


@pytest.mark.parametrize("model", [TinyModel(fim=False, add_bos=True), TinyModel(add_bos=True)])
def test_a_prompt_begins_as_it_does_here(tmp_path: Path, model: TinyModel) -> None:
    path = write_tiny_gguf(tmp_path / "other.gguf", model)
    with running(path, *EXACT) as address, RemoteModel(address) as remote, open_local(path) as local:
        assert remote.layout == local.layout
        for prefix, suffix in (("", ""), ("a = ", "\n"), ("", "b")):
            assert remote.fim(prefix, suffix) == local.fim(prefix, suffix)


@pytest.mark.parametrize("stop", [LINE, NONE])
def test_text_and_logprobs_are_those_of_the_runtime_here(tiny_pair: tuple[RemoteModel, LlamaModel], stop: Stop) -> None:
    for prefix, suffix in ((PREFIX, SUFFIX), ("import os\n", ""), ("    x = [1, 2", "]\n")):
        prompt = tiny_pair[1].fim(prefix, suffix)
        assert_agree(*[model.generate(prompt, stop=stop, max_tokens=24) for model in tiny_pair])


def test_completions_and_alternatives_are_those_of_the_runtime_here(pair: tuple[RemoteModel, LlamaModel]) -> None:
    text = "\n\n".join(f"def f{n}(x):\n    if x:\n\n        return x + {n}\n    return {{}}\n" for n in range(60))
    for at in (len(text) // 3, len(text) // 2, len(text)):
        assert_agree(*[complete(model, text[:at], text[at:]) for model in pair])
        assert_agree(*[complete(model, text[:at], text[at:], kind="block") for model in pair])
    _, local = pair
    for prefix in ("logging.FileHandler(filena", "x = foo.lo", "if x:\n    ", "y = [12"):
        prompt = local.fim(prefix, "\n")
        several = [model.alternatives(prompt, 4, stop=LINE, max_tokens=6) for model in pair]
        assert len({len(found) for found in several}) == 1
        for mine, theirs in zip(*several, strict=True):
            assert_agree(mine, theirs)


def test_what_is_sampled_at_a_temperature_is_recorded_as_the_model_has_it(pair: tuple[RemoteModel, LlamaModel]) -> None:
    remote, local = pair
    prompt = replace(local.fim(PREFIX, SUFFIX), held="")
    for seed in range(5):
        sampled = remote.generate(prompt, stop=NONE, max_tokens=12, temperature=1.5, top_p=0.9, seed=seed)
        scores = local.score(prompt, [token.id for token in sampled.tokens])
        assert [token.logprob for token in sampled.tokens] == pytest.approx(scores, abs=1e-3)


def test_the_likeliest_first_tokens_begin_the_alternatives(tiny_pair: tuple[RemoteModel, LlamaModel]) -> None:
    remote, local = tiny_pair
    prompt = local.fim(PREFIX, SUFFIX)
    heard: list[tuple[int, Token, str]] = []
    answers = remote.alternatives(prompt, 4, stop=NONE, max_tokens=6, on_token=lambda *told: bool(heard.append(told)))
    expected = local.alternatives(prompt, 4, stop=NONE, max_tokens=6)
    for mine, theirs in zip(answers, expected, strict=True):
        assert_agree(mine, theirs)
    for number, answer in enumerate(answers):
        assert [token for at, token, _ in heard if at == number] == list(answer.tokens)


def places(count: int) -> Iterator[tuple[str, str]]:
    """Random places of this project's files, with other newlines, tabs and characters outside of ASCII in some."""
    chance = Random(18)
    files = sorted((Path(__file__).parents[3] / "inference").rglob("*.py"))
    for number in range(count):
        text = chance.choice(files).read_text(encoding="utf-8")
        text = (text, text.replace("\n", "\r\n"), text.replace("    ", "\t"), text.replace("return", "# größe 説明 😀 naïve\nreturn"))[
            number % 4
        ]
        outside = [at + 1 for at, character in enumerate(text) if character > "\x7f"]
        at = chance.choice(outside) + chance.randrange(4) if number % 4 == 3 and outside else chance.randrange(len(text))
        yield text[:at], text[at:]


def test_what_stands_before_the_cursor_is_written_again_as_by_the_runtime_here(pair: tuple[RemoteModel, LlamaModel]) -> None:
    remote, local = pair
    held = 0
    for prefix, suffix in places(16):
        prompt = prompt_at(remote, prefix, suffix)
        assert prefix.replace("\r\n", "\n").replace("\r", "\n").endswith(prompt.held)
        if prefix.isascii():
            assert prompt == prompt_at(local, prefix, suffix)
        assert_agree(*[model.generate(prompt, stop=LINE, max_tokens=12) for model in pair])
        held += len(prompt.held)
    assert held > 25
    # So are parts of characters where a prompt asks for it, and no control token is taken for the text that it spells.
    for prefix in ("# 日", "x = '😀", "# größ", "x <"):
        prompt = local.fim(prefix, "\n")
        assert_agree(*[model.generate(prompt, stop=LINE, max_tokens=6) for model in pair])


def test_a_word_is_sampled_among_what_agrees(pair: tuple[RemoteModel, LlamaModel]) -> None:
    remote, local = pair
    prompt = local.fim("logging.FileHandler(", "\n")
    assert prompt.held == "(", "which one token writes, or a longer one: a first token's text tells which"
    drawn = remote.alternatives(prompt, 12, stop=LINE, max_tokens=2, temperature=1.0, top_p=0.95, seed=3)
    firsts = {one.tokens[0].id: one.tokens[0] for one in drawn}
    assert len(firsts) > 1
    likely = {one.tokens[0].id: one.tokens[0] for one in local.alternatives(prompt, 4, stop=LINE, max_tokens=1)}
    both = firsts.keys() & likely.keys()
    assert both
    assert [firsts[token].logprob for token in both] == pytest.approx([likely[token].logprob for token in both], abs=1e-3)
    again = remote.generate(prompt, stop=LINE, max_tokens=2, temperature=1.0, top_p=0.95, seed=3)
    assert_agree(again, drawn[0])


def test_a_character_of_several_tokens_is_told_whole_and_a_part_that_was_sampled_is_not_made_up(tmp_path: Path) -> None:
    grin = "😀".encode()
    path = write_tiny_gguf(tmp_path / "grin.gguf", scripted(b"a", grin[:2], grin[2:3], grin[3:], b"b", b"\n"))
    with running(path, *EXACT) as address, RemoteModel(address) as remote, open_local(path) as local:
        prompt = local.fim("?", "")
        for most in (2, 3, 4, 8):
            assert_agree(*[model.generate(prompt, stop=LINE, max_tokens=most) for model in (remote, local)])
        assert remote.generate(prompt, stop=LINE, max_tokens=8).text == "a😀b"
        with pytest.raises(Unavailable, match="parts of a character"):
            remote.generate(prompt, stop=LINE, max_tokens=8, temperature=0.01)


def test_a_model_that_only_the_server_can_lay_out_is_asked_to_fill_in(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "fim.gguf", scripted(b"a", b"b", b"\n", prompt=FIM_MIDDLE.encode(), fim=True))
    with running(path, *EXACT) as address, RemoteModel(address, layout="infill") as model, RemoteModel(address) as remote:
        prompt = model.fim("", SUFFIX)
        assert prompt == Prompt((), "infill", ("", SUFFIX))
        assert not model.capabilities.heals
        filled = model.generate(prompt, stop=LINE, max_tokens=5)
        assert filled.text == "ab"
        assert_agree(filled, remote.generate(remote.fim("", SUFFIX), stop=LINE, max_tokens=5))
        with pytest.raises(Unavailable):
            model.next_token_logprobs(prompt, ["x"])


def test_cancelling_frees_the_slot(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "endless.gguf", scripted(b"a", b"b", b"a", context_length=60_000))
    with running(path, "--ctx-size", "60000") as address, RemoteModel(address, timeouts=Timeouts(silence=20)) as remote:
        took = []
        for after in (0, 1, 30):
            heard: list[object] = []
            began = time.monotonic()
            stopped = remote.generate(
                remote.fim("?", ""),
                stop=NONE,
                max_tokens=50_000,
                cancel=lambda heard=heard, after=after: len(heard) >= after,  # type: ignore[misc]
                on_token=lambda *told, heard=heard: bool(heard.append(told)),  # type: ignore[misc]
            )
            took.append(time.monotonic() - began)
            assert stopped.stopped_by == StopReason.CANCELLED
            assert after <= len(stopped.tokens) < after + 1000
            wait_until_free(address)
        assert max(took) < 5
        # Nothing came yet, as the prompt is still read: the time budget ends that as well.
        long = Prompt(tuple(remote.tokenize("a" * 10_000)), "left_to_right")
        began = time.monotonic()
        assert remote.generate(long, stop=NONE, max_tokens=9, max_ms=100).stopped_by == StopReason.TIME
        assert time.monotonic() - began < 1
        wait_until_free(address, 10)


def test_a_server_that_restarts_is_found_again(tiny_gguf: Path) -> None:
    port = free_port()
    with running(tiny_gguf, *EXACT, port=port) as address:
        remote = RemoteModel(address, timeouts=Timeouts(retry=0.5))
        prompt = remote.fim(PREFIX, SUFFIX)
        before = remote.generate(prompt, stop=NONE, max_tokens=5)
    with pytest.raises(ServerUnreachable, match=address):
        remote.generate(prompt, stop=NONE, max_tokens=5)
    with running(tiny_gguf, *EXACT, port=port):
        assert_agree(remote.generate(prompt, stop=NONE, max_tokens=5), before)
    remote.close()
    with pytest.raises(ModelClosed):
        remote.generate(prompt, stop=NONE, max_tokens=5)


def test_the_embedded_model_is_recognised_and_counts_tokens_as_here() -> None:
    """Its weights are of 8 bits: kernels differ with the size of a batch, and so do the last digits."""
    with running(EMBEDDED, *EXACT) as address:
        opened: Model = open_model(address)
        with opened as remote, open_local(EMBEDDED) as local:
            assert remote.layout == local.layout
            assert remote.fim(PREFIX, SUFFIX) == local.fim(PREFIX, SUFFIX)
            mine, theirs = (complete(model, PREFIX, SUFFIX) for model in (remote, local))
            assert mine.text == theirs.text
            for one, other in zip(mine.tokens, theirs.tokens, strict=True):
                assert one.logprob == pytest.approx(other.logprob, abs=0.1)
            for path in sorted((Path(__file__).parents[3] / "inference").glob("*.py")):
                text = path.read_text(encoding="utf-8")
                assert remote.count_tokens(text) == len(local.tokenize(text))
