from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_gguf import TinyModel, write_tiny_gguf

from assay.inference.errors import (
    ContextTooLong,
    DamagedModel,
    LoadFailed,
    NoSuchModel,
    NotTheModel,
    OutOfMemory,
    SplitModel,
    UnreadableModel,
    UnsupportedArchitecture,
)
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.opening import open_model
from assay.inference.stopping.stop import NONE


def test_what_is_no_model_file_and_options_out_of_range(tmp_path: Path, tiny_gguf: Path) -> None:
    with pytest.raises(NoSuchModel, match=r"gone\.gguf: no such model file\. Check the path"):
        LlamaModel(tmp_path / "gone.gguf")
    with pytest.raises(UnreadableModel, match=r"the model can't be read \(File name too long\)"):
        LlamaModel(tmp_path / ("x" * 5000))
    (tmp_path / "model.gguf.part").write_bytes(tiny_gguf.read_bytes()[:-5000])
    with pytest.raises(NotTheModel, match="a download that was not finished"):
        open_model(tmp_path / "model.gguf.part")
    for option, least in (("n_ctx", 0), ("threads", 0), ("gpu_layers", -1)):
        with pytest.raises(ValueError, match="it must be at least"):
            LlamaModel(tiny_gguf, **{option: least})  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform != "linux", reason="a file's name may be any bytes only on some systems")
