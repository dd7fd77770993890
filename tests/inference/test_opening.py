"""Opening what a user names: options that do not apply, models that are not there, workers, imports."""

import subprocess
import sys
from pathlib import Path

import pytest
from tiny_gguf import write_tiny_gguf

from assay.inference.asking.asker import Message
from assay.inference.errors import (
    AccessRefused,
    AmbiguousModelName,
    BadServerAddress,
    ModelError,
    NoChat,
    NoServerAnswers,
    NoSuchModel,
    OptionDoesNotApply,
    OtherModelServed,
    ServerUnreachable,
    UnusableModel,
)
from assay.inference.opening import EMBEDDED, ModelChoice, ModelOptions, open_asker, open_model, require_same_model

from .chat_server import ChatSpeech, chatting
from .completion_server import Speech, serving

NOBODY = "http://127.0.0.1:9"
HELLO = [Message("user", "x=")]


def test_an_option_of_another_backend_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(
        OptionDoesNotApply, match=r"--device does not apply to .*assay.gguf, which is run by llama.cpp. Its options are --chunk, "
    ):
        open_model(device="cuda")
    with pytest.raises(OptionDoesNotApply, match="--threads does not apply"):
        open_model(tmp_path, threads=2)
    with chatting(ChatSpeech()) as address, pytest.raises(OptionDoesNotApply, match="--context does not apply"):
        open_asker(ModelChoice(address, {"n_ctx": 512}))
    # One that is left to the runtime is no option, and a worker gets one thread of a local model.
    assert ModelChoice(None, {"flash_attention": None}).arguments == []
    assert ModelChoice(None, {"kv_type": "f32"}).on_one_thread().options == {"kv_type": "f32", "threads": 1}
    assert ModelChoice(NOBODY).on_one_thread() == ModelChoice(NOBODY)


def test_a_folder_with_one_gguf_file_is_that_model_and_one_with_several_names_them(tmp_path: Path) -> None:
    deep = tmp_path / "publisher" / "model"
    deep.mkdir(parents=True)
    (deep / "mmproj-f16.gguf").write_bytes(b"GGUF")
    path = write_tiny_gguf(deep / "small.gguf")
    for folder in (tmp_path, deep):
        choice = ModelChoice(str(folder), {"threads": 1})
        assert (choice.located, choice.backend.name) == (path, "llama.cpp")
        with choice.open() as model:
            assert model.fingerprint.name == "tiny"
    other = write_tiny_gguf(deep / "other.gguf")
    with pytest.raises(AmbiguousModelName, match=r"names 2 models\. Give the path of one: .*other\.gguf, .*small\.gguf"):
        open_model(deep)
    other.rename(deep / "other.gguf.part")
    with open_model(deep, threads=1) as model:
        assert model.fingerprint.name == "tiny"
    path.unlink()
    with pytest.raises(UnusableModel, match=r"other\.gguf\.part: its download was not finished"):
        open_model(deep)


def keys_sent(speech: Speech) -> set[str | None]:
    """The keys that a server got, and then no more."""
    keys = {headers.get("Authorization") for headers in speech.headers}
    speech.headers.clear()
    return keys


