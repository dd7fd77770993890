"""Pages of the study on problems: which tables and pictures a run has, and its first sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ....calibration.report.blocks import Block
from ....calibration.report.cells import Cell, CellTable, text_of
from ....calibration.report.paper_claims import MAX_UNREADABLE, Asked, PaperClaim, Rule, claim_of
from ....calibration.report.study_report import Section
from ...calibration.recorded.draws import Labelled
from ...pictures import bars, scatter
from ...run import Run, Step
from . import tables
from .asking import DRAW, EXECUTE, JUDGE, JUDGE_REASONING, LABEL, REPAIR, REPAIR_LABEL, TRACE
from .derived import ProblemItem, drawn_of, executed_of, executions_of, judgements_of, repaired_of
from .judgements import LABELS, Judgement, by_difficulty, by_pass_rate, confusion, gain_of_reasoning, judging_table, more_of_judging
from .programs import COUNTERFEITS, CounterfeitSet, Drawn, Program, balanced, rates_of, write_set

_WAYS = (("with reasoning", "thought"), ("vote", "vote"), ("p(Correct)", "probability"))
# Near chance, and no relation worth the name: the paper gives no numbers, so these are margins of equivalence.
NEAR_CHANCE, NO_RELATION, NO_LOG_ODDS = (0.35, 0.65), 0.2, 0.5


def claims(cells: Mapping[str, Cell]) -> tuple[PaperClaim, ...]:
    """The claims a to d, g and h. Claims e and f compare generators, which takes several runs."""
    (low, high), accuracy = NEAR_CHANCE, "J/{}/strict/balanced_accuracy"
    judging = [(name, accuracy.format(way)) for name, way in _WAYS]
    asked = {name: Asked((f"JM/{way}/unreadable",), accuracy.format(way)) for name, way in _WAYS} | {
        "right minus failing": Asked(("EM/unreadable",)),
        "difference": Asked(("R/unreadable",)),
        "gain": Asked(("JM/thought/unreadable", "JM/vote/unreadable"), accuracy.format("thought")),
    }
    wanted = (
        (
            "a1", "Judging is near chance", "57.0, 62.2, 61.0 %; GPT-4 84.1 %",
            Rule(f"the balanced accuracy is between {low:.0%} and {high:.0%}", above=low, below=high), judging,
        ),
        (
            "a2", "Judges lean to Correct", "69 to 100 % of right ones accepted, 3 to 42 % of counterfeits found (figure 13, CL-34B)",
            Rule("right ones called Correct minus counterfeits called Incorrect is above 0", above=0.0),
            [(name, f"JM/{way}/lean") for name, way in _WAYS],
        ),
        (
            "b", "Outputs of wrong programs are predicted far worse", "65.6 % against 30.5 % (CL-34B)",
            Rule("right programs minus counterfeits with a wrong output is above 0.1", above=0.1), [("right minus failing", "EM/fall")],
        ),
        (
            "c", "Repair loses to drawing again", "wins at 14 of 82 and 35 of 81 problems",
            Rule("repairs minus pass@1 is below 0", below=0.0), [("difference", "R/difference")],
        ),
        (
            "d", "Easy problems are not easier to judge", "median r .03 over 49 pairs",
            Rule(f"r with pass@1 is within ±{NO_RELATION}", above=-NO_RELATION, below=NO_RELATION),
            [(name, f"JM/{way}/r") for name, way in _WAYS],
        ),
        (
            "g", "Reasoning with a vote helps a little", "figure 10, no numbers",
            Rule("accuracy with minus without reasoning is above 0", above=0.0), [("gain", "JG/all")],
        ),
        (
            "h", "A counterfeit's pass rate does not predict the judgement", "said; its own counts give log odds ratios of −.85 to +.96",
            Rule(f"the log odds ratio is within ±{NO_LOG_ODDS}", above=-NO_LOG_ODDS, below=NO_LOG_ODDS),
            [(name, f"P/{way}/log_odds_ratio") for name, way in _WAYS],
        ),
    )  # fmt: skip
    return tuple(claim_of(name, claim, printed, rule, of, cells, asked) for name, claim, printed, rule, of in wanted)


Parts = tuple[Block | CellTable, ...]


def stream_section(benchmark: str, drawn: Sequence[Drawn], programs: Sequence[Program]) -> Section:
    """What was drawn."""
    problems = len({each.problem for each in drawn})
    parts: list[Block | CellTable] = [
        tables.class_table(benchmark, drawn),
        tables.size_table(benchmark, programs, problems),
        tables.difficulty_table(benchmark, drawn),
    ]
    if any(each.own_share is not None for each in drawn):
        parts.append(tables.own_tests_table(benchmark, drawn, programs))
    return Section("What was drawn", tuple(parts))


def set_section(benchmark: str, programs: Sequence[Program]) -> Section:
    """A set that was read."""
    return Section("The set", (tables.size_table(benchmark, programs, len({program.problem for program in programs})),))


def judging_section(benchmark: str, generator: str, judgements: Sequence[Judgement]) -> Section:
    """What was judged."""
    judging = judging_table(benchmark, generator, judgements)
    shown = [(f"{row.names[0]}: {name}", cell) for row in judging.rows if row.names[1] == LABELS[0]
             for name, cell in zip(("right", "counterfeits", "balanced"), row.cells, strict=False)]  # fmt: skip
    parts: Parts = (
        confusion(judgements),
        judging,
        bars("judging", "Judging: rates of being right", [label for label, _ in shown], [cell for _, cell in shown], 0.5),
        more_of_judging(judgements),
        gain_of_reasoning(judgements),
        by_pass_rate(judgements),
        by_difficulty(judgements),
    )
    return Section("Judging", parts)


def execution_section(benchmark: str, generator: str, found: Sequence[tables.Executed]) -> Section:
    """What was executed in words."""
    table = tables.execution_table(benchmark, generator, found)
    labels, cells = [*tables.STRATA, "confused"], [row.cells[0] for row in table.rows]
    picture = bars("execution", "Execution: pass@1", labels, cells)
    known = (tables.execution_by_difficulty(found),) if any(each.pass_at_1 is not None for each in found) else ()
    return Section("Execution", (table, picture, tables.more_of_execution(found), *known))


def repair_section(benchmark: str, generator: str, found: Sequence[tables.Repaired]) -> Section:
    """What was repaired."""
    rates, again = tables.by_problem(found), rates_of(found)
    points = [(again[problem], rates[problem]) for problem in rates if problem in again]
    title = "Repair against drawing again, one point a problem"
    picture = scatter("repair", title, points, "pass@1 of drawing again", "share of right repairs")
    return Section("Repair", (tables.repair_table(benchmark, generator, found), picture, tables.repair_by_difficulty(found)))


# The studies whose runs are compared, any number of them: programs are drawn, or those of a file.
DRAWS, FILES = "counterfeit_problems", "counterfeit_file"
COMPARED = (DRAWS, FILES)
# The texts of the questions of both.
NEEDED = ("set", "items", "form")


def labels_of(run: Run, step: Step) -> dict[str, Labelled]:
    """What the tests said of each text of a step."""
    return {record["id"]: Labelled(**record) for record in run.records(step).read()}


def stream_of(run: Run) -> list[Drawn]:
    """What was drawn and labelled."""
    return drawn_of(run.items(ProblemItem), run.records(DRAW).read(), labels_of(run, LABEL))


def set_of(run: Run) -> CounterfeitSet:
    """The set that a run asks about: of a file, or the balanced one of what was drawn, which is then written into the run's folder, too."""
    question = run.question()
    if question["study"] == FILES:
        benchmark = question["benchmark"]
        read = () if benchmark == "cruxeval" else tuple(run.items(Program))
        return CounterfeitSet(question["set"], benchmark, question["generator"], read)
    name, model = question["set"], question["model_name"]
    programs = balanced(name, stream_of(run), question["seed"])
    made = CounterfeitSet(f"{name} by {model}", name, model, programs, temperature=float(question["temperature"]))
    if programs:
        write_set(run.folder / COUNTERFEITS, made)
    return made


