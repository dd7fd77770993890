"""The study on pairs: make and confirm them, which takes no model, and ask whether each is one function."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import partial
from typing import Any

import msgspec

from ....analysis.corpora.benchmarks import Language
from ....analysis.morphisms.registry import morphisms
from ....analysis.sandbox.isolation.best_level import best_level
from ....calibration.report.study_report import StudyContent
from ...asked_model import NOBODY, Evaluator, evaluator_of, fingerprint_of, how_asked, question_in_words, text_of
from ...counterfeit.problems.asking import lost_in, without_p
from ...errors import StudyError
from ...probe import Probe, estimated
from ...progress import counted
from ...recorded.source import recorded_in
from ...recorded.source import sources_of as answer_sources
from ...run import Run
from ...sets.judging import InSandbox
from ...sets.programs import Program
from ...study import Making, Study, all_of, carry_out
from ...study_page import again, cells_of, facts_of, page_of
from ..functors.labelling import check_languages
from .asking import (
    ANSWERS,
    PROMPTS,
    Options,
    PairQuestion,
    Sources,
    answered,
    asking_pairs,
    check_answered,
    manner,
    prompt,
    questions_of,
    sources_of,
)
from .building import MADE, MAX_OF_KIND, MAX_RULES, MAX_RUN, MAX_SITES, built
from .pages import claims, compare, false_equivalents, judged_section, made_section, summary_of
from .pair import GLOBAL, KINDS, CodePair, DrawnPrograms, write_pairs
from .tables import Judgement, judgements_of

NAME = "catcode_pairs"
PAIRS_FILE = "pairs.jsonl"
# A program whose worker takes so long hangs: the sandbox itself ends each run of it far earlier.
MAX_PROGRAM_S = 900.0
_MAX_TOLD = 5


_NEEDED = ("set", "items", "form", "made")


def run_pairs(options: Options) -> Run:
    """Run, or resume, the study. Raises UsageError, RunError, StudyError, NoIsolation, ModelError and OSError."""
    sources = sources_of(options)
    _check_tools(frozenset(item.language for item in sources.items))
    evaluator = evaluator_of(options) if options.asks else NOBODY
    check_answered(evaluator, questions_of(sources.pairs))
    draws = f", draws for {counted(len(sources.drawn), 'problem')}" if sources.drawn else ""
    made = f"{counted(len(sources.pairs), 'pair')} that are made already"
    told = f"{counted(len(sources.programs), 'program')} to rewrite{draws}" if sources.items else made

    def works(run: Run) -> dict[str, Making]:
        start = InSandbox(best_level(), partial(built, options.seed), several=True)
        pairs = {"pairs": lambda: all_of(MADE, sources.items, start, options.pool, max_item_s=MAX_PROGRAM_S)} if sources.items else {}
        kept = partial(_kept_pairs, run)
        return pairs | {
            "answers": lambda: asking_pairs(options, evaluator, questions_of([pair for pair in kept() if pair.kind in options.kinds]))
        }

    items = sources.pairs or map(_item_of, sources.items)
    plan = partial(_plan, options, sources)
    return carry_out(STUDY, options, question_of(options, sources, evaluator), items, works, told, plan=plan)


def _check_tools(languages: frozenset[Language]) -> None:
    """Raises StudyError where what rewrites or runs programs of these languages is not installed, and NoIsolation."""
    try:
        for language in languages:
            morphisms(language, equivalent=True)
    except ImportError as error:
        raise StudyError(f"{error.name}, which parses programs, is not installed: pip install 'assay[studies]'") from None
    if languages:
        check_languages(languages)


def question_of(options: Options, sources: Sources, evaluator: Evaluator) -> dict[str, Any]:
    """The run's question, but for its items. made: where its pairs are from."""
    names = dict.fromkeys([f"{each.set} {each.language}" for each in sources.items] + [pair.data for pair in sources.pairs])
    prompts = fingerprint_of(map(prompt, PROMPTS)) if options.asks else "none"
    question = question_in_words(NAME, options, evaluator, ", ".join(names), prompts) | {"made": "here" if sources.items else "file"}
    if options.asks and not evaluator.files:
        question |= {"votes": options.votes}
    question |= recorded_in(evaluator.files)
    if options.kinds != KINDS:
        question |= {"kinds": list(options.kinds)}
    return question | options.limited


def _item_of(item: Program | DrawnPrograms) -> dict[str, str]:
    """A program of a run, or the draws for a problem, as a line of items.jsonl."""
    told = json.dumps(asdict(item), sort_keys=True).encode(errors="surrogatepass")
    about = {"id": item.id, "set": item.set, "language": item.language, "problem": item.problem}
    return {**about, "sha256": hashlib.sha256(told).hexdigest()}


