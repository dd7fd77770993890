"""What a study measures is what an editor shows: the same places, by the embedded model, through the language server and through a study.

tests/offline_eval/test_suggested.py asks a scripted model, which is fast.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import sysconfig
from pathlib import Path

import pytest
from offsets import offset_at

from assay.analysis.python.lines import UnreadableSource, middle, rest, sample_lines, whole
from assay.inference.completion.settings import Settings
from assay.inference.opening import EMBEDDED, open_model
from assay.offline_eval.asked_line import StudyMemory
from assay.offline_eval.sets.lines import FileWithGap
from assay.suggestion.memory.folder import files_in
from assay.suggestion.memory.scope import SCOPES, Scope
from assay.suggestion.positions import Position, position_at

from ..server.client import client_of

# One suggestion a place, of one line, whatever the dial says, computed as the studies do: on one thread.
OPTIONS = {"alternatives": 1, "kind": "line", "speculate": False, "modelOptions": {"threads": 1}}


FILES = sorted(Path(sysconfig.get_path("stdlib")).glob("[a-e]*.py"))


def places(count: int) -> list[tuple[str, FileWithGap]]:
    """Lines, rests and middles of lines in real files, a third of these with CRLF line ends, a third indented with tabs."""
    rng = random.Random(17)
    found: list[tuple[str, FileWithGap]] = []
    while len(found) < count:
        file = rng.choice(FILES)
        text = file.read_text(encoding="utf-8", errors="replace")
        text = rng.choice([text, text.replace("\n", "\r\n"), text.replace("    ", "\t")])
        try:
            lines = list(sample_lines(text, str(len(found))))
        except UnreadableSource:
            continue
        for line in rng.sample(lines, min(3, len(lines))):
            task = rng.choice(["line", "line_rest", "line_middle"])
            gap = {"line": whole, "line_rest": rest, "line_middle": middle}[task](text, line, *([] if task == "line" else ["0"]))
            if gap is not None:
                found.append((file.name, FileWithGap(text, gap, task, Settings())))
    return found[:count]


@pytest.mark.slow
@pytest.mark.parametrize("scope", SCOPES)
async def test_accepting_in_an_editor_gives_the_file_that_a_study_judges(scope: Scope, tmp_path: Path) -> None:
    drawn = places(36)
    for file in FILES:
        shutil.copy(file, tmp_path)
    with open_model(threads=1) as model:
        memory = StudyMemory(model, scope, lambda _: files_in(tmp_path))
        studied = [next(place.suggestions(model, memory=memory.at(place, "", name))).inserted for name, place in drawn]
    hidden = 0
    async with client_of(EMBEDDED) as client:
        await client.initialize(options=OPTIONS | {"memory": scope}, root=tmp_path)
        await client.ready()
        while scope == "project" and [state["state"] for state in (await client.request("assay/status"))["memory"]] != ["ready"]:
            await asyncio.sleep(0.05)
        for (name, place), inserted in zip(drawn, studied, strict=True):
            uri = (tmp_path / name).as_uri()
            text = place.text[: place.gap.start] + place.text[place.gap.end :]
            at = position_at(text, place.gap.start, "utf-16")
            client.open(uri, text)
            items = await client.complete(uri, at.line, at.character, invoked=True)
            client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            where = f"{place.task} at line {at.line}: {place.truth!r}"
            if inserted is None:
                hidden += 1
                assert items == [], where
                continue
            assert len(items) == 1, where
            start, end = (offset_at(text, Position(**items[0]["range"][edge]), "utf-16") for edge in ("start", "end"))
            assert (text[:start] + items[0]["insertText"] + text[end:]).encode() == place.accepted(inserted).encode(), where
    assert 0 < hidden < len(drawn) / 2
