"""The log of events: one SQLite file that all servers of a user append to. It can be read, pruned and deleted. Format: docs/formats.md.

The file is in WAL mode, so several processes can write and read at once, and a killed one loses nothing that it committed. The file is
created beside its place and renamed. Afterwards only SQLite opens it, because a process that opens and closes such a file by itself
releases the locks that SQLite holds on it.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

from ..data_folder import data_folder
from .events import SCHEMA, Event, RequestEnded, Row
from .row import KINDS, body_of, row_of

FILE_NAME = "events.sqlite3"
# Retention unless the user says otherwise: half a year, and about half a million events.
DAYS = 180
MEGABYTES = 256
# "Assy" in ASCII: tells a log of Assay's from any other SQLite file.
_APPLICATION = 0x41737379
# How long a write waits for another process. Transactions take milliseconds; only a checkpoint on a slow disk takes long.
_BUSY_S = 5.0
# Rows that are read or deleted in one transaction: few enough that no other process waits long or must keep what was overwritten.
_BATCH = 500
# Pages of 4 KiB that are given back to the disk in one transaction.
_PAGES = 1000
# Size that a WAL file may keep after it was written back.
_MAX_WAL_BYTES = 4 * 2**20
# A larger body is read as damaged: an event has some thousand bytes.
_MAX_BODY_BYTES = 2**20
# SQLite takes no larger value into the memory.
_MAX_VALUE_BYTES = 2**26
_DAY_MS = 86_400_000
_MIB = 2**20
_NEVER_MS = -(2**63)

_SCHEMA = f"""
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
BEGIN;
CREATE TABLE events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  time_ms INTEGER NOT NULL,
  server TEXT NOT NULL,
  showing TEXT,
  kind TEXT NOT NULL,
  body TEXT NOT NULL
);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA};
COMMIT;
"""
_INSERT = "INSERT INTO events (time_ms, server, showing, kind, body) VALUES (?, ?, ?, ?, ?)"
_BODY = f"CASE WHEN length(CAST(body AS BLOB)) <= {_MAX_BODY_BYTES} THEN body END"
_ROW = f"SELECT number, time_ms, server, showing, kind, {_BODY} FROM events"
_READ = f"{_ROW} WHERE number > ? AND time_ms >= ? ORDER BY number LIMIT ?"


class EventLogError(Exception):
    """The log can't be used. The message says which file and why. Its content is unchanged."""


class EventLogUnavailable(EventLogError):
    """The log can't be used now, because of the disk, its permissions or another process."""


class New(NamedTuple):
    """An event to be written. The fields are those of `Row`, without the number."""

    time_ms: int
    server: str
    showing: str | None
    event: Event


def default_path() -> Path:
    """The path of the log unless the user names another file."""
    return data_folder() / FILE_NAME


