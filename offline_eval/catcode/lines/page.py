"""The page of CatCode's line twin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....calibration.registry import load_registry
from ....calibration.report.blocks import Paragraph, Table
from ....calibration.report.cells import Cell
from ....calibration.report.paper_claims import PaperClaim, Rule, claim_of
from ....calibration.report.study_report import Section, StudyContent
from ....calibration.samples import Sample
from ....calibration.validation.catcode_facts import LineFact, PlaceFact, VariantFact
from ....calibration.validation.catcode_study import EVENTS, figures
from ....calibration.validation.figures import Figure
from ....calibration.validation.inputs import Inputs
from ...progress import counted
from ...study_page import cells_in, facts_of, figures_of_fitted, figures_of_task, lost_items, titled
from ..pairs.pages import SEEN
from .tables import (
    BALANCED,
    accuracy_table,
    falls_of,
    falls_picture,
    identification_table,
    outcomes_table,
    regenerated_table,
    rules_table,
    scored,
)

_FITTED = "of a calibrator that is fitted to this run's suggestions"


def figures_of(question: Mapping[str, Any], samples: Sequence[Sample], facts: Sequence[PlaceFact]) -> Iterator[Figure]:
    """The figures for each event: of the calibrator of this machine for such suggestions, where it kept its folds; else of one that is
    fitted to what was suggested in the code as it is, and judged on projects that it has not seen.

    Raises StudyError for a value that a measure can't have.
    """
    inputs = Inputs(samples, facts={place.id: place for place in facts})
    registry, task = load_registry(), question.get("tasks", ["line"])[0]
    for event in EVENTS:
        if found := tuple(figures_of_task(registry, question, task, event, inputs, figures)):
            yield from found
            continue
        for each in figures_of_fitted(event, inputs, figures):
            yield titled(replace(each, note="; ".join(filter(None, (_FITTED, each.note)))), task, event)


def claims(cells: Mapping[str, Cell]) -> tuple[PaperClaim, ...]:
    """The paper's claims; of most of them a model that is only scored on lines says nothing."""
    whole, words = Rule("needs whole programs"), Rule("needs answers in words: here a threshold weighs one class against the other")
    others = Rule("not asked of a model of lines")
    wanted: tuple[tuple[str, str, str, Rule, list[tuple[str, str]]], ...] = (
        (
            "a1", "Local edits are seen", "balanced 79.5 and 82.0 % (figure 4, 1-eq and 1-neq)",
            Rule(f"the balanced accuracy on lines is above {SEEN:.0%}", above=SEEN), [("by the fall of log p", BALANCED)],
        ),
        ("a2", "Global equivalence is not seen", "balanced 60.1 and 57.8 %", whole, []),
        ("b", "Equivalence is seen better than its absence", "1-eq minus 1-neq: 33 and 17 points", words, []),
        ("c", "Two variants are as easily seen as one", "2-eq minus 1-eq: 1 and −1 points", whole, []),
        ("translation", "Translation is good", "means 81.5, 84.7 and 48.7 %", others, []),
        ("reproduction", "Explain-then-reproduce loses about 30 points", "54.6 and 54.0 % against 81.5 and 84.7 %", others, []),
    )  # fmt: skip
    return tuple(claim_of(*claim, cells) for claim in wanted)


_TOLD = ("of", "tasks", "memory", "older", "projects", "per_project", "limit", "seed")
EACH = 3
MAX_CONTRADICTED = 10
_MAX_LINE = 200
# Of each kind: how it is called, which are of it, and whether those with the smallest fall come first.
_KINDS: tuple[tuple[str, Callable[[VariantFact], bool], bool], ...] = (
    ("Wrong rewrites that the model minds least", lambda one: one.arm == "wrong", True),
    ("Rewrites of a line that do the same, and that it minds most", lambda one: one.arm == "equivalent", False),
    ("Rewrites of the code around a line, and that it minds most", lambda one: one.arm == "context", False),
)


