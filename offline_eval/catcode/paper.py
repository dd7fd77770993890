"""The numbers of Lin et al. (2024), from lin2024.toml, as cells print them beside ours."""

from __future__ import annotations

from ...calibration.report.cells import Mark, PaperValue
from ..study_page import Paper, paper_of

Printed = tuple[PaperValue, ...]


def paper() -> Paper:
    """The paper."""
    return paper_of(__package__, "lin2024")


def marks_of(where: str) -> tuple[Mark, ...]:
    """What is known against a number by its place."""
    return paper().marks_of(where)


def of_kind(kind: str) -> Printed:
    """Figure 4: the share of a kind of pair that is judged right, by model."""
    figure = paper()["Fig4"]
    if kind not in figure:
        return ()
    return tuple(_value(value, model, f"Fig. 4/{kind}/{model}") for model, value in zip(figure["models"], figure[kind], strict=True))


def of_two_kinds(eq: str, neq: str) -> dict[str, Printed]:
    """What two bars of figure 4 come to: both recalls, the balanced accuracy and J."""
    found: dict[str, list[PaperValue]] = {"eq": list(of_kind(eq)), "neq": list(of_kind(neq)), "balanced": [], "youden": []}
    for a, b in zip(found["eq"], found["neq"], strict=True):
        marks = tuple(dict.fromkeys((*a.marks, *b.marks)))
        found["balanced"].append(PaperValue((a.value + b.value) / 2, a.of, f"{a.where} and {b.where}", marks))
        found["youden"].append(PaperValue(a.value + b.value - 1, a.of, f"{a.where} and {b.where}", marks))
    return {name: tuple(values) for name, values in found.items()}


def of_rules() -> dict[tuple[str, tuple[str, ...]], Printed]:
    """Table 3: by data set and rules, sorted, what is printed."""
    table, rules = paper()["T3"], paper()["rules"]
    found: dict[tuple[str, tuple[str, ...]], Printed] = {}
    for place, value in table.items():
        if place == "of":
            continue
        data, _, names = place.partition("/")
        found[data, tuple(sorted(rules[name] for name in names.split("-")))] = (_value(value, table["of"], f"T3/{place}"),)
    return found


def counts_of(data: str) -> list[int] | None:
    """Table 2: programs kept, programs there were, equivalent pairs and others, of a data set; None where it has no row."""
    found: list[int] | None = paper()["T2"].get(data)
    return found


def _value(percent: float, of: str, where: str) -> PaperValue:
    return PaperValue(percent / 100, of, where, marks_of(where))
