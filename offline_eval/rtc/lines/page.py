"""The page of round trips of lines: rates and lift, by project, what descriptions are like, and round trips as a measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....calibration.fitting.folds import numbered, renumbered
from ....calibration.measures.round_trip import log_mean
from ....calibration.metrics.correlations import MIN_PAIRS, Correlations, correlations
from ....calibration.metrics.intervals import Interval, rate_interval
from ....calibration.report.blocks import Paragraph
from ....calibration.report.cells import Cell, CellTable, Mark, PaperValue, Row, with_interval
from ....calibration.report.paper_claims import PaperClaim, Rule, claim_of
from ....calibration.report.plots import Picture
from ....calibration.report.study_report import Section, StudyContent
from ....calibration.samples import Sample
from ....calibration.validation.figures import Figure
from ...progress import counted
from ..paper import paper
from .examples import examples
from .facts import PlaceFacts
from .pictures import scatter
from .rates import SIMS, Rates, lengths_of, mean_cell, rates, trips_of

_SAID = {"passes": "passes the tests", "equal": "is the code again", "same": "tests say the same of it as of the code"}
_OTHER = Mark("not comparable", "of ranges of whole statements, by models of another size")
_OVER_MODELS = Mark("not comparable", "over 7 models, not over projects")
_NOT_TAU = Mark("inconsistent", "the paper calls Kendall's tau of its table Spearman's correlation")
_WORDS = (
    "A line is described in a comment above it, which is drawn several times; then it is taken out, and the model writes it again below "
    "that comment. Tests judge the file without the comment. RTC is the share of rebuilds that count, over all descriptions; lift is what "
    "the descriptions add to a comment that only says to implement something. Without a comment the rate is pass@1 of the place. A "
    "description of the project's own line knows the answer: its round trips judge the model, never a suggestion."
)
_COPIES = "A description that recites the code (at least 80 % of its names and literals, in order) tells how well a model copies."
MAIN_LIFT, _LIFT_OF_SUGGESTIONS = "rtc/truth/passes/all/lift", "rtc/suggestion/equal/all/lift"
NO_LIFT = (
    "No gain from descriptions is shown, as is to be expected of a small model and single lines. So these round trips are a negative "
    "control: their rate is that of the places themselves, and a correlation with pass@1 says nothing of round trips."
)


@dataclass(frozen=True, slots=True)
class About:
    """What the facts do not tell of a run.

    model: its name. command: makes the report again. seed: of the examples. codes: truth, suggestion. facts: lines for people. lost: items
    without an answer. figures: of the validation table.
    """

    model: str
    command: str
    seed: int
    codes: tuple[str, ...]
    facts: tuple[str, ...] = ()
    lost: int = 0
    figures: Sequence[Figure] = ()


def content_of(facts: Sequence[PlaceFacts], samples: Sequence[Sample], about: About) -> StudyContent:
    """The page."""
    main = rates(facts, "truth", "passes", copies=True)
    of_rates, domains, over = rates_table(facts, about.codes), domain_table(main), correlation_table(main)
    told = described_table(facts, about.codes)
    cells = {cell.id: cell for table in (of_rates, domains, over, told) for cell in table.cells()}
    lift = cells.get(MAIN_LIFT if "truth" in about.codes else _LIFT_OF_SUGGESTIONS)
    has_lift = lift is not None and lift.low is not None and lift.low > 0
    drawn = scatter(main)
    shown = examples(facts, about.codes, about.seed)
    return StudyContent(
        title=f"Round-trip correctness of lines: {about.model}",
        summary=summary(cells, about, has_lift=has_lift),
        facts=(f"model {about.model}", *about.facts, f"the paper: {paper().title}, {paper().source}"),
        sections=(
            Section("Round trips", (Paragraph(_WORDS), of_rates, *((Paragraph(NO_LIFT),) if lift and lift.n and not has_lift else ()))),
            *(_by_project(domains, over, drawn) if domains.rows else ()),
            Section("Descriptions", (Paragraph(_COPIES), told)),
            *((Section("As a measure of a suggestion", (reliability_table(facts, samples),)),) if "suggestion" in about.codes else ()),
            *((Section("To look at", (shown,)),) if shown else ()),
        ),
        claims=claims(cells, has_lift=has_lift),
        figures=about.figures,
        left_out=tuple(left_out(facts, about)),
        command=about.command,
    )


def _by_project(domains: CellTable, over: CellTable, drawn: Picture | None) -> tuple[Section, ...]:
    return (Section("By project", (domains, *((drawn,) if drawn else ()), over)),)


def rates_table(facts: Sequence[PlaceFacts], codes: Sequence[str]) -> CellTable:
    """RTC, baselines and lift of each code, with and without copies."""
    rows = []
    for code in codes:
        for sim in SIMS[code]:
            for which, copies in (("all", True), ("no copies", False)):
                found = rates(facts, code, sim, copies=copies)
                name = f"rtc/{code}/{sim}/{which.replace(' ', '_')}"
                lift = found.cell(f"{name}/lift", found.lift, sign=True)
                if (code, sim) == ("truth", "passes"):
                    lift = replace(lift, paper=_mean_lifts())
                cells = (
                    found.cell(f"{name}/rtc", found.rtc),
                    found.cell(f"{name}/best", found.best),
                    found.cell(f"{name}/uninformed", found.uninformed),
                    lift,
                    found.cell(f"{name}/bare", found.bare),
                )
                rows.append(Row((f"{code}: {_SAID[sim]}", which), cells))
    columns = ("RTC", "best description", "TODO comment", "lift", "no comment")
    notes = ("what an editor would hide passes no test and is no code again", "intervals are of the jackknife over whole projects")
    return CellTable("rtc", "Round trips of lines", ("a rebuild counts if it", "descriptions"), columns, tuple(rows), notes)


def _mean_lifts() -> tuple[PaperValue, ...]:
    return tuple(
        replace(
            paper().cells[f"text/mean_lift_{name}"], value=paper().cells[f"text/mean_lift_{name}"].value / 100, of=model, marks=(_OTHER,)
        )
        for name, model in (("pro", "Gemini v1 Pro"), ("nano", "Gemini Nano 2"))
    )


def domain_table(found: Rates) -> CellTable:
    """The truth's round trips by project, the best first."""
    rows = []
    order = np.argsort(-found.by_project(found.rtc), kind="stable").tolist() if found.names else []
    for number in order:
        name = f"domain/{found.names[number]}"
        cells = (
            found.of_project(number, f"{name}/rtc", found.rtc),
            found.of_project(number, f"{name}/bare", found.bare),
            found.of_project(number, f"{name}/uninformed", found.uninformed),
            found.of_project(number, f"{name}/lift", found.lift, sign=True),
        )
        rows.append(Row((found.names[number],), cells))
    columns = ("RTC", "no comment: pass@1", "TODO comment", "lift")
    notes = ("a place is taken as independent of others of its project",)
    return CellTable("domains", "The project's own lines, by project (figures 2 and 5)", ("project",), columns, tuple(rows), notes)


