from __future__ import annotations

import json
from pathlib import Path

from training.curve import plot


def test_a_branch_is_drawn_beside_its_run_with_where_it_ended(tmp_path: Path) -> None:
    for name, begin in (("curve.jsonl", 0), ("decay-3M.jsonl", 2)):
        lines = [{"tokens": i * 10**6, "training": 2.0, "held_out": 2.5 - 0.1 * i} for i in range(begin, begin + 2)]
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    (axes,) = plot(tmp_path).axes
    assert [list(line.get_xdata()) for line in axes.lines] == [[0, 1], [0, 1], [2, 3]]
    assert [text.get_text() for text in axes.texts] == ["3M: 2.200"]