@pytest.mark.slow
def test_the_environments_key_goes_to_the_first_server_alone(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("ASSAY_API_KEY", "mine")
    first, second = ChatSpeech(), ChatSpeech()
    with chatting(first) as a, chatting(second) as b:
        several = ModelChoice(f"{a},{b}")
        for choice in (several, several.at(a), ModelChoice(a), ModelChoice(None).beside(a), ModelChoice("m.gguf").beside(a)):
            open_asker(choice).close()
            assert keys_sent(first) == {"Bearer mine"}
        for choice in (several.at(b), several.at(b).at(b), several.beside(b), ModelChoice(a).beside(b)):
            open_asker(choice).close()
            assert keys_sent(second) == {None}
        assert f"{b} gets no key: that of ASSAY_API_KEY goes to the first server alone" in caplog.text
        dead_first = ModelChoice(f"{NOBODY},{b}")
        open_asker(dead_first).close()
        assert keys_sent(second) == {None}
    text = Speech(kind="openai")
    with serving(text) as c, ModelChoice(f"{NOBODY},{c}").open() as model:
        assert (keys_sent(text), model.fingerprint.name) == ({None}, "acme/Qwen2.5-Coder-tiny")


def test_a_key_that_is_named_with_an_address_goes_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_API_KEY", "environment")
    (tmp_path / "a").write_text("of-a")
    (tmp_path / "b").write_text("of-b")
    first, second = ChatSpeech(), ChatSpeech()
    with chatting(first) as a, chatting(second) as b:
        both: ModelOptions = {"key_files": {"": str(tmp_path / "a"), f"{b}/v1": str(tmp_path / "b")}}
        for choice in (ModelChoice(f"{a},{b}", both).at(b), ModelChoice(a, both).beside(b), ModelChoice(None, both).beside(b)):
            open_asker(choice).close()
            assert keys_sent(second) == {"Bearer of-b"}
        open_asker(ModelChoice(f"{a},{b}", both)).close()
        assert keys_sent(first) == {"Bearer of-a"}
        open_asker(ModelChoice(a, {"key_files": {b: str(tmp_path / "b")}})).close()
        assert keys_sent(first) == {"Bearer environment"}
        assert ModelChoice(a, both).arguments == ["--model", a, "--key-file", str(tmp_path / "a"), "--key-file", f"{b}/v1={tmp_path / 'b'}"]
        assert ModelChoice(None, both).arguments == []
        assert ModelChoice(prompt_size="small").arguments == ["--prompt-size", "small"]


def test_what_is_not_there_is_told_what_a_model_can_be(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=str(tmp_path / "empty")):
        open_model(tmp_path / "empty")
    for where in (tmp_path / "folder", "organisation/name"):
        with pytest.raises(NoSuchModel, match=r"A model is a \.gguf file, a folder with config\.json or one GGUF model, the"):
            open_model(where)


def test_a_path_goes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    name = "qwen2.5-coder-0.5b"
    (tmp_path / name).mkdir()
    path = write_tiny_gguf(tmp_path / name / "tiny.gguf")
    monkeypatch.chdir(tmp_path)
    assert Path(ModelChoice(name).located).resolve() == path
    assert f"{name}: {tmp_path / name} is used, not the model of that name" in caplog.text


def test_opening_the_embedded_model_imports_neither_torch_nor_an_http_client() -> None:
    script = "import sys; from assay.inference.opening import open_model; open_model(threads=1).close(); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"torch", "transformers", "httpx"} & set(ran.stdout.split())
    assert EMBEDDED.is_file()


def test_several_servers_are_named_with_commas_and_each_counts_once() -> None:
    choice = ModelChoice("http://a:1/v1, https://b/,http://a:1", {"server_model": "m"})
    assert choice.servers == ("http://a:1", "https://b")
    assert choice.at("http://a:1") == ModelChoice("http://a:1", {"server_model": "m"})
    assert ModelChoice("http://a:1/v1").servers == ("http://a:1",)
    assert ModelChoice().servers == ModelChoice("model.gguf").servers == ()


@pytest.mark.parametrize("where", ["http://a:1,", "http://a:1,ftp://b", "http://a:1,model.gguf"])
def test_what_is_no_address_among_several_is_refused(where: str) -> None:
    with pytest.raises(BadServerAddress):
        _ = ModelChoice(where).servers
    with pytest.raises(BadServerAddress):
        open_model(where)


@pytest.mark.slow
def test_servers_of_which_none_answers_are_all_named() -> None:
    with pytest.raises(NoServerAnswers) as error:
        ModelChoice(f"{NOBODY},http://127.0.0.1:7").open()
    assert "\n- http://127.0.0.1:9: can't be reached" in str(error.value)
    assert "\n- http://127.0.0.1:7: can't be reached" in str(error.value)
    with pytest.raises(ServerUnreachable):
        open_asker(ModelChoice(NOBODY))


def test_a_server_that_wants_another_key_is_not_passed_over() -> None:
    with chatting(ChatSpeech(key="secret")) as closed, chatting(ChatSpeech()) as open_, pytest.raises(AccessRefused):
        open_asker(ModelChoice(f"{closed},{open_}"))


def test_a_server_with_chat_is_asked_in_chat_and_one_without_in_text() -> None:
    with chatting(ChatSpeech()) as address, open_asker(ModelChoice(address)) as asker:
        assert (asker.form, asker.say(HELLO)[0].text) == ("chat", "Hello there")
    with serving(Speech(kind="openai", token_names=False)) as address:
        with open_asker(ModelChoice(address)) as asker:
            # Plain text ends with a blank line, behind which this model writes "a", "b", "c", …
            assert (asker.form, asker.say(HELLO, stop=["\n"])[0].text) == ("text", "abc")
        with pytest.raises(NoChat, match="can't be asked in chat"):
            open_asker(ModelChoice(address), "chat")
    with open_asker(ModelChoice(None, {"threads": 1})) as asker:
        assert (asker.form, len(asker.say(HELLO, max_tokens=4)[0].logprobs or ())) == ("text", 4)
    with pytest.raises(NoChat, match=r"the embedded model: can't be asked in chat \(it has no chat template\)"):
        open_asker(ModelChoice(), "chat")


def test_servers_that_share_calls_serve_one_model() -> None:
    with (
        chatting(ChatSpeech()) as one,
        chatting(ChatSpeech()) as two,
        chatting(ChatSpeech(models=("acme/other",))) as three,
        open_asker(ModelChoice(one)) as first,
        open_asker(ModelChoice(two)) as same,
        open_asker(ModelChoice(three)) as other,
    ):
        require_same_model(same, two, first, one)
        with pytest.raises(OtherModelServed, match=f"{three}: serves acme/other .*, and {one} serves acme/chat-tiny"):
            require_same_model(other, three, first, one)
