from __future__ import annotations

import os
import sqlite3
import stat
from collections import Counter
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_events import BEGAN_MS, SERVER, new, request

from assay.calibration.log.event_log import EventLog, EventLogError, EventLogUnavailable
from assay.calibration.log.events import (
    DriftFound,
    Event,
    EventsDropped,
    OtherSuggestion,
    RetentionChecked,
    Row,
    ServerStarted,
    ShowingEnded,
    ShowingEnding,
    ShowingSeen,
    TextLogged,
    hash_of,
)

names = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(ServerStarted, version=names, client=names, client_version=names),
    st.builds(request, names, reason=names, measures=st.dictionaries(names, numbers), propensity=st.none() | numbers),
    st.builds(ShowingSeen, by=st.sampled_from(("client", "inferred"))),
    st.builds(ShowingEnded, ending=st.sampled_from(ShowingEnding), by=st.just("client"), characters=st.integers(0, 9), visible_ms=numbers),
    st.builds(
        RetentionChecked, after_s=st.none() | st.integers(0, 600), share=st.none() | numbers, why=st.sampled_from(("", "undone", "lost"))
    ),
    st.builds(TextLogged, what=st.just("found"), text=names),
    st.builds(DriftFound, calibrator=names, direction=names, size=numbers, n=st.integers(0, 9)),
    st.builds(EventsDropped, count=st.integers(0, 9)),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.sqlite3"


def rows_of(path: Path) -> list[Row]:
    with EventLog(path) as log:
        return list(log.rows())


def bytes_of(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


@given(st.lists(st.tuples(EVENTS, st.none() | names, st.integers(0, 10**13)), max_size=20))
def test_what_was_written_is_read_in_order(tmp_path_factory: pytest.TempPathFactory, events: list[tuple[Event, str | None, int]]) -> None:
    path = tmp_path_factory.mktemp("log") / "events.sqlite3"
    with EventLog(path, create=True) as log:
        for event, showing, time_ms in events[:3]:
            log.append([new(event, showing, time_ms)])
        if events[3:]:
            log.append([new(event, showing, time_ms) for event, showing, time_ms in events[3:]])
        assert list(log.rows()) == [
            Row(number, time_ms, SERVER, showing, event) for number, (event, showing, time_ms) in enumerate(events, 1)
        ]


def test_the_file_and_those_beside_it_are_the_owners_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        with EventLog(path, create=True) as log:
            log.append([new(ShowingSeen(by="client"))])
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("events.sqlite3", "events.sqlite3-wal", "events.sqlite3-shm"), 0o600)