def test_a_path_that_is_not_unicode(tmp_path: Path, tiny_gguf: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/m\xff.gguf"))
    path.write_bytes(tiny_gguf.read_bytes())
    with open_model(path, threads=1) as model:
        assert model.tokenize("x")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "a Git LFS pointer, not a model.*git lfs pull"),
        (b"<html>not found</html>", "a web page, not a model"),
        (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "a server's message in XML"),
        (b"Entry not found", r"a text \('Entry not found'\), not a model"),
        (b"PK\x03\x04" + bytes(100), "an archive, or a packed file"),
        (bytes(4096), "filled with zeros"),
        (b"\x50\0\0\0\0\0\0\0" + b'{"weight":{"dtype":"F32"}}', "a safetensors file"),
    ],
)
def test_what_is_known_not_to_be_a_model_is_named_as_what_it_is(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(NotTheModel, match=said):
        open_model(path)


def test_architectures_that_can_not_generate_here_and_what_llama_cpp_refuses(tmp_path: Path) -> None:
    for architecture in ("nonesuch", "bert"):
        path = write_tiny_gguf(tmp_path / f"{architecture}.gguf", TinyModel(architecture=architecture))
        with pytest.raises(UnsupportedArchitecture, match=architecture):
            open_model(path)
    path = write_tiny_gguf(tmp_path / "model.gguf", TinyModel(metadata={"tokenizer.ggml.pre": "nonesuch"}))
    with pytest.raises((LoadFailed, DamagedModel), match=r"nonesuch|twice"):
        open_model(path, threads=1)


def test_a_context_longer_than_the_models_and_a_cache_larger_than_the_memory(tiny_gguf: Path, tmp_path: Path) -> None:
    with pytest.raises(ContextTooLong, match="the context that was asked for needs 513 tokens, the model's context holds 512"):
        open_model(tiny_gguf, n_ctx=513)
    with open_model(tiny_gguf, n_ctx=16, threads=1) as small:
        assert small.context_length == 16
    path = write_tiny_gguf(tmp_path / "model.gguf", TinyModel(context_length=2**31 - 1))
    with pytest.raises(OutOfMemory, match=r"the cache of 2,147,483,647 tokens takes [\d,.]+ GiB.*smaller context"):
        open_model(path, n_ctx=2**31 - 1)
    with open_model(path, threads=1) as model:
        assert model.context_length == 4096


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits a process's address space as Linux does")
def test_memory_that_the_system_refuses(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "model.gguf", TinyModel(context_length=2**24))
    program = """
import resource, sys
from pathlib import Path
from assay.inference.opening import open_model
from assay.inference.errors import OutOfMemory
from assay.inference.llamacpp.session import runtime
runtime()
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, used + 2**30))
try:
    open_model(sys.argv[1], n_ctx=2**24, threads=1)
except OutOfMemory as error:
    print(error)
with open_model(sys.argv[1], n_ctx=256, threads=1) as model:
    print(len(model.tokenize("still alive")) > 0)
"""
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert "failed to allocate" in done.stdout
    assert "smaller context" in done.stdout
    assert done.stdout.endswith("True\n")


def test_a_model_in_several_files_is_the_one_that_they_make_together(tmp_path: Path) -> None:
    whole, first = write_tiny_gguf(tmp_path / "whole.gguf"), write_tiny_gguf(tmp_path / "model.gguf", tensors_in_a_file=7)
    last = max(tmp_path.glob("model-*.gguf"))
    assert last.name == "model-00003-of-00003.gguf"
    with open_model(whole, threads=1) as model, open_model(first, threads=1) as split, open_model(last, threads=1) as again:
        prompt = model.fim("def f():\n    return ", "\n")
        texts = [one.generate(prompt, stop=NONE, max_tokens=8).text for one in (model, split, again)]
        assert texts == [texts[0]] * 3
        assert split.fingerprint == again.fingerprint
        assert (split.fingerprint.parameters, split.fingerprint.tokenizer) == (model.fingerprint.parameters, model.fingerprint.tokenizer)
        before = split.fingerprint.weights
    data = bytearray(last.read_bytes())
    data[-1] ^= 1
    last.write_bytes(data)
    with open_model(first, threads=1) as changed:
        assert changed.fingerprint.weights != before


def test_files_of_a_model_that_are_not_there_are_named(tmp_path: Path) -> None:
    first = write_tiny_gguf(tmp_path / "model.gguf", tensors_in_a_file=7)
    (tmp_path / "model-00002-of-00003.gguf").unlink()
    with pytest.raises(SplitModel, match=r"one of 3 files of a model, and model-00002-of-00003\.gguf is not beside it"):
        open_model(first)
    (tmp_path / "model-00002-of-00003.gguf").write_bytes((tmp_path / "model-00003-of-00003.gguf").read_bytes())
    with pytest.raises(DamagedModel, match="it says that it is file 3 of 3, its name that it is 2 of 3"):
        open_model(first)
    with pytest.raises(SplitModel, match="its name does not say which"):
        open_model(first.rename(tmp_path / "renamed.gguf"))


def test_loading_and_failing_write_nothing_to_the_terminal_and_a_missing_runtime_what_to_install(tiny_gguf: Path, tmp_path: Path) -> None:
    bad = write_tiny_gguf(tmp_path / "bad.gguf", TinyModel(architecture="nonesuch"))
    program = """
import sys
from assay.inference.opening import open_model
from assay.inference.errors import ModelError
from assay.inference.stopping.stop import NONE
with open_model(sys.argv[1], threads=1) as model:
    model.generate(model.fim("x", ""), stop=NONE, max_tokens=2)
try:
    open_model(sys.argv[2])
except ModelError:
    pass
"""
    done = subprocess.run([sys.executable, "-c", program, str(tiny_gguf), str(bad)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    missing = "import sys; sys.modules['llama_cpp'] = None; from assay.inference.opening import open_model; open_model(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", missing, str(tiny_gguf)], capture_output=True, text=True, check=False)
    assert "PackageMissing" in done.stderr
    assert "pip install 'llama-cpp-python" in done.stderr


def test_a_file_that_was_replaced_since_it_was_opened_has_no_fingerprint(tmp_path: Path) -> None:
    path, other = write_tiny_gguf(tmp_path / "m.gguf"), write_tiny_gguf(tmp_path / "other.gguf")
    with LlamaModel(path, threads=1) as model:
        other.replace(path)
        with pytest.raises(UnreadableModel, match="replaced or changed"):
            _ = model.fingerprint
    with LlamaModel(path, threads=1) as model:
        known = model.fingerprint
        write_tiny_gguf(tmp_path / "third.gguf").replace(path)
        assert model.fingerprint is known
