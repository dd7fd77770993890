"""What a run on programs has, for its own page and for that of several runs."""

from __future__ import annotations

from collections.abc import Sequence

from ....calibration.report.study_report import Section
from ...calibration.recorded.draws import Labelled
from ...run import Run
from .derived import ProblemItem, drawn_of, executed_of, executions_of, judgements_of, repaired_of
from .pages import execution_section, judging_section, repair_section
from .programs import CounterfeitSet, Drawn, Program, balanced
from .recorded import COUNTERFEITS
from .set_file import write_set
from .steps import DRAW, EXECUTE, JUDGE, JUDGE_REASONING, LABEL, REPAIR, REPAIR_LABEL, TRACE

# The studies whose runs are compared, any number of them: programs are drawn, or those of a file.
DRAWS, FILES = "counterfeit_problems", "counterfeit_file"
COMPARED = (DRAWS, FILES)
# The texts of the question of a run that drew its programs.
DRAWN = ("set", "items", "form")


def stream_of(run: Run) -> list[Drawn]:
    """What was drawn and labelled."""
    labels = {record["id"]: Labelled(**record) for record in run.records(LABEL).read()}
    return drawn_of(run.items(ProblemItem), run.records(DRAW).read(), labels)


def kept_set(run: Run) -> CounterfeitSet:
    """The balanced set of what was drawn, which is also written into the run's folder."""
    question = run.question(DRAWN)
    name = f"{question['set']} by {question['model_name']}"
    made = CounterfeitSet(
        name,
        question["set"],
        question["model_name"],
        balanced(question["set"], stream_of(run), question["seed"]),
        temperature=float(question["temperature"]),
    )
    if made.programs:
        write_set(run.folder / COUNTERFEITS, made)
    return made


def sections_of_set(run: Run, benchmark: str, generator: str, programs: Sequence[Program], seed: int) -> list[Section]:
    """What was asked about the programs of a set."""
    sections = []
    if judgements := judgements_of(programs, run.records(JUDGE).read(), run.records(JUDGE_REASONING).read()):
        sections.append(judging_section(benchmark, generator, judgements))
    executions = list(executions_of(programs, run.records(TRACE).read(), seed))
    if executed := executed_of(executions, run.records(EXECUTE).read()):
        sections.append(execution_section(benchmark, generator, executed))
    labels = {record["id"]: Labelled(**record) for record in run.records(REPAIR_LABEL).read()}
    if repaired := repaired_of(programs, run.records(REPAIR).read(), labels):
        sections.append(repair_section(benchmark, generator, repaired))
    return sections
