"""How well a model does the tasks of tasks.py on code that it was not trained on, beside baselines that learn nothing.

implement   the body's first line: exact match and edit similarity; and whether the whole answer parses. Baseline: the same prompt without
            the task's token, which is an ordinary completion
describe    edit similarity and word F1 with the real first line. Baseline: the function's name as words
fix         exact match of the real line, by kind of bug (copying the line would score 0), and of right lines (copying scores 1)
judge       area under the ROC curve of P(True): real lines against the model's own wrong ones; and right against wrong in what it writes
            greedily. Baseline: that the line is short; for the latter also the probability of its tokens
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from assay.inference.completion.settings import Settings
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt
from assay.inference.stopping.stop import LINE, NONE
from assay.offline_eval.line_completion.projects import SourceFile

from .data import CONTROL
from .guesses import places_of
from .mutate import KINDS, parse
from .places import Place
from .scores import Figure, area, edit_similarity, mean, word_f1
from .tasks import Item, items_of

Figures = dict[str, Figure]
BODY_TOKENS, LINE_TOKENS = 256, 64
SAMPLED = 2
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def can_be_asked(model: LlamaModel) -> bool:
    """Whether the model has the tasks' control tokens."""
    return all(model.control(token) is not None for token in CONTROL.values())


def question(model: LlamaModel, item: Item) -> Prompt:
    """The item up to its task's token, laid out as in tasks.py."""
    prompt = model.fim(item.before, item.after)
    return Prompt((*prompt.tokens, *model.tokenize(item.shown), control_token(model, item.task)), prompt.layout)


def control_token(model: LlamaModel, task: str) -> int:
    token = model.control(CONTROL[task])
    assert token is not None, "asked only where can_be_asked"
    return token


def p_true(model: LlamaModel, place: Place, text: str) -> float:
    """P(True) / (P(True) + P(False)) of a text at a place."""
    prompt = model.fim(place.before, place.after)
    asked = Prompt((*prompt.tokens, *model.tokenize(text), control_token(model, "judge")), prompt.layout)
    yes, no = model.next_token_logprobs(asked, ["True", "False"])
    return 1 / (1 + math.exp(no - yes))


def shortness(text: str) -> float:
    """In (0, 1], higher for shorter texts: models ramble, and what is right is mostly short."""
    return 1 / (1 + len(text.strip()))


def body_parses(before: str, body: str) -> bool:
    """Whether Python parses a function's body. before ends with the indentation of the first line, except for what the body begins with."""
    indent = before[before.rfind("\n") + 1 :]
    return bool(body.strip()) and parse(f"async def f():\n{indent}{body}") is not None


def words_of(name: str) -> str:
    """The words of an identifier: "parse_HTTPHeader2" is "parse http header 2"."""
    return " ".join(_WORD.findall(name)).lower()


def collected(model: LlamaModel, files: Iterable[SourceFile], most: int) -> dict[tuple[str, str], list[Item]]:
    """At most so many items by task and kind, one of each from a file, that leave room for an answer."""
    longest = model.context_length - LINE_TOKENS
    found: dict[tuple[str, str], list[Item]] = {
        ("implement", ""): [],
        ("describe", ""): [],
        **{("fix", kind): [] for kind in (*KINDS, "none")},
    }
    for file in files:
        taken = set()
        for item in items_of(file.project, file.text, file.path):
            group = (item.task, item.kind)
            if group not in taken and len(found[group]) < most and len(question(model, item).tokens) <= longest:
                found[group].append(item)
                taken.add(group)
        if all(len(items) == most for items in found.values()):
            break
    return found


def implement_figures(model: LlamaModel, items: Sequence[Item]) -> Figures:
    asked = [model.generate(question(model, i), stop=NONE, max_tokens=BODY_TOKENS).text for i in items]
    plain = [model.generate(model.fim(i.before, i.after), stop=LINE, max_tokens=LINE_TOKENS).text for i in items]
    projects = [i.project for i in items]

    def first(text: str) -> str:
        return text.split("\n")[0].strip()

    return {
        "implement: first line, exact match": mean(
            [first(a) == first(i.answer) for a, i in zip(asked, items, strict=True)], projects, "functions"
        ),
        "implement: first line, exact match, without the task's token": mean(
            [a.strip() == first(i.answer) for a, i in zip(plain, items, strict=True)], projects, "functions"
        ),
        "implement: edit similarity": mean(
            [edit_similarity(a, i.answer) for a, i in zip(asked, items, strict=True)], projects, "functions"
        ),
        "implement: parses": mean([body_parses(i.before, a) for a, i in zip(asked, items, strict=True)], projects, "functions"),
    }