def sections_of_set(run: Run, made: CounterfeitSet) -> list[Section]:
    """What was asked about the programs of a set."""
    sections, of, programs = [], (made.benchmark, made.generator), made.programs
    if judgements := judgements_of(programs, run.records(JUDGE).read(), run.records(JUDGE_REASONING).read()):
        sections.append(judging_section(*of, judgements))
    executions = list(executions_of(programs, run.records(TRACE).read(), run.question()["seed"]))
    if executed := executed_of(executions, run.records(EXECUTE).read()):
        sections.append(execution_section(*of, executed))
    if repaired := repaired_of(programs, run.records(REPAIR).read(), labels_of(run, REPAIR_LABEL)):
        sections.append(repair_section(*of, repaired))
    return sections


def unreadable_first(cells: Mapping[str, Cell]) -> str:
    """The sentence with which a report begins where many answers can't be read; else nothing."""
    names = {"JM/vote": "judging without reasoning", "JM/thought": "judging with reasoning", "EM": "execution", "R": "repair"}
    many = [
        f"{name} {text_of(cell)}"
        for place, name in names.items()
        if (cell := cells.get(f"{place}/unreadable")) is not None and (cell.value or 0.0) > MAX_UNREADABLE
    ]
    if not many:
        return ""
    return f"Many answers can't be read ({'; '.join(many)}): the model does not keep to the form, and they count as wrong. "