def correlation_table(found: Rates) -> CellTable:
    """r, rho and tau over projects of RTC and lift with pass@1."""
    rows = []
    if found.names:
        passing = found.by_project(found.bare)
        for what, values in (("RTC", found.rtc), ("lift", found.lift)):
            over = correlations(found.by_project(values), passing)
            cells = _correlations(f"correlation/{what.lower()}", over, of_paper=what == "RTC")
            rows.append(Row((f"{what} with pass@1",), cells))
    columns = ("Pearson's r", "Spearman's rho", "Kendall's tau")
    notes = ("intervals from Fisher's z, with projects as pairs; R1 has the jackknife's",)
    return CellTable("correlations", "Over projects", ("correlation",), columns, tuple(rows), notes)


def _correlations(name: str, over: Correlations, *, of_paper: bool) -> tuple[Cell, ...]:
    few = f"fewer than {MIN_PAIRS} projects" if over.n < MIN_PAIRS else "not defined"

    def cell(which: str, interval: Interval | None, printed: str, *marks: Mark) -> Cell:
        values = (replace(paper().cells[f"text/{printed}"], of="7 models", marks=marks),) if of_paper and printed else ()
        return with_interval(f"{name}/{which}", interval, over.n, over.n, "project", why="" if interval else few, paper=values)

    return (
        cell("r", over.r, "r_humaneval", _OVER_MODELS),
        cell("rho", over.rho, ""),
        cell("tau", over.tau, "spearman_humaneval", _OVER_MODELS, _NOT_TAU),
    )


