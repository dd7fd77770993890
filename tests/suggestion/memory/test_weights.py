from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from assay.inference.hub.catalogue import entry_named
from assay.inference.project_memory.weights import FITTED, read_weights, shipped_weights
from assay.suggestion.memory.memories import own_weights, weights_for


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path))


def write(model: str, text: str) -> None:
    own_weights(model).parent.mkdir(parents=True, exist_ok=True)
    own_weights(model).write_text(text)


def test_weights_that_were_fitted_to_a_model_count_whole_for_it_and_for_no_other() -> None:
    fitted = replace(shipped_weights(), model="1" * 16)
    write("1" * 16, fitted.as_json())
    assert weights_for("1" * 16).version == fitted.version
    assert weights_for("2" * 16).version == shipped_weights().for_model("2" * 16).version, "the embedded ones, damped"
    assert weights_for(shipped_weights().model).version == shipped_weights().version


@pytest.mark.parametrize("path", FITTED.glob("*.json"), ids=lambda path: path.stem)
def test_weights_that_assay_brings_for_a_model_count_whole_for_it(path: Path) -> None:
    found = weights_for(path.stem)
    assert (found.model, found.is_damped) == (path.stem, False)
    assert found.version == read_weights(path).version != shipped_weights().for_model(path.stem).version


def test_a_quantisation_of_a_model_has_that_model_s_weights_unless_it_has_its_own() -> None:
    entry = entry_named("qwen2.5-coder-0.5b")
    theirs = weights_for(entry.fingerprint)
    assert weights_for("4" * 16, entry.kin).version == theirs.version != weights_for("4" * 16).version
    fitted = replace(shipped_weights(), model="5" * 16)
    write("5" * 16, fitted.as_json())
    assert weights_for("5" * 16, entry.kin).version == fitted.version


def test_a_damaged_file_is_left_out_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    write("3" * 16, '{"schema": "assay/memory-weights/1"')
    with caplog.at_level(logging.WARNING):
        assert weights_for("3" * 16).version == weights_for("3" * 16).version == shipped_weights().for_model("3" * 16).version
    (record,) = caplog.records
    assert f"{'3' * 16}.json" in record.getMessage()
    assert "without the file Assay uses its own" in record.getMessage()
