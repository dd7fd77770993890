"""The numbers of Lin et al. (2024), from lin2024.toml, as cells print them beside ours."""

from __future__ import annotations

from ...calibration.report.cells import PaperValue
from ..study_page import Paper, paper_of

Printed = tuple[PaperValue, ...]


def paper() -> Paper:
    """The paper."""
    return paper_of(__package__, "lin2024")


def of_kind(kind: str) -> Printed:
    """Figure 4: the share of a kind of pair that is judged right, by model."""
    return paper().values(f"Fig. 4/{kind}/*")


def of_two_kinds(eq: str, neq: str) -> dict[str, Printed]:
    """What two bars of figure 4 come to: both recalls, the balanced accuracy and J."""
    found: dict[str, list[PaperValue]] = {"eq": list(of_kind(eq)), "neq": list(of_kind(neq)), "balanced": [], "youden": []}
    for a, b in zip(found["eq"], found["neq"], strict=True):
        marks = tuple(dict.fromkeys((*a.marks, *b.marks)))
        for name, value in (("balanced", (a.value + b.value) / 2), ("youden", a.value + b.value - 1)):
            found[name].append(PaperValue(value, a.of, f"{a.where} and {b.where}", marks))
    return {name: tuple(values) for name, values in found.items()}


def of_rules() -> dict[tuple[str, tuple[str, ...]], Printed]:
    """Table 3: by data set and rules, sorted, what is printed."""
    rules, places = paper()["rules"], (place.split("/") for place in paper().cells if place.startswith("T3/"))
    return {
        (data, tuple(sorted(rules[name] for name in names.split("-")))): (paper().cells[f"{table}/{data}/{names}"],)
        for table, data, names in places
    }
