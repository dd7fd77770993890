from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from assay.inference.opening import ModelChoice
from assay.offline_eval.model import opened_on_one_thread


def test_a_workers_transformers_model_is_run_by_one_thread(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from tiny_hf import write_tiny_hf

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with opened_on_one_thread(ModelChoice(str(write_tiny_hf(tmp_path / "model")), {"device": "cpu"})):
            assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_a_workers_gguf_is_opened_without_torch(tiny_gguf: Path) -> None:
    program = (
        "import sys; from assay.inference.opening import ModelChoice; from assay.offline_eval.model import opened_on_one_thread\n"
        f"with opened_on_one_thread(ModelChoice({str(tiny_gguf)!r})): print('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == "False"
