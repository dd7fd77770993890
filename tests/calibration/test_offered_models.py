"""Which models of the catalogue are offered, and which is recommended."""

from dataclasses import replace

from assay.calibration.offered_models import Offer, Speeds, seconds, with_recommended
from assay.inference.hub.catalogue import Entry, catalogue

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


def test_the_models_that_were_measured_here_are_known_by_their_fingerprints() -> None:
    assert {entry.name: entry.fingerprint for entry in catalogue() if entry.fingerprint} == {
        "qwen2.5-coder-0.5b": "4e67aab01a9d9c89",
        "qwen2.5-coder-1.5b": "09b65ec72345bd82",
    }
