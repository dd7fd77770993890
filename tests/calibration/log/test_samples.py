from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_events import SERVER, life, lives, request
from synthetic_samples import MODEL, PROMPT

from assay.calibration.log.evaluation import evaluations_of
from assay.calibration.log.events import (
    RETENTION_CHECKED_AFTER_S,
    AcceptanceTested,
    Event,
    OtherSuggestion,
    RetentionChecked,
    Row,
    ShowingEnded,
    ShowingEnding,
    ShowingSeen,
    hash_of,
)
from assay.calibration.log.retention import MIN_KEPT_SHARE, retained_share, tokens_of
from assay.calibration.log.samples import LoggedSamples, samples_of, showings_of, was_kept
from assay.calibration.log.summary import summary_of
from assay.calibration.samples import Sample

ENDINGS_WITH_A_SAY = [ShowingEnding.ACCEPTED, ShowingEnding.PARTLY_ACCEPTED, ShowingEnding.TYPED_THROUGH, ShowingEnding.REJECTED]
LOOKS = st.lists(
    st.builds(
        RetentionChecked,
        after_s=st.none() | st.sampled_from(RETENTION_CHECKED_AFTER_S),
        share=st.none() | st.floats(0, 1),
        why=st.sampled_from(("", "undone", "closed", "asleep", "lost")),
    ),
    max_size=8,
)


def ended(ending: ShowingEnding) -> ShowingEnded:
    return ShowingEnded(ending=ending, by="client", characters=9)


def rows(*events: tuple[str | None, Event]) -> list[Row]:
    return [Row(number, 1000 * number, SERVER, showing, event) for number, (showing, event) in enumerate(events, 1)]


def made(*events: tuple[str | None, Event]) -> LoggedSamples:
    found = rows(*events)
    return samples_of(showings_of(found))


def test_a_showing_becomes_a_sample_with_the_measures_of_its_first_request() -> None:
    first = request("first", measures={"total_logprob": -2.0}, propensity=0.01, project=hash_of("p"), document=hash_of("d"))
    along = request("along", measures={"total_logprob": -0.5})
    ((sample,), left_out) = (
        (logged := made((None, first), ("first", along), *life("first", kept=True)[1:])).samples,
        logged.left_out,
    )
    assert sample == Sample(
        id="first",
        model=MODEL,
        prompt=PROMPT,
        task="line",
        language="python",
        project=hash_of("p"),
        file=hash_of("d"),
        seed=0,
        measures={"total_logprob": -2.0},
        labels={"kept": True},
        text_sha256=first.text_sha256,
        propensity=0.01,
    )
    assert left_out == {}


@pytest.mark.parametrize("ending", ENDINGS_WITH_A_SAY)
@pytest.mark.parametrize(
    ("looks", "label"),
    [
        ([RetentionChecked(after_s=300, share=MIN_KEPT_SHARE)], True),
        ([RetentionChecked(after_s=300, share=MIN_KEPT_SHARE - 1e-9)], False),
        (
            [RetentionChecked(after_s=15, share=0.0), RetentionChecked(after_s=300, share=1.0), RetentionChecked(after_s=600, share=0.0)],
            True,
        ),
        ([RetentionChecked(after_s=15, share=1.0), RetentionChecked(after_s=None, share=1.0)], None),
        ([RetentionChecked(after_s=300, share=None, why="closed")], None),
        ([RetentionChecked(after_s=15, share=1.0), RetentionChecked(after_s=30, share=None, why="lost")], None),
        ([RetentionChecked(after_s=30, share=None, why="undone")], False),
        ([RetentionChecked(after_s=600, share=None, why="undone")], None),
        ([RetentionChecked(after_s=30, share=None, why="undone"), RetentionChecked(after_s=300, share=1.0)], True),
        (
            [
                RetentionChecked(after_s=None, share=0.0, why="undone"),
                RetentionChecked(after_s=15, share=1.0),
                RetentionChecked(after_s=30, share=None, why="closed"),
            ],
            None,
        ),
    ],
)
def test_the_label_is_what_stands_there_in_five_minutes(ending: ShowingEnding, looks: list[RetentionChecked], label: bool | None) -> None:
    assert was_kept(ended(ending), looks) is label
    assert was_kept(None, looks) is was_kept(ended(ShowingEnding.IGNORED), looks) is None


