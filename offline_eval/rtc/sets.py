"""The sets: what goes around, found without a model, and how it is labelled.

By a benchmark's tests, by a project's own, or by how much of an edit's text is there.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from ...analysis.corpora.git_history import FileEdit, GitError, Hunk, hunks, single_edits
from ...analysis.python import regions
from ...analysis.python.lines import Gap
from ...analysis.python.source_text import UnreadableSource, lines_of, tree_of
from ...analysis.sandbox.isolation.best_level import best_level
from ..chains.chain import Judge
from ..errors import StudyError, UsageError
from ..run import Step
from ..sets import suites
from ..sets.judging import InSandbox, Text
from ..sets.lines import Place
from ..sets.problem import Problem, SetError
from ..sets.problems import problems
from ..sets.suites import Judged, Judging
from .items import Code, Edit, Item, trimmed

# The sandbox ends a program long before; a suite is run several times before it can judge.
MAX_PROGRAM_S, MAX_SUITE_S = 600.0, 1800.0


class Label(TypedDict):
    """What is known of a text. tests_pass: None where the machine failed. bleu, rouge: of an edit, from 0 to 1."""

    id: str
    tests_pass: NotRequired[bool | None]
    why: NotRequired[str]
    bleu: NotRequired[float]
    rouge: NotRequired[float]


LABELS = Step("labels", "text", Label)


@dataclass(frozen=True, slots=True)
class Overlap:
    """A text of an edit, and what it should be."""

    id: str
    text: str
    wanted: str


def by_overlap() -> Callable[[Overlap], dict[str, Any]]:
    """The worker's function that labels edits: BLEU of sacrebleu and the F1 of ROUGE-L of rouge-score, each of the whole new text."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import sentence_bleu

    scorer = RougeScorer(["rougeL"])

    def score(texts: Overlap) -> dict[str, Any]:
        rouge = scorer.score(texts.wanted, texts.text)["rougeL"].fmeasure
        return {"id": texts.id, "bleu": sentence_bleu(texts.text, [texts.wanted]).score / 100, "rouge": rouge}

    return score


# Of the paper, for what stands before and after a region together.
CONTEXT = 1024
# Lines around an edit, and the length of either side with them.
EDIT_CONTEXT, MAX_EDIT = 3, 1024


@dataclass(frozen=True, slots=True)
class Found:
    """What is asked about. question: what else makes a run another one. left_out: for people."""

    items: Sequence[Item]
    judge: Judge
    question: Mapping[str, Any] = field(default_factory=dict)
    left_out: Sequence[str] = ()


def drawn(items: Sequence[Any], limit: int | None, seed: str) -> list[Any]:
    """At most so many of them, in their order."""
    if limit is None or limit >= len(items):
        return list(items)
    return [items[index] for index in sorted(random.Random(seed).sample(range(len(items)), limit))]


def functions(data: Path, limit: int | None) -> Found:
    """HumanEval's functions without their docstrings. Raises SetError and NoIsolation."""
    found = {problem.id: problem for problem in problems("humaneval", data, limit)}

    def program(name: str, item: Code, _: str, text: str) -> Text:
        # what defines the function anew follows its published head, whose imports it needs
        problem, dedented = found[item.id], item.dedented(text)
        whole = re.search(rf"^def {re.escape(str(problem.entry_point))}\s*\(", dedented, re.MULTILINE)
        return Text(name, problem, f"{problem.prompt}\n{dedented}" if whole else f"{item.indentation}{text}")

    return Found([*map(_function, found.values())], Judge(LABELS, program, InSandbox(best_level()), MAX_PROGRAM_S))


def _function(problem: Problem) -> Code:
    """The body to rebuild. Raises SetError where the problem is no function with a body."""
    code = problem.truth.strip()
    head = problem.prompt + problem.truth[: len(problem.truth) - len(problem.truth.lstrip())]
    if not code:
        raise SetError(f"{problem.id} has no body to rebuild")
    try:
        parsed = tree_of(head + code)
    except UnreadableSource as error:
        raise SetError(f"{problem.id} can't be read: {error}") from None
    return Code(problem.id, problem.id, _without_words(head, parsed), code, "\n", documented=head)


