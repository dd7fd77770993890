"""What the user wants of the study on pairs; and the step "answers": whether two programs are the same function.

It is asked in both orders, several answers to each question.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ....inference.asking.asker import Asker
from ...asked_model import ChatOptions, Evaluator, prompt_beside
from ...counterfeit.problems.asking import Answered, Manner, Question, asking, record_of
from ...errors import UsageError
from ...recorded.formats import is_recorded, recorded
from ...run import Step
from ...sets.programs import Program, is_completions, read_programs
from ...study import Work
from .pair import GLOBAL, KINDS, CodePair, DrawnPrograms, Kind, drawn_programs, is_pairs_file, read_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(ChatOptions):
    """What the user wants.

    data: files of programs, a folder of them, recorded draws for their problems, or a file of pairs. kinds: of pairs that are asked about.
    limit: so many programs of each data set, drawn by the seed. votes: answers to each question.
    """

    data: tuple[Path, ...]
    kinds: tuple[Kind, ...] = KINDS
    votes: int = 10

    @property
    def asks(self) -> bool:
        """Whether a model, or a file of answers, is asked at all."""
        return self.wants("answers")


@dataclass(frozen=True, slots=True)
class Sources:
    """What there is to ask about: programs and draws, of which pairs are made, or pairs that are made already."""

    programs: Sequence[Program]
    drawn: Sequence[DrawnPrograms]
    pairs: Sequence[CodePair]

    @property
    def items(self) -> list[Program | DrawnPrograms]:
        """What pairs are made of."""
        return [*self.programs, *self.drawn]


def sources_of(options: Options) -> Sources:
    """Read the files. Raises SetError, RecordedError, UsageError, and ImportError without the parsers of `assay[studies]`."""
    files = [path for path in options.data if not path.is_dir()]
    made = [path for path in files if path.exists() and is_pairs_file(path)]
    if made:
        return _of_pairs(options, made)
    draws = [path for path in files if path.exists() and is_recorded(path) and not is_completions(path)]
    programs = read_programs([path for path in options.data if path not in draws])
    if other := next((program for program in programs if program.language not in ("python", "java")), None):
        raise UsageError(f"{other.id}: no rule rewrites {other.language}; there are rules for Java and Python: leave its file out")
    names = {program.id: (f"{program.set} {program.language}", program.id) for program in programs}
    limited = _drawn_names(list(names.values()), options.limit, options.seed)
    kept = [program for program in programs if names[program.id] in limited]
    drawn = drawn_programs([recorded(path) for path in draws], kept)
    wanted = next((kind for kind in options.kinds if kind in GLOBAL), None)
    if options.kinds != KINDS and wanted and not drawn:
        raise UsageError(
            f"{wanted} needs several programs for one problem, right and wrong ones, and --data names none: add a file of recorded "
            "programs for HumanEval, such as CodeT's or The Counterfeit Conundrum's, beside HumanEval.jsonl.gz"
        )
    if draws and not drawn:
        raise UsageError(
            f"{', '.join(map(str, draws))}: no program for a problem of --data. Global pairs are of programs that were drawn for "
            "HumanEval: name its file, HumanEval.jsonl.gz, too"
        )
    return Sources(kept, drawn, ())


def _of_pairs(options: Options, made: Sequence[Path]) -> Sources:
    if len(made) < len(options.data):
        other = next(path for path in options.data if path not in made)
        raise UsageError(f"{other}: {made[0]} has pairs that are made already, and pairs are not mixed with what they are made of")
    if not options.wants("answers"):
        raise UsageError(f"{made[0]} has pairs that are made already, so the step pairs has nothing to do: leave --steps out")
    found = [pair for path in made for pair in read_pairs(path) if pair.kind in options.kinds]
    if len({pair.id for pair in found}) < len(found):
        raise UsageError(f"{', '.join(map(str, made))}: some pairs are in several of these files: name each set once")
    if not found:
        raise UsageError(f"{', '.join(map(str, made))}: no pair of these kinds: {', '.join(options.kinds)}")
    names = {pair.id: (pair.data, pair.problem) for pair in found}
    kept = _drawn_names(list(names.values()), options.limit, options.seed)
    return Sources((), (), [pair for pair in found if names[pair.id] in kept])


def _drawn_names(names: Sequence[tuple[str, str]], limit: int | None, seed: int) -> set[tuple[str, str]]:
    """So many of the second parts for each first part."""
    kept: set[tuple[str, str]] = set()
    for first in dict.fromkeys(first for first, _ in names):
        of_it = list(dict.fromkeys(name for name in names if name[0] == first))
        kept |= set(of_it if limit is None or limit >= len(of_it) else random.Random(f"{seed}:limit:{first}").sample(of_it, limit))
    return kept


PROMPTS = ("local", "global")
prompt = partial(prompt_beside, __file__)
# The paper's programming interface had a temperature of 0 for local pairs; several answers need one above.
T_ANSWER = 0.2
MAX_TOKENS = 32

ANSWERS = Step("answers", "question", Answered)


@dataclass(frozen=True, slots=True)
class PairQuestion(Question):
    """A question about a pair in one order. prompt: its name."""

    prompt: str


def prompt_of(kind: Kind) -> str:
    """The name of the prompt for a kind of pair: the paper asks about global pairs in other words."""
    return "global" if kind in GLOBAL else "local"


def questions_of(pairs: Sequence[CodePair]) -> list[PairQuestion]:
    """The questions about pairs, the two orders of one behind each other."""
    return [
        PairQuestion(f"{pair.id}:{order}", {"first": first.strip("\n"), "second": second.strip("\n")}, prompt_of(pair.kind))
        for pair in pairs
        for order in pair.orders
        for first, second in [pair.programs(order)]
    ]


def manner(votes: int, name: str = "local") -> Manner:
    """How a question is asked. name: of its prompt."""
    return Manner(name, votes, T_ANSWER, MAX_TOKENS, (), top=True)


def answered(votes: int, seed: int, asker: Asker, question: PairQuestion) -> dict[str, Any]:
    """The record of a question. Raises what `Asker.say` raises."""
    return record_of(question.id, prompt(question.prompt).render(**question.slots), manner(votes, question.prompt), seed, asker)


def asking_pairs(options: Options, evaluator: Evaluator, questions: Sequence[PairQuestion]) -> Work[Any]:
    """The work of asking, or of looking answers up. Raises UsageError where none of these was recorded."""
    check_answered(evaluator, questions)
    return asking(options, evaluator, ANSWERS, questions, "pair", partial(answered, options.votes, options.seed))


def check_answered(evaluator: Evaluator, questions: Sequence[PairQuestion]) -> None:
    """Raises UsageError where recorded answers are of other questions."""
    files = ", ".join(str(file.path) for file in evaluator.files)
    if files and not any(file.has("pair") for file in evaluator.files):
        raise UsageError(f"{files}: no answer of the step pair, which is that of questions about pairs")
    if files and questions and not any(file.answers.of(each.id, "pair") for each in questions for file in evaluator.files):
        raise UsageError(f"{files}: no answer to any of these pairs (step pair; an item is named as {questions[0].id})")