def describe_figures(model: LlamaModel, items: Sequence[Item]) -> Figures:
    asked = [model.generate(question(model, i), stop=LINE, max_tokens=LINE_TOKENS).text.strip() for i in items]
    names = [words_of(i.function) for i in items]
    projects = [i.project for i in items]
    found = {}
    for measure, alike in (("word F1", word_f1), ("edit similarity", edit_similarity)):
        for whose, texts in (("", asked), (", the function's name", names)):
            values = [alike(text.lower(), i.answer.lower()) for text, i in zip(texts, items, strict=True)]
            found[f"describe: {measure}{whose}"] = mean(values, projects, "functions")
    return found


def fix_figures(model: LlamaModel, by_kind: dict[str, Sequence[Item]]) -> Figures:
    found, mended, projects = {}, [], []
    for kind, items in by_kind.items():
        asked = [model.generate(question(model, i), stop=LINE, max_tokens=LINE_TOKENS).text for i in items]
        right = [a.strip() == i.answer.strip() for a, i in zip(asked, items, strict=True)]
        name = "fix: right lines left alone" if kind == "none" else f"fix: {kind.replace('_', ' ')}, exact match"
        found[name] = mean(right, [i.project for i in items], "lines")
        if kind != "none":
            mended += right
            projects += [i.project for i in items]
    return {"fix: exact match": mean(mended, projects, "lines"), **found}


def judge_figures(model: LlamaModel, files: Iterable[SourceFile], most: int) -> Figures:
    """Figures of places as in use: prompts are as long as an editor's, and the user sees every greedy text."""
    s = Settings()
    places: list[Place] = []
    for file in files:
        own = places_of(model, file.project, file.path, file.text, 0, SAMPLED, (s.prefix_tokens,) * 2, (s.suffix_tokens,) * 2)
        places += [place for place, _ in zip(own, range(2), strict=False)]
        if len(places) >= most:
            break
    real, wrong, greedy = [], [], []
    for place in places:
        scores = {text: p_true(model, place, text) for text in {place.real, *(g.text for g in place.guesses)}}
        real.append((place.project, scores[place.real], shortness(place.real)))
        wrong += [(place.project, scores[g.text], shortness(g.text)) for g in place.guesses if not g.right]
        greedy += [(place.project, scores[g.text], g) for g in place.guesses if g.greedy]
    both = [*real, *wrong]
    projects, p, short = [name for name, _, _ in both], [p for _, p, _ in both], [s for _, _, s in both]
    is_real = [True] * len(real) + [False] * len(wrong)
    of, shown, right = [name for name, _, _ in greedy], [p for _, p, _ in greedy], [g.right for _, _, g in greedy]
    by_logprob = [math.exp(g.logprob) for _, _, g in greedy]
    by_mean = [math.exp(g.logprob / g.tokens) for _, _, g in greedy]
    return {
        "judge: AUC, real lines against own wrong ones": area(p, is_real, projects, "lines"),
        "judge: AUC of their shortness instead": area(short, is_real, projects, "lines"),
        "judge: accuracy on those": mean([(x > 0.5) == y for x, y in zip(p, is_real, strict=True)], projects, "lines"),
        "judge: AUC, own right lines against own wrong ones": area(shown, right, of, "lines"),
        "judge: accuracy on those of its own": mean([(x > 0.5) == y for x, y in zip(shown, right, strict=True)], of, "lines"),
        "judge: share of its own lines that are right": mean(right, of, "lines"),
        "judge: AUC of the own line's shortness instead": area([shortness(g.text) for _, _, g in greedy], right, of, "lines"),
        "judge: AUC of the line's probability instead": area(by_logprob, right, of, "lines"),
        "judge: AUC of its tokens' mean probability instead": area(by_mean, right, of, "lines"),
    }


def task_figures(model: LlamaModel, files: Sequence[SourceFile], items: int, places: int) -> Iterator[Figures]:
    """The figures of task after task; none for a model without such tokens."""
    if not can_be_asked(model):
        return
    found = collected(model, files, items)
    yield judge_figures(model, files, places)
    yield implement_figures(model, found[("implement", "")])
    yield describe_figures(model, found[("describe", "")])
    yield fix_figures(model, {kind: found[("fix", kind)] for kind in (*KINDS, "none")})
