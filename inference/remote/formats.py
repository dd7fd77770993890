"""Requests to servers of completions, and what their answers say: pure functions from and to decoded JSON.

llama-server is asked by its own interface (`/completion`, `/infill`), which gives ids, bytes and log-probabilities before any sampler
 (https://github.com/ggml-org/llama.cpp tools/server/README.md, "completion_probabilities", since pull request 10783).
All others are asked by OpenAI's (`/v1/completions`): `choices[0].logprobs` has tokens, token_logprobs and top_logprobs
(https://platform.openai.com/docs/api-reference/completions; vLLM's additions: vllm/entrypoints/openai/completion/protocol.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..completion.settings import GREEDY, Sampling
from ..model import StopReason

# How a server is held to a text: llama-server by a grammar, vLLM by a field of its structured outputs.
Holding = Literal["grammar", "structured_outputs", "guided_regex"]

_ID = "token_id:"
# Servers write this or less for a probability of 0, because JSON has no infinity: vLLM -9999, llama-server the lowest float.
_NO_LOGPROB = -9999.0
# Log-probabilities that differ by less are those of one distribution, computed in another batch.
_SAME = 0.1
# A log-probability is at most 0, except for rounding.
_ROUNDING = 1e-3
# Added to a logit: nothing else is sampled then, at any temperature.
_CERTAIN = 1e9
# Added to logits, it puts them before all others, and costs them no more than 1e-5 in rounding.
_PREFERRED = 100.0
# These alone: not all of the libraries let other characters be escaped.
_ESCAPED = {character: f"\\{character}" for character in r"\.^$*+?{}[]()|"} | {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
# What the functions here raise for JSON of an undocumented shape.
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible token and its log p in nats. id is None where the server gives only the text, text is None where it gives only the id."""

    id: int | None
    text: bytes | None
    logprob: float


@dataclass(frozen=True, slots=True)
class ServedToken:
    """A token as the server reports it.

    Attributes
        logprob: None where the server reports none.
        top: the most likely tokens at its place, in order.
        ends: whether the server says that it ends the text.
        count: tokens sampled so far with this one, None where the server does not say.
        reused: tokens of the prompt that the server's cache held.
    """

    id: int | None
    text: bytes
    logprob: float | None
    top: tuple[Candidate, ...] = ()
    ends: bool = False
    count: int | None = None
    reused: int = 0

    @property
    def best_other(self) -> float | None:
        """The highest log p of all other tokens; None where the answer does not say."""
        if self.logprob is None or (self.id is None and "\ufffd".encode() in self.text):
            return None  # all broken characters have the same text, so another token can't be told from this one
        others = [c.logprob for c in self.top if (c.id != self.id if self.id is not None else c.text != self.text)]
        return max(others) if others else None


def llama_request(
    prompt: Mapping[str, Any], top: int, sampling: Sampling = GREEDY, *, max_tokens: int = 1, stream: bool = False
) -> dict[str, Any]:
    """A body for `/completion` or `/infill`. It overrides all samplers that the server was started with. prompt: the prompt's fields."""
    if sampling.temperature > 0:
        samplers: dict[str, Any] = {"samplers": ["temperature", "top_p"], "temperature": sampling.temperature, "top_p": sampling.top_p}
    else:
        samplers = {"samplers": ["top_k"], "top_k": 1}
    asked = {
        "n_predict": max_tokens,
        "n_probs": top,
        "post_sampling_probs": False,
        "seed": sampling.seed % (1 << 32),
        "stop": [],
        "n_indent": 0,
    }
    kept = {"cache_prompt": True, "return_tokens": True, "timings_per_token": stream, "stream": stream}
    return {**prompt, **asked, **samplers, **kept}


def llama_held_request(
    tokens: Sequence[int], held: str, *, top: int, refused: int, never: Sequence[int], temperature: float = 1.0
) -> dict[str, Any]:
    """A body for `/completion` that asks for the distribution of the next token among those that agree with a text.

    llama-server tries its grammar only on the token that was sampled. It looks at the others, and takes its probabilities from those that
    the grammar leaves, where that token is refused (common/sampling.cpp, common_sampler_sample). So a token that the grammar refuses is
    made certain: one that ends a text.

    Parameters
        refused: the id of that token.
        never: ids of control tokens, which the grammar would take for the text that they spell.
    """
    biases = [[refused, _CERTAIN], *([token, False] for token in never if token != refused)]
    chain = {"samplers": ["temperature"], "temperature": temperature}
    return {**_llama_next(tokens, top), **chain, "grammar": held_grammar(held), "logit_bias": biases}


