"""What a study measures is what the editor shows: the same text in the same place, for whatever a model writes."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.python.lines import Gap, UnreadableSource, middle, rest, sample_lines, whole
from assay.analysis.python.regions import candidates
from assay.inference.completion.settings import Settings
from assay.inference.completion.task import Task, kind_of
from assay.inference.model import Model
from assay.inference.opening import open_model
from assay.inference.project_memory import project
from assay.offline_eval.asked_line import StudyMemory
from assay.offline_eval.errors import StudyError
from assay.offline_eval.sets.lines import FileWithGap
from assay.suggestion.memory.memories import memory_fingerprint
from assay.suggestion.memory.scope import Scope

from ..inference.completion_server import Speech, serving
from ..server.client import Client, client_of

USE = "def use(path):\n    store = open_zarquon_index(path)\n    return store\n"
HIDDEN = "index(path)"
OTHER = "class Unlike:\n    def other(self):\n        return self.value\n\n    def another(self):\n        return 1\n"
OPEN = f"{OTHER}\n\ndef main(path):\n    store = open_zarquon_{HIDDEN}\n"


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with open_model(threads=1) as opened:
        yield opened


def gap() -> FileWithGap:
    start = OPEN.index(HIDDEN)
    return FileWithGap(OPEN, Gap(start, start + len(HIDDEN)), "line_rest", Settings())


def suggested(model: Model, scope: Scope, files: dict[str, str]) -> str:
    memory = StudyMemory(model, scope, lambda _: files.items())
    return next(gap().suggestions(model, memory=memory.at(gap(), "p", "main.py"))).generation.text


def test_other_files_are_read_where_the_scope_is_the_project(model: Model) -> None:
    assert suggested(model, "project", {"db.py": USE}) == HIDDEN
    assert suggested(model, "file", {"db.py": USE}) != HIDDEN
    assert suggested(model, "off", {"db.py": USE}) != HIDDEN
    memory = StudyMemory(model, "project", lambda _: [("db.py", USE)])
    made = next(gap().suggestions(model, memory=memory.at(gap(), "p", "main.py"))).generation
    assert made.memory == memory_fingerprint(model, "project") != memory_fingerprint(model, "off") == "", "it says what it was mixed with"


def test_what_was_taken_out_is_not_found_in_the_file_itself_nor_in_a_copy(model: Model) -> None:
    alone = suggested(model, "project", {"other.py": "x = 1\n"})
    assert suggested(model, "project", {"other.py": "x = 1\n", "main.py": OPEN}) == alone != HIDDEN
    assert suggested(model, "project", {"other.py": "x = 1\n", "backup/old.py": OPEN}) == alone


def test_a_project_that_is_too_large_is_an_error_that_says_what_to_do(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "MAX_WORDS", 5)
    with pytest.raises(StudyError, match="--memory file"):
        StudyMemory(model, "project", lambda _: [("db.py", USE)]).at(gap(), "p", "main.py")


ROOT = Path(__file__).parents[2]
PLACES = 100


def files() -> Iterator[str]:
    """Real files: those of this repository and of Python's library, some with other ends of lines or indented by tabs."""
    rng = random.Random("files")
    paths = [*(ROOT / "calibration").rglob("*.py"), *(ROOT / "analysis").rglob("*.py"), *Path(statistics.__file__).parent.glob("*.py")]
    paths = sorted(path for path in paths if 1_000 < path.stat().st_size < 12_000)
    while True:
        text = rng.choice(paths).read_text(encoding="utf-8").replace("\r\n", "\n")
        if rng.random() < 0.2:
            indented = [(line, len(line) - len(line.lstrip(" "))) for line in text.split("\n")]
            text = "\n".join("\t" * (width // 4) + line[width - width % 4 :] for line, width in indented)
        yield text


def places() -> list[tuple[FileWithGap, FileWithGap]]:
    """Random places; of each the second is in the file as it is on the disk, which may have other ends of lines."""
    rng, found = random.Random("places"), []
    for text in files():
        try:
            lines = sample_lines(text, f"{len(found)}")
            regions = [
                region for region in candidates(text, eligible_lines=range(1, text.count("\n") + 1)) if region.last_line > region.first_line
            ]
        except UnreadableSource:
            continue
        if not lines or not regions:
            continue
        line, region = rng.choice(lines), rng.choice(regions)
        gaps: dict[Task, Gap | None] = {
            "line": whole(text, line),
            "line_rest": rest(text, line, "0"),
            "line_middle": middle(text, line, "0"),
            "block": Gap(region.start, region.end),
        }
        newline = rng.choice(("\n", "\n", "\r\n"))
        for task, gap in gaps.items():
            if gap is None:
                continue
            more = len(newline) - 1
            there = Gap(gap.start + more * text.count("\n", 0, gap.start), gap.end + more * text.count("\n", 0, gap.end))
            found.append((FileWithGap(text, gap, task, Settings()), FileWithGap(text.replace("\n", newline), there, task, Settings())))
            if len(found) == PLACES:
                return found
    return found


def written(place: FileWithGap, rng: random.Random) -> str:
    """What a model might write at a place: what was there, mostly with too much, too little or something else."""
    truth, behind = place.truth, place.text[place.gap.end :]
    rest_of_line, *below = behind.split("\n")
    return rng.choice(
        [
            truth,
            truth + rest_of_line,
            f"{truth}{rest_of_line}\n" + "\n".join(below[:4]),
            f"{truth}   \n\n",
            f"  {truth}",
            f"{truth})",
            f"{truth}\n)\n]\n}}",
            truth.replace("    ", "\t"),
            truth.replace("\t", "    "),
            rest_of_line.strip(),
            next((line for line in below if line.strip()), ""),
            place.text[: place.gap.start].rstrip().rsplit("\n", 1)[-1],
            truth[: len(truth) // 2],
            "",
            " \n",
            "return result",
            "value = [\n    1,\n    2,\n]\nother = value\n",
        ]
    )


class Scripted:
    """A server's model that writes what it is told to."""

    def __init__(self) -> None:
        self.text = ""
        self.speech = Speech(kind="openai", bundle=1 << 20, garble=self._say)

    def _say(self, answer: Any) -> Any:
        for choice in answer.get("choices", []) if isinstance(answer, dict) else []:
            logprobs = {"tokens": [self.text], "token_logprobs": [-0.5], "top_logprobs": [{self.text: -0.5}]} if self.text else None
            choice |= {"text": self.text, "finish_reason": "stop", "logprobs": logprobs}
        return answer


def accepted(text: str, item: dict[str, Any]) -> str:
    """The text once an item of the language server is accepted; columns are UTF-16."""
    lines = text.splitlines(keepends=True) if "\r" in text else text.split("\n")
    ends = "" if "\r" in text else "\n"
    offsets = []
    for place in (item["range"]["start"], item["range"]["end"]):
        before = sum(len(line) + len(ends) for line in lines[: place["line"]])
        within = (lines[place["line"]] if place["line"] < len(lines) else "").encode("utf-16-le")[: 2 * place["character"]]
        offsets.append(before + len(within.decode("utf-16-le")))
    return text[: offsets[0]] + item["insertText"] + text[offsets[1] :]


async def ask(client: Client, number: int, text: str, offset: int) -> str:
    """The text with what the language server suggests at an offset, or as it is where it suggests nothing."""
    uri, before = f"file:///project/file{number}.py", text[:offset]
    client.open(uri, text)
    start = max(before.rfind("\n"), before.rfind("\r")) + 1
    line = before.count("\n")
    items = await client.complete(uri, line, len(before[start:].encode("utf-16-le")) // 2, invoked=True)
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    return accepted(text, items[0]) if items else text


@pytest.mark.slow
async def test_accepting_in_the_editor_gives_the_very_file_that_a_study_judges() -> None:
    script, rng, chosen = Scripted(), random.Random("texts"), places()
    options = {"alternatives": 1, "speculate": False, "remember": False, "delay": 0, "maxMs": 60_000}
    shown = hidden = exact = cut = 0
    with serving(script.speech) as address, open_model(address) as model:
        for kind in ("line", "block"):
            async with client_of(address) as client:
                await client.initialize(options={**options, "kind": kind})
                await client.ready()
                for number, (plain, place) in enumerate(chosen):
                    if kind_of(place.task) != kind:
                        continue
                    script.text = written(plain, rng)
                    (one,) = place.suggestions(model)
                    document = place.text[: place.gap.start] + place.text[place.gap.end :]
                    judged = document if one.inserted is None else place.accepted(one.inserted)
                    assert (await ask(client, number, document, place.gap.start)) == judged, (place.task, script.text)
                    shown += one.inserted is not None
                    hidden += one.inserted is None
                    cut += one.inserted not in (None, one.generation.text)
                    exact += place.is_exact(one.inserted)
                await client.leave()
    assert shown + hidden == PLACES
    assert min(shown, hidden, exact, cut) > 5