def changed(path: Path, statement: str, *values: object) -> None:
    """Do to a database what Assay would not."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(statement, values)


def made_with(path: Path, *statements: str) -> None:
    """A log, and what others have done to it."""
    EventLog(path, create=True).close()
    for statement in statements:
        changed(path, statement)


ENDLESS = """
CREATE VIEW events AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)
SELECT n AS number, 0 AS time_ms, 's' AS server, NULL AS showing, 'x' AS kind, '{}' AS body FROM c WHERE n < 0
"""


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_text("not a database, but long enough to be looked at\n" * 20), "not a log of Assay, and is left alone"),
        (lambda path: path.write_bytes(b""), "not a log of Assay, and is left alone"),
        (lambda path: changed(path, "CREATE TABLE events (number INTEGER)"), "not a log of Assay, and is left alone"),
        (lambda path: made_with(path, "DROP TABLE events", ENDLESS), "has views or triggers, which no log of Assay has, and is left alone"),
        (
            lambda path: made_with(path, "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END"),
            "has views or triggers, which no log of Assay has, and is left alone",
        ),
        (
            lambda path: made_with(path, "PRAGMA user_version = 2"),
            "a newer version of Assay wrote it (its format is 2, this version's 1), so it is left alone",
        ),
    ],
    ids=["text", "empty", "another database", "endless view", "trigger", "newer"],
)
def test_a_file_that_is_no_log_of_this_version_is_refused_and_left_alone(path: Path, make: object, said: str) -> None:
    make(path)  # type: ignore[operator]
    before = path.read_bytes()
    for create in (False, True):
        with pytest.raises(EventLogError, match="left alone") as refused:
            EventLog(path, create=create)
        assert str(refused.value).startswith(f"{path}: ")
        assert said in str(refused.value)
    assert [file.read_bytes() for file in path.parent.iterdir()] == [before]


def test_where_there_is_none_it_says_so_and_makes_neither_file_nor_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, said in (
        (tmp_path / "pipe", "not a file"),
        (tmp_path / "no" / "none", "there is no log of events"),
        (tmp_path / ("long" * 100), "can't be opened: File name too long"),
    ):
        with pytest.raises(EventLogError, match=said):
            EventLog(path)
    with pytest.raises(EventLogError, match=f"there is no folder {tmp_path / 'no'}"):
        EventLog(tmp_path / "no" / "log", create=True)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_a_page_that_is_damaged_is_an_error_with_the_file_and_the_reason(path: Path) -> None:
    with EventLog(path, create=True) as log:
        log.append([new(request(f"{n:012}")) for n in range(200)])
    whole = bytearray(path.read_bytes())
    whole[4096 * 4 : 4096 * 12] = os.urandom(4096 * 8)
    path.write_bytes(whole)
    with EventLog(path) as log, pytest.raises(EventLogError, match=f"{path}: it is damaged: "):
        list(log.rows())


def test_what_is_not_known_and_what_is_damaged_is_passed_over_and_counted(path: Path) -> None:
    with EventLog(path, create=True) as log:
        log.append([new(ShowingSeen(by="client"), "a")])
    insert = "INSERT INTO events (time_ms, server, showing, kind, body) VALUES (?, CAST(? AS TEXT), ?, ?, CAST(? AS TEXT))"
    good = (BEGAN_MS, SERVER, None, "shown", '{"event":"shown","by":"client"}')
    for place, value in (
        (4, '{"event":"shown"}'),
        (4, '{"event":"shown","by":"somebody"}'),
        (4, "{"),
        (4, "[" * 100_000),
        (4, b"\xff\xfe"),
        (0, "yesterday"),
        (0, 10**17),
    ):
        changed(path, insert, *(value if index == place else field for index, field in enumerate(good)))
    changed(path, insert, *good[:3], "invented_later", "{}")
    changed(path, insert, *good[:4], '{"event":"shown","by":"client","invented_later":[1]}')
    passed_over = Counter[str]()
    with EventLog(path) as log:
        assert [row.event for row in log.rows(passed_over)] == [ShowingSeen(by="client")] * 2
    assert passed_over == {"damaged": 7, "unknown": 1}


def test_an_event_that_is_larger_than_any_real_one_is_passed_over_and_counted_and_can_be_forgotten(path: Path) -> None:
    wanted = hash_of("file:///large.py")
    insert = "INSERT INTO events (time_ms, server, showing, kind, body) VALUES (1, '', NULL, 'request', ?)"
    with EventLog(path, create=True) as log:
        log.append([new(ShowingSeen(by="client"))])
        body = msgspec.json.encode(request(document=wanted)) + b"\0" + b"x" * 2**20
        changed(path, insert, body)
        changed(path, insert, body.decode())
        passed_over = Counter[str]()
        assert [row.event for row in log.rows(passed_over)] == [ShowingSeen(by="client")]
        assert passed_over == {"damaged": 2}
        assert log.forget_documents([wanted]) == 2


def test_half_a_character_from_an_editor_does_not_stop_an_event(path: Path) -> None:
    with EventLog(path, create=True) as log:
        log.append([new(ServerStarted(version="1", client="a\ud800")), new(request("b", measures={"\udfff": 1.0}))])
    began, asked = (row.event for row in rows_of(path))
    assert began == ServerStarted(version="1", client="a?")
    assert asked == request("b", measures={"?": 1.0})


def test_pruning_by_size_deletes_the_oldest_and_gives_the_space_back_to_the_disk(path: Path) -> None:
    with EventLog(path, create=True) as log:
        for begin in range(0, 6000, 1000):
            log.append([new(request(f"{n:012}"), time_ms=n) for n in range(begin, begin + 1000)])
        log.overwritten()
        before = path.stat().st_size
        deleted = sum(log.prune(10**6, 2))
        assert log.size <= 2 * 2**20 < before
        kept = [row.time_ms for row in log.rows()]
        assert kept == list(range(deleted, 6000))
        assert log.size > 1.5 * 2**20
        assert sum(file.stat().st_size for file in path.parent.iterdir()) < 2 * 2**20 + 100_000
        assert log.append([new(ShowingSeen(by="client"))]) == 6001


def test_what_is_forgotten_of_a_document_is_gone_from_the_disk_with_all_that_became_of_it_and_nothing_else(path: Path) -> None:
    wanted = hash_of("file:///secret.py")
    with EventLog(path, create=True) as log:
        for n in range(300):
            name, along = f"showing-{n:04}", f"along-{n:04}"
            document = wanted if n % 3 == 0 else hash_of("file:///other.py")
            log.append(
                [new(request(name, document=document)), new(request(along, document=document), name), new(ShowingSeen(by="client"), name)]
            )
        changed(path, "INSERT INTO events (time_ms, server, kind, body) VALUES (1, '', 'request', ?)", f'{{"document":"{wanted}"')
        assert log.forget_documents([wanted]) == 301
        assert log.overwritten()
        on_disk = bytes_of(path)
        assert wanted.encode() not in on_disk
        assert [n for n in range(300) if f"showing-{n:04}".encode() in on_disk] == [n for n in range(300) if n % 3]
        assert len(list(log.rows())) == 600


def test_with_a_document_is_forgotten_what_the_user_went_on_to_there_and_what_is_found_there_later(path: Path) -> None:
    wanted, other = hash_of("file:///secret.py"), hash_of("file:///other.py")
    with EventLog(path, create=True) as log:
        log.append(
            [
                new(request("first", document=wanted, others=(OtherSuggestion(id="second"), OtherSuggestion(id="third")))),
                new(request("fourth", document=other)),
            ]
        )
        log.append([new(ShowingSeen(by="client"), name) for name in ("second", "third", "fourth")])
        assert log.forget_documents([wanted]) == 3
        log.append([new(TextLogged(what="found", text="SECRET", document=wanted), "second"), new(ShowingSeen(by="client"), "second")])
        assert log.forget_documents([wanted]) == 2
        assert [row.showing for row in log.rows()] == [None, "fourth"]


def test_all_and_all_from_before_a_time_is_forgotten_and_numbers_are_not_used_twice(path: Path) -> None:
    with EventLog(path, create=True) as log:
        log.append([new(TextLogged(what="found", text=f"code {n}"), time_ms=n) for n in range(10)])
        assert log.forget_before(4) == 4
        assert [row.time_ms for row in log.rows()] == list(range(4, 10))
        assert log.forget_all() == 6
        assert log.overwritten()
        assert b"code" not in bytes_of(path)
        assert log.append([new(ShowingSeen(by="client"))]) == 11


def test_a_log_that_is_removed_while_it_is_open_is_seen_and_the_next_begins_empty(path: Path) -> None:
    removed = EventLog(path, create=True)
    removed.append([new(EventsDropped(count=1))])
    assert removed.in_place
    path.unlink()  # what stood in the WAL file beside it stays, and must not be taken for the new one's
    assert not removed.in_place
    with EventLog(path, create=True) as log:
        log.append([new(EventsDropped(count=2))])
        removed.close()
        log.append([new(EventsDropped(count=3))])
        assert log.in_place
    assert [row.event for row in rows_of(path)] == [EventsDropped(count=2), EventsDropped(count=3)]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_another_processs_long_write_is_waited_for_and_then_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.calibration.log.event_log._BUSY_S", 0.2)
    with EventLog(path, create=True) as log:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(EventLogUnavailable, match="can't be written: database is locked"):
            log.append([new(ShowingSeen(by="client"))])
        other.close()
        log.append([new(ShowingSeen(by="client"))])


def test_on_a_full_disk_a_batch_is_there_whole_or_not_at_all_and_later_ones_are(path: Path) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    batch = [new(request("full"))] * 2000
    with EventLog(path, create=True) as log:
        log.append(batch[:7])
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
        try:
            with pytest.raises(EventLogUnavailable, match=f"{path}: can't be written: "):
                log.append(batch)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        log.append(batch[:1])
    assert len(rows_of(path)) == 8
