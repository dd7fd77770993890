from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from tiny_hf import byte_level, write_tiny_hf
from tokenizers import Tokenizer, decoders, models

from assay.inference.errors import (
    ContextTooLong,
    DamagedModel,
    LoadFailed,
    MissingFile,
    ModelError,
    NoSuchDevice,
    NoSuchDtype,
    NoSuchModel,
    NotAModelFolder,
    NotTheModel,
    OutOfMemory,
    RemoteCode,
    TruncatedModel,
    UnreadableModel,
    UnsafeWeights,
    UnsupportedArchitecture,
    UnsupportedTokenizer,
)
from assay.inference.hf.folder import read_folder
from assay.inference.hf.model import HFModel
from assay.inference.opening import open_model
from assay.inference.stopping.stop import NONE

from ..nonsense import with_one_part_changed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny_hf(tmp_path / "model", shards=3)


def edit(path: Path, **changes: Any) -> None:
    content = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in content.items() if value is not ...}))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def shard(folder: Path) -> Path:
    return sorted(folder.glob("*.safetensors"))[-1]


def pickled(folder: Path) -> None:
    for file in folder.glob("*.safetensors*"):
        file.unlink()
    torch.save({}, folder / "pytorch_model.bin")


def without_byte_pieces(folder: Path) -> None:
    words = Tokenizer(models.WordPiece({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    words.decoder = decoders.WordPiece()
    (folder / "tokenizer.json").write_text(words.to_str())


def without_a_tensor(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(shard(folder))
    tensors.pop(sorted(tensors)[0])
    save_file(tensors, shard(folder), metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("damage", "error", "says"),
    [
        (lambda f: (f / "config.json").unlink(), NotAModelFolder, "there is neither config.json nor a GGUF file"),
        (lambda f: (f / "config.json").rename(f / "adapter_config.json"), NotAModelFolder, "merge it into its base model"),
        (lambda f: (f / "config.json").write_text("{oops"), DamagedModel, r"config\.json: damaged: it is not JSON"),
        (lambda f: (f / "config.json").write_text("[]"), DamagedModel, "not a table"),
        (lambda f: (f / "config.json").write_text("[" * 100_000), DamagedModel, "it is not JSON"),
        (lambda f: (f / "tokenizer.json").unlink(), MissingFile, "missing: tokenizer.json. Make it from"),
        (
            lambda f: (f / "tokenizer.json").write_text("{}"),
            DamagedModel,
            r"tokenizer\.json: damaged: the tokenizers library can't read it",
        ),
        (lambda f: shard(f).unlink(), MissingFile, r"model-.*safetensors, one of \d files"),
        (lambda f: truncate(shard(f)), TruncatedModel, "cut short: the last tensor"),
        (lambda f: shard(f).write_bytes(struct.pack("<Q", 900) + b"{}"), TruncatedModel, "the header would end"),
        (lambda f: shard(f).write_bytes(b"\xff" * 600), DamagedModel, "its header would be"),
        (lambda f: shard(f).write_bytes(b"<html>not found</html>"), NotTheModel, "a web page"),
        (lambda f: (f / "tokenizer_config.json").write_bytes(b"version https://git-lfs.github.com/spec/v1\n"), NotTheModel, "git lfs pull"),
        (lambda f: shard(f).write_bytes(struct.pack("<Q", 19) + b'{"a":{"shape":[1]}}'), DamagedModel, "not that of a safetensors file"),
        (without_byte_pieces, UnsupportedTokenizer, "its decoder is WordPiece"),
        (lambda f: (f / "model.safetensors.index.json").write_text('{"weight_map": {}}'), DamagedModel, "names no weights"),
        (
            lambda f: (f / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../x.safetensors"}}'),
            DamagedModel,
            "not a file of the folder",
        ),
        (without_a_tensor, DamagedModel, "the weights lack 1 tensors"),
        (pickled, UnsafeWeights, r"the weights are pickled \(pytorch_model\.bin\).*save_pretrained"),
        (lambda f: [file.unlink() for file in f.glob("*.safetensors*")], MissingFile, "missing: model.safetensors"),
        (lambda f: edit(f / "config.json", model_type="nonesuch"), UnsupportedArchitecture, 'does not know the architecture "nonesuch"'),
        (
            lambda f: edit(f / "config.json", model_type="nonesuch", auto_map={"AutoModelForCausalLM": "code.Model"}),
            RemoteCode,
            "only in Python files that came with the model",
        ),
        (
            lambda f: edit(f / "config.json", architectures=["OwnModel"], auto_map={"AutoModelForCausalLM": "code.Model"}),
            RemoteCode,
            "never run",
        ),
        (lambda f: edit(f / "config.json", architectures=["BertForMaskedLM"]), UnsupportedArchitecture, "BertForMaskedLM"),
        (lambda f: edit(f / "config.json", hidden_size="wide"), LoadFailed, "transformers can't load the model"),
    ],
)
def test_a_bad_folder_is_an_error_of_ours(folder: Path, damage: Callable[[Path], object], error: type[ModelError], says: str) -> None:
    damage(folder)
    with pytest.raises(error, match=says) as raised:
        open_model(folder, device="cpu")
    assert str(folder) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.slow
def test_nonsense_in_a_file_is_an_error_of_ours_or_does_no_harm(tmp_path: Path) -> None:
    whole = write_tiny_hf(tmp_path / "whole", shards=3, tokenizer_config={"bos_token": "a", "eos_token": "b"})
    names = ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json", "model.safetensors.index.json")
    for seed in range(20):
        folder = Path(shutil.copytree(whole, tmp_path / f"{seed}"))
        file = folder / names[seed % len(names)]
        file.write_text(json.dumps(with_one_part_changed(json.loads(file.read_text()), Random(seed))))
        with contextlib.suppress(ModelError), HFModel(folder, device="cpu") as model:
            prompt = model.fim("def a", "")
            assert model.generate(prompt, stop=NONE, max_tokens=2).tokens
            assert model.score(prompt, [1])


def test_what_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(NoSuchModel, match="Nothing is downloaded"):
        HFModel(tmp_path / "gone")
    with pytest.raises(NoSuchModel, match="organisation/name: no such model file"):
        HFModel("organisation/name")
    (tmp_path / "file").touch()
    with pytest.raises(NotAModelFolder, match="it is a file"):
        HFModel(tmp_path / "file")
    with pytest.raises((UnreadableModel, NoSuchModel), match=os.strerror(errno.ENAMETOOLONG) + "|no such model"):
        HFModel(tmp_path / ("x" * 5000))


@pytest.mark.skipif(sys.platform != "linux", reason="needs files with holes")
def test_weights_that_do_not_fit_are_refused_before_they_are_read(folder: Path) -> None:
    size = 1 << 42
    table = json.dumps({"a": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    with shard(folder).open("wb") as file:
        file.write(struct.pack("<Q", len(table)) + table)
        try:
            file.truncate(8 + len(table) + size)
        except OSError:
            pytest.skip("this file system has no files of that size")
    with pytest.raises(OutOfMemory, match="the weights take"):
        HFModel(folder, device="cpu")


def test_memory_that_runs_out_while_computing_is_told_as_such(folder: Path) -> None:
    with HFModel(folder, device="cpu") as model:

        def exhaust(*_: object) -> None:
            torch.empty(1 << 50)

        model._open()._model.model.layers[0].register_forward_pre_hook(exhaust)
        with pytest.raises(OutOfMemory, match="not enough memory"):
            model.generate(model.fim("x", ""), stop=NONE, max_tokens=1)


def test_options_that_can_not_be(folder: Path) -> None:
    with pytest.raises(ContextTooLong, match="that was asked for needs 10,000 tokens"):
        HFModel(folder, n_ctx=10_000)
    with pytest.raises(ValueError, match="n_ctx is 0"):
        HFModel(folder, n_ctx=0)
    with pytest.raises(NoSuchDtype, match=r'dtype "int3" .*one of float32, float16, bfloat16'):
        HFModel(folder, dtype="int3", device="cpu")
    for device in ("warp", "cuda:99"):
        with pytest.raises(NoSuchDevice, match=f'device "{device}"'):
            HFModel(folder, device=device)


@pytest.mark.slow
def test_without_torch_the_packages_are_named_where_they_would_serve(tmp_path: Path, folder: Path) -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from assay.inference.opening import open_model\nfrom assay.inference.errors import ModelError\n"
        "for path in sys.argv[1:]:\n"
        "    try: open_model(path)\n    except ModelError as error: print(str(error).replace('\\n', ' '))\n"
    )
    (tmp_path / "empty").mkdir()
    ran = subprocess.run([sys.executable, "-c", script, folder, tmp_path / "empty"], capture_output=True, text=True, check=True, timeout=60)
    done, empty = ran.stdout.splitlines()
    assert "assay[hf]" in done
    assert "-m pip install 'torch>=2.6'" in done
    assert "there is neither config.json nor a GGUF file" in empty
    assert "pip install" not in empty


def test_the_fingerprint_is_of_weights_tokenizer_and_dtype(tmp_path: Path, folder: Path) -> None:
    whole = write_tiny_hf(tmp_path / "whole")
    with HFModel(folder, device="cpu") as model, HFModel(whole, device="cpu", dtype="bfloat16") as other:
        one, two = model.fingerprint, other.fingerprint
        assert model.score(model.fim("x = ", ""), [5, 6]) == pytest.approx(other.score(model.fim("x = ", ""), [5, 6]), abs=0.2)
    assert (one.name, one.architecture, one.parameters, one.quantisation) == ("tiny", "llama", two.parameters, "float32")
    assert two.quantisation == "bfloat16"
    hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.glob("*.safetensors"))]
    assert len(hashes) > 1
    assert one.weights == hashlib.sha256("".join(hashes).encode()).hexdigest() != two.weights
    assert one.tokenizer == two.tokenizer
    assert one.runtime.startswith("transformers ")
    assert " torch " in one.runtime
    content = json.loads((whole / "tokenizer.json").read_text())
    (whole / "tokenizer.json").write_text(json.dumps(dict(reversed(content.items())), indent=3))
    assert read_folder(whole).tokenizer_hash == one.tokenizer
    (whole / "tokenizer.json").write_text(byte_level(("<other>",)))
    assert read_folder(whole).tokenizer_hash != one.tokenizer


@pytest.mark.parametrize(
    ("config", "length"),
    [
        ({"max_position_embeddings": 16_384}, 16_384),
        ({"n_positions": 1024, "n_ctx": 512}, 1024),
        ({"max_position_embeddings": ..., "text_config": {"max_position_embeddings": 99}}, 99),
        ({"max_position_embeddings": 9999, "original_max_position_embeddings": 4096, "rope_scaling": {"type": "longrope"}}, 4096),
        ({"max_position_embeddings": 131_072, "rope_scaling": {"rope_type": "yarn", "original_max_position_embeddings": 32_768}}, 131_072),
    ],
)
def test_the_context_is_what_the_configuration_says(folder: Path, config: dict[str, Any], length: int | None) -> None:
    edit(folder / "config.json", max_position_embeddings=..., rope_parameters=...)
    edit(folder / "config.json", **config)
    assert read_folder(folder).context_length == length
    if length == 16_384:
        with HFModel(folder, device="cpu") as model, HFModel(folder, device="cpu", n_ctx=9000) as longer:
            assert (model.context_length, longer.context_length) == (4096, 9000), "a long one is cut unless it is asked for"
