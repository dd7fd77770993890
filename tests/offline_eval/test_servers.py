"""A study whose calls several real HTTP servers share, one of which dies."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from source_distribution import make_sdist

from assay.inference.completion.settings import GREEDY, Sampling
from assay.inference.errors import OtherModelServed, ServerUnreachable
from assay.inference.opening import ModelChoice
from assay.inference.project_memory.weights import SHIPPED
from assay.offline_eval.asked_line import ANSWERS
from assay.offline_eval.calibration.study import Options, run_study
from assay.offline_eval.errors import UsageError
from assay.offline_eval.model import Changed, OnServers, model_of, opened_on_one_thread
from assay.suggestion.memory.memories import own_weights

from ..inference.completion_server import Handler, Speech, serving


@pytest.mark.slow
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


def test_a_worker_with_other_weights_of_the_project_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = model_of(ModelChoice(), ("line",))
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "other machine"))
    asked.open_in_worker().close()
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "another"))
    weights = json.loads(SHIPPED.read_text())
    weights["file"]["bias"] += 1
    own_weights(asked.id).parent.mkdir(parents=True)
    own_weights(asked.id).write_text(json.dumps(weights))
    with pytest.raises(Changed, match="weights of the project memory are others for the worker"):
        asked.open_in_worker()
    replace(asked, memory="off", weights="").open_in_worker().close()


def test_drawn_texts_have_a_prompt_of_their_own_and_the_embedded_model_is_never_asked_about_what_it_wrote(tiny_gguf: Path) -> None:
    greedy, drawn = (model_of(ModelChoice(), ("line",), sampling=sampling) for sampling in (GREEDY, Sampling(0.6)))
    assert greedy.sampled == greedy.prompts == drawn.prompts
    assert drawn.sampled["line"] != greedy.prompts["line"]
    named = ModelChoice(str(tiny_gguf))
    assert "ask_true_normalised" in model_of(named, ("line",), reflective=None).questions
    assert model_of(named, ("line",)).questions == {}
    assert model_of(ModelChoice(), ("line",), reflective=None).questions == {}
    with pytest.raises(UsageError, match=r"the embedded model answers no questions, .* leave --reflective out"):
        model_of(ModelChoice(), ("line",), reflective=True)


def completions(speech: Speech) -> int:
    return sum(path == "/v1/completions" for _, path, _ in speech.asked)


def asked(folder: Path, where: str, out: str = "run", functions: int = 8) -> Options:
    projects = [make_sdist(folder / "cache", functions=functions)]
    return Options(
        folder / out,
        choice=ModelChoice(where),
        projects=projects,
        per_project=functions,
        tasks=("line",),
        cache=folder / "cache",
        memory="off",
    )


@pytest.mark.slow
def test_where_a_server_dies_the_others_go_on_and_nothing_is_lost(tmp_path: Path) -> None:
    one, other = Speech(pause_s=0.02), Speech(pause_s=0.02)
    with ExitStack() as dies, serving(other) as second:
        first = dies.enter_context(serving(one))

        def kill() -> None:
            until = time.monotonic() + 30
            while completions(one) < 2 and time.monotonic() < until:
                time.sleep(0.005)
            dies.close()

        killer = threading.Thread(target=kill)
        killer.start()
        run = run_study(asked(tmp_path, f"{first},{second}", functions=12))
        killer.join()
        assert min(completions(one), completions(other)) > 0
        alone = run_study(asked(tmp_path, second, "alone", functions=12))
    assert run.lost(ANSWERS) == set()
    answers = [[answer["generations"] for answer in each.records(ANSWERS).read()] for each in (run, alone)]
    assert len(answers[0]) == 12
    assert answers[0] == answers[1], "the answers are those of one server"


class Work:
    """Answers with the server's name; fails at those that are down."""

    def __init__(self, choice: ModelChoice, down: set[str]) -> None:
        self.name, self.down = str(choice.where), down

    def __call__(self, _: Any) -> str:
        if self.name in self.down:
            raise ServerUnreachable(self.name, "gone")
        return self.name


def test_a_server_that_failed_rests_and_each_item_is_tried_at_all_before_it_is_lost() -> None:
    down: set[str] = set()
    start: Callable[[ModelChoice], Work] = lambda choice: Work(choice, down)  # noqa: E731
    work = OnServers(ModelChoice("http://a,http://b"), start)()
    assert {work(n) for n in range(4)} == {"http://a", "http://b"}
    down.add("http://a")
    assert {work(n) for n in range(4)} == {"http://b"}
    down.add("http://b")
    with pytest.raises(ServerUnreachable):
        work(0)
    down.clear()
    assert work(0) in ("http://a", "http://b")

    def changed(choice: ModelChoice) -> Work:
        if choice.where == "http://a":
            raise Changed("another model")
        return Work(choice, set())

    work = OnServers(ModelChoice("http://a,http://b"), changed)()
    assert {work(n) for n in range(4)} == {"http://b"}, "one that serves another model leaves its share to the others"


def renamed(answer: Any) -> Any:
    return answer | {"data": [entry | {"id": "acme/other"} for entry in answer["data"]]} if "data" in answer else answer


@pytest.mark.slow
def test_servers_of_different_models_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    one, other = Speech(), Speech(garble=renamed)
    with serving(one) as first, serving(other) as second, pytest.raises(OtherModelServed, match=f"{second}: serves acme/other"):
        run_study(asked(tmp_path, f"{first},{second}"))
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_server_is_asked_several_things_at_once_also_beside_one_that_is_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    speech = Speech(pause_s=0.02)
    under_way, most = 0, 0
    lock = threading.Lock()

    class Counting(Handler):
        def completions(self, body: dict[str, Any]) -> object | None:
            nonlocal under_way, most
            with lock:
                under_way += 1
                most = max(most, under_way)
            try:
                return super().completions(body)
            finally:
                with lock:
                    under_way -= 1

    with serving(speech, handler=Counting) as only:
        run = run_study(asked(tmp_path, f"http://127.0.0.1:1,{only}"))
    assert len(run.records(ANSWERS).read()) == 8
    assert "note: http://127.0.0.1:1: can't be reached" in capsys.readouterr().err, "one that is down is told and left to the others"
    # how many exactly the pool's own tests say: here a busy machine may begin a thread late
    assert most > 1