@given(st.sampled_from(ENDINGS_WITH_A_SAY), LOOKS, st.sampled_from(RETENTION_CHECKED_AFTER_S))
def test_nothing_seen_later_changes_a_label_ignorance_makes_none(ending: ShowingEnding, looks: list[RetentionChecked], at_s: int) -> None:
    label = was_kept(ended(ending), looks, at_s)
    assert label is was_kept(ended(ending), [look for look in looks if look.after_s is None or look.after_s <= at_s], at_s)
    if all(look.share is None and look.why != "undone" for look in looks):
        assert label is None


@pytest.mark.parametrize("passed", [True, False, None])
def test_what_the_tests_said_of_an_accepted_suggestion_is_a_label_and_what_they_can_not_tell_is_none(passed: bool | None) -> None:
    events = [*life("a", kept=True), ("a", AcceptanceTested(passed=not passed, tests=1)), ("a", AcceptanceTested(passed=passed, tests=3))]
    (sample,) = made(*events).samples
    assert sample.labels == {"kept": True} | ({} if passed is None else {"tests_pass": passed})


def test_a_suggestion_that_mends_a_test_has_no_label_since_one_that_leaves_it_failing_would_have_none() -> None:
    (sample,) = made(*life("a", kept=True), ("a", AcceptanceTested(passed=True, tests=3, mends=1))).samples
    assert sample.labels == {"kept": True}


def test_what_is_no_sample_is_left_out_and_said() -> None:
    logged = made(
        *life("seen", kept=False),
        *((showing, event) for showing, event in life("too short", kept=None) if not isinstance(event, ShowingSeen)),
        *((showing, event) for showing, event in life("accepted at once", kept=True) if not isinstance(event, ShowingSeen)),
        *life("second choice", kept=True, rank=2),
        *life("a server without log-probabilities", kept=True, measures={}),
        *life("no model", kept=True, model=None),
        *life("a folder above", kept=True, task="../../x"),
        *life("no hash", kept=True, text_sha256="x"),
        *life("pruned", kept=True)[1:],
        (None, request("never on a screen")),
        (None, request("hidden", outcome="hidden", propensity=0.0)),
        ("hidden", ShowingSeen(by="client")),
    )
    assert [sample.id for sample in logged.samples] == ["seen", "accepted at once"]
    assert logged.left_out == {"not seen": 1, "not the model's first choice": 1, "without measures": 2, "not as Assay logs it": 2}


def test_an_alternative_that_the_user_went_on_to_has_the_request_that_it_came_with_and_numbers_of_its_own() -> None:
    of_its_own: dict[str, str | float | None] = {"status": "informative", "event": "kept", "probability": 0.1, "band": "unlikely"}
    other = OtherSuggestion(id="b", confidence=of_its_own, measures={"total_logprob": -9.0}, rank=2, text_sha256="00", characters=3)
    first = request("a", trigger="invoked", others=(other, OtherSuggestion(id="never gone on to")))
    found = rows(("of one before", first), *life("b", kept=True)[1:])
    (showing,) = showings_of(found)
    assert (showing.id, showing.shown, showing.time_ms) == ("b", True, 1000)
    assert showing.request == request(
        "b", trigger="invoked", confidence=of_its_own, measures={"total_logprob": -9.0}, rank=2, text_sha256="00", characters=3
    )
    summary = summary_of(found)
    assert (summary.endings, [(part.name, part.kept) for part in summary.by_band]) == ({"accepted": 1}, [("unlikely", 1)])
    assert samples_of([showing]).left_out == {"not the model's first choice": 1}


