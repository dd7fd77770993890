"""Asking models of this process by their own chat templates, which are strangers' programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_cpp.llama_chat_format import Jinja2ChatFormatter
from tiny_gguf import END, FIM_PREFIX, TinyModel, scripted, write_tiny_gguf
from tiny_hf import byte_level, sentencepiece, write_tiny_hf
from tiny_models import open_exact
from tokenizers import Tokenizer

from assay.inference.asking.asker import Asker, Message, alternatives_behind
from assay.inference.asking.template import ChatTemplate
from assay.inference.chat_format import ChatFormat
from assay.inference.errors import ContextTooLong, NoChat
from assay.inference.hf.model import HFModel
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import StopReason
from assay.inference.opening import ModelChoice, open_asker

HERE = Path(__file__).parent
KEY = "tokenizer.chat_template"
# As most models have it, with the control tokens of the tiny ones.
TURNS = (
    "{% for message in messages %}{{ '<|fim_prefix|>' + message.role + '\n' + message.content + '<|endoftext|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|fim_prefix|>assistant:' }}{% endif %}"
)
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('No system here') }}{% endif %}" + TURNS
ASK = [Message("user", "Is it right?")]
TALKS = [
    ASK,
    [Message("system", "Be brief."), *ASK],
    [*ASK, Message("assistant", "Yes.\n"), Message("user", "  And {{ this }}? {% if %}\n")],
    [Message("system", "Be brief."), *ASK, Message("assistant", "[ANSWER]")],
]


@pytest.fixture
def templates() -> Iterator[Callable[..., ChatTemplate]]:
    opened = []

    def made(template: str, named: Mapping[str, str] | None = None, seconds: float = 60.0) -> ChatTemplate:
        bytes_of: Callable[[str, bool], list[int]] = lambda text, _: list(text.encode())  # noqa: E731
        opened.append(ChatTemplate(ChatFormat(template, named or {}, {}, (), bytes_of, hashed=True), "tiny", seconds))
        return opened[-1]

    yield made
    for each in opened:
        each.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LlamaModel, ChatTemplate]]:
    path = write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf", TinyModel(metadata={KEY: TURNS}))
    with open_exact(path) as model:
        assert model.chat_format is not None
        template = ChatTemplate(model.chat_format, "tiny", 60.0)
        yield model, template
        template.close()


def asked(folder: Path, *pieces: bytes, template: str = TURNS, form: str | None = None) -> Asker:
    """A model with this template that writes these pieces behind ":"."""
    model = replace(scripted(*pieces, prompt=b":", fim=True), metadata={KEY: template})
    return open_asker(ModelChoice(str(write_tiny_gguf(folder / "tiny.gguf", model)), {"threads": 1}), form)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["qwen2.5", "smollm2"])
def test_a_prompt_is_what_llama_cpp_python_makes(name: str, templates: Callable[..., ChatTemplate]) -> None:
    text = (HERE / f"{name}.jinja").read_bytes().decode()
    template = templates(text, {"bos_token": "<|endoftext|>", "eos_token": "<|im_end|>"})
    for talk in TALKS:
        *before, last = talk
        told, begun = (before, last.text) if last.role == "assistant" else (talk, "")
        messages = [{"role": message.role, "content": message.text} for message in told]
        expected = Jinja2ChatFormatter(text, "<|im_end|>", "<|endoftext|>")(messages=messages).prompt  # type: ignore[arg-type]
        assert template.text(talk) == expected + begun


@pytest.mark.parametrize(
    "text",
    [
        "  {% for message in messages %}\n  {% if loop.index > 1 %}{% break %}{% endif %}\n  {{ message | tojson }}\n{% endfor %}\n",
        "{{ bos_token }}{% generation %}{{ messages[0].content | trim }}{% endgeneration %}",
        "{% set last = namespace(text='') %}{% for each in messages %}{% set last.text = each.content %}{% endfor %}{{ last.text }}",
        "{{ dict(a=messages[0].content)['a'] }} {{ strftime_now('%Y') | length }}",
    ],
)
def test_what_templates_use_is_there(text: str, templates: Callable[..., ChatTemplate]) -> None:
    messages = [{"role": "user", "content": "<b> 'ü' & "}]
    expected = Jinja2ChatFormatter(text, "", "<s>")(messages=messages).prompt  # type: ignore[arg-type]
    assert templates(text, {"bos_token": "<s>"}).text([Message("user", "<b> 'ü' & ")]) == expected


@given(st.lists(st.sampled_from(["<", "<|", END, FIM_PREFIX, "|>", "endoftext", " a", "\n", "ü", "\U000f0000", "\ud800"])).map("".join))
def test_what_spells_a_control_token_stays_text(plain: tuple[LlamaModel, ChatTemplate], text: str) -> None:
    model, template = plain
    asked, begun = Message("user", text), Message("assistant", text)
    tokens = template.prompt([asked, begun, asked, begun]).tokens
    controls = [token for token in tokens if not model.token_bytes(token)]
    begins, ends = model.control(FIM_PREFIX), model.control(END)
    assert controls == [begins, ends] * 3 + [begins]
    read = text.encode("utf-8", "replace").decode()
    assert model.prompt_text(template.prompt([asked, begun])).endswith(f"<|fim_prefix|>user\n{read}{END}\n<|fim_prefix|>assistant:{read}")


def test_tokens_are_those_of_the_whole_text(tmp_path: Path) -> None:
    # As `apply_chat_template` tokenizes: llama.cpp and tokenizers find the control tokens themselves.
    template = TURNS.replace(FIM_PREFIX, "<s>").replace(END, "</s>")
    kinds = [(byte_level(("<|fim_prefix|>",)), TURNS)]
    kinds += [(sentencepiece(legacy=legacy), text) for legacy in (True, False) for text in (template, template.replace("<s>", ""))]
    for number, (tokenizer, text) in enumerate(kinds):
        folder = write_tiny_hf(
            tmp_path / str(number), tokenizer=tokenizer, tokenizer_config={"chat_template": text, "add_bos_token": False}
        )
        with HFModel(folder, device="cpu") as model:
            assert model.chat_format is not None
            made = ChatTemplate(model.chat_format, "tiny", 60.0)
            expected = Tokenizer.from_str(tokenizer).encode(made.text(TALKS[2]), add_special_tokens=False).ids
            assert list(made.prompt(TALKS[2]).tokens)[-len(expected) :] == expected
            made.close()


def test_a_prompt_begins_with_the_beginning_once(tmp_path: Path) -> None:
    for number, (text, add) in enumerate([(TURNS, True), ("{{ bos_token }}" + TURNS, True), (TURNS, False)]):
        path = write_tiny_gguf(tmp_path / f"{number}.gguf", TinyModel(add_bos=add, metadata={KEY: text}))
        with open_exact(path) as model:
            assert model.chat_format is not None
            made = ChatTemplate(model.chat_format, "tiny", 60.0)
            begins, ends = model.control(FIM_PREFIX), model.control(END)
            assert made.prompt(ASK).tokens[:2] == ((ends, begins) if add else (begins, model.tokenize("user\n")[0]))
            made.close()


def test_a_system_message_goes_to_the_user_where_the_template_has_no_place(templates: Callable[..., ChatTemplate]) -> None:
    for text in (
        NO_SYSTEM,
        "{% for message in messages if message.role != 'system' %}{{ message.role }}: {{ message.content }}{% endfor %}",
    ):
        assert "user" in (made := templates(text).text(TALKS[1]))
        assert "Be brief.\n\nIs it right?" in made
    assert "system\nBe brief.<|endoftext|>" in templates(TURNS).text(TALKS[1])


def test_an_answer_ends_where_the_template_goes_on_in_text(templates: Callable[..., ChatTemplate]) -> None:
    text = "{% for message in messages %}\n\n### {{ message.role }}:\n{{ message.content }}{% endfor %}\n\n### assistant:\n"
    assert templates(text).stop == ("### user:",)
    assert templates("{{ messages[0].content }}").stop == ()
    assert templates("{{ messages[0].content }}{{ raise_exception('no') if messages | length > 1 }}").stop == ()


BOMBS = {
    "{% if": "line 1: unexpected 'end of template'",
    "{{ raise_exception('Roles must\x1b[2J alternate') }}": r"fails: Roles must \[2J alternate\)",
    "{{ 1 + 'a' }}": "TypeError: unsupported operand",
    "{{ messages.__class__.__mro__ }}": "is unsafe",
    "{% for a in range(1000000000) %}{% endfor %}": "Range too big",
    "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}": "it calls itself without end",
    "{% for a in range(99999) %}{{ 'much' * 99999 }}{% endfor %}": "it writes more than 4,194,304 characters",
    "{{ 10 ** (10 ** 10) }}": "it (is not done after 0.5 seconds|takes more than 512 MB)",
    "{% for a in range(99999) %}{% for a in range(99999) %}{% endfor %}{% endfor %}": "it is not done after 0.5 seconds",
}


@pytest.mark.parametrize("text", BOMBS)
def test_a_template_that_fails_or_does_not_end_is_told_each_time(text: str, templates: Callable[..., ChatTemplate]) -> None:
    bomb = templates(text, seconds=0.5 if "not done" in BOMBS[text] else 60.0)
    for _ in range(2):
        with pytest.raises(NoChat, match=f"^tiny: can't be asked in chat .*{BOMBS[text]}"):
            bomb.text(ASK)


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is bounded on Linux alone")
@pytest.mark.parametrize("text", ["{{ 'much' * 10000000000 }}", "{{ '%5000000000d' % 1 }}"])
def test_a_template_does_not_take_gigabytes(text: str, templates: Callable[..., ChatTemplate]) -> None:
    with pytest.raises(NoChat, match="it takes more than 512 MB of memory"):
        templates(text).text(ASK)


def test_a_gguf_with_a_template_is_asked_in_chat(tmp_path: Path) -> None:
    with asked(tmp_path, b"Yes", b"[", b"/A] no") as asker:
        (begun,) = asker.say([*ASK, Message("assistant", "[A]:")], stop=["[/A]"], max_tokens=9)
        with pytest.raises(ContextTooLong, match="context holds 512"):
            asker.say([Message("user", "x" * 600)])
    assert (begun.text, begun.given, [token.text for token in begun.tokens]) == ("[A]:Yes[/A]", len("[A]:"), ["Yes"])
    with asked(tmp_path, b" ", b"Yes", b"<|endoftext|>") as asker:
        (said,) = asker.say(ASK, max_tokens=9, top_logprobs=2)
        several = asker.say(ASK, n=3, temperature=2.0, seed=4, max_tokens=9)
        alone = [asker.say(ASK, temperature=2.0, seed=seed, max_tokens=9)[0] for seed in (4, 5, 6)]
    assert (asker.form, said.text, said.stopped_by) == ("chat", " Yes", StopReason.END)
    assert [token.text for token in said.tokens] == [" ", "Yes"]
    # Of each token, as a server tells them.
    assert [(len(token.top), token.top[0].text) for token in said.tokens] == [(2, " "), (2, "Yes")]
    assert said.tokens[1].top[0].logprob == pytest.approx(said.tokens[1].logprob, abs=1e-4)
    assert alternatives_behind(replace(said, text="[A] Yes", given=3), "[A]")[0].text == "Yes"
    assert [one.text for one in several] == [one.text for one in alone]


def test_plain_text_is_for_who_wants_it_and_for_models_whose_template_is_none(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with asked(tmp_path, b"Yes", form="text") as asker:
        assert asker.form == "text"
    with asked(tmp_path, b"Yes", template=" ") as asker:
        assert asker.form == "text"
    with pytest.raises(NoChat, match=r"it has no chat template\). Take a model that has a chat template, or ask in plain text"):
        asked(tmp_path, b"Yes", template=" ", form="chat")
    with pytest.raises(NoChat, match=r"tiny\.gguf: can't be asked in chat \(its chat template fails: no\)\. .* \(--ask text\)\."):
        asked(tmp_path, b"Yes", template="{{ raise_exception('no') }}")
    asked(tmp_path, b"Yes", template="{{ raise_exception('no') }}", form="text").close()
    with asked(tmp_path, b"Yes", template="Hello:") as asker:
        assert asker.form == "text"
    assert [record.message for record in caplog.records] == [
        f"assay: {tmp_path / 'tiny.gguf'}: its chat template leaves out what the user asks, so it is asked in plain text."
    ]
    with pytest.raises(NoChat, match="its chat template leaves out what the user asks"):
        asked(tmp_path, b"Yes", template="Hello:", form="chat")


def test_a_folder_is_asked_by_its_template_which_is_a_part_of_what_it_is(tmp_path: Path) -> None:
    def asker(name: str, said: object, file: str = "") -> Asker:
        settings = {"tokenizer": byte_level((FIM_PREFIX,)), "script": (b":", b"Y", b"e", b"s", END.encode())}
        folder = write_tiny_hf(tmp_path / name, tokenizer_config={"chat_template": said}, **settings)  # type: ignore[arg-type]
        if file:
            (folder / "chat_template.jinja").write_text(file, encoding="utf-8")
        return open_asker(ModelChoice(str(folder), {"device": "cpu", "dtype": "float32"}))

    several = [{"name": "rag", "template": "x"}, {"name": "default", "template": TURNS}]
    with asker("one", TURNS) as one, asker("several", several) as same, asker("file", "x", NO_SYSTEM) as other:
        for each in (one, same, other):
            assert (each.form, each.say(ASK, max_tokens=9)[0].text) == ("chat", "Yes")
        assert one.fingerprint.id == same.fingerprint.id != other.fingerprint.id
