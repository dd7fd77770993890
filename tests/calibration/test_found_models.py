"""Found models have the calibrators for them, a speed, and the next step."""

from assay.calibration.found_models import Listed, entries_for, entries_of, next_step, speed_of
from assay.calibration.registry import Registry, load_registry
from assay.inference.found.model import FoundModel

REGISTRY = load_registry()


def found(**facts: object) -> FoundModel:
    return FoundModel(("ollama:coder:1b",), "Ollama", "/models/coder.gguf", **facts)  # type: ignore[arg-type]


def listed(model: FoundModel, reading: float | None = None) -> Listed:
    return Listed(model, entries_for(REGISTRY, model.fingerprint), speed_of(model, reading))


def test_calibrators_are_matched_by_fingerprint_and_unknown_until_it_is_known() -> None:
    fitted = {entry.calibrator.fitted_on.model for entry in REGISTRY.entries if not entry.calibrator.fitted_on.models}
    assert fitted
    for fingerprint in fitted:
        row = listed(found(fingerprint=fingerprint))
        assert row.entries
        assert row.as_json()["calibrators"][0]["origin"] == "shipped"
    assert listed(found(fingerprint="0" * 16)).numbers == "exact_match (borrowed)"
    assert Listed(found(fingerprint="0" * 16), (), None).numbers == "none"
    assert listed(found()).numbers == "known when opened"
    assert listed(found()).as_json()["calibrators"] is None
    assert listed(found(problem="cut short")).numbers == ""


def test_each_token_reads_the_weights_once() -> None:
    assert speed_of(found(read_per_token=2_000_000_000), 50e9) == 25
    assert speed_of(found(read_per_token=2_000_000_000, problem="cut short"), 50e9) is None
    assert speed_of(found(), 50e9) is None
    assert speed_of(found(read_per_token=1), None) is None


def test_the_next_step_of_a_model_without_calibrators_is_the_command_that_fits_one() -> None:
    step = next_step((), ["--model", "lm-studio:org/my coder"])
    assert step.command == "assay calibrate model --model 'lm-studio:org/my coder'"
    assert step.command in step.advice
    assert "no number" in step.advice
    assert next_step((), ()).command == "assay calibrate model"


def test_the_next_step_of_a_model_that_borrows_is_to_narrow_the_range() -> None:
    step = next_step(entries_of(REGISTRY, "0" * 16), ["--model", "mine.gguf"])
    assert step.command == "assay calibrate model --model mine.gguf"
    assert "Its numbers are borrowed from other models" in step.advice


def test_a_model_with_calibrators_needs_no_next_step() -> None:
    fingerprint = next(entry.calibrator.fitted_on.model for entry in REGISTRY.entries if not entry.calibrator.fitted_on.models)
    step = next_step(entries_of(REGISTRY, fingerprint), ())
    assert step.command is None
    assert "python" in step.advice
    assert entries_of(Registry((), ()), fingerprint) == ()