def _kept_pairs(run: Run) -> list[CodePair]:
    """The pairs of a run: those that it began with, or those that it made, which it writes into its folder, too."""
    question = run.question(_NEEDED)
    if question["made"] == "file":
        return run.items(CodePair)
    order = {item["id"]: place for place, item in enumerate(run.items(dict[str, str]))}
    records = sorted(run.records(MADE).read(), key=lambda record: order[record["id"]])
    pairs = [msgspec.convert(pair, CodePair) for record in records for pair in record["pairs"]]
    if pairs:
        write_pairs(run.folder / PAIRS_FILE, question["set"], question["seed"], pairs)
    return pairs


def _judged(run: Run) -> list[Judgement]:
    return judgements_of(_kept_pairs(run), run.records(ANSWERS).read())


def _content(run: Run) -> StudyContent:
    question = run.question(_NEEDED)
    pairs, made = _kept_pairs(run), run.records(MADE).read()
    if not pairs:
        reasons = [each["reason"] for record in made for each in record["refusals"]]
        why = max(sorted(set(reasons)), key=reasons.count) if reasons else "no program is done yet"
        raise StudyError(f"no pair came out of {question['set']}: {why}")
    sections = [made_section(pairs, made)]
    if judgements := _judged(run):
        sections.append(judged_section(judgements))
    cells = cells_of(sections)
    model = question["model_name"]
    asked = len(sections) > 1
    who = "no model was asked" if not asked else (
        "the answers were recorded by others; no model was asked" if "recorded" in question else
        how_asked(question)
    )  # fmt: skip
    wrong = false_equivalents(made)
    told = f" ({'; '.join(wrong[:_MAX_TOLD])})" if wrong else ""
    left_out = [f"{counted(len(wrong), 'variant')} of rules that keep what a program does, which the tests refuse{told}."] if wrong else []
    return StudyContent(
        title=f"Pairs of programs, asked of {model}" if asked else "Pairs of programs",
        summary=summary_of(pairs, cells, model),
        facts=(who, *facts_of(question, "set", "votes", "kinds", "limit", "seed")),
        sections=tuple(sections),
        claims=claims(cells) if asked else (),
        left_out=(*left_out, *lost_in(run, STUDY.steps), *without_p(run, ANSWERS, "True")),
        sources=answer_sources(question) if "recorded" in question else (),
        command=again(run),
    )


# The most pairs of each kind that a program, or the draws for a problem, can give.
_MOST = {
    **dict.fromkeys(KINDS, 1),
    "1-eq": MAX_RULES,
    "1-neq": MAX_RULES,
    "global-neq": MAX_OF_KIND,
}
# Runs of programs: the source, two variants, two chains, and the places of the rules that change it.
_RUNS = 1 + MAX_RULES + 2 + MAX_RULES * MAX_SITES


def _plan(options: Options, sources: Sources) -> dict[str, Any]:
    """What a dry run says."""
    questions = _questions(options, sources) if options.asks else 0
    runs = _RUNS * len(sources.programs) + MAX_RUN * len(sources.drawn) if options.wants("pairs") else 0
    plan: dict[str, Any] = {"programs": len(sources.programs), "most_runs_of_programs": runs, "isolation": str(best_level())}
    if options.recorded or not options.asks:
        return plan | {"most_questions": questions, "generations": 0}
    pairs = [(pair.first, pair.second) for pair in sources.pairs] or [(program.source, program.source) for program in sources.programs]
    first, second = (text.strip("\n") for text in pairs[0])
    question, how = PairQuestion("probe", {"first": first, "second": second}, "local"), manner(options.votes)
    probe = Probe("question", questions, partial(answered, options.votes, options.seed, question=question))
    return {
        **plan,
        "most_questions": questions,
        "most_generations": questions * how.answers,
        "most_new_tokens": questions * how.answers * how.max_tokens,
        **estimated(options.choice, options.form, options.pool, [probe]),
        "example": text_of(prompt("local").render(**question.slots)),
    }


def _questions(options: Options, sources: Sources) -> int:
    """How many there are, of pairs that are not made yet at most."""
    if sources.pairs:
        return len(questions_of(sources.pairs))
    most = {kind: _MOST[kind] * (1 if kind == "identity" else 2) for kind in options.kinds}
    of = {kind: sources.drawn if kind in GLOBAL else sources.programs for kind in options.kinds}
    return sum(most[kind] * len(of[kind]) for kind in options.kinds)


STUDY = Study(NAME, (MADE, ANSWERS), _NEEDED, page_of(_content), compare=partial(compare, _judged), compared=(NAME,))
