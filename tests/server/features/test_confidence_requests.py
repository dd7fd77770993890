"""What an editor asks of the confidence itself, through a real server, with a log that is made by the real log."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sqlite3
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from synthetic_samples import made_for, world

from assay.calibration.calibrator import Calibrator, save
from assay.calibration.fitting.dial import DialRow
from assay.calibration.fitting.fit import fit
from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import DriftFound
from assay.calibration.metrics.intervals import Interval
from assay.calibration.validation import table
from assay.calibration.validation.figures import figure
from assay.server.features import confidence_requests

from .. import client as client_module
from ..client import SERVE, TIMEOUT_S, Client, RpcError, started, wait_until
from ..synthetic_log import Fate, write_log

pytestmark = pytest.mark.slow

Ids = tuple[str, str]


@pytest.fixture(scope="module")
def keeping(answering_ids: Ids) -> Calibrator:
    """A calibrator of the event kept for the rest of a line."""
    made = fit(world(600)[0], "exact_match", kind="platt", resamples=50).calibrator
    return replace(made_for(made, *answering_ids, "line_rest"), event="kept")


@dataclass(frozen=True)
class Desk:
    """A user's project, calibrators and log, and the model that answers. ids: of the model, and of what it is shown."""

    model: Path
    root: Path
    home: Path
    ids: Ids

    @property
    def uri(self) -> str:
        return (self.root / "a.py").as_uri()

    def keep(self, calibrator: Calibrator, name: str = "mine.json") -> Path:
        """Save it among the user's own; its file."""
        save(calibrator, file := self.home / "calibrators" / name)
        return file

    def keep_for_two_languages(self, calibrator: Calibrator) -> None:
        """One that shows a tenth in Python, and one that shows half in Go."""
        for language, shown in (("python", 0.1), ("go", 0.5)):
            row = DialRow(0.8, 0.0, 0.1, 0.9, round(calibrator.evidence.n * shown), Interval(shown, 0.01, 0.6), Interval(0.9, 0.8, 0.95))
            fitted_on = replace(calibrator.fitted_on, languages=(language,))
            self.keep(replace(calibrator, dial=(row,), fitted_on=fitted_on), f"{language}.json")

    def write(self, fates: Iterable[Fate], **of: Any) -> None:
        """Add them to the log as suggestions of the model that answers, where `of` says nothing else."""
        write_log(self.home / "events.sqlite3", fates, **{"model": self.ids[0], "prompt": self.ids[1], **of})

    @asynccontextmanager
    async def editing(self, **options: Any) -> AsyncIterator[Client]:
        """A client that has a Python document open, with probabilities of the event kept unless told."""
        async with started(self.model, "x?", uri=self.uri, root=self.root, options={"event": "kept", **options}, progress=True) as client:
            await client.ready()
            yield client


@pytest.fixture
def desk(answering_gguf: Path, tmp_path: Path, own_home: Path, answering_ids: Ids) -> Desk:
    own_home.mkdir()
    return Desk(answering_gguf, tmp_path, own_home, answering_ids)


def undocumented(document: Any) -> set[str]:
    """The fields of an answer that the docstrings of the requests do not name."""
    named = set(re.findall(r"\w+", f"{confidence_requests.dial.__doc__} {confidence_requests.confidence.__doc__}"))

    def names(value: Any) -> set[str]:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return {*(value if isinstance(value, dict) else ()), *(name for each in inner for name in names(each))}

    return names(document) - named


def calibrated(seed: int, n: int = 300, shift: float = 0.0) -> list[Fate]:
    """Suggestions that are kept as often as is said, or by `shift` less."""
    rng = random.Random(seed)
    said = [rng.random() for _ in range(n)]
    return [Fate(p, rng.random() < p - shift, f"d{i % 20}", f"p{i % 8}") for i, p in enumerate(said)]


