"""The page of CatCode's line twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ....calibration.report.blocks import Paragraph
from ....calibration.report.cells import Cell
from ....calibration.report.study_report import Section, StudyContent
from ....calibration.samples import Sample
from ....calibration.validation.figures import Figure
from ...progress import counted
from ...study_page import lost_items
from .claims import claims
from .examples import contradicted, examples_of
from .facts import PlaceFacts
from .identification import falls_of
from .pictures import falls_picture, rules_picture
from .tables import BALANCED, accuracy_table, identification_table, outcomes_table, regenerated_table, rules_table

PAPER = "CatCode, Lin et al. (2024), arXiv 2403.01784, experiment 1"
_WORDS = (
    "A line that passes its tests is scored by the model as it stands; in code around it that was rewritten and does the same; rewritten "
    "itself so that it does the same; and rewritten so that tests fail. The tests confirm each. A rewrite of a line is called wrong "
    "where its log-probability falls further than a threshold, which is chosen on other projects: no model is asked a question. What the "
    "paper calls precision is recall by class. A wrong line looks right if it parses and keeps at least a tenth of the tests that touch it."
)
_REFUSED = (
    "Rules refuse where they are not certain that a rewrite does the same. elsewhere: it touches the line where that is to be kept, or "
    "does not where that is to change. at import: it changes what runs at import, where the whole suite would have to judge. contradicted: "
    "the rule calls it equivalent, and tests fail. not noticed: no test fails for a bug. unknown: the tests could not tell."
)


@dataclass(frozen=True, slots=True)
class About:
    """What the facts do not tell of a run.

    model: its name. command: makes the report again. codes: truth, suggestion. facts: lines for people. lost: items without an answer.
    figures: of the validation table.
    """

    model: str
    command: str
    codes: tuple[str, ...]
    facts: tuple[str, ...] = ()
    lost: int = 0
    figures: Sequence[Figure] = ()


def content_of(facts: Sequence[PlaceFacts], samples: Sequence[Sample], about: About) -> StudyContent:
    """The page."""
    falls = falls_of(facts)
    told, rules, accuracy = identification_table(falls), rules_table(falls), accuracy_table(falls)
    outcomes, wrongly = outcomes_table(facts), contradicted(facts)
    cells = {cell.id: cell for table in (told, accuracy) for cell in table.cells()}
    pictures = [each for each in (falls_picture(falls), rules_picture(rules)) if each is not None]
    examples = tuple(examples_of(facts))
    return StudyContent(
        title=f"CatCode on lines: {about.model}",
        summary=summary(facts, cells, about),
        facts=(f"model {about.model}", *about.facts, f"after {PAPER}, whose programs are whole and whose models answer in words"),
        sections=(
            Section("Meaning and form", (Paragraph(_WORDS), accuracy, told, *pictures[:1])),
            *((Section("By rule", (rules, *pictures[1:])),) if rules.rows else ()),
            Section("Suggestions in rewritten code", (regenerated_table(facts, samples),)),
            *((Section("Rules", (Paragraph(_REFUSED), outcomes, *((wrongly,) if wrongly else ()))),) if outcomes.rows else ()),
            *((Section("To look at", examples),) if examples else ()),
        ),
        claims=claims(cells),
        figures=about.figures,
        left_out=tuple(left_out(facts, about)),
        command=about.command,
    )


def summary(facts: Sequence[PlaceFacts], cells: dict[str, Cell], about: About) -> tuple[str, str, str]:
    """Three sentences for somebody who has not read the paper."""
    lines = [line for place in facts for line in place["lines"] if line["plain"] is not None]
    projects = len({place["project"] for place in facts})
    same, wrong, balanced = cells["identification/equivalent/recall"], cells["identification/wrong/recall"], cells[BALANCED]
    first = (
        f"At {counted(len(facts), 'place')} of {counted(projects, 'project')} the model scored {counted(len(lines), 'line')} that pass the "
        "tests, as they stand and rewritten: so that they do the same, and so that tests fail."
    )
    if same.value is None or wrong.value is None or balanced.value is None:
        return first, "There are too few rewrites to say whether it tells one from the other.", _of_numbers(about.figures)
    between = "" if balanced.low is None or balanced.high is None else f", {100 * balanced.low:.0f} to {100 * balanced.high:.0f}"
    second = (
        f"By how far its log-probability falls, {100 * same.value:.0f} % of those that do the same and {100 * wrong.value:.0f} % of the "
        f"wrong ones are taken for what they are: a balanced accuracy of {100 * balanced.value:.0f} %{between}, where chance is 50 %."
    )
    return first, second, _of_numbers(about.figures)


def _of_numbers(figures: Sequence[Figure]) -> str:
    """What M1 and M3 say of the number that is shown."""
    told = []
    for called, id in (("changes in rewritten code by", ": M1, "), ("falls further for wrong lines than for rewritten ones by", ": M3, ")):
        for each in figures:
            if id in each.id and each.value is not None and each.low is not None and each.high is not None:
                event = each.id.partition(":")[0].removeprefix("line, ")
                unit = "" if id == ": M1, " else " in log odds"
                told.append(
                    f"the number for {event} {called} {each.value:+z.3f}{unit} ({each.low:+z.3f} to {each.high:+z.3f}; {each.reading})"
                )
    if not told:
        return "Of the number that is shown with a suggestion this run says nothing."
    return f"Of what is shown with a suggestion: {'; '.join(told)}."


def left_out(facts: Sequence[PlaceFacts], about: About) -> Iterator[str]:
    """What is in no number, and why."""
    yield from lost_items(about.lost)
    for code in about.codes:
        missing = sum(all(line["code"] != code for line in place["lines"]) for place in facts)
        if missing:
            why = {
                "truth": "the step rewrite is not done there",
                "suggestion": "nothing is suggested, it is the project's own line, it does not pass, or the step rewrite is not done there",
            }[code]
            yield f"{code}: {counted(missing, 'place')} without this line: {why}."
    bare = sum(not line["variants"] for place in facts for line in place["lines"])
    if bare:
        yield f"{counted(bare, 'line')} without any rewrite that the tests confirm."
    unscored = sum(one["measures"] is None for place in facts for line in place["lines"] for one in line["variants"])
    if unscored:
        yield f"{counted(unscored, 'rewrite')} without a score: the step score is not done, or the model had no room for the text."
