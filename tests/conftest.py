"""Fixtures that more than one room's tests use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import jails  # noqa: F401 - which levels of isolation work here is found out before workers begin
import pytest
from bare_python import make_bare_python
from hypothesis import settings
from needs import leave_out
from tiny_gguf import TinyModel, scripted, write_tiny_gguf
from tiny_models import OpenTiny, open_exact

from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.opening import EMBEDDED

if TYPE_CHECKING:
    from assay.inference.hf.model import HFModel

# Beside other workers, threads of llama.cpp that wait for each other spin: a process of two took five times the CPU time of one.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_THREAD_LIMIT", "1")
    # Torch has to know of it: with a limit below its own number of threads a part of its attention in bfloat16 is never computed.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# No deadline: a slow machine is no wrong result. `pytest -m hypothesis --hypothesis-profile thorough` draws more examples.
settings.register_profile("fast", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None)
settings.load_profile("fast")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if taken := leave_out(items):
        config.hook.pytest_deselected(items=taken)


@pytest.fixture(scope="session", autouse=True)
def data_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of everything that tests start: no test writes to the user's own log, or finds the user's own calibrators.

    Nor does one write into the user's cache.
    """
    folders = {"ASSAY_DATA_HOME": tmp_path_factory.mktemp("data"), "ASSAY_CACHE_HOME": tmp_path_factory.mktemp("cache")}
    with pytest.MonkeyPatch.context() as patch:
        for name, folder in folders.items():
            patch.setenv(name, str(folder))
        yield folders["ASSAY_DATA_HOME"]


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with pytest and nothing else, for projects whose tests are run."""
    return make_bare_python(tmp_path_factory.mktemp("environment"))


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole GGUF of random weights: f32, 2 layers, 512 tokens of context, fill-in-the-middle tokens."""
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="session")
def answering_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that continues every text that ends in "?" with " answer" and a line's end."""
    return write_tiny_gguf(tmp_path_factory.mktemp("answering") / "answering.gguf", scripted(b" answer", b"\n"))


@pytest.fixture(scope="session")
def tiny(tiny_gguf: Path) -> Iterator[LlamaModel]:
    with open_exact(tiny_gguf) as model:
        yield model


@pytest.fixture(scope="session")
def embedded() -> Iterator[LlamaModel]:
    with LlamaModel(EMBEDDED, threads=1) as model:
        yield model


@pytest.fixture(scope="session")
def tiny_hf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HFModel]:
    """A model of random weights by transformers, on one thread."""
    import torch  # which takes a second, and few tests need
    from tiny_hf import write_tiny_hf

    from assay.inference.hf.model import HFModel

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with HFModel(write_tiny_hf(tmp_path_factory.mktemp("hf") / "model"), device="cpu") as model:
        yield model
    torch.set_num_threads(threads)


@pytest.fixture
def open_tiny(tmp_path: Path) -> Iterator[OpenTiny]:
    """Writes a tiny model and opens it; all are closed after the test."""
    with ExitStack() as opened:
        count = 0

        def open_one(model: TinyModel) -> LlamaModel:
            nonlocal count
            count += 1
            return opened.enter_context(open_exact(write_tiny_gguf(tmp_path / f"{count}.gguf", model)))

        yield open_one


@pytest.fixture(scope="module")
def sandbox() -> Iterator[PythonSandbox]:
    """Judges Python programs, in the best isolation that works here."""
    try:
        level = best_level()
    except NoIsolation as error:
        pytest.skip(str(error))
    with PythonSandbox(Jail(level)) as made:
        yield made