def examples_of(facts: Sequence[PlaceFact], *, tested: bool = True) -> Iterator[Table]:
    """Some rewrites of each arm, with diff and fall; of a place at most one of each. tested: as in `summary`."""
    for called, is_one, ascending in _KINDS:
        found = [(fall, place.id, line, variant) for place, line, variant, fall in scored(facts) if is_one(variant)]
        shown = set[str]()
        for fall, place, line, variant in sorted(found, key=lambda one: (one[0] if ascending else -one[0], one[1])):
            if place not in shown and len(shown) < EACH:
                shown.add(place)
                yield _example(f"{called}: {place.removesuffix(':line')}", line, variant, fall, tested=tested)


def _example(title: str, line: LineFact, variant: VariantFact, fall: float, *, tested: bool) -> Table:
    rows = [
        *((("−", each[1:]) if each.startswith("-") else ("+", each[1:])) for each in variant.diff),
        ("line", line.text),
        ("rules", ", ".join(variant.rules)),
        *([("tests", {"right": "pass", "counterfeit": "some fail, and it looks right", "other": "fail"}[variant.kind])] if tested else []),
        ("model", f"log p falls by {fall:+z.2f}"),
    ]
    return Table(title, ("", ""), "ll", tuple((name, _short(what)) for name, what in rows))


def contradicted(facts: Sequence[PlaceFact]) -> Table | None:
    """Rewrites that a rule calls equivalent and tests do not; None without any."""
    rows = [
        (place.id.removesuffix(":line"), each.rule, _short(each.why))
        for place in facts
        for line in place.lines
        for each in line.tried
        if each.outcome == "contradicted"
    ]
    title = f"Rewrites that a rule calls equivalent and tests contradict ({len(rows):,}; at most {MAX_CONTRADICTED} are shown)"
    return Table(title, ("place", "rule", "what the tests say"), "lll", tuple(rows[:MAX_CONTRADICTED])) if rows else None


def _short(text: str) -> str:
    return text if len(text) <= _MAX_LINE else f"{text[: _MAX_LINE - 1]}…"


PAPER = "CatCode, Lin et al. (2024), arXiv 2403.01784, experiment 1"
_WORDS = (
    "A line that passes its tests is scored by the model as it stands; in code around it that was rewritten and does the same; rewritten "
    "itself so that it does the same; and rewritten so that tests fail. The tests confirm each. A rewrite of a line is called wrong "
    "where its log-probability falls further than a threshold, which is chosen on other projects: no model is asked a question. What the "
    "paper calls precision is recall by class. A wrong line looks right if it parses and keeps at least a tenth of the tests that touch it."
)
_UNTESTED = (
    "No test judges this code. What stands there is scored by the model as it is, and in code around it that was rewritten and does the "
    "same, by rules that refuse where they are not certain. The line itself is not rewritten."
)
_REFUSED = (
    "Rules refuse where they are not certain that a rewrite does the same. elsewhere: it touches the line where that is to be kept, or "
    "does not where that is to change. at import: it changes what runs at import, where the whole suite would have to judge. contradicted: "
    "the rule calls it equivalent, and tests fail. not noticed: no test fails for a bug. unknown: the tests could not tell."
)


def content_of(
    question: Mapping[str, Any],
    facts: Sequence[PlaceFact],
    samples: Sequence[Sample],
    command: str,
    lost: int = 0,
    figures: Sequence[Figure] = (),
) -> StudyContent:
    """The page. command: makes the report again. lost: items without an answer. figures: of the validation table."""
    falls = falls_of(facts)
    told, rules, accuracy = identification_table(falls), rules_table(falls), accuracy_table(falls)
    outcomes, wrongly = outcomes_table(facts), contradicted(facts)
    cells = cells_in((told, accuracy))
    picture = falls_picture(falls)
    tested = question.get("set") != "code"
    examples = tuple(examples_of(facts, tested=tested))
    compared = (Paragraph(_WORDS), accuracy, told, *((picture,) if picture else ())) if tested else (Paragraph(_UNTESTED),)
    return StudyContent(
        title=f"CatCode on lines: {question['model_name']}",
        summary=summary(facts, cells, figures, tested=tested),
        facts=(
            f"model {question['model_name']}",
            f"prompt fingerprint {question['prompt']}, model fingerprint {question['model']}",
            *facts_of(question, *_TOLD),
            f"after {PAPER}, whose programs are whole and whose models answer in words",
        ),
        sections=(
            Section("Meaning and form", compared),
            *((Section("By rule", (rules,)),) if rules.rows else ()),
            Section("Suggestions in rewritten code", (regenerated_table(facts, samples, tested=tested),)),
            *((Section("Rules", (Paragraph(_REFUSED), outcomes, *((wrongly,) if wrongly else ()))),) if outcomes.rows else ()),
            *((Section("To look at", examples),) if examples else ()),
        ),
        claims=claims(cells) if tested else (),
        figures=figures,
        left_out=tuple(left_out(facts, question["of"], lost, tested=tested)),
        command=command,
    )