def llama_allowed_request(tokens: Sequence[int], allowed: Sequence[int], *, top: int) -> dict[str, Any]:
    """A body for `/completion` that asks for the distribution of the next token among these."""
    biases = [[token, _PREFERRED] for token in allowed]
    return {**_llama_next(tokens, top), "samplers": ["top_k"], "top_k": len(allowed), "logit_bias": biases}


def _llama_next(tokens: Sequence[int], top: int) -> dict[str, Any]:
    asked = {"n_predict": 1, "n_probs": top, "post_sampling_probs": True, "seed": 0, "stop": [], "n_indent": 0}
    return {"prompt": list(tokens), **asked, "cache_prompt": True, "stream": False}


def llama_held(answer: Mapping[str, Any]) -> ServedToken | None:
    """The most likely token that agrees, with the others behind it in `top`; None where the token that was drawn is not reported."""
    told = answer.get("completion_probabilities")
    if not told:
        return None
    likely = [(int(other["id"]), bytes(list(other["bytes"])), float(other["prob"])) for other in told[0]["top_probs"]]
    top = tuple(Candidate(token, text, min(math.log(p), 0.0)) for token, text, p in likely if p > 0)
    return ServedToken(top[0].id, top[0].text or b"", top[0].logprob, top, reused=int((answer.get("timings") or {}).get("cache_n") or 0))


def agree(text: bytes, held: bytes) -> bool:
    """Whether a token may be the next where these bytes must be written: it begins with them, or they with it."""
    size = min(len(text), len(held))
    return size > 0 and text[:size] == held[:size]


def held_grammar(held: str) -> str:
    """A text followed by anything, in GBNF (https://github.com/ggml-org/llama.cpp grammars/README.md)."""
    literal = "".join(f"\\U{ord(character):08X}" for character in held)
    return f'root ::= "{literal}" [^\\x00]*'


def held_fields(holding: Holding, held: str) -> dict[str, Any]:
    """The fields of a request that hold vLLM to a text followed by anything: today's, or those of versions before 0.11.

    The regular expression is one that all libraries of vLLM's structured outputs read alike.
    """
    regex = "".join(_ESCAPED.get(character, character) for character in held) + r"(.|\n)*"
    return {"structured_outputs": {"regex": regex}} if holding == "structured_outputs" else {"guided_regex": regex}


def llama_tokens(event: Mapping[str, Any], ends: frozenset[int]) -> list[ServedToken]:
    """The tokens of one event, one or none.

    A control token has no text and ends the generation. ends: ids of tokens that have a text and end it too. A token that is only a part
    of a character gets no event (tools/server/server-context.cpp, process_token), which leaves a gap in `count`.
    """
    reused = int((event.get("timings") or {}).get("cache_n") or 0)
    count = int(event["tokens_predicted"]) if "tokens_predicted" in event else None
    told = event.get("completion_probabilities") or []
    if event.get("stop") or (not told and not event.get("tokens")):
        return []
    if told:
        return [replace(llama_token(entry, ends), count=count, reused=reused) for entry in told]
    text = str(event.get("content", "")).encode("utf-8", "replace")
    (token,) = event["tokens"]
    return [ServedToken(int(token), text, None, (), not text or token in ends, count, reused)]


def llama_token(entry: Mapping[str, Any], ends: frozenset[int] = frozenset()) -> ServedToken:
    """One entry of `completion_probabilities`."""
    told = _told_token(entry, lambda one: (int(one["id"]), bytes(list(one["bytes"]))))
    return replace(told, ends=not told.text or told.id in ends)


def spelled_token(entry: Mapping[str, Any]) -> ServedToken:
    """A token without an id, of a chat answer or of Ollama's: its bytes where they are told, else its spelling."""

    def read(one: Mapping[str, Any]) -> tuple[None, bytes]:
        told = one.get("bytes")
        return None, bytes(told) if isinstance(told, list) else str(one["token"]).encode("utf-8", "replace")

    return _told_token(entry, read)