class EventLog:
    """An open log, for one thread. Every method raises EventLogError for a damaged file, and EventLogUnavailable for a failing disk."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open a log. create: make the file if there is none, readable for its owner only; its folder must exist.

        Raises EventLogError, and leaves the file alone, if it is not a file, not a log, or from a newer version of Assay.
        """
        self.path = path
        with self._errors_of("opened"):
            if create and not path.exists():
                _make(path)
            if not path.is_file():
                raise EventLogError(f"{path}: {'not a file' if path.exists() else 'there is no log of events'}")
            self._db = _connected(path)
        try:
            with self._errors_of("opened"):
                found = path.stat()
                self._place = (found.st_dev, found.st_ino)
                self._check()
                self._db.execute("PRAGMA synchronous = NORMAL")
                self._db.execute("PRAGMA secure_delete = ON")
                self._db.execute(f"PRAGMA journal_size_limit = {_MAX_WAL_BYTES}")
        except EventLogError:
            self._db.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. If it was moved away, its WAL file is written back into it first."""
        with suppress(sqlite3.Error):
            if not self.in_place:
                self._db.execute("PRAGMA wal_checkpoint")
        self._db.close()

    @property
    def in_place(self) -> bool:
        """Whether the open file still has its path. Otherwise it was moved or removed, and nobody reads what is written to it."""
        try:
            found = self.path.stat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._place

    @property
    def size(self) -> int:
        """Bytes that the events take, free pages not counted."""
        with self._errors_of("read"):
            pages, free, size = (self._number(f"PRAGMA {name}") for name in ("page_count", "freelist_count", "page_size"))
        return (pages - free) * size

    def append(self, events: Sequence[New]) -> int:
        """Write events in one transaction: all or none. Returns the number of the last one."""
        rows = [(new.time_ms, new.server, new.showing, KINDS[type(new.event)], body_of(new.event)) for new in events]
        with self._transaction("written"):
            self._db.executemany(_INSERT, rows)
            return self._number("SELECT last_insert_rowid()")

    def rows(self, passed_over: Counter[str] | None = None, *, since_ms: int | None = None) -> Iterator[Row]:
        """The events in the order in which they were written, from the time `since_ms` on.

        Events that this version does not know, and damaged ones, are skipped and counted in `passed_over` as "unknown" and "damaged".
        """
        passed_over = Counter() if passed_over is None else passed_over
        since_ms = _NEVER_MS if since_ms is None else max(_NEVER_MS, since_ms)
        after = 0
        while True:
            with self._errors_of("read"):
                found = self._db.execute(_READ, (after, since_ms, _BATCH)).fetchall()
            if not found:
                return
            for fields in found:
                row = row_of(*fields)
                if isinstance(row, str):
                    passed_over[row] += 1
                else:
                    yield row
            after = found[-1][0]

    def prune(self, days: float, megabytes: float, now_ms: int | None = None) -> Iterator[int]:
        """Delete events older than `days`, then the oldest until the rest takes at most `megabytes`, and give the space back to the disk.

        Works in steps that are short enough for other processes, and yields the number of events deleted in each. now_ms: since 1970, now
        by default.
        """
        oldest_ms = max(_NEVER_MS, (_now_ms() if now_ms is None else now_ms) - int(days * _DAY_MS))
        deleted = 0
        for batch in _batches(self._numbers("time_ms < ?", oldest_ms)):
            deleted += len(batch)
            yield self._delete(batch)
        while self.size > megabytes * _MIB and (batch := self._numbers("true ORDER BY number LIMIT ?", _BATCH)):
            deleted += len(batch)
            yield self._delete(batch)
        if deleted:
            yield from (0 for _ in self._give_back())
            self._write_back()

    def forget_all(self) -> int:
        """Delete every event. Returns how many. To overwrite them on the disk, call `overwritten`."""
        return self._forget(self._numbers("true"))

    def forget_before(self, time_ms: int) -> int:
        """Delete the events written before a time. Returns how many."""
        return self._forget(self._numbers("time_ms < ?", time_ms))

    def forget_texts(self) -> int:
        """Delete the events that hold code. Returns how many."""
        return self._forget(self._numbers("kind = ?", "text"))

    def forget_documents(self, documents: Iterable[str]) -> int:
        """Delete all events about documents, by `hash_of` their URIs, and about what was suggested there. Returns how many."""
        numbers, showings = set[int](), set[bytes]()
        with self._errors_of("read"):
            for document in documents:
                # Events that this version can't read are found by their text.
                for number, *fields in self._db.execute(f"{_ROW} WHERE instr(body, ?)", (document,)):
                    numbers.add(number)
                    row = row_of(number, *fields)
                    if not isinstance(row, Row):
                        continue
                    names = [row.showing] if row.showing else []
                    if isinstance(row.event, RequestEnded):
                        names += [row.event.id, *(other.id for other in row.event.others)]
                    showings.update(name.encode() for name in names)
            found = self._db.execute("SELECT number, showing FROM events WHERE showing IS NOT NULL")
            numbers.update(number for number, showing in found if showing in showings)
        return self._forget(sorted(numbers))

    def overwritten(self) -> bool:
        """Overwrite what was deleted. Returns False while another process still reads what was there before."""
        for _ in self._give_back():
            pass
        return self._write_back()

    def _check(self) -> None:
        application, version = self._number("PRAGMA application_id"), self._number("PRAGMA user_version")
        if application != _APPLICATION:
            raise EventLogError(f"{self.path}: it is not a log of Assay, and is left alone")
        if version > SCHEMA:
            raise EventLogError(
                f"{self.path}: a newer version of Assay wrote it (its format is {version}, this version's {SCHEMA}), so it is left alone"
            )
        # Views, triggers and virtual tables have no pages of their own. They would run what whoever made the file wrote, perhaps for ever.
        if self._number("SELECT count(*) FROM sqlite_master WHERE coalesce(rootpage, 0) = 0"):
            raise EventLogError(f"{self.path}: it has views or triggers, which no log of Assay has, and is left alone")
        if not self._number("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'events'"):
            raise EventLogError(f"{self.path}: it is not a log of Assay, and is left alone")

    def _numbers(self, where: str, *values: object) -> list[int]:
        with self._errors_of("read"):
            return [number for (number,) in self._db.execute(f"SELECT number FROM events WHERE {where}", values)]

    def _number(self, query: str) -> int:
        found: int = self._db.execute(query).fetchone()[0]
        return found

    def _forget(self, numbers: Iterable[int]) -> int:
        return sum(self._delete(batch) for batch in _batches(numbers))

    def _delete(self, numbers: Sequence[int]) -> int:
        with self._transaction("written"):
            return self._db.executemany("DELETE FROM events WHERE number = ?", [(number,) for number in numbers]).rowcount

    def _give_back(self) -> Iterator[None]:
        """Give free pages back to the disk, `_PAGES` in each step."""
        with self._errors_of("written"):
            while self._number("PRAGMA freelist_count"):
                self._db.execute(f"PRAGMA incremental_vacuum({_PAGES})").fetchall()
                yield

    def _write_back(self) -> bool:
        with self._errors_of("written"):
            busy: int = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return not busy

    @contextmanager
    def _transaction(self, action: str) -> Iterator[None]:
        with self._errors_of(action):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled back already
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors_of(self, action: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _error(self.path, action, error) from None
        except OSError as error:
            raise EventLogUnavailable(f"{self.path}: can't be {action}: {error.strerror}") from None


def _error(path: Path, action: str, error: sqlite3.Error) -> EventLogError:
    # The lower byte is the kind of the error.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return EventLogError(f"{path}: it is not a log of Assay, and is left alone")
    if code == sqlite3.SQLITE_CORRUPT or not isinstance(error, sqlite3.OperationalError):
        return EventLogError(f"{path}: it is damaged: {error}; remove or rename it (with its -wal and -shm), and a new one begins")
    return EventLogUnavailable(f"{path}: can't be {action}: {error}")


def _connected(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=_BUSY_S)
    db.execute("PRAGMA trusted_schema = OFF")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
    # As text, a value that is not UTF-8 would end the whole query.
    db.text_factory = bytes
    return db


def _make(path: Path) -> None:
    """Create an empty log, unless another process does so at the same time. Raises EventLogError, EventLogUnavailable."""
    whole = path.resolve()
    if not whole.parent.is_dir():
        raise EventLogError(f"{path}: there is no folder {whole.parent}")
    temporary = whole.with_name(f".{whole.name}.{secrets.token_hex(6)}")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        db = _connected(temporary)
        try:
            db.executescript(_SCHEMA)
        finally:
            db.close()
        with _alone_in(whole.parent):
            if not whole.exists():
                # Left from a log that was removed: SQLite would take them for the new one's.
                for rest in ("-wal", "-shm"):
                    whole.with_name(whole.name + rest).unlink(missing_ok=True)
                temporary.rename(whole)
    except sqlite3.Error as error:
        raise _error(path, "made", error) from None
    except FileExistsError:
        pass
    except OSError as error:
        raise EventLogUnavailable(f"{path}: can't be made: {error.strerror}") from None
    finally:
        with suppress(OSError):
            for rest in ("", "-wal", "-shm"):
                temporary.with_name(temporary.name + rest).unlink(missing_ok=True)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """A lock, so that one process at a time creates a log in a folder. Windows needs none: an open file can't be removed there."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _batches(numbers: Iterable[int]) -> Iterator[list[int]]:
    rest = iter(numbers)
    while batch := list(islice(rest, _BATCH)):
        yield batch


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
