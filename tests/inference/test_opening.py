"""Opening what a user names: options that do not apply, models that are not there, workers, imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from assay.inference.errors import ModelError, NoSuchModel, OptionDoesNotApply
from assay.inference.opening import EMBEDDED, ModelChoice, open_model


def test_an_option_of_another_backend_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(
        OptionDoesNotApply, match=r"--device does not apply to .*assay.gguf, which is run by llama.cpp. Its options are --chunk, "
    ):
        open_model(device="cuda")
    with pytest.raises(OptionDoesNotApply, match="--threads does not apply"):
        open_model(tmp_path, threads=2)


def test_a_folder_without_a_model_and_a_closed_port_are_errors_for_people(tmp_path: Path) -> None:
    for where in (str(tmp_path), "http://127.0.0.1:9"):
        with pytest.raises(ModelError) as error:
            open_model(where)
        assert where in str(error.value)


def test_what_is_not_there_is_told_what_a_model_can_be(tmp_path: Path) -> None:
    for where in (tmp_path / "folder", "organisation/name"):
        with pytest.raises(NoSuchModel, match=r"A model is a \.gguf file, a folder with config\.json, or"):
            open_model(where)


def test_a_worker_gets_one_thread_of_a_local_model_and_a_server_stays_as_it_is() -> None:
    assert ModelChoice(None, {"kv_type": "f32"}).on_one_thread().options == {"kv_type": "f32", "threads": 1}
    remote = ModelChoice("http://127.0.0.1:9")
    assert remote.on_one_thread() == remote


def test_opening_the_embedded_model_imports_neither_torch_nor_an_http_client() -> None:
    script = "import sys; from assay.inference.opening import open_model; open_model(threads=1).close(); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"torch", "transformers", "httpx"} & set(ran.stdout.split())
    assert EMBEDDED.is_file()