def _without_words(head: str, parsed: ast.Module) -> str:
    """What stands before a body, without the texts that are statements. Some published docstrings stand behind an import, and are none."""
    lines = head.splitlines(keepends=True)
    texts = (node for node in ast.walk(parsed) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    gone = {number for node in texts for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return "".join(line for number, line in enumerate(lines, 1) if number not in gone)


def project_regions(found: suites.Items) -> Found:
    """Regions whose loss the projects' tests notice."""
    places = found.by_id

    def file_with(name: str, item: Code, _: str, text: str) -> Judged:
        place = places[item.id]
        return found.judged(name, place, place.with_text(_gap(place), text))

    items = [code for place in found.places if (code := _region(place))]
    return Found(items, Judge(LABELS, file_with, Judging(found.contents), MAX_SUITE_S), found.question)


def _gap(place: Place) -> Gap:
    """Where the region is: its block, or the one line that it has."""
    return dict(place.gaps).get("block") or place.gap("line")


def _region(place: Place) -> Code | None:
    """The region in its surroundings. None for one of several lines that can't be asked for whole."""
    assert place.judged, "places of suites are judged"
    first, last = place.judged
    if "block" not in dict(place.gaps) and (first != last or "line" not in dict(place.gaps)):
        return None
    gap = _gap(place)
    before, after = regions.context(place.text, regions.Region(place.function, gap.start, gap.end, first, last, ""), CONTEXT // 2)
    return Code(place.id, place.project, before, place.text[gap.start : gap.end], after)


def edits(folders: Sequence[Path], per_project: int, seed: int, limit: int | None) -> Found:
    """Commits that change one place of one Python file. Raises StudyError where the libraries are missing that compare
    them, and UsageError for a folder without a history that can be read.
    """
    if missing := [name for name in ("sacrebleu", "rouge_score") if find_spec(name) is None]:
        raise StudyError(f"{' and '.join(missing)}, which edits are compared with, is not installed: pip install 'assay[studies]'")
    names = [folder.resolve().name for folder in folders]
    if len(set(names)) < len(names):
        raise UsageError(f"two folders are named {next(name for name in names if names.count(name) > 1)}: a run tells them apart by that")
    made, left_out = list[Edit](), list[str]()
    for folder, name in zip(folders, names, strict=True):
        try:
            here = list(edits_of(folder, name))
        except GitError as error:
            raise UsageError(f"{error}; name folders of git repositories with --data") from None
        if not here:
            left_out.append(f"{name} has no commit that changes one place of one Python file.")
        made += drawn(here, per_project, f"{seed}:{name}")
    if not made:
        raise UsageError("no folder of --data has a commit that changes one place of one Python file")
    judge = Judge(LABELS, lambda name, edit, _, text: Overlap(name, trimmed(text), trimmed(edit.new)), by_overlap)
    return Found(drawn(made, limit, f"{seed}:limit"), judge, {"repositories": names}, tuple(left_out))


def edits_of(folder: Path, project: str) -> Iterator[Edit]:
    """The edits, newest first: of each commit that changes no other Python file, and of equal edits one."""
    known = set[tuple[str, str]]()
    for change in single_edits(folder):
        found = hunks(change)
        if len(found) == 1 and (edit := _edit(change, found[0], project)) and (edit.old, edit.new) not in known:
            known.add((edit.old, edit.new))
            yield edit


def _edit(change: FileEdit, hunk: Hunk, project: str) -> Edit | None:
    """The edit with lines around it; None where it is too long, or changes white space alone."""
    lines = lines_of(change.old)
    first, behind = hunk.old_line - 1, hunk.old_line - 1 + len(lines_of(hunk.old))
    before, after = "".join(lines[max(0, first - EDIT_CONTEXT) : first]), "".join(lines[behind : behind + EDIT_CONTEXT])
    old, new = before + hunk.old + after, before + hunk.new + after
    if max(len(old), len(new)) > MAX_EDIT or not old.strip() or not new.strip() or old.split() == new.split():
        return None
    return Edit(f"{project}:{change.commit[:12]}:{change.path}:{hunk.old_line}", project, old, new, hunk.new)
