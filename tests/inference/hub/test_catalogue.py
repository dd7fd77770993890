"""The catalogue as it is shipped."""

import re
from pathlib import Path

import pytest

from assay.calibration import calibrator
from assay.calibration.calibrator import load
from assay.inference.completion.fim_families import FAMILIES
from assay.inference.errors import ModelError
from assay.inference.hub.catalogue import catalogue, entry_named
from assay.inference.machine_memory import gpu_memory, machine_memory
from assay.inference.opening import ModelChoice

SHIPPED = Path(calibrator.__file__).parent / "shipped"


def test_every_entry_names_one_file_of_a_known_family_and_only_whole_facts() -> None:
    entries = catalogue()
    assert len({entry.name for entry in entries}) == len({(entry.repository, entry.file) for entry in entries}) == len(entries)
    for entry in entries:
        assert entry.name == entry.name.lower()
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", entry.repository)
        assert entry.file.endswith(".gguf")
        assert entry.family in {family.name for family in FAMILIES}
        assert re.fullmatch("([0-9a-f]{64})?", entry.sha256)
        assert re.fullmatch("([0-9a-f]{40})?", entry.revision)
        # The size of one that is not known is told as that of Q4_K_M.
        assert entry.bytes or "q4_k_m" in entry.file.lower()


def test_a_name_that_is_none_is_answered_with_the_nearest() -> None:
    assert entry_named("QWEN2.5-Coder-7B").name == "qwen2.5-coder-7b"
    with pytest.raises(ModelError, match="Did you mean codestral-22b"):
        entry_named("codestrall")
    with pytest.raises(ModelError, match=r"assay model get shows"):
        entry_named("")


def test_a_model_with_shipped_calibrators_is_shown_what_they_are_fitted_with() -> None:
    with ModelChoice().open() as model:
        fitted = [load(file).fitted_on for file in SHIPPED.glob("*.json")]
        others = {made.model for made in fitted if not made.models} - {model.fingerprint.id}
    assert {entry.fingerprint for entry in catalogue() if entry.prompt_size} == others


def test_the_memory_of_this_machine_is_told_and_none_of_a_gpu_that_is_not_there() -> None:
    assert (machine_memory() or 1 << 30) >= 1 << 28
    assert (gpu_memory() or 1 << 30) >= 1 << 28
