from __future__ import annotations

import json
from pathlib import Path

from training.contamination import Filled, by_project, of_corpus, row


def test_files_of_the_corpus_are_told_by_their_package(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    lines = ({"project": "a" if n < 2 else "b", "path": f"{n}.py", "text": "x = 1\n"} for n in range(4))
    corpus.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = by_project(of_corpus(corpus))
    assert {name: [file.path for file in group] for name, group in found.items()} == {"a": ["0.py", "1.py"], "b": ["2.py", "3.py"]}


def test_a_row_has_the_share_of_exact_gaps_by_task() -> None:
    found = [Filled(project, task, task == "line_rest") for project in ("a", "b") for task in ("line_rest", "line_middle")]
    name, line, rest, middle = row("corpus", [*found, Filled("a", "line", True), Filled("b", "line", False)])
    assert name == "corpus"
    assert line.startswith("50.0% (")
    assert line.endswith("n = 2, 2 projects")
    assert rest.startswith("100.0%")
    assert middle.startswith("0.0%")
