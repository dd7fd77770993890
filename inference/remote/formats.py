"""What is asked of a server of completions, and what its answers say: pure functions from and to decoded JSON.

llama-server is asked in its own words (`/completion`, `/infill`), which tell ids, bytes and log-probabilities of the distribution before
any sampler (https://github.com/ggml-org/llama.cpp tools/server/README.md, "completion_probabilities"; so since its pull request 10783).
All others are asked in OpenAI's (`/v1/completions`): `choices[0].logprobs` has tokens, token_logprobs and top_logprobs
(https://platform.openai.com/docs/api-reference/completions; vLLM's additions: vllm/entrypoints/openai/completion/protocol.py; TGI's
router/src/lib.rs, whose `logprobs` stays null).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..model import StopReason

_ID = "token_id:"
# Servers write this or less for a probability of 0, as JSON has no infinity: vLLM -9999, llama-server the lowest float.
_NO_LOGPROB = -9999.0
# A logarithm of a probability is at most 0, but for rounding.
_ROUNDING = 1e-3
# What the functions here raise for JSON of another shape than documented.
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that might have come and its log p in nats; id None where only its text is told, text None where only its id is."""

    id: int | None
    text: bytes | None
    logprob: float


@dataclass(frozen=True, slots=True)
class Heard:
    """A token as the server tells it.

    top: the most likely ones at its place, the first the most likely; ends: it ends the text, by what the server says; count: how many
    tokens it had sampled with this one, None where it does not say; reused: tokens of the prompt that its cache held.
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
        """The highest log p of all other tokens; None where it can't be told from what came."""
        if self.logprob is None or (self.id is None and "\ufffd".encode() in self.text):
            return None  # broken characters look alike: another token may hide behind the same text
        others = [c.logprob for c in self.top if (c.id != self.id if self.id is not None else c.text != self.text)]
        return max(others) if others else None


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is taken: temperature 0 is the most likely one; else top_p of the distribution at that temperature."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


def llama_request(prompt: Mapping[str, Any], *, most: int, top: int, sampling: Sampling, stream: bool) -> dict[str, Any]:
    """A body for `/completion` or `/infill`. prompt: its fields; no sampler of the server's own settings is left in force."""
    if sampling.temperature > 0:
        samplers: dict[str, Any] = {"samplers": ["temperature", "top_p"], "temperature": sampling.temperature, "top_p": sampling.top_p}
    else:
        samplers = {"samplers": ["top_k"], "top_k": 1}
    asked = {"n_predict": most, "n_probs": top, "post_sampling_probs": False, "seed": sampling.seed % (1 << 32), "stop": [], "n_indent": 0}
    kept = {"cache_prompt": True, "return_tokens": True, "timings_per_token": stream, "stream": stream}
    return {**prompt, **asked, **samplers, **kept}