async def test_the_dial_says_what_each_position_would_have_shown_and_how_much_of_that_was_kept(desk: Desk, keeping: Calibrator) -> None:
    desk.keep(keeping)
    steps = [k / 10 + 0.05 for k in range(10)]
    fates = [Fate(p, kept, f"d{number}") for p in steps for number in range(6) for kept in (True, p > 0.5)]
    hidden = [Fate(0.01, hidden=True, propensity=0.01, keystrokes=5)] * 30
    others = [
        Fate(0.99, True, event="exact_match"),
        Fate(0.99, True, trigger="invoked"),
        Fate(None, True),
        Fate(0.99, None),  # ignored: shown, but with no label
    ]
    desk.write([*fates, *hidden, *others])
    desk.write([Fate(0.99, True)], model="f" * 16)
    async with desk.editing(showAbove=0.3) as client:
        told = await client.request("assay/dial", {})
    assert (told["event"], told["label"], told["showAbove"]) == ("kept", "kept", 0.3)
    assert (told["n"], told["labelled"], told["groupedBy"]) == (151, 120, "document")
    assert 1.9 < told["days"] < 2.1
    levels = {level["showAbove"]: level for level in told["levels"]}
    assert list(levels) == [k / 10 for k in range(10)]
    assert [levels[k / 10]["shown"] for k in range(10)] == [151, *range(109, 12, -12)]
    assert levels[0.5]["share"] == 61 / 151
    assert (levels[0.5]["right"]["n"], levels[0.5]["right"]["positives"], levels[0.5]["right"]["value"]) == (60, 60, 1)
    assert levels[0.1]["right"]["value"] == 84 / 108
    assert levels[0.0]["right"] is None  # nothing stands for the hidden
    assert levels[0.1]["right"]["low"] < 84 / 108 < levels[0.1]["right"]["high"]
    assert [levels[k / 10]["right"] is None for k in (7, 8, 9)] == [False, True, True]  # 36, 24 and 12 labels
    assert undocumented(told) == set()
    (evidence,) = told["evidence"]
    assert (evidence["task"], evidence["calibrator"], evidence["event"]) == ("line_rest", keeping.id, "kept")
    assert (evidence["n"], evidence["levels"][0]["right"]["positives"]) == (keeping.evidence.n, keeping.evidence.positives)
    assert {level["shown"] is None for level in evidence["levels"]} == {True, False}


async def set_dial(client: Client, *arguments: Any) -> Any:
    return await client.request("workspace/executeCommand", {"command": "assay.setDial", "arguments": list(arguments)})


async def test_at_a_stop_the_evidence_decides_what_comes_unasked(desk: Desk, keeping: Calibrator) -> None:
    certain, uri = Interval(0.9, 0.8, 0.95), desk.uri
    desk.keep(replace(keeping, dial=(DialRow(0.8, 0.0, 0.1, 0.999, 60, Interval(0.1, 0.05, 0.2), certain),)))
    async with desk.editing(explore=0) as client:
        assert await client.complete(uri, 0, 2) == []
        status = await client.request("assay/status")
        assert (status["hidden"], status["dial"]["stop"]) == (1, "balanced")
        assert status["dial"]["words"] == "shows 1 in 10 suggestions; 9 of 10 of them right"
        told = await client.request("assay/dial", {})
        assert (told["showAbove"], told["stop"]) == ("auto", "balanced")
        assert [(stop["stop"], stop["setting"]) for stop in told["stops"]] == [("quiet", "quiet"), ("balanced", "auto"), ("everything", 0)]
        (threshold,) = told["stops"][1]["thresholds"]
        assert (threshold["task"], threshold["showAbove"], threshold["source"]) == ("line_rest", 0.999, "evidence")
        assert undocumented(told) == set()
        assert len(await client.complete(uri, 0, 2, invoked=True)) >= 1
        assert (await set_dial(client, {"stop": "everything"}))["stop"] == "everything"
        assert len(await client.complete(uri, 0, 2)) == 1
        assert (await client.request("assay/dial", {}))["stop"] == "everything"
        client.notify("workspace/didChangeConfiguration", {"settings": {"event": "kept", "explore": 0, "showAbove": "quiet"}})
        await client.heard("$/assay/didChangeStatus", '"quiet"')
        assert (await set_dial(client, {"showAbove": 0.25}))["stop"] is None
        assert (await set_dial(client, {"showAbove": None}))["stop"] == "quiet"
        for wrong in ({"stop": "loud"}, {"showAbove": 2}, {"stop": "quiet", "showAbove": 0}, 3):
            with pytest.raises(RpcError, match="the one argument is"):
                await set_dial(client, wrong)