def described_table(facts: Sequence[PlaceFacts], codes: Sequence[str]) -> CellTable:
    """What descriptions and rebuilds are like: copies, blanks, comments again; the scored lift; and the length split."""
    rows = []
    for code in codes:
        found = list(trips_of(facts, code))
        groups = numbered([place["project"] for place, _, _ in found])
        shares = (
            ("copied", "recites the code", [trip["copied"] for _, _, trip in found]),
            ("blank", "is blank", [not trip["comment"] for _, _, trip in found]),
            (
                "comment",
                "is rebuilt as a comment again",
                [any((text or "").startswith("#") for text in trip["rebuilt"]) for _, _, trip in found],
            ),
            ("hidden", "leads to nothing that is shown", [None in trip["rebuilt"] for _, _, trip in found]),
        )
        for name, said, values in shares:
            cell = mean_cell(f"descriptions/{code}/{name}", np.array(values, dtype=np.float64), groups, percent=True)
            rows.append(Row((f"{code}: a description", said), (cell,)))
        rows.append(Row((f"{code}: log p of the code", "below a description minus below the TODO comment, nats"), (_scored(facts, code),)))
        rows += _length_split(facts, code)
    return CellTable("descriptions", "What descriptions are like", ("of", "what"), ("value",), tuple(rows))


def _scored(facts: Sequence[PlaceFacts], code: str) -> Cell:
    """The lift of log p, which no draw of a rebuild makes noisy."""
    gains, projects = [], []
    for place in facts:
        if found := place["codes"].get(code):
            told, untold = [trip["logprob"] for trip in found["trips"]], found["uninformed"]["logprob"]
            known = [each for each in told if each is not None]
            if untold is not None and known and len(known) == len(told):
                gains.append(log_mean(known) - untold)
                projects.append(place["project"])
    cell = mean_cell(f"descriptions/{code}/scored_lift", np.array(gains), numbered(projects), sign=True)
    return cell if gains else replace(cell, why="the model scores no given text")


def _length_split(facts: Sequence[PlaceFacts], code: str) -> Iterator[Row]:
    """The characters of code that made the round trip once, and of code that never did (figure 6)."""
    lengths = lengths_of(facts, code)
    for which, printed, said in ((lengths.made, "rebuilt", "RTC above 0"), (~lengths.made, "not_rebuilt", "RTC of 0")):
        cell = mean_cell(f"descriptions/{code}/length/{printed}", lengths.characters[which], renumbered(lengths.projects[which]))
        known = (replace(paper().cells[f"F6/{printed}"], of="Gemini Nano 2", marks=(_OTHER,)),) if code == "truth" else ()
        yield Row((f"{code}: characters of the code", f"{said} (figure 6)"), (replace(cell, paper=known),))
    found, n, count = lengths.difference, len(lengths.made), len(set(lengths.projects.tolist()))
    cell = with_interval(f"descriptions/{code}/length/difference", found, n, count, "project", sign=True)
    yield Row((f"{code}: characters of the code", "RTC above 0 minus RTC of 0"), (cell,))


def reliability_table(facts: Sequence[PlaceFacts], samples: Sequence[Sample]) -> CellTable:
    """How often suggestions are right by the share of their rebuilds that are the suggestion again."""
    labels = {sample.id: sample.labels for sample in samples if sample.rank == 1}
    shares = {
        place["id"]: (round(float(np.mean([trip["equal"] for trip in found["trips"]])), 9), place["project"])
        for place in facts
        if (found := place["codes"].get("suggestion")) and place["id"] in labels
    }
    rows = []
    for value in sorted({share for share, _ in shares.values()}):
        cells = []
        for event in ("tests_pass", "exact_match"):
            known = [
                (bool(label), project)
                for name, (share, project) in shares.items()
                if share == value and (label := labels[name].get(event)) is not None
            ]
            groups = numbered([project for _, project in known])
            found_rate = rate_interval(np.array([label for label, _ in known], dtype=np.bool_), groups) if known else None
            of = int(groups.max()) + 1 if known else 0
            cells.append(with_interval(f"reliability/{value:.2f}/{event}", found_rate, len(known), of, "project", percent=True))
        rows.append(Row((f"{value:.2f}",), tuple(cells)))
    columns = ("passes its tests", "exact match")
    return CellTable("reliability", "Suggestions by the share of rebuilds that are the suggestion again", ("share",), columns, tuple(rows))


