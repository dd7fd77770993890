"""Asking by chat and in plain text, of a real llama-server whose model has a chat template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from llama_server import EXACT, HOW_TO_BUILD, is_built, running
from tiny_gguf import TinyModel, scripted, write_tiny_gguf
from tiny_models import open_exact

from assay.inference.asking.asker import Message, alternatives_behind, last_block
from assay.inference.asking.chat import ChatAsker
from assay.inference.errors import SERVER_FAILURES, RequestRefused
from assay.inference.model import StopReason
from assay.inference.opening import ModelChoice, open_asker
from assay.inference.stopping.stop import NONE

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not is_built(), reason=HOW_TO_BUILD)]

# What a message is followed by, so that a test can lay it out itself.
TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n"
    "{% endfor %}{% if add_generation_prompt %}assistant>{% endif %}"
)
HELLO = [Message("system", "Be brief."), Message("user", "Hi")]
LAID_OUT = "system: Be brief.\nuser: Hi\nassistant>"


def write(folder: Path, model: TinyModel, template: str = TEMPLATE) -> Path:
    metadata = {"tokenizer.chat_template": template} if template else {}
    return write_tiny_gguf(folder / "chat.gguf", replace(model, metadata=metadata))


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server of a model that writes an answer between tags, and then goes on; and its file."""
    script = scripted(b"[ANSWER", b"]", b"Cor", b"rect", b"[/ANSWER", b"] more", b" and", prompt=b">")
    path = write(tmp_path_factory.mktemp("judge"), script)
    with running(path, *EXACT, slots=2) as address:
        yield address, path


def test_a_chat_answers_as_the_model_does_to_the_text_that_its_template_makes(judge: tuple[str, Path]) -> None:
    with open_asker(ModelChoice(judge[0])) as asker, open_exact(judge[1]) as model:
        assert asker.form == "chat"
        (said,) = asker.say(HELLO, max_tokens=4, top_logprobs=5)
        local = model.left_to_right(LAID_OUT)
        made = model.generate(local, stop=NONE, max_tokens=4)
        assert (said.text, said.stopped_by) == (made.text, made.stopped_by) == ("[ANSWER]Correct", StopReason.TOKENS)
        assert said.logprobs == pytest.approx([token.logprob for token in made.tokens], abs=1e-3)
        likeliest = [one.tokens[0].logprob for one in model.alternatives(local, 5, stop=NONE, max_tokens=1)]
        assert [one.logprob for one in said.tokens[0].top] == pytest.approx(likeliest, abs=1e-3)


def test_an_answer_ends_at_a_stop_and_a_question_that_does_not_fit_is_refused(judge: tuple[str, Path]) -> None:
    with open_asker(ModelChoice(judge[0])) as asker:
        (stopped,) = asker.say(HELLO, stop=["r"], max_tokens=30, top_logprobs=3)
        (said,) = asker.say(HELLO, stop=["[/ANSWER]"], max_tokens=30, top_logprobs=3)
    assert (stopped.text, stopped.stopped_by, [token.text for token in stopped.tokens]) == ("[ANSWER]Co", StopReason.END, ["[ANSWER", "]"])
    assert (said.text, said.stopped_by) == ("[ANSWER]Correct[/ANSWER]", StopReason.END)
    assert last_block(said.text, "ANSWER") == "Correct"
    # The model writes the closing tag in two tokens, it has nine by itself, and llama-server leaves that many out.
    assert (said.tokens, said.complete, said.logprobs) == ((), False, None)
    with ChatAsker(judge[0]) as asker, pytest.raises(RequestRefused, match="context") as refused:
        asker.say([Message("user", "x" * 2000)])
    assert not isinstance(refused.value, SERVER_FAILURES)


def test_the_same_server_is_asked_in_plain_text(judge: tuple[str, Path]) -> None:
    with open_asker(ModelChoice(judge[0]), "text") as asker:
        asked = [Message("user", "Right?"), Message("assistant", ">[ANSWER]")]
        (said,) = asker.say(asked, stop=["[/ANSWER]"], max_tokens=30, top_logprobs=3)
    assert asker.form == "text"
    assert (said.text, [token.text for token in said.tokens]) == (">[ANSWER]Correct[/ANSWER]", ["Cor", "rect"])
    assert alternatives_behind(said, "[ANSWER]")[0].text == "Cor"


def test_a_model_without_a_chat_template_is_asked_in_text_unless_chat_is_wanted(tmp_path: Path) -> None:
    with running(write(tmp_path, TinyModel(), template=""), *EXACT) as address:
        with open_asker(ModelChoice(address)) as asker:
            assert asker.form == "text"
        with open_asker(ModelChoice(address), "chat") as asker:
            assert asker.say(HELLO, max_tokens=3)[0].stopped_by is StopReason.TOKENS


def test_several_answers_of_one_request_are_those_of_single_ones_with_their_seeds(tmp_path: Path) -> None:
    with running(write(tmp_path, TinyModel()), *EXACT, slots=3) as address, ChatAsker(address) as asker:
        together = asker.say(HELLO, n=5, temperature=1.0, max_tokens=6, seed=7)
        single = [asker.say(HELLO, temperature=1.0, max_tokens=6, seed=7 + number)[0] for number in range(5)]
    assert [said.text for said in together] == [said.text for said in single]
    assert len({said.text for said in together}) > 1
