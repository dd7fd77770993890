"""The pictures of docs/four_studies.md, from the figures of published runs.

python -m training.remake.four_studies RUNS DOCS    # RUNS has a folder of each run, with its report
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.calibration.report.cells import Cell, PaperValue
from assay.offline_eval.pictures import bars

# A run, the id of one of its figures, and what that is.
Shown = tuple[str, str, str]
_RAW, _SCALED = "T5/tests_pass/humaneval/docstring/{}/raw/skill", "T6/tests_pass/humaneval/docstring/{}/random/skill"
SKILLS: Sequence[Shown] = (
    ("fresh-qwen05", "T5/exact_match/line/docstring/total_logprob/raw/skill", "p_tot of a line, as it is"),
    ("humaneval-qwen05", _RAW.format("total_logprob"), "p_tot of a function, as it is"),
    ("humaneval-qwen05", _SCALED.format("total_logprob"), "p_tot of a function, scaled"),
    ("humaneval-qwen05", _SCALED.format("ask_true"), "Ask T/F in plain text, scaled"),
    ("humaneval-qwen05", _SCALED.format("ask_chat"), "Ask T/F in chat, scaled"),
    ("humaneval-qwen05", _SCALED.format("ask_shots"), "Ask T/F behind two examples, scaled"),
    ("humaneval-qwen05", _SCALED.format("verbalised"), "stated percentage, scaled"),
)
_JUDGES, _WRITES = "J/vote/strict/balanced_accuracy", "T2/tests_pass/all/{}"
SHARES: Sequence[Shown] = (
    ("judged-qwen05", _JUDGES, "0.5B judges CodeLlama's programs"),
    ("own-qwen05", _JUDGES, "0.5B judges its own"),
    ("judged-own-qwen15", _JUDGES, "1.5B judges those of 0.5B"),
    ("pairs-qwen05", "C/vote/local/balanced", "0.5B sees changed behaviour"),
    *(
        (f"rtc-{run}", _WRITES.format(arm), f"{model} {words}")
        for run, model in (("qwen05", "0.5B"), ("qwen15", "1.5B"))
        for arm, words in (
            ("pass_at_1", "writes a function from its docstring"),
            ("baseline", "from words that say nothing"),
            ("rtc", "from its own description"),
        )
    ),
    ("translate-qwen05", "T4/humaneval/java-python", "0.5B translates Java to Python"),
    ("translate-qwen15", "T4/humaneval/java-python", "1.5B does"),
)
RUNS = tuple(dict.fromkeys(run for run, *_ in (*SKILLS, *SHARES)))


def figures(runs: Path, name: str) -> dict[str, Cell]:
    """The figures of a run, by id."""
    found = json.loads((runs / name / "report" / "figures.json").read_text(encoding="utf-8"))["figures"]
    return {
        each["id"]: Cell(
            each["id"],
            each["value"],
            each["low"],
            each["high"],
            paper=tuple(PaperValue(one["value"], one["of"], "") for one in each.get("paper", ())),
        )
        for each in found
    }


def draw(runs: Path, docs: Path, name: str, title: str, shown: Sequence[Shown], reference: float | None = None) -> None:
    """Write a picture of some figures."""
    cells = [figures(runs, run)[figure] for run, figure, _ in shown]
    (docs / f"{name}.svg").write_text(bars(name, title, [words for *_, words in shown], cells, reference).svg, encoding="utf-8")


if __name__ == "__main__":
    made, pages = map(Path, sys.argv[1:])
    draw(made, pages, "four_studies-skills", "Skill", SKILLS, 0.0)
    draw(made, pages, "four_studies-shares", "Shares", SHARES)
