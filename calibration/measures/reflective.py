"""Reflective measures: the model is asked about what it has just written.

The question follows the generation as tokens: those of the prompt, of the text that is shown, and of the question. So the question is about
just what was generated, and a model in this process computes only the question anew (`Model.next_token_logprobs`).

References: Spiess et al. (arXiv 2402.02047) for the measures; they show their prompts only as a picture. The plain question here follows
Kadavath et al. (arXiv 2207.05221, P(True)): "Proposed Answer: … Is the proposed answer: (A) True (B) False. The proposed answer is:". It
has the words True and False instead of letters, because the probability of True is wanted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from ...inference.errors import ContextTooLong, Unavailable
from ...inference.model import Generation, Model, Prompt
from ...inference.stopping.stop import LINE
from .agreement import log_sum
from .verbalised import probability_in

# Part of every question's fingerprint. Raised whenever a question is asked, or its answer read, in another way.
VERSION = 1
FALLBACK = 0.5
RETRIES = 3
ANSWER_TOKENS = 24


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a model about its generation.

    text: with {completion} in the place of the generation's text.
    true, false: how the answer may be spelled. Empty where the model is asked for a percentage.
    """

    text: str
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """16 hex digits over everything that decides what is asked and how the answer is read."""
        # `control` is of a kind of question that is asked no more, and part of the fingerprint of every sample that was asked.
        decides = {**asdict(self), "control": None, "retries": RETRIES, "answer_tokens": ANSWER_TOKENS, "version": VERSION}
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:16]


def _spellings(word: str) -> tuple[str, ...]:
    return tuple(before + spelled for spelled in (word, word.lower(), word.upper()) for before in ("", " "))


_PROPOSED = "\n\nProposed completion:\n{completion}\n"
TRUE_OR_FALSE = Question(
    _PROPOSED + "Is the proposed completion True or False?\nThe proposed completion is:", _spellings("True"), _spellings("False")
)
PERCENTAGE = Question(_PROPOSED + "What is the probability, in percent, that the proposed completion is correct?\nProbability:")


@dataclass(frozen=True, slots=True)
class Reflection:
    """What a model says of its own generation, as a sample holds it.

    measures, asked, fallbacks: as in `Sample`. A measure that the model can't give is left out.
    answers: what it wrote when it was asked for a percentage, in order. Only the last was read.
    """

    measures: dict[str, float] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    fallbacks: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


def questions_for(model: Model) -> dict[str, Question]:
    """The question of each reflective measure to a model, by measure. Measures that the model can't give are left out.

    A model behind a server that takes texts instead of tokens can't be asked anything.
    """
    if not model.fim("", "").tokens:
        return {}
    of_next_token = ("ask_true", "ask_true_normalised") if model.capabilities.next_token else ()
    return {**dict.fromkeys(of_next_token, TRUE_OR_FALSE), "verbalised": PERCENTAGE}


def reflect(model: Model, prompt: Prompt, generation: Generation, questions: Mapping[str, Question], *, seed: int = 0) -> Reflection:
    """The reflective measures of a generation. prompt: what it continues. questions: by measure, from `questions_for`.

    A question that the server can't answer, or for which the context has no room, is left out with its measures. Raises what else
    `Model.next_token_logprobs` and `Model.generate` raise.
    """
    measures: dict[str, float] = {}
    fallbacks: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    if (question := questions.get("ask_true")) is not None:
        with suppress(Unavailable, ContextTooLong):
            if (odds := ask_true(model, prompt, generation, question)) is not None:
                measures["ask_true"], measures["ask_true_normalised"] = odds
    if (question := questions.get("verbalised")) is not None:
        with suppress(Unavailable, ContextTooLong):
            said, answers = verbalise(model, prompt, generation, question, seed=seed)
            measures["verbalised"] = FALLBACK if said is None else said
            fallbacks = ("verbalised",) if said is None else ()
    return Reflection(measures, {name: questions[name].fingerprint for name in measures}, fallbacks, answers)


def ask_true(model: Model, prompt: Prompt, generation: Generation, question: Question) -> tuple[float, float] | None:
    """log p_B and the log odds of p_NB, in nats (Spiess et al., "Ask T/F" and "Ask T/F N"). One call of the model.

    p_B is the probability that the answer begins like a spelling of True: the sum over the distinct first tokens of the spellings. p_NB is
    P(True) / (P(True) + P(False)). It is kept as log P(True) - log P(False), which neither underflows nor saturates. A first token that
    both words share, such as a lone space, tells nothing and is left out of both.

    None if no other token is left. Raises what `Model.next_token_logprobs` raises.
    """
    true, false = (_first_tokens(model, spellings) for spellings in (question.true, question.false))
    shared = true.keys() & false.keys()
    said_true = [spelling for token, spelling in true.items() if token not in shared]
    said_false = [spelling for token, spelling in false.items() if token not in shared]
    if not said_true or not said_false:
        return None
    logprobs = model.next_token_logprobs(_question_prompt(model, prompt, generation, question), [*said_true, *said_false])
    log_true, log_false = log_sum(logprobs[: len(said_true)]), log_sum(logprobs[len(said_true) :])
    return min(log_true, 0.0), log_true - log_false


def verbalise(
    model: Model, prompt: Prompt, generation: Generation, question: Question, *, seed: int = 0
) -> tuple[float | None, tuple[str, ...]]:
    """The probability that the model states in words, and its answers: one greedy, then up to three at temperature 1.

    None if no answer states one; Spiess et al. then take 0.5 (FALLBACK). Raises what `Model.generate` raises.
    """
    asked = _question_prompt(model, prompt, generation, question)
    answers: tuple[str, ...] = ()
    for attempt in range(1 + RETRIES):
        temperature = 1.0 if attempt else 0.0
        made = model.generate(asked, stop=LINE, max_tokens=ANSWER_TOKENS, temperature=temperature, seed=seed + attempt)
        answers = (*answers, made.text)
        try:
            return probability_in(made.text), answers
        except ValueError:
            continue
    return None, answers


def _question_prompt(model: Model, prompt: Prompt, generation: Generation, question: Question) -> Prompt:
    # Behind a pre-token's border these are mostly the tokens that were generated, which are in the cache.
    shown = model.tokenize(prompt.held + generation.text)
    put = model.tokenize(question.text.replace("{completion}", generation.text))
    return Prompt((*prompt.tokens, *shown, *put), prompt.layout)


def _first_tokens(model: Model, spellings: Iterable[str]) -> dict[int, str]:
    """The distinct first tokens, each with the first of the spellings that begin with it."""
    found: dict[int, str] = {}
    for spelling in spellings:
        found.setdefault(model.tokenize(spelling)[0], spelling)
    return found
