"""Found models have the calibrators for them, a speed, and the next step; of the catalogue's one is recommended."""

from dataclasses import replace

from assay.calibration.found_models import Listed, entries_for, entries_of, next_step, speed_of
from assay.calibration.offered_models import Offer, Speeds, seconds, with_recommended
from assay.calibration.registry import Registry, load_registry
from assay.inference.found.model import FoundModel
from assay.inference.hub.catalogue import Entry

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


SMALL = Entry("small", "o/r", "s.gguf", 500_000_000, "apache-2.0", "qwen2.5-coder", bytes=500_000_000)
LARGE = Entry("large", "o/r", "l.gguf", 7_000_000_000, "apache-2.0", "qwen2.5-coder", bytes=5_000_000_000)


def offers_at(speeds: Speeds | None) -> list[Offer]:
    return [Offer(entry, *seconds(entry, speeds), True, "none", None) for entry in (SMALL, LARGE)]


def test_times_follow_the_weights_and_the_prompt() -> None:
    slow, fast = Speeds(2e10, 1e11), Speeds(4e10, 1e11)
    place, typing = seconds(SMALL, slow)
    assert abs(place - (480 * 5e8 / 1e11 + 10 * 5e8 / 2e10)) < 1e-9
    assert abs(typing - (8 * 5e8 / 1e11 + 10 * 5e8 / 2e10)) < 1e-9
    assert seconds(SMALL, fast)[1] < typing  # type: ignore[operator]
    # At a new place as much is read as a prompt of its size has.
    assert seconds(SMALL, Speeds(2e10, 4e11))[0] == 800 * 5e8 / 4e11 + 10 * 5e8 / 2e10
    assert seconds(SMALL, None) == (None, None)
    # A prompt is read faster with K-quants.
    assert seconds(replace(SMALL, bytes=300_000_000), slow)[1] == 8 * 5e8 / 2e11 + 10 * 3e8 / 2e10


def test_the_largest_that_is_fast_enough_is_recommended() -> None:
    def recommended(offers: list[Offer]) -> list[str]:
        return [offer.entry.name for offer in with_recommended(offers) if offer.recommended]

    assert recommended(offers_at(Speeds(2e10, 1e11))) == ["small"]
    assert recommended(offers_at(Speeds(2e12, 1e13))) == ["large"]
    assert recommended(offers_at(None)) == ["large"]
    # Where none is fast enough, the smallest; one that does not fit never.
    assert recommended(offers_at(Speeds(1e9, 1e9))) == ["small"]
    small, large = offers_at(None)
    assert recommended([small, replace(large, fits=False)]) == ["small"]
    assert recommended([replace(small, fits=False)]) == []
    for unfit in (replace(LARGE, commercial_use=False), replace(LARGE, family="codegemma")):
        assert recommended([small, replace(large, entry=unfit)]) == ["small"]
