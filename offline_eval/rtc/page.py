"""The page of a run of round trips, and that of runs of several models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...calibration.bands import LIKELY, NO_EVIDENCE, POSSIBLE
from ...calibration.report.blocks import Block, Paragraph
from ...calibration.report.cells import Cell, CellTable, text_of
from ...calibration.report.paper_claims import MAX_UNREADABLE, Asked, PaperClaim, Rule, claim_of
from ...calibration.report.plots import PAPER, Picture, legend, panel, svg
from ...calibration.report.study_report import Section, StudyContent, counted_claims
from ..asked_model import how_asked
from ..errors import StudyError
from ..progress import counted
from ..rtc.asking import Code, Edit
from ..run import RUN, Run
from ..study_page import again, again_of, apart, cells_of, facts_of, lost_items, named_apart, the_paper, write_page
from . import tables
from .asking import DESCRIPTIONS, REBUILT, Item
from .labelling import LABELS
from .scores import Mean, Scored, by_group, mean_of, scored, unreadable_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = Sequence[tuple[float, float]]
_BENCHMARK = "HumanEval"


def over_models(ours: Points) -> Picture:
    """The paper's models on HumanEval, and ours."""
    theirs = list(zip(tables.paper_column(_BENCHMARK, "pass_at_1"), tables.paper_column(_BENCHMARK, "rtc"), strict=True))
    title = f"RTC and pass@1 on HumanEval, {len(theirs)} models of the paper and {len(ours)} of ours"
    return _scatter("rtc-models", title, (("of the paper", theirs), ("ours", ours)), "pass@1")


def over_groups(points: Points, what: str) -> Picture:
    """The groups of a run: RTC against what is got without a description. what: they are, in the plural."""
    return _scatter("rtc-groups", f"RTC by project (figures 2 and 5): {len(points)} {what}", (("a project", points),), "baseline = pass@1")


def _scatter(name: str, title: str, series: Sequence[tuple[str, Points]], x: str) -> Picture:
    def draw(figure: Figure) -> None:
        axes = panel(figure, 0.7, 0.35, 4.2, 3.2)
        axes.plot([0, 1], [0, 1], color=NO_EVIDENCE.colour, linewidth=1, linestyle="dotted", label="RTC = pass@1")
        for (label, points), (colour, marker) in zip(series, ((LIKELY.colour, "o"), (POSSIBLE.colour, "D")), strict=False):
            if points:
                face = colour if marker == "o" else PAPER
                axes.plot(
                    *zip(*points, strict=True), marker, markersize=5.5, color=colour, markerfacecolor=face, linestyle="none", label=label
                )
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=x, ylabel="RTC")
        legend(axes)

    alt = "; ".join(f"{label} {', '.join(f'{a:.3f} and {b:.3f}' for a, b in points)}" for label, points in series if points)
    return Picture(name, title, f"{title}: {alt}.", svg(draw, (5.3, 4.35)))


# More than this share of answers that can't be read is told first.
_ABOVE_0 = Rule("above 0", above=0.0)
_WHAT = (
    "RTC: the share of round trips after which the code is as before, of as many descriptions and rebuildings of each item. Lift: what "
    "a description adds to the baseline, which is rebuilt from words that say nothing, three times, or once greedily. pass@1: written "
    "from the docstring. A round trip has two legs, and a low value does not say which failed. Passing tests means that each test ends "
    "as with the code itself, as well as the tests can tell; an exact match is one of these. 95 % intervals, with whole groups alone "
    "independent."
)
# What they may not: more rebuilds are another rate.
_THE_SAME = ("items", "forward", "backward")


def sim_of(name: str) -> str:
    """What the round trips of a set are judged by."""
    return "exact" if name == "edits" else "tests_pass"


def group_word(name: str) -> str:
    """What the groups of a set are."""
    return "problem" if name == "humaneval" else "project"


def scored_of(run: Run, items: Sequence[Item]) -> list[Scored]:
    """The items of a run with their scores. Raises RunError."""
    described, rebuilt, labels = (run.records(step).read() for step in (DESCRIPTIONS, REBUILT, LABELS))
    return scored(items, described, rebuilt, labels, int(run.question()["backward"]))


def items_of(run: Run) -> list[Item]:
    """What a run asks about. Raises RunError."""
    return list(run.items(Edit if run.question(("set",))["set"] == "edits" else Code))


def content_of(run: Run) -> StudyContent:
    """The page of a run."""
    question, items = run.question(("set", "form")), items_of(run)
    name = question["set"]
    sim, by, found = sim_of(name), group_word(name), scored_of(run, items)
    unreadable = unreadable_of(found)
    main = tables.main_table(
        found, (sim, "exact") if sim != "exact" else (sim,), question["forward"], by, "HumanEval" if name == "humaneval" else None
    )
    parts: list[Block | CellTable] = [Paragraph(_WHAT), main]
    if name == "edits":
        parts.append(tables.edit_table(found, by))
    parts += [tables.count_table(found, by, unreadable), tables.length_table(found, sim, by)]
    sections = [Section("Round trips", tuple(parts))]
    correlated: list[Block | CellTable] = [tables.within_run(found, sim, by)]
    if name == "humaneval":
        correlated.append(tables.paper_table())
        correlated.append(over_models([point for point in [tables.rtc_and_pass(found, sim)] if point]))
    else:
        sections.append(Section("By project", (tables.group_table(found, sim), *_group_pictures(found, sim, by))))
    sections.append(Section("RTC and pass@1", tuple(correlated)))
    read = _claims(cells_of(sections), sim)
    return StudyContent(
        title=f"Round trips: {question['model_name']} on {name}",
        summary=_summary(question, found, sim, unreadable, read),
        facts=(
            how_asked(question),
            *facts_of(question, "set", "forward", "backward", "projects", "repositories", "per_project", "limit", "seed"),
            the_paper(tables.paper()),
        ),
        sections=tuple(sections),
        claims=read,
        left_out=tuple(_left_out(run, items, found, sim)),
        command=again(run),
    )