async def test_the_words_of_the_dial_are_those_of_the_language_that_is_asked_about(desk: Desk, keeping: Calibrator) -> None:
    desk.keep_for_two_languages(keeping)
    go = (desk.root / "b.go").as_uri()
    async with desk.editing() as client:

        async def words() -> str:
            told = await client.request("assay/dial", {})
            status = await client.request("assay/status")
            assert status["dial"]["words"] == told["stops"][1]["words"]
            return str(told["stops"][1]["words"])

        assert (await words()).startswith("shows 1 in 10 suggestions")
        client.open(go, "x?", language="go")
        await client.complete(go, 0, 2)
        await client.heard("$/assay/didChangeStatus", "shows 5 of 10")
        assert (await words()).startswith("shows 5 of 10 suggestions")
        await client.complete(desk.uri, 0, 2)
        assert (await words()).startswith("shows 1 in 10 suggestions")
        await client.complete(go, 0, 2)
        told = len(client.notifications)
        client.notify("textDocument/didClose", {"textDocument": {"uri": go}})
        assert (await words()).startswith("shows 1 in 10 suggestions")
        changed = [each["params"] for each in client.notifications[told:] if each["method"] == "$/assay/didChangeStatus"]
        assert changed[-1]["dial"]["words"].startswith("shows 1 in 10"), "who shows the status is told"


async def test_without_a_document_the_dial_and_the_status_speak_of_all_languages(desk: Desk, keeping: Calibrator) -> None:
    desk.keep_for_two_languages(keeping)
    async with started(desk.model, root=desk.root, options={"event": "kept"}) as client:
        await client.ready()
        told = await client.request("assay/dial", {})
        assert told["stops"][1]["words"].startswith("shows 1 in 3 suggestions")
        assert (await client.request("assay/status"))["dial"]["words"] == told["stops"][1]["words"]
        for said in (told["stops"][1]["thresholds"], told["evidence"]):
            assert sorted((one["task"], *one["languages"]) for one in said) == [("line_rest", "go"), ("line_rest", "python")]
        assert undocumented(told) == set()


async def test_with_another_prompt_neither_the_dial_nor_the_status_promises_anything(desk: Desk, keeping: Calibrator) -> None:
    desk.keep(keeping)
    async with desk.editing(context={"headTokens": 7}) as client:
        told = await client.request("assay/dial", {})
        status = await client.request("assay/status")
    assert status["dial"]["words"] == told["stops"][1]["words"] == "there are no numbers yet, so all suggestions are shown"


async def test_what_was_kept_moves_a_stop(desk: Desk, keeping: Calibrator) -> None:
    certain = Interval(0.9, 0.8, 0.95)
    mine = replace(keeping, dial=(DialRow(0.5, 0.0, 0.1, 0.1, 60, Interval(0.5, 0.4, 0.6), certain),))
    desk.keep(mine)
    fates = [Fate(p, i % 10 < 10 * p, f"d{i % 20}", f"p{i % 8}", calibrator=mine.id) for i in range(200) for p in (0.12, 0.12, 0.32, 0.82)]
    desk.write(fates)
    async with desk.editing() as client:
        told = await client.request("assay/dial", {})
        (threshold,) = told["stops"][1]["thresholds"]
        assert (threshold["source"], threshold["n"], threshold["shown"]) == ("log", 800, 400)
        assert threshold["showAbove"] == 0.15
        assert told["stops"][1]["words"].startswith("shows 5 of 10 suggestions; 6 of 10 of them kept")
        assert (await client.request("assay/status"))["dial"]["words"] == told["stops"][1]["words"]


def readers_of(server: int) -> int:
    """How many processes of a server read its log at the moment."""
    found = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            found += parent == server and b"log_reader" in (status.parent / "cmdline").read_bytes()
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts processes as Linux tells of them")
async def test_however_often_the_dial_is_asked_for_at_once_one_process_reads_the_log(desk: Desk) -> None:
    desk.write(calibrated(1))
    async with desk.editing() as client:
        numbers = [client.ask("assay/dial", {}) for _ in range(2)]
        # at once: a busy machine could answer the first before it reads what stands behind a hundred others
        client.notify("$/cancelRequest", {"id": numbers[0]})
        numbers += [client.ask("assay/dial", {}) for _ in range(98)]
        numbers += [client.ask("assay/confidence", {}) for _ in range(20)]
        answers = asyncio.gather(*map(client.answer, numbers), return_exceptions=True)
        most = 0
        while not answers.done():
            most = max(most, await asyncio.to_thread(readers_of, client.process.pid))
        cancelled, *dials = (await answers)[:100]
        assert most == 1
        assert isinstance(cancelled, RpcError)
        assert dials[0]["n"] == 300
        assert all(answer["levels"] == dials[0]["levels"] for answer in dials)


