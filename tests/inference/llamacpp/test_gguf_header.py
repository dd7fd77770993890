from __future__ import annotations

import struct
from pathlib import Path
from typing import Literal

import gguf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_gguf import TinyModel, write_tiny_gguf

from assay.inference.errors import DamagedModel, ModelError, NoSuchModel, NotAGGUF, TruncatedModel, UnsupportedArchitecture
from assay.inference.llamacpp.gguf_header import _TENSOR_TYPES, parse_header, read_header


@pytest.fixture(scope="module")
def whole(tiny_gguf: Path) -> bytes:
    return tiny_gguf.read_bytes()


@pytest.fixture(scope="module")
def header_bytes(tiny_gguf: Path) -> int:
    return gguf.GGUFReader(tiny_gguf).data_offset


def test_a_header_says_what_the_model_is_and_how_long_the_file(tmp_path: Path, tiny_gguf: Path) -> None:
    header = read_header(tiny_gguf)
    assert (header.version, header.architecture, header.quantisation, header.context_length) == (3, "llama", "F32", 512)
    assert header.parameters == sum(array.size for array in TinyModel().weights().values())
    assert header.size == tiny_gguf.stat().st_size
    assert header.metadata["general.name"] == "tiny"
    path = write_tiny_gguf(tmp_path / "model.gguf", kind="q8_0")
    header = read_header(path)
    assert header.quantisation == "Q8_0"
    assert path.stat().st_size - 32 < header.size <= path.stat().st_size
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(TruncatedModel, match=r"the weights would end at byte [\d,]+, the file has [\d,]+"):
        read_header(path)


def test_the_tokenizers_hash_depends_on_the_tokenizer_alone(tmp_path: Path, tiny_gguf: Path) -> None:
    other_weights = write_tiny_gguf(tmp_path / "weights.gguf", TinyModel(seed=1), "q8_0")
    other_tokens = write_tiny_gguf(tmp_path / "tokens.gguf", TinyModel(pieces=(b"xyz",)))
    other_template = write_tiny_gguf(tmp_path / "template.gguf", TinyModel(metadata={"tokenizer.chat_template": "hello"}))
    tokenizer = read_header(tiny_gguf).tokenizer
    assert read_header(other_weights).tokenizer == tokenizer
    assert read_header(other_template).tokenizer == tokenizer
    assert read_header(other_tokens).tokenizer != tokenizer


def test_quantisations_of_one_model_are_kin_and_other_models_are_not(tmp_path: Path, tiny_gguf: Path) -> None:
    named = {"general.basename": "Tiny", "general.finetune": "Instruct"}

    def kin(model: TinyModel, kind: Literal["f32", "q8_0"] = "f32") -> str:
        return read_header(write_tiny_gguf(tmp_path / "model.gguf", model, kind)).kin

    of_one = kin(TinyModel(metadata=named))
    assert len(of_one) == 16
    converted = {"general.basename": "tiny", "general.finetune": "Instruct-AWQ", "tokenizer.chat_template": "hello"}
    assert kin(TinyModel(metadata=converted), "q8_0") == of_one
    others = {
        "of another name": kin(TinyModel(metadata={**named, "general.basename": "Other"})),
        "not taught to follow instructions": kin(TinyModel(metadata={"general.basename": "Tiny"})),
        "of other tokens": kin(TinyModel(metadata=named, pieces=(b"xyz",))),
        "of another shape": kin(TinyModel(metadata=named, heads=2)),
    }
    assert of_one not in others.values(), others
    assert read_header(tiny_gguf).kin == "", "without a base name nothing is known"


def test_block_sizes_are_those_of_the_gguf_package() -> None:
    theirs = {kind.value: (block, size) for kind, (block, size) in gguf.GGML_QUANT_SIZES.items()}
    ours = {kind: (block, size) for kind, (_, block, size) in _TENSOR_TYPES.items()}
    assert {kind: theirs[kind] for kind in ours} == ours