def _group_pictures(found: Sequence[Scored], sim: str, by: str) -> Iterator[Block]:
    points = [point for group in by_group(found).values() if (point := tables.rtc_and_pass(group, sim))]
    if points:
        yield over_groups(points, f"{by}s")


def _claims(cells: Mapping[str, Cell], sim: str) -> tuple[PaperClaim, ...]:
    wanted = (
        ("lift", "A description helps: RTC is above the baseline", "−0.2 to 30.4 points (T2)", f"T2/{sim}/all/lift"),
        ("lift_without_copies", "It helps also where it does not recite the code", "not looked at", f"T2/{sim}/without_copies/lift"),
        ("longer", "Code that never comes back is longer", "454.2 against 302.6 characters (Fig. 6)", "F6/all/difference"),
    )
    return tuple(
        claim_of(name, claim, printed, _ABOVE_0, [("", cell)], cells, {"": Asked(("N/unreadable",))})
        for name, claim, printed, cell in wanted
    )


def _summary(
    question: Mapping[str, Any], found: Sequence[Scored], sim: str, unreadable: Mean, read: Sequence[PaperClaim]
) -> tuple[str, str, str]:
    name, model = question["set"], question["model_name"]
    rtc, baseline = (mean_of(found, tables.number_of(column, sim, copies=True)) for column in ("rtc", "baseline"))
    first = f"Nothing is known yet of {counted(len(found), 'item')} of {name}."
    if rtc.value is not None and baseline.value is not None:
        first = (
            f"{model} rebuilt {rtc.value:.1%} of {counted(rtc.n, 'item')} of {name} from its own descriptions "
            f"({tables.SIM_WORDS[sim]}), and {baseline.value:.1%} from words that say nothing."
        )
    if unreadable.value is not None and unreadable.value > MAX_UNREADABLE:
        ends = f" ({unreadable.found.low:.1%} to {unreadable.found.high:.1%})" if unreadable.found else ""
        first = f"{unreadable.value:.1%}{ends} of the answers could not be read, and count as failures. {first}"
    lift, plain = (mean_of(found, tables.number_of("lift", sim, copies=copies), share=False) for copies in (True, False))
    copies = mean_of(found, lambda item: item.copies / item.descriptions if item.descriptions else None).value or 0.0
    second = (
        f"The lift is {text_of(tables.cell_of('', lift, '', sign=True))}; {copies:.1%} of the descriptions recite the code, and without "
        f"them it is {text_of(tables.cell_of('', plain, '', sign=True))}."
    )
    return first, second, counted_claims(read)


def _left_out(run: Run, items: Sequence[Item], found: Sequence[Scored], sim: str) -> Iterator[str]:
    yield from lost_items(sum(len(run.lost(step)) for step in (DESCRIPTIONS, REBUILT, LABELS)), "answer", "or labels lost")
    if missing := len(items) - len(found):
        yield f"{counted(missing, 'item')} not described and rebuilt yet."
    if unlabelled := sum(item.rtc(sim) is None for item in found):
        yield f"{counted(unlabelled, 'item')} of which a text has no label."
    yield from ["ARCADE and CodeReviewer, the paper's other sets: they can't be had."]


def compare(runs: Sequence[Run], out: Path, *, as_json: bool) -> None:
    """Write report/ into `out` about runs of several models. Raises StudyError where they were asked different things."""
    questions = [run.question(("set", "items")) for run in runs]
    for run, question in zip(runs[1:], questions[1:], strict=True):
        if any(question.get(name) != questions[0].get(name) for name in _THE_SAME):
            what = "of the same items" if question["items"] != questions[0]["items"] else "asked equally often"
            raise StudyError(
                f"{runs[0].folder} and {run.folder} are not {what} ({apart((questions[0], question))}): make one again with the "
                f"options of the other, which are in its {RUN}"
            )
    found = {name: scored_of(run, items_of(run)) for name, run in zip(named_apart(questions), runs, strict=True)}
    write_page(out, models_content(found, questions[0]["set"], again_of(runs)), as_json=as_json)


def models_content(found: Mapping[str, Sequence[Scored]], name: str, command: str) -> StudyContent:
    """The page on several models."""
    sim, by = sim_of(name), group_word(name)
    table, correlated = tables.models_table(found, sim, by), tables.models_correlations(found, sim)
    points = [point for items in found.values() if (point := tables.rtc_and_pass(items, sim))]
    cells = {cell.id: cell for cell in correlated.cells()}
    r = claim_of("follows", "RTC follows pass@1 over models", "r = .96, n = 7 (text)", _ABOVE_0, [("r", "CM/all/r")], cells)
    drawn = (over_models(points),) if name == "humaneval" else ()
    return StudyContent(
        title=f"Round trips of {counted(len(found), 'model')} on {name}",
        summary=(
            f"{counted(len(found), 'model')} went around on the same items of {name}.",
            f"RTC and pass@1 over them: r {text_of(cells['CM/all/r'])}.",
            counted_claims([r]),
        ),
        facts=(the_paper(tables.paper()),),
        sections=(Section("Models", (Paragraph(_WHAT), table)), Section("Correlations", (correlated, tables.paper_table(), *drawn))),
        claims=(r,),
        command=command,
    )