_AROUND = ", as they stand and in code around them that was rewritten and does the same"


def summary(
    facts: Sequence[PlaceFact], cells: Mapping[str, Cell], figures: Sequence[Figure], *, tested: bool = True
) -> tuple[str, str, str]:
    """Three sentences for somebody who has not read the paper. tested: whether tests judged lines and rewrites."""
    lines = [line for place in facts for line in place.lines if line.plain is not None]
    projects = len({place.project for place in facts})
    same, wrong, balanced = cells["identification/equivalent/recall"], cells["identification/wrong/recall"], cells[BALANCED]
    first = (
        f"At {counted(len(facts), 'place')} of {counted(projects, 'project')} the model scored {counted(len(lines), 'line')}"
        f"{' that pass the tests, as they stand and rewritten: so that they do the same, and so that tests fail' if tested else _AROUND}."
    )
    if not tested:
        return first, "No test judges this code.", _of_numbers(figures)
    if same.value is None or wrong.value is None or balanced.value is None:
        return first, "There are too few rewrites to say whether it tells one from the other.", _of_numbers(figures)
    between = "" if balanced.low is None or balanced.high is None else f", {100 * balanced.low:.0f} to {100 * balanced.high:.0f}"
    second = (
        f"By how far its log-probability falls, {100 * same.value:.0f} % of those that do the same and {100 * wrong.value:.0f} % of the "
        f"wrong ones are taken for what they are: a balanced accuracy of {100 * balanced.value:.0f} %{between}, where chance is 50 %."
    )
    return first, second, _of_numbers(figures)


def _of_numbers(figures: Sequence[Figure]) -> str:
    """What M1 and M3 say of the number that is shown."""
    told = []
    for called, id in (("changes in rewritten code by", ": M1, "), ("falls further for wrong lines than for rewritten ones by", ": M3, ")):
        for each in figures:
            if id in each.id and each.value is not None and each.low is not None and each.high is not None:
                event = each.id.partition(":")[0].rpartition(", ")[2]
                unit = "" if id == ": M1, " else " in log odds"
                told.append(
                    f"the number for {event} {called} {each.value:+z.3f}{unit} ({each.low:+z.3f} to {each.high:+z.3f}; {each.reading})"
                )
    if not told:
        return "Of the number that is shown with a suggestion this run says nothing."
    return f"Of what is shown with a suggestion: {'; '.join(told)}."


def left_out(facts: Sequence[PlaceFact], codes: Sequence[str], lost: int, *, tested: bool = True) -> Iterator[str]:
    """What is in no number, and why. tested: as in `summary`."""
    yield from lost_items(lost)
    for code in codes:
        missing = sum(all(line.code != code for line in place.lines) for place in facts)
        if missing:
            why = {
                "truth": "the step rewrite is not done there",
                "suggestion": "nothing is suggested, it is the project's own line, it does not pass, or the step rewrite is not done there",
            }[code]
            yield f"{code}: {counted(missing, 'place')} without this line: {why}."
    bare = sum(not line.variants for place in facts for line in place.lines)
    if bare:
        yield f"{counted(bare, 'line')} without any rewrite that {'the tests confirm' if tested else 'a rule is certain of'}."
    unscored = sum(one.measures is None for place in facts for line in place.lines for one in line.variants)
    if unscored:
        yield f"{counted(unscored, 'rewrite')} without a score: the step score is not done, or the model had no room for the text."