async def test_where_nothing_is_known_nothing_is_said(desk: Desk) -> None:
    async with desk.editing(log={"events": False}) as client:
        told = await client.request("assay/dial", {})
        assert (told["n"], told["labelled"], told["days"], told["groupedBy"], told["evidence"]) == (0, 0, 0, None, [])
        assert all(level["share"] is None and level["right"] is None for level in told["levels"])
        assert undocumented(told) == set()
        told = await client.request("assay/confidence")
        assert told["log"] is None
        assert all(task["calibrator"] is None and task["because"] for task in told["tasks"])
        assert (told["recalibrate"]["possible"], told["recalibrate"]["labelled"]) == (False, 0)
        assert "assay.log.events" in told["recalibrate"]["reason"]
        with pytest.raises(RpcError, match="nothing is logged"):
            await client.request("assay/recalibrate", {})
        with pytest.raises(RpcError, match="is not open"):
            await client.request("assay/confidence", {"textDocument": {"uri": "file:///none.py"}})


async def test_without_a_log_that_can_be_read_the_evidence_stands_and_it_is_said_why(desk: Desk, keeping: Calibrator) -> None:
    desk.keep(keeping)
    (desk.root / "log").write_text("no log")
    async with desk.editing(log={"path": str(desk.root / "log")}) as client:
        dial, confidence = await client.request("assay/dial", {}), await client.request("assay/confidence", {})
        assert "not a log of Assay" in dial["logTrouble"]
        assert "not a log of Assay" in confidence["logTrouble"]
        assert "not a log of Assay" in confidence["recalibrate"]["reason"]
        assert (dial["n"], confidence["log"]) == (0, None)
        assert dial["evidence"]
        assert any(task["calibrator"] for task in confidence["tasks"])
        with pytest.raises(RpcError, match=r"assay/recalibrate: .*not a log of Assay") as error:
            await client.request("assay/recalibrate", {})
        assert error.value.code == -32803
    assert (desk.root / "log").read_text() == "no log"


async def test_the_confidence_is_told_with_its_evidence_and_what_the_log_says_of_the_same(desk: Desk, keeping: Calibrator) -> None:
    desk.keep(keeping)
    fates = [replace(fate, calibrator=keeping.id) for fate in calibrated(0)]
    matching = replace(keeping, event="exact_match")
    desk.keep(matching, "other.json")
    more = [Fate(0.9, None), Fate(0.9, False, event="exact_match", calibrator=matching.id), Fate(0.9, False)]  # another calibrator's
    desk.write([*fates, *more])
    async with desk.editing() as client:
        told = await client.request("assay/confidence", {})
        assert (told["event"], told["language"], told["model"]["id"]) == ("kept", "python", desk.ids[0])
        assert undocumented({**told, "log": {**told["log"], "endings": {}}}) == set()
        tasks = {task["task"]: task for task in told["tasks"]}
        assert set(tasks) == {"line", "line_rest", "line_middle", "block", "function"}
        assert tasks["line"]["calibrator"] is None
        assert "is for the task line, only for line_rest" in tasks["line"]["because"]
        one, evidence = tasks["line_rest"]["calibrator"], keeping.evidence
        assert (one["id"], one["origin"], one["file"], one["status"]) == (keeping.id, "user", "mine.json", "informative")
        assert (one["fittedOn"], one["n"], one["positives"]) == (keeping.fitted_on.n, evidence.n, evidence.positives)
        assert (one["groups"], one["groupedBy"], one["baseRate"]) == (evidence.groups, "project", evidence.base_rate)
        assert evidence.skill is not None
        assert evidence.auc is not None
        assert (one["skill"], one["auc"]) == (asdict(evidence.skill), asdict(evidence.auc))
        assert (one["ece"], one["eceNoiseFloor"]) == (evidence.ece.value, evidence.ece.noise_floor)
        assert [(b["low"], b["high"], b["n"], b["mean"], b["rate"], b["rateLow"], b["rateHigh"]) for b in one["reliability"]] == [
            (b.low, b.high, b.n, b.mean, b.rate, b.rate_low, b.rate_high) for b in evidence.reliability
        ]
        log = told["log"]
        kept = sum(fate.kept is True for fate in fates)
        assert (log["path"], log["showings"], log["labelled"], log["kept"]) == (str(desk.home / "events.sqlite3"), 303, 302, kept)
        assert log["endings"] == {"accepted": 302, "ignored": 1}
        assert sum(b["n"] for b in log["reliability"]) == 300
        assert sum(round(b["rate"] * b["n"]) for b in log["reliability"]) == kept
        assert (told["recalibrate"]["possible"], told["recalibrate"]["labelled"], told["recalibrate"]["needed"]) == (True, 302, 25)
        client.notify("workspace/didChangeConfiguration", {"settings": {"event": "exact_match"}})
        while (told := await client.request("assay/confidence", {}))["event"] == "kept":
            await asyncio.sleep(0.02)
        assert told["tasks"][1]["calibrator"]["id"] == matching.id
        assert told["log"]["reliability"] == []  # whether it was kept says nothing of whether it matched
        assert told["log"]["labelled"] == 302