def test_the_summary_counts_showings_by_what_became_of_them_and_what_was_kept_with_its_interval() -> None:
    events = [event for each in lives(400) for event in each]
    found = rows(*events, (None, request("typed along")), (None, request("x", outcome="cancelled", propensity=None)))
    summary = summary_of(found)
    kept = sum(isinstance(event, RetentionChecked) and event.after_s == 300 and event.share == 0.9 for _, event in events)
    assert (summary.events, summary.servers, summary.since_ms, summary.until_ms) == (3202, 1, 1000, 3_202_000)
    assert summary.requests == {"produced": 401, "cancelled": 1}
    assert summary.endings == {"accepted": 300, "ignored": 100}
    assert (summary.all.showings, summary.all.labelled, summary.all.kept) == (400, 300, kept)
    assert summary.all.low < kept / 300 < summary.all.high
    assert [(part.name, part.showings) for part in summary.by_band] == [("likely", 400)]
    assert sum(each.n for each in summary.reliability) == 300
    assert summary_of([]).reliability == ()


def test_repairs_are_counted_apart_and_are_no_samples() -> None:
    repair = {"kind": "repair", "task": "repair", "trigger": "invoked"}
    events = [*life("line", kept=True), *life("put in", kept=True, **repair), *life("left", kept=False, **repair)]
    found = rows(*events, (None, request("nothing", outcome="empty", propensity=None, **repair)))
    logged = samples_of(showings_of(found))
    assert [sample.id for sample in logged.samples] == ["line"]
    assert logged.left_out == {"repairs, not completions": 2}
    summary = summary_of(found)
    assert (summary.requests, summary.endings, summary.all.showings) == ({"produced": 1}, {"accepted": 1}, 1)
    assert {part.name for part in summary.by_task} == {"line"}
    assert summary.repair_requests == {"produced": 2, "empty": 1}
    assert (summary.repairs.showings, summary.repairs.labelled, summary.repairs.kept) == (2, 2, 1)
    assert [one.task for one in evaluations_of(showings_of(found))] == ["line"]


WORDS = st.lists(st.sampled_from(["a", "b", "c", "(", ")", "=", "12", "é"]), max_size=40)
TEXTS = st.text(st.sampled_from("ab1_é𝕏(=. \n\t"), max_size=40)
SPACES = st.text(st.sampled_from(" \t\r\n"), min_size=1, max_size=4)


@given(WORDS, st.lists(SPACES, min_size=41, max_size=41))
def test_all_of_a_text_is_in_itself_whatever_its_white_space(words: list[str], spaces: list[str]) -> None:
    spread = "".join(space + word for space, word in zip(spaces, words, strict=False)) + spaces[-1]
    assert retained_share(" ".join(words), spread) == retained_share(spread, " ".join(words)) == 1


@given(TEXTS, TEXTS)
def test_a_share_is_a_share_and_of_nothing_nothing(inserted: str, current: str) -> None:
    assert 0 <= retained_share(inserted, current) <= 1
    assert retained_share(inserted, "") == (0 if tokens_of(inserted) else 1)
    assert retained_share(inserted, current) * len(tokens_of(inserted)) == pytest.approx(
        retained_share(current, inserted) * len(tokens_of(current))
    )


@pytest.mark.parametrize(
    ("inserted", "current", "expected"),
    [
        ("return total / count", "return total/count", 1.0),
        ("return total / count", "return total // count", 1.0),
        ("return total / count", "return total / size", 3 / 4),
        ("f(a, b)", "f(b, a)", 4 / 6),
        ("x = 10_000", "x = 10_001", 2 / 3),
        ("naïve = größe", "naïve  =\n\tgröße", 1.0),
        ("a.b", "", 0.0),
        ("   \n", "x", 1.0),
    ],
)
def test_shares(inserted: str, current: str, expected: float) -> None:
    assert retained_share(inserted, current) == expected
