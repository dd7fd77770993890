"""Requests to `/v1/chat/completions`, and what the answers say: pure functions from and to decoded JSON.

References: OpenAI's reference of chat completions (`choices[0].logprobs.content`, each with token, bytes, logprob and top_logprobs); vLLM's
vllm/entrypoints/openai/chat_completion/protocol.py; llama-server's tools/server/server-common.cpp, oaicompat_chat_params_parse, which
passes on fields that it does not know; Ollama's openai/openai.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..completion.settings import Sampling
from ..model import StopReason
from .formats import ServedToken, spelled_token
from .served import Served

PATH = "/v1/chat/completions"
# What llama-server has for a model without a chat template (common/chat.cpp, CHATML_TEMPLATE_SRC).
STAND_IN_TEMPLATE = (
    "{%- for message in messages -%}\n"
    "  {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' -}}\n"
    "{%- endfor -%}\n"
    "{%- if add_generation_prompt -%}\n"
    "  {{- '<|im_start|>assistant\n' -}}\n"
    "{%- endif -%}"
)
# Every server reads these as they are; llama-server takes 2^32 - 1 for a random one.
_SEEDS = 1 << 31


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """The answer of one request.

    tokens: with those of a thought in front, and those that ended the text behind it; empty where not told. thought: whether there is one.
    """

    text: str
    stopped_by: StopReason
    tokens: tuple[ServedToken, ...]
    thought: bool


def chat_request(
    served: Served,
    messages: Sequence[tuple[str, str]],
    *,
    max_tokens: int,
    sampling: Sampling,
    stop: Sequence[str] = (),
    top: int | None = None,
) -> dict[str, Any]:
    """A body. messages: roles and texts. top: how many log-probabilities at each place, None for none at all."""
    body: dict[str, Any] = {
        "model": served.model,
        "messages": [{"role": role, "content": text} for role, text in messages],
        "max_tokens": max_tokens,
        "temperature": sampling.temperature,
        "stream": False,
    }
    if sampling.temperature > 0:
        body |= {"top_p": sampling.top_p, "seed": sampling.seed % _SEEDS}
    if stop:
        body["stop"] = list(stop)
    if top is not None:
        body |= {"logprobs": True, "top_logprobs": top}
    if served.kind == "llama-server":
        body |= {"samplers": ["temperature", "top_p"]} if sampling.temperature > 0 else {"samplers": ["top_k"], "top_k": 1}
    return {**body, **served.extras}


def chat_answer(answer: Mapping[str, Any]) -> ChatAnswer:
    """The first choice of an answer. Raises one of `MALFORMED`."""
    choice = answer["choices"][0]
    message = choice["message"]
    text = message.get("content")
    if text is not None and not isinstance(text, str):
        raise TypeError(f"content is {type(text).__name__}")
    told = choice.get("logprobs") or {}
    tokens = tuple(spelled_token(entry) for entry in told.get("content") or ())
    stopped_by = StopReason.TOKENS if choice.get("finish_reason") == "length" else StopReason.END
    return ChatAnswer(text or "", stopped_by, tokens, bool(message.get("reasoning_content") or message.get("reasoning")))
