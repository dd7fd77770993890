"""What a model in this process does, whether llama.cpp runs it or transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tiny_gguf import END, scripted
from tiny_hf import write_tiny_hf
from tiny_models import OpenTiny

from assay.inference.errors import ContextTooLong, ModelClosed
from assay.inference.hf.model import HFModel
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Generation, Prompt, StopReason
from assay.inference.stopping.stop import LINE, NONE, Stop

Model = LlamaModel | HFModel
Writing = Callable[..., Model]
CODE = "def area(width, height):\n    return width * height\n\n\nclass Point:\n    pass\n\n\nresult = "


@pytest.fixture(params=["tiny", "tiny_hf"])
def model(request: pytest.FixtureRequest) -> Model:
    opened: Model = request.getfixturevalue(request.param)
    opened.forget()
    return opened


@pytest.fixture(params=["llama.cpp", "transformers"])
def writing(request: pytest.FixtureRequest, open_tiny: OpenTiny, tmp_path: Path) -> Iterator[Writing]:
    """Opens a model that writes these tokens behind a question mark."""
    with ExitStack() as opened:

        def open_one(*script: bytes) -> Model:
            if request.param == "llama.cpp":
                return open_tiny(scripted(*script))
            return opened.enter_context(HFModel(write_tiny_hf(tmp_path / "hf", script=(b"?", *script)), device="cpu"))

        yield open_one


def prompt_of(model: Model, text: str = CODE) -> Prompt:
    return Prompt(tuple(model.tokenize(text)), "left_to_right")


def ids(generation: Generation) -> list[int]:
    return [token.id for token in generation.tokens]


def test_greedy_takes_the_best_token_and_the_same_seed_gives_the_same_sample(model: Model) -> None:
    prompt = prompt_of(model)
    first = model.generate(prompt, stop=NONE, max_tokens=20)
    model.forget()
    assert ids(model.generate(prompt, stop=NONE, max_tokens=20, seed=9)) == ids(first)
    assert all(token.best_other_logprob is not None and token.logprob >= token.best_other_logprob for token in first.tokens)
    runs = [ids(model.generate(prompt, stop=NONE, max_tokens=20, temperature=1.0, top_p=0.9, seed=seed)) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(
    ("script", "stop", "text", "stopped_by"),
    [
        ((b"a", b"b", b"\n", b"c"), LINE, "ab", StopReason.LINE),
        ((b"a", b"\n", b" ", b"b", b"\r", b"c"), Stop("block", 1), "a\n b", StopReason.BLOCK),
        ((b"a", END.encode()), NONE, "a", StopReason.END),
    ],
)
def test_an_end_token_ends_a_text(writing: Writing, script: tuple[bytes, ...], stop: Stop, text: str, stopped_by: StopReason) -> None:
    model = writing(*script)
    generation = model.generate(prompt_of(model, "?"), stop=stop, max_tokens=10)
    assert (generation.text, generation.stopped_by) == (text, stopped_by)
    assert generation.tokens[-1].text == {StopReason.LINE: b"\n", StopReason.BLOCK: b"c", StopReason.END: b""}[stopped_by]


def test_budgets_of_tokens_and_context_and_time_before_the_first_token_end_the_text(model: Model) -> None:
    prompt = prompt_of(model)
    none = model.generate(prompt, stop=NONE, max_tokens=300, max_ms=0)
    assert (none.text, none.tokens, none.stopped_by) == ("", (), StopReason.TIME)
    few = model.generate(prompt, stop=NONE, max_tokens=3)
    assert (len(few.tokens), few.stopped_by) == (3, StopReason.TOKENS)
    full = model.generate(Prompt((97,) * (model.context_length - 5), "left_to_right"), stop=NONE, max_tokens=50)
    assert (len(full.tokens), full.stopped_by) == (5, StopReason.TOKENS)


def test_each_token_is_told_with_the_text_up_to_it_in_whole_characters_and_the_caller_may_end_there(writing: Writing) -> None:
    model = writing(b"a", b"\xc3", b"\xa9", b"\xe2", b"\x82", b"\xac")
    prompt = prompt_of(model, "?")
    texts = ["a", "a", "aé", "aé", "aé", "aé€"]
    told: list[tuple[int, str]] = []
    whole = model.generate(prompt, stop=NONE, max_tokens=6, on_token=lambda token, text: told.append((token.id, text)) or False)
    assert told == list(zip(ids(whole), texts, strict=True))
    for count, text in enumerate(texts, 1):
        part = model.generate(prompt, stop=NONE, max_tokens=9, on_token=lambda token, _: token.id == told[count - 1][0])  # noqa: B023
        assert (part.text, ids(part), part.stopped_by) == (text, ids(whole)[:count], StopReason.CALLER)


def test_greedy_alternatives_begin_with_the_most_likely_tokens_and_go_on_greedily(model: Model) -> None:
    prompt = prompt_of(model)
    made = model.alternatives(prompt, 4, stop=NONE, max_tokens=6)
    firsts = [generation.tokens[0] for generation in made]
    assert len({token.id for token in firsts}) == 4
    assert [token.logprob for token in firsts] == sorted((token.logprob for token in firsts), reverse=True)
    assert ids(made[0]) == ids(model.generate(prompt, stop=NONE, max_tokens=6))
    for generation in made[1:]:
        behind = Prompt((*prompt.tokens, generation.tokens[0].id), "left_to_right")
        assert ids(model.generate(behind, stop=NONE, max_tokens=5)) == ids(generation)[1:]
    everything = model.alternatives(prompt, 10_000, stop=NONE, max_tokens=1)
    assert len({generation.tokens[0].id for generation in everything}) == len(everything) > 250


def test_only_one_alternative_ends_at_once_where_the_end_is_most_likely(writing: Writing) -> None:
    model = writing(b"a", END.encode(), b"b")
    for prompt in (prompt_of(model, "a"), Prompt(prompt_of(model, "?").tokens, "left_to_right", held="a")):
        made = model.alternatives(prompt, 3, stop=NONE, max_tokens=2)
        assert [generation.tokens[0].text == b"" for generation in made] == [True, False, False]
        assert (made[0].text, len(made[0].tokens)) == ("", 1)


def test_an_alternative_is_ended_by_its_own_caller_and_the_others_go_on(model: Model) -> None:
    prompt = prompt_of(model)
    seen: list[int] = []

    def on_token(number: int, _token: object, _text: str) -> bool:
        seen.append(number)
        return number == 1 and seen.count(1) == 3

    together = model.alternatives(prompt, 3, stop=NONE, max_tokens=8, temperature=1.0, seed=4, on_token=on_token)
    assert (len(together[1].tokens), together[1].stopped_by) == (3, StopReason.CALLER)
    assert [len(one.tokens) for one in together] == [seen.count(number) for number in range(3)]
    for number in (0, 2):
        assert ids(together[number]) == ids(model.generate(prompt, stop=NONE, max_tokens=8, temperature=1.0, seed=4 + number))


def test_prompts_candidates_and_budgets_that_do_not_fit_or_can_not_be_are_refused(model: Model) -> None:
    full = Prompt((97,) * model.context_length, "left_to_right")
    for ask in (
        lambda: model.generate(full, stop=NONE, max_tokens=1),
        lambda: model.alternatives(full, 2, stop=NONE, max_tokens=1),
        lambda: model.next_token_logprobs(full, ["a"]),
        lambda: model.score(Prompt(full.tokens[:-12], "left_to_right"), [97] * 13),
    ):
        with pytest.raises(ContextTooLong, match=f"the model's context holds {model.context_length}"):
            ask()
    assert len(model.score(Prompt(full.tokens[:-12], "left_to_right"), [97] * 12)) == 12
    good = Prompt((1,), "left_to_right")
    with pytest.raises(ValueError, match="no tokens"):
        model.generate(Prompt((), "left_to_right"), stop=NONE, max_tokens=1)
    for token in (-1, 999_999):
        with pytest.raises(ValueError, match="outside of the vocabulary"):
            model.generate(Prompt((token,), "left_to_right"), stop=NONE, max_tokens=1)
        with pytest.raises(ValueError, match="outside of the vocabulary"):
            model.score(good, [token])
    for options in ({"max_tokens": 0}, {"max_tokens": 1, "temperature": -1.0}, {"max_tokens": 1, "top_p": 0.0}):
        with pytest.raises(ValueError, match="top_p"):
            model.generate(good, stop=NONE, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="empty candidate"):
        model.next_token_logprobs(good, ["x", ""])
    with pytest.raises(ValueError, match="count is 0"):
        model.alternatives(good, 0, stop=NONE, max_tokens=1)


def test_a_closed_model_says_so_and_closing_twice_is_no_error(writing: Writing) -> None:
    model = writing(b"a")
    prompt = prompt_of(model)
    model.close()
    model.close()
    for ask in (
        lambda: model.generate(prompt, stop=NONE, max_tokens=1),
        lambda: model.score(prompt, [97]),
        lambda: model.next_token_logprobs(prompt, ["a"]),
        lambda: model.tokenize("x"),
        lambda: model.fim("x", ""),
    ):
        with pytest.raises(ModelClosed, match="the model is closed"):
            ask()