def claims(cells: dict[str, Cell], *, has_lift: bool) -> tuple[PaperClaim, ...]:
    """The paper's claims; of most of them one model on lines says nothing."""
    positive, negative = Rule("above 0, with its whole interval", above=0.0), Rule("below 0, with its whole interval", below=0.0)
    asked: tuple[tuple[str, str, str, Rule, list[tuple[str, str]]], ...] = (
        (
            "tracks", "round-trip correctness follows pass@1 (the paper over models; here over projects, and only where descriptions help)",
            "r = .96 and .96 over 7 models", positive, [("r", "correlation/rtc/r")] if has_lift else [],
        ),
        ("lift", "a description of the code helps to rebuild it", "mean lift 21.5 and 7.0 points", positive, [("lift", MAIN_LIFT)]),
        (
            "length", "what makes the round trip is shorter", "302.6 and 454.2 characters", negative,
            [("difference", "descriptions/truth/length/difference")],
        ),
        ("models", "better models have more lift", "-0.2 to 30.4 points", Rule("needs several models"), []),
        ("stable", "repetitions differ little", "standard deviation of 1.11 points", Rule("needs repetitions"), []),
        ("domains", "models differ by domain", "r = .75 between two models over 58 projects", Rule("needs several models"), []),
        ("edits", "it works for edits, where overlap scores fail", "5.2 and 12.9 % exact", Rule("needs edits"), []),
    )  # fmt: skip
    return tuple(claim_of(*claim, cells) for claim in asked)


def summary(cells: dict[str, Cell], about: About, *, has_lift: bool) -> tuple[str, str, str]:
    """Three sentences for somebody who has not read the paper."""
    names = ("rtc", "uninformed", "lift", "bare")
    if "truth" in about.codes:
        whose, of_these, found = (
            "the line that stands there",
            "pass the tests",
            [cells.get(f"rtc/truth/passes/all/{name}") for name in names],
        )
    else:
        whose, of_these = "the line that it suggests there", "are that line again"
        found = [cells.get(f"rtc/suggestion/equal/all/{name}") for name in names]
    rtc, uninformed, lift, bare = found
    if rtc is None or uninformed is None or lift is None or lift.value is None:
        asked = "The study asks whether a model can describe a line of code and write it again from its own description."
        return asked, "This run has no rebuilt lines that are judged, so it says nothing of that.", _offered(about)
    without = f", and {_percent(bare)} without a comment" if bare and bare.n else ""
    first = (
        f"At {counted(rtc.n, 'place')} of {counted(rtc.groups, 'project')} the model described {whose} and wrote it again below its "
        f"description: {_percent(rtc)} of these {of_these}, beside {_percent(uninformed)} below a comment that says nothing{without}."
    )
    between = "" if lift.low is None or lift.high is None else f" ({100 * lift.low:+z.1f} to {100 * lift.high:+z.1f})"
    second = f"So its descriptions add {100 * lift.value:+z.1f} points{between}."
    return first, second if has_lift else f"{second} {NO_LIFT}", _offered(about)


def _percent(cell: Cell) -> str:
    return f"{100 * (cell.value or 0):z.1f} %"


def _offered(about: About) -> str:
    """Whether round trips are worth their calls as a measure of a suggestion."""
    gains = [each for each in about.figures if ": R2, " in each.id and each.value is not None]
    if "suggestion" not in about.codes or not gains:
        return "Whether round trips of a suggestion tell if it is right, this run does not say."
    holds = [each for each in gains if each.reading == "holds"]
    told = "; ".join(
        f"{each.id.partition(':')[0].removeprefix('line, ')} {each.value:+z.3f} ({each.low:+z.3f} to {each.high:+z.3f})" for each in gains
    )
    what = "They are worth offering to the editor." if len(holds) == len(gains) else "They are not offered to the editor."
    return f"As a measure of a suggestion, round trips gain this much skill over what costs no call: {told}. {what}"


def left_out(facts: Sequence[PlaceFacts], about: About) -> Iterator[str]:
    """What is in no number, and why."""
    if about.lost:
        yield f"{counted(about.lost, 'item')} without an answer: the model or the machine failed there, and the same command asks again."
    for code in about.codes:
        missing = sum(code not in place["codes"] for place in facts)
        if missing:
            why = "nothing is suggested, or " if code == "suggestion" else ""
            yield f"{code}: {counted(missing, 'place')} without round trips: {why}the steps describe and rebuild are not done there."
        unknown = sum(trip["passes"] is None for _, _, trip in trips_of(facts, code))
        if unknown:
            yield f"{code}: {counted(unknown, 'description')} led to a text that the tests have not judged."
    yield "The same outcome of each single test is not compared: a text that fails is alike to any other that fails."