def test_a_missing_file_and_a_folder_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(NoSuchModel, match=r"nothing\.gguf: no such model file"):
        read_header(tmp_path / "nothing.gguf")
    with pytest.raises(NoSuchModel):
        read_header(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\x7fELF" + bytes(40), b"GGUF\x01\x00\x00\x00" + bytes(40), b"GGUF\x00\x00\x00\x03" + bytes(40)])
def test_other_files_are_not_a_gguf(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(NotAGGUF, match=r"not a GGUF file of version 2 or 3"):
        read_header(path)


@given(st.data())
def test_every_beginning_of_a_header_is_truncated(whole: bytes, header_bytes: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, header_bytes - 1))
    with pytest.raises(TruncatedModel):
        parse_header(whole[:size], Path("model.gguf"))


@settings(max_examples=100)
@given(st.data())
def test_any_bytes_changed_in_a_header_give_a_model_error_or_a_header(whole: bytes, header_bytes: int, data: st.DataObject) -> None:
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, header_bytes - 1))] = data.draw(st.integers(0, 255))
    try:
        header = parse_header(bytes(damaged), Path("model.gguf"))
    except ModelError:
        return
    assert header.size <= len(damaged)
    assert isinstance(header.quantisation + header.architecture, str)
    assert header.cache_bytes(512, 2) is not None
    assert header.context_length is None or header.context_length > 0


def test_an_absurd_length_is_an_error_and_takes_no_memory(whole: bytes) -> None:
    for offset in (8, 16, 24):
        damaged = whole[:offset] + struct.pack("<Q", 2**63 + 5) + whole[offset + 8 :]
        with pytest.raises((TruncatedModel, DamagedModel)):
            parse_header(damaged, Path("model.gguf"))