async def test_a_number_that_a_study_refutes_is_in_no_answer_unless_the_user_wants_it(desk: Desk, keeping: Calibrator) -> None:
    file = desk.keep(keeping)

    async def states(client: Client) -> tuple[str, str, bool, list[str]]:
        (answer,) = await client.complete(desk.uri, 0, 2, invoked=True)
        said = answer["command"]["arguments"][0]["confidence"]
        task = (await client.request("assay/confidence", {}))["tasks"][1]["calibrator"]
        dial, status = await client.request("assay/dial", {}), await client.request("assay/status")
        return said["status"], task["status"], bool(dial["evidence"]), status["notes"]

    async with desk.editing(alternatives=1) as client:
        assert await states(client) == ("informative", "informative", True, [])
        refuted = figure("K2", Interval(0.2, 0.15, 0.3), 400, 20, "project", "<= 0.05")
        table.save(
            replace(table.empty(keeping), figures=table.rows_of([refuted], "calibration", "run", "0" * 64)), table.path_of(keeping, file)
        )
        noted = await client.heard("$/assay/didChangeStatus", "refutes K2")
        (note,) = noted["notes"]
        assert note.startswith("Suggestions of the task line_rest show no probability. The calibration study refutes K2, ")
        assert await states(client) == ("refuted", "refuted", False, [note])
        client.notify("workspace/didChangeConfiguration", {"settings": {"event": "kept", "alternatives": 1, "showRefuted": True}})
        async with asyncio.timeout(TIMEOUT_S):
            while (await states(client)) != ("informative", "informative", True, []):
                await asyncio.sleep(0.02)


async def test_too_few_labels_are_told_with_how_many_are_needed(desk: Desk) -> None:
    desk.write(calibrated(0, 20))
    desk.write(calibrated(1, 200), model=desk.ids[0], prompt="d" * 16)  # of a prompt that is no longer shown
    async with desk.editing() as client:
        told = (await client.request("assay/confidence", {}))["recalibrate"]
        assert (told["possible"], told["labelled"], told["needed"]) == (False, 20, 25)
        assert "line_rest has 20 labels" in told["reason"]
        assert "at least 25 labels, with at least 5 kept and 5 not kept" in told["reason"]


async def test_recalibrating_writes_a_calibrator_that_the_server_uses_at_once(desk: Desk) -> None:
    rng = random.Random(0)
    fates = []
    for number in range(300):
        total = -rng.expovariate(0.5)
        fates.append(
            Fate(None, rng.random() < 1 / (1 + 2.718 ** (-2 - 1.5 * total)), f"d{number % 9}", f"p{number % 7}", total_logprob=total)
        )
    desk.write(fates)
    async with desk.editing() as client:
        first, second = client.ask("assay/recalibrate", {}), client.ask("assay/recalibrate", {})
        with pytest.raises(RpcError, match="running already") as error:
            await client.answer(second)
        assert error.value.code == -32803
        told = await client.answer(first, 120)
        (one,) = told["written"]
        assert (one["task"], one["event"], one["n"], one["status"]) == ("line_rest", "kept", 300, "informative")
        assert (one["positives"], told["refused"]) == (sum(fate.kept is True for fate in fates), [])
        assert Path(one["path"]).parent == desk.home / "calibrators"
        assert one["skill"]["low"] > 0
        assert (await client.heard("$/progress", "written"))["value"]["message"] == "1 calibrator written, 0 refused"
        while not (used := (await client.request("assay/confidence", {}))["tasks"][1]["calibrator"]):
            await asyncio.sleep(0.05)
        assert (used["id"], used["origin"]) == (one["id"], "user")
        token = {"workDoneToken": "mine"}
        assert len((await client.answer(client.ask("assay/recalibrate", token), 120))["written"]) == 1
        assert (await client.heard("$/progress", '"token": "mine"'))["value"]["kind"] == "begin"