def _told_token(entry: Mapping[str, Any], read: Callable[[Mapping[str, Any]], tuple[int | None, bytes]]) -> ServedToken:
    """A token with the likeliest at its place. read: gives the id and the bytes of one."""
    told = ((other, told_logprob(other.get("logprob"))) for other in entry.get("top_logprobs") or ())
    top = tuple(Candidate(*read(other), logprob) for other, logprob in told if logprob is not None)
    return ServedToken(*read(entry), told_logprob(entry.get("logprob")), top)


def server_end(event: Mapping[str, Any]) -> StopReason | None:
    """Why the server ended the text, or None."""
    if event.get("stop") is True:
        return StopReason.END if event.get("stop_type") == "eos" else StopReason.TOKENS
    if event.get("done") is True:
        return StopReason.END if event.get("done_reason") == "stop" else StopReason.TOKENS
    for choice in event.get("choices") or ():
        if reason := choice.get("finish_reason"):
            return StopReason.END if reason in ("stop", "eos_token") else StopReason.TOKENS
    return None


def openai_tokens(event: Mapping[str, Any]) -> list[ServedToken]:
    """The tokens of one event or answer. Without log-probabilities all its text is one token.

    Where an event has several tokens without their spellings, all its text belongs to the last. A token ends the text where the server
    says so and the token has no text; some servers end a text without reporting that token.
    """
    choices = event.get("choices") or []
    if not choices:
        return []
    choice = choices[0]
    text, ended = choice.get("text") or "", choice.get("finish_reason") == "stop"
    told = choice.get("logprobs") or {}
    names = list(told.get("tokens") or []) if isinstance(told, dict) else []
    if not names:
        return [ServedToken(None, text.encode("utf-8", "replace"), None)] if text else []
    spelled = next((size for size in range(len(names) + 1) if "".join(names[:size]) == text), None)
    texts = [*[""] * (len(names) - 1), text] if spelled is None else [*names[:spelled], *[""] * (len(names) - spelled)]
    heard = []
    for index, name in enumerate(names):
        tops = (told.get("top_logprobs") or [])[index : index + 1]
        top = tuple(
            Candidate(id_of(other), None if id_of(other) is not None else other.encode("utf-8", "replace"), logprob)
            for other, value in sorted(((tops or [None])[0] or {}).items(), key=lambda item: -item[1])
            if (logprob := told_logprob(value)) is not None
        )
        logprob = told_logprob(told["token_logprobs"][index])
        last = ended and index == len(names) - 1 and not texts[index]
        heard.append(ServedToken(id_of(name), texts[index].encode("utf-8", "replace"), logprob, top, last))
    return heard


def id_of(name: str) -> int | None:
    """The id in vLLM's spelling `token_id:N`, else None."""
    digits = name.removeprefix(_ID)
    return int(digits) if digits != name and digits.isdigit() else None


def prompt_logprobs(answer: Mapping[str, Any], tokens: Sequence[int], last: int) -> list[float] | None:
    """log p of the `last` tokens of the prompt, from vLLM's `prompt_logprobs`: for each place a map from decimal ids to numbers.

    None where one is missing.
    """
    places = (answer.get("choices") or [{}])[0].get("prompt_logprobs")
    if not isinstance(places, list) or len(places) != len(tokens):
        return None
    found = [told_logprob(((place or {}).get(str(token)) or {}).get("logprob")) for place, token in zip(places, tokens, strict=True)]
    return _all_of(found[len(found) - last :])


def echoed_logprobs(answer: Mapping[str, Any], length: int, last: int) -> list[float] | None:
    """log p of the `last` tokens of a prompt of `length` tokens, from an answer with `echo`; None where one is missing."""
    told = (answer.get("choices") or [{}])[0].get("logprobs") or {}
    values = told.get("token_logprobs") if isinstance(told, dict) else None
    if not isinstance(values, list) or not length <= len(values) <= length + 1:
        return None
    return _all_of([told_logprob(value) for value in values[length - last : length]])


def same_distribution(one: ServedToken, other: ServedToken) -> bool:
    """Whether two answers at one place have the same distribution, by the tokens that are in both."""
    first, second = ({(c.id, c.text): c.logprob for c in heard.top} for heard in (one, other))
    both = first.keys() & second.keys()
    return bool(both) and all(abs(first[key] - second[key]) < _SAME for key in both)


def _all_of(values: Sequence[float | None]) -> list[float] | None:
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


def told_logprob(value: object) -> float | None:
    """A log-probability as a server writes it; None for what is none, or stands for a probability of 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _NO_LOGPROB < value <= _ROUNDING:
        return None
    return min(float(value), 0.0)