def summary_of(opening: str, cells: Mapping[str, Cell], without: str = "Nothing was asked about them yet.") -> tuple[str, str, str]:
    """The first three sentences. opening: what the run is about. without: why nothing was asked."""
    said = list(_sentences(cells))
    second = said[0] if said else without
    third = " ".join(said[1:]) or "Nothing else was asked."
    return unreadable_first(cells) + opening, second, third


def _sentences(cells: Mapping[str, Cell]) -> Iterator[str]:
    for way in ("thought", "vote", "probability"):
        accuracy = cells.get(f"J/{way}/strict/balanced_accuracy")
        if accuracy is not None and accuracy.value is not None:
            sides = [text_of(cells[f"J/{way}/strict/{kind}"]) for kind in ("sensitivity", "specificity")]
            yield (
                f"Asked whether a program is right, the model is right {text_of(accuracy)} of the time, where 50 % is chance: right ones "
                f"are accepted {sides[0]}, counterfeits are found {sides[1]}."
            )
            break
    right, failing, confused = (cells.get(f"E/{name}") for name in ("right", "failing", "confused"))
    if right is not None and right.value is not None:
        against = ""
        if failing is not None and failing.value is not None and confused is not None:
            against = f", of counterfeits that give a wrong one {text_of(failing)}, and {text_of(confused)} are answered as if right"
        yield f"Outputs of right programs are predicted {text_of(right)}{against}."
    difference = cells.get("R/difference")
    if difference is not None and difference.value is not None:
        yield f"Repairs are right {text_of(cells['R/repairs'])}; against drawing again that is {text_of(difference)}."


def drawn_sentence(name: str, generator: str, drawn: Sequence[Drawn], cells: Mapping[str, Cell]) -> str:
    """What a stream of draws is, as a sentence."""
    draws, problems = sum(each.draws for each in drawn), len({each.problem for each in drawn})
    shares = [text_of(cells[f"F2/benchmark/draws/{kind}"]) for kind in ("right", "counterfeit")]
    return (
        f"Of {draws:,} programs that {generator} drew for {problems:,} problems of {name}, {shares[0]} are right, and {shares[1]} are "
        "counterfeits: wrong, and yet they look right."
    )


def of_own_tests(cells: Mapping[str, Cell]) -> Sequence[str]:
    """What its own tests are worth as a judge."""
    auc = cells.get("O/right_against_counterfeit/auc")
    if auc is None or auc.value is None:
        return ()
    return (
        f"Its own tests tell its right programs from its counterfeits of the same problem with an AUC of {text_of(auc)} (½ is chance).",
    )