def pair(key: str, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I", kind) + value


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


ARCHITECTURE = pair("general.architecture", 8, text("llama"))


@pytest.mark.parametrize(
    ("pairs", "tensor", "error", "reason"),
    [
        ([pair("general.architecture", 4, bytes(4))], b"", DamagedModel, "general.architecture is missing"),
        ([ARCHITECTURE, ARCHITECTURE], b"", DamagedModel, "stands twice"),
        ([ARCHITECTURE, pair("a", 77, b"")], b"", DamagedModel, "unknown type 77"),
        ([ARCHITECTURE, pair("a", 9, struct.pack("<IQ", 9, 1))], b"", DamagedModel, "an array of type 9"),
        ([ARCHITECTURE, pair("a", 9, struct.pack("<IQ", 8, 2**60))], b"", TruncatedModel, "the header"),
        ([ARCHITECTURE, pair("general.alignment", 4, struct.pack("<I", 33))], b"", DamagedModel, "power of two"),
        ([ARCHITECTURE], text("t") + struct.pack("<I", 9), DamagedModel, "9 dimensions"),
        ([ARCHITECTURE], text("t") + struct.pack("<IQIQ", 1, 33, 8, 0), DamagedModel, "no multiple"),
        ([ARCHITECTURE], text("t") + struct.pack("<IQIQ", 1, 32, 99, 0), UnsupportedArchitecture, "number format 99"),
        ([ARCHITECTURE], text("t") + struct.pack("<IQIQ", 1, 2**62, 0, 0), TruncatedModel, "the weights"),
    ],
)
def test_each_contradiction_is_named(pairs: list[bytes], tensor: bytes, error: type[ModelError], reason: str) -> None:
    data = b"GGUF" + struct.pack("<IQQ", 3, bool(tensor), len(pairs)) + b"".join(pairs) + tensor
    with pytest.raises(error, match=reason):
        parse_header(data, Path("model.gguf"))


def blocks(count: int, kind: int = 4, form: str = "<I") -> bytes:
    return pair("llama.block_count", kind, struct.pack(form, count))


@pytest.mark.parametrize("count", [blocks(0), blocks(513), blocks(-1, 11, "<q")])
def test_a_number_of_layers_that_llama_cpp_would_abort_on_is_refused(count: bytes) -> None:
    data = b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + ARCHITECTURE + count
    with pytest.raises(DamagedModel, match=r"it has [-\d,]+ layers, and llama.cpp takes 1 to 512"):
        parse_header(data, Path("model.gguf"))
    assert parse_header(data.replace(count, blocks(512)), Path("model.gguf")).number("llama.block_count", 0) == 512


@pytest.mark.parametrize(("tensors", "pairs"), [(0, 100_001), (100_001, 1)])
def test_more_keys_or_tensors_than_any_model_has_are_not_read(tensors: int, pairs: int) -> None:
    keys = b"".join(pair(f"k{number}", 4, bytes(4)) for number in range(pairs - 1))
    each = b"".join(text(f"t{number}") + struct.pack("<IIQ", 0, 0, 0) for number in range(tensors))
    data = b"GGUF" + struct.pack("<IQQ", 3, tensors, pairs) + ARCHITECTURE + keys + each + bytes(64)
    with pytest.raises(DamagedModel, match=rf"it has {pairs:,} metadata keys and {tensors:,} tensors"):
        parse_header(data, Path("model.gguf"))


def test_a_vocabulary_that_llama_cpp_would_abort_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DamagedModel, match=r"1 of the vocabulary's 275 tokens stand in it twice"):
        read_header(write_tiny_gguf(tmp_path / "twice.gguf", TinyModel(pieces=(b"def",))))
    types = pair("tokenizer.ggml.token_type", 9, struct.pack("<IQ", 5, 3) + bytes(12))
    tokens = pair("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + text("a") + text("b"))
    data = b"GGUF" + struct.pack("<IQQ", 3, 0, 3) + ARCHITECTURE + types + tokens
    with pytest.raises(DamagedModel, match="token_type is about 3 tokens, the vocabulary has 2"):
        parse_header(data, Path("model.gguf"))


def test_without_a_file_type_the_commonest_tensor_type_names_the_quantisation() -> None:
    tensors = text("a") + struct.pack("<IQIQ", 1, 32, 0, 0) + text("b") + struct.pack("<IQIQ", 1, 64, 8, 128)
    data = b"GGUF" + struct.pack("<IQQ", 3, 2, 1) + ARCHITECTURE + tensors + bytes(400)
    assert parse_header(data, Path("model.gguf")).quantisation == "Q8_0"


def tokens(*spellings: str) -> bytes:
    return pair("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, len(spellings)) + b"".join(map(text, spellings)))


def number(key: str, value: int) -> bytes:
    return pair(key, 4, struct.pack("<I", value))


@pytest.mark.parametrize(
    ("pairs", "fills"),
    [
        ([tokens("a", "<fim-prefix>", "<fim-suffix>", "<fim-middle>")], True),
        ([tokens("<fim-prefix>", "<fim-suffix>", "a")], False),
        ([number(f"tokenizer.ggml.fim_{part}_token_id", 1) for part in ("pre", "suf", "mid")], True),
        ([number("tokenizer.ggml.fim_pre_token_id", 1), tokens("<|fim_suffix|>", "<|fim_middle|>")], True),
        ([], False),
    ],
)
def test_the_middle_is_filled_where_the_metadata_or_the_vocabulary_has_all_three_tokens(pairs: list[bytes], fills: bool) -> None:
    data = b"GGUF" + struct.pack("<IQQ", 3, 0, 1 + len(pairs)) + ARCHITECTURE + b"".join(pairs)
    assert parse_header(data, Path("model.gguf")).fills_middle is fills


def test_a_token_reads_all_weights_but_an_embedding_and_the_experts_that_it_does_not_ask() -> None:
    def per_token(*names: str, pairs: tuple[bytes, ...] = ()) -> int:
        written = b"".join(text(name) + struct.pack("<IQIQ", 1, 32, 0, 128 * place) for place, name in enumerate(names))
        data = b"GGUF" + struct.pack("<IQQ", 3, len(names), 1 + len(pairs)) + ARCHITECTURE + b"".join(pairs) + written + bytes(2000)
        return parse_header(data, Path("model.gguf")).read_per_token

    assert per_token("token_embd.weight", "blk.0.attn_q.weight", "output.weight") == 2 * 128
    assert per_token("token_embd.weight", "blk.0.attn_q.weight") == 2 * 128
    experts = (number("llama.expert_count", 8), number("llama.expert_used_count", 2))
    assert per_token("blk.0.attn_q.weight", "blk.0.ffn_up_exps.weight", pairs=experts) == 128 + 32
    assert per_token("blk.0.attn_q.weight", "blk.0.ffn_up_exps.weight") == 2 * 128