def llama_heard(event: Mapping[str, Any], ends: frozenset[int]) -> list[Heard]:
    """The tokens of one event, one or none. Control tokens have no text and end it; ends: ids that do so though they are shown.

    A token that is only part of a character gets no event (tools/server/server-context.cpp, process_token); `count` leaves a gap there.
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
    return [Heard(int(token), text, None, (), not text or token in ends, count, reused)]


def llama_token(entry: Mapping[str, Any], ends: frozenset[int] = frozenset()) -> Heard:
    """One entry of `completion_probabilities`."""
    token, text = int(entry["id"]), bytes(list(entry["bytes"]))
    top = tuple(
        Candidate(int(other["id"]), bytes(list(other["bytes"])), logprob)
        for other in entry.get("top_logprobs", ())
        if (logprob := _told(other.get("logprob"))) is not None
    )
    return Heard(token, text, _told(entry.get("logprob")), top, not text or token in ends)


def server_end(event: Mapping[str, Any]) -> StopReason | None:
    """Why the server itself ended the text, None where it goes on."""
    if event.get("stop") is True:
        return StopReason.END if event.get("stop_type") == "eos" else StopReason.TOKENS
    for choice in event.get("choices") or ():
        if reason := choice.get("finish_reason"):
            return StopReason.END if reason in ("stop", "eos_token") else StopReason.TOKENS
    return None


def openai_request(
    prompt: str | Sequence[int], *, model: str, most: int, top: int | None, sampling: Sampling, stream: bool, extras: Mapping[str, Any]
) -> dict[str, Any]:
    """A body for `/v1/completions`. top: how many log-probabilities, None for none; extras: what only this kind of server knows."""
    body: dict[str, Any] = {
        "model": model,
        "prompt": prompt if isinstance(prompt, str) else list(prompt),
        "max_tokens": most,
        "temperature": sampling.temperature,
        "stream": stream,
    }
    if sampling.temperature > 0:
        body |= {"top_p": sampling.top_p, "seed": sampling.seed}
    if top is not None:
        body["logprobs"] = top
    return {**body, **extras}


def openai_heard(event: Mapping[str, Any]) -> list[Heard]:
    """The tokens of one event or answer; of those without log-probabilities one for all of its text.

    Where an event has several tokens whose spellings are not told, all of its text belongs to the last of them. A token ends the text
    where the server says that it has ended and the token brought no text: some end it without telling of the token.
    """
    choices = event.get("choices") or []
    if not choices:
        return []
    choice = choices[0]
    text, ended = choice.get("text") or "", choice.get("finish_reason") == "stop"
    told = choice.get("logprobs") or {}
    names = list(told.get("tokens") or []) if isinstance(told, dict) else []
    if not names:
        return [Heard(None, text.encode("utf-8", "replace"), None)] if text else []
    spelled = next((size for size in range(len(names) + 1) if "".join(names[:size]) == text), None)
    texts = [*[""] * (len(names) - 1), text] if spelled is None else [*names[:spelled], *[""] * (len(names) - spelled)]
    heard = []
    for index, name in enumerate(names):
        tops = (told.get("top_logprobs") or [])[index : index + 1]
        top = tuple(
            Candidate(id_of(other), None if id_of(other) is not None else other.encode("utf-8", "replace"), logprob)
            for other, value in sorted(((tops or [None])[0] or {}).items(), key=lambda item: -item[1])
            if (logprob := _told(value)) is not None
        )
        logprob = _told(told["token_logprobs"][index])
        last = ended and index == len(names) - 1 and not texts[index]
        heard.append(Heard(id_of(name), texts[index].encode("utf-8", "replace"), logprob, top, last))
    return heard


def id_of(name: str) -> int | None:
    """The id in vLLM's `token_id:N`, None in any other spelling."""
    digits = name.removeprefix(_ID)
    return int(digits) if digits != name and digits.isdigit() else None


def prompt_logprobs(answer: Mapping[str, Any], tokens: Sequence[int], last: int) -> list[float] | None:
    """log p of the last so many tokens of the prompt, by vLLM's `prompt_logprobs`: for each place a map from ids, in decimal, to numbers.

    None where the answer does not tell them all.
    """
    places = (answer.get("choices") or [{}])[0].get("prompt_logprobs")
    if not isinstance(places, list) or len(places) != len(tokens):
        return None
    found = [_told(((place or {}).get(str(token)) or {}).get("logprob")) for place, token in zip(places, tokens, strict=True)]
    return _all_of(found[len(found) - last :])


def echoed_logprobs(answer: Mapping[str, Any], length: int, last: int) -> list[float] | None:
    """The same of an answer to `echo` with one token more: `token_logprobs` of a prompt of `length` tokens and of what follows it."""
    told = (answer.get("choices") or [{}])[0].get("logprobs") or {}
    values = told.get("token_logprobs") if isinstance(told, dict) else None
    if not isinstance(values, list) or not length <= len(values) <= length + 1:
        return None
    return _all_of([_told(value) for value in values[length - last : length]])


def _all_of(values: Sequence[float | None]) -> list[float] | None:
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


def _told(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _NO_LOGPROB < value <= _ROUNDING:
        return None
    return min(float(value), 0.0)
