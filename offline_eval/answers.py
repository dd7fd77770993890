"""The records of the step "answers": what a model made of an item, and the ids of texts."""

from __future__ import annotations

import hashlib
from typing import Annotated, NotRequired, TypedDict

import msgspec


def text_id(of: str, text: str) -> str:
    """The id of a text for an item, such as a place: equal texts have one."""
    return f"{of}:{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:16]}"


class Generated(TypedDict):
    """One generation, as it is kept.

    text: what the model wrote. inserted: what the editor would insert, None where it would hide it. stream: of texts that are drawn at a
    temperature, such as "t0.6": their samples are in a file of their own, with a prompt of their own.
    """

    id: str
    task: Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]{0,39}$")]
    text: str
    inserted: str | None
    truth: str
    measures: dict[str, float]
    labels: dict[str, bool | None]
    stopped_by: str
    arm: NotRequired[Annotated[str, msgspec.Meta(pattern="^[a-z_]{1,40}$")]]
    stream: NotRequired[Annotated[str, msgspec.Meta(pattern="^t[0-9.e-]{1,20}$")]]
    rank: NotRequired[int]
    asked: NotRequired[dict[str, str]]
    fallbacks: NotRequired[list[str]]
    answers: NotRequired[list[str]]


class AnsweredItem(TypedDict):
    """Which item an answer is of."""

    id: str
    project: str
    file: str
    function: str
    line: int


class Answer(AnsweredItem):
    """What is known of a finished item. A study may have answers, and generations, with more fields. language: left out for Python."""

    language: NotRequired[str]
    generations: list[Generated]