async def test_a_recalibration_ends_with_its_request_and_with_the_server(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write(calibrated(0, 30))
    slow = "import assay.server.features.models as c\nc.RECALIBRATING = ('-c', 'import time; time.sleep(600)', '--log')\n"
    monkeypatch.setattr(client_module, "SERVE", slow + SERVE)
    async with desk.editing() as client:
        number = client.ask("assay/recalibrate", {})
        before = set(await children(client, 2))
        client.notify("$/cancelRequest", {"id": number})
        with pytest.raises(RpcError) as cancelled:
            await client.answer(number)
        assert cancelled.value.code == -32800
        assert set(await children(client, 1)) < before
        number = client.ask("assay/recalibrate", {})
        running = await children(client, 2)
        assert await client.leave() == 0
        with pytest.raises(RpcError) as cancelled:
            await client.answer(number)
        assert cancelled.value.code == -32800
        await wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in running))


async def children(client: Client, count: int) -> list[str]:
    """The processes of a server, once there are so many."""
    file = Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children")
    if not file.exists():
        pytest.skip("the system does not tell whose children processes are")
    async with asyncio.timeout(TIMEOUT_S):
        while len(found := file.read_text().split()) != count:
            await asyncio.sleep(0.02)
    return found


async def test_that_a_calibrator_no_longer_holds_is_said_once(desk: Desk, keeping: Calibrator, monkeypatch: pytest.MonkeyPatch) -> None:
    soon = "import assay.server.confidence.drift_watch as d\nd.FIRST_S = d.AGAIN_S = d._BUSY_S = 0.1\n"
    monkeypatch.setattr(client_module, "SERVE", soon + SERVE)
    desk.keep(keeping)
    log = desk.home / "events.sqlite3"

    async def drifted(client: Client) -> dict[str, Any]:
        async with asyncio.timeout(TIMEOUT_S):
            while (drift := (await client.request("assay/status"))["drift"]) is None:
                await asyncio.sleep(0.05)
        return dict(drift)

    def of_it(fates: list[Fate]) -> list[Fate]:
        return [replace(fate, calibrator=keeping.id) for fate in fates]

    # what holds, what another calibrator said, and what ended in no label say nothing
    quiet = [*of_it(calibrated(0, 400)), *calibrated(1, 400, shift=0.5), *of_it([Fate(0.9)] * 400)]
    desk.write(quiet)
    async with desk.editing() as client:
        await asyncio.sleep(0.5)
        assert (await client.request("assay/status"))["drift"] is None
        desk.write(of_it(calibrated(2, 300, shift=0.4)), days_ago=1)
        with closing(sqlite3.connect(log, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # until this ends the server can't write down whom it told
            drift = await drifted(client)
            await asyncio.sleep(0.5)
        assert (drift["calibrator"], drift["direction"], drift["n"]) == (keeping.id, "too_high", 700)
        assert drift["size"] > 0.25
        message = (await client.heard("window/showMessage", "no longer hold"))["message"]
        assert message.startswith("Assay: The probabilities of mine.json")
        assert "assay logs recalibrate" in message
        await asyncio.sleep(0.5)
        assert sum("no longer hold" in json.dumps(each) for each in client.notifications) == 1
        await client.leave()
    with EventLog(log) as opened:
        (said,) = [row.event for row in opened.rows() if isinstance(row.event, DriftFound)]
    assert (said.calibrator, said.direction, said.n) == (keeping.id, "too_high", 700)
    async with desk.editing() as client:
        assert (await drifted(client))["calibrator"] == keeping.id
        await asyncio.sleep(0.5)
        assert "no longer hold" not in json.dumps(client.notifications)
    monkeypatch.setattr(client_module, "SERVE", soon.replace("d.AGAIN_S = ", "") + SERVE)
    async with desk.editing() as client:
        await drifted(client)
        for event, told in (("exact_match", False), ("kept", True)):
            client.notify("workspace/didChangeConfiguration", {"settings": {"event": event}})
            async with asyncio.timeout(TIMEOUT_S):
                while ((await client.request("assay/status"))["drift"] is not None) != told:
                    await asyncio.sleep(0.05)
        (desk.home / "calibrators" / "mine.json").unlink()  # of one that is gone nobody needs to know
        async with asyncio.timeout(TIMEOUT_S):
            while (await client.request("assay/status"))["drift"] is not None:
                await asyncio.sleep(0.05)
