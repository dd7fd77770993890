from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from llama_server import EXACT, HOW_TO_BUILD, is_built, running
from tiny_gguf import TinyModel, write_tiny_gguf
from tiny_hf import family_tokenizer, write_tiny_hf
from tiny_models import OpenTiny, open_exact

from assay.inference.completion.context import Excerpt
from assay.inference.completion.fim_families import FAMILIES, Family, in_front
from assay.inference.completion.prompt import Context, Surroundings, context_at, prompt_at
from assay.inference.completion.settings import Settings
from assay.inference.hf.folder import read_folder
from assay.inference.hf.tokenizer import TextTokenizer
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Prompt
from assay.inference.remote.model import RemoteModel
from assay.inference.stopping.stop import LINE
from assay.suggestion.complete import complete
from assay.suggestion.context_report import context_json, context_text

from .completion_server import PRE, Speech, serving

EXTRA = (("lib/a.py", "A = 1\n"), ("b.py", "B = 2"))
BY_NAME = {family.name: family for family in FAMILIES}
HOLDING = ("qwen2.5-coder", "starcoder2", "codegemma")
AS_TEXT = "# lib/a.py\nA = 1\n\n# b.py\nB = 2\n\n# main.py\n"


@dataclass(frozen=True)
class TinyCoder(TinyModel):
    """With the token that stands before each file in the vocabulary of Qwen2.5-Coder."""

    @property
    def control(self) -> tuple[str, ...]:
        return (*super().control, "<|file_sep|>")


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("qwen2.5-coder", "<|file_sep|>lib/a.py\nA = 1\n<|file_sep|>b.py\nB = 2\n<|file_sep|>main.py\n"),
        ("starcoder2", "<file_sep>A = 1\n<file_sep>B = 2\n<file_sep>"),
        ("codegemma", "lib/a.py\nA = 1\n<|file_separator|>b.py\nB = 2\n<|file_separator|>main.py\n"),
    ],
)
def test_a_family_that_knows_of_other_files_sees_them_as_it_was_trained_to(name: str, spelled: str) -> None:
    assert in_front(BY_NAME[name], lambda _: 1, EXTRA, "main.py").spelled == spelled
    assert in_front(BY_NAME[name], None, EXTRA, "main.py").text == ""


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_folder_of_each_family_lays_them_out(tmp_path: Path, family: Family) -> None:
    folder = write_tiny_hf(tmp_path / "m", tokenizer=family_tokenizer(family.name), name=f"some-{family.names[0]}")
    tokenizer = TextTokenizer(read_folder(folder))
    told = b"".join(map(tokenizer.spelled, tokenizer.fim("x = 1\n", "\n", EXTRA, "main.py").tokens)).decode()
    alone = b"".join(map(tokenizer.spelled, tokenizer.fim("x = 1\n", "\n").tokens)).decode()
    if family.name in HOLDING:
        first = family.first or ""
        assert told == first + in_front(family, None, EXTRA, "main.py").spelled + alone.removeprefix(first)
    else:
        assert told == alone.replace("x = 1", AS_TEXT + "x = 1")


def test_a_gguf_lays_them_out_by_the_tokens_that_it_has(open_tiny: OpenTiny) -> None:
    coder, plain, left = (open_tiny(model) for model in (TinyCoder(), TinyModel(), TinyModel(fim=False)))
    front = "<|file_sep|>lib/a.py\nA = 1\n<|file_sep|>b.py\nB = 2\n<|file_sep|>main.py\n"
    middle = "<|fim_suffix|>\n<|fim_middle|>"
    assert coder.prompt_text(coder.fim("x\n", "\n", EXTRA, "main.py")) == f"{front}<|fim_prefix|>x\n{middle}"
    assert plain.prompt_text(plain.fim("x\n", "\n", EXTRA, "main.py")) == f"<|fim_prefix|>{AS_TEXT}x\n{middle}"
    assert left.prompt_text(left.fim("x\n", "\n", EXTRA, "main.py")) == f"{AS_TEXT}x"
    controls = {coder.control(name) for name in TinyCoder().control}
    tokens = coder.fim("x", "", (("<|file_sep|>.py", "'<|fim_middle|>'\n"),), "<|fim_prefix|>").tokens
    assert sum(token in controls for token in tokens) == 5, "a piece that spells a control token stays text"


def test_a_server_that_takes_text_gets_them_spelled_and_one_that_takes_tokens_as_text() -> None:
    speech = Speech(kind="openai", token_names=False)
    with serving(speech) as address, RemoteModel(address, context_length=400) as model:
        assert model.fim("x", "y", EXTRA, "main.py") == Prompt((), "anchored", ("x", "y"), EXTRA, "main.py", begun=1)
        model.generate(model.fim("x\nz", "y", (*EXTRA, ("c.py", "<|fim_suffix|>")), "main.py"), stop=LINE, max_tokens=2)
    assert speech.asked[-1][2]["prompt"] == (
        "<|file_sep|>lib/a.py\nA = 1\n<|file_sep|>b.py\nB = 2\n<|file_sep|>main.py\n<|fim_prefix|>x\n<|fim_suffix|>y<|fim_middle|>z"
    )
    with serving(Speech(kind="vllm")) as address, RemoteModel(address) as model:
        tokens = model.fim("x\nz", "y", EXTRA, "main.py").tokens
    assert bytes(token for token in tokens if token > 8).decode() == f"{AS_TEXT}x\ny"
    assert tokens[0] == PRE


@pytest.mark.slow
@pytest.mark.skipif(not is_built(), reason=HOW_TO_BUILD)
def test_a_llama_server_lays_out_what_the_runtime_here_does_and_takes_them_where_it_does_so_itself(tmp_path: Path) -> None:
    # Of this seed the tokens that come next are whole characters, which a server tells of.
    path = write_tiny_gguf(tmp_path / "coder.gguf", TinyCoder(seed=1))
    whole = (("lib/a.py", "A = 1\n"), ("b.py", "B = 2\n"))
    # A server gives other files what its context has beyond a batch.
    small_batch = ("--batch-size", "64", "--ubatch-size", "64")
    with (
        running(path, *EXACT, *small_batch) as address,
        RemoteModel(address) as remote,
        RemoteModel(address, layout="infill") as infill,
        open_exact(path) as local,
    ):
        assert remote.fim("x", "\n", EXTRA, "main.py") == local.fim("x", "\n", EXTRA, "main.py")
        asked = infill.fim("", "\n", whole, "main.py")
        assert asked == Prompt((), "infill", ("", "\n"), whole)
        alone, beside = (infill.generate(prompt, stop=LINE, max_tokens=1) for prompt in (infill.fim("", "\n"), asked))
        # It calls every file that is completed "filename".
        here = local.generate(local.fim("", "\n", whole, "filename"), stop=LINE, max_tokens=1)
    assert [token.id for token in beside.tokens] == [token.id for token in here.tokens]
    assert beside.tokens[0].logprob == pytest.approx(here.tokens[0].logprob, abs=1e-3)
    assert beside.tokens[0].logprob != pytest.approx(alone.tokens[0].logprob, abs=1e-3)


BIG = "".join(f"name_{number} = {number}\n" for number in range(300))
WIDE = Settings(prefix_tokens=100, suffix_tokens=50, head_tokens=30, extra_tokens=60)


def test_each_part_is_shown_as_far_as_its_budget_goes(tiny: LlamaModel) -> None:
    surroundings = Surroundings(path="main.py", extra=(("a.py", "A = 1\r\n" * 3), ("b.py", BIG), ("c.py", "C\n")))
    context = context_at(tiny, "import os\n\n\ndef f():\n" + BIG, BIG, settings=WIDE, surroundings=surroundings)
    assert context.document.head == "import os\n"
    assert context.extra[0] == ("a.py", "A = 1\n" * 3)
    assert [path for path, _ in context.extra] == ["a.py", "b.py"]
    assert context.left_out == ("c.py",)
    assert len(tiny.tokenize(context.document.before)) <= 100
    prompt = prompt_at(tiny, "import os\n\n\ndef f():\n" + BIG, BIG, settings=WIDE, surroundings=surroundings)
    assert len(prompt.tokens) <= WIDE.shown_tokens + 3
    assert prompt_at(tiny, BIG, BIG, surroundings=surroundings) == prompt_at(tiny, BIG, BIG), "with no budget they change nothing"
    assert len({replace(Settings(), **more).fingerprint("spm", 4096) for more in ({}, {"head_tokens": 9}, {"extra_tokens": 9})}) == 3


@pytest.mark.parametrize("length", [64, 512])
def test_a_context_of_any_length_holds_what_is_shown_and_written(open_tiny: OpenTiny, length: int) -> None:
    model = open_tiny(TinyCoder(context_length=length))
    wide = Settings(head_tokens=100, extra_tokens=300)
    around = Surroundings(path="main.py", extra=(("a.py", BIG), ("b.py", BIG)))
    generation = complete(model, "import os\n" + BIG, BIG, settings=wide, surroundings=around)
    assert generation.timings.prompt_tokens + len(generation.tokens) <= length


def test_a_context_is_told_piece_by_piece(tiny: LlamaModel) -> None:
    context = Context(Excerpt("import os\n", "x = ", "\n"), "main.py", EXTRA[:1], ("b.py",))
    prompt = tiny.fim(context.document.before, context.document.suffix, context.extra, context.path)
    told: dict[str, Any] = context_json(context, lambda text: len(tiny.tokenize(text)), prompt, tiny.prompt_text(prompt), Settings())
    assert told["head"] == {"tokens": len(tiny.tokenize("import os\n")), "text": "import os\n"}
    assert told["extra"] == [{"path": "lib/a.py", "tokens": len(tiny.tokenize("A = 1\n")), "text": "A = 1\n"}]
    assert told["leftOut"] == [{"path": "b.py", "reason": "budget"}]
    assert told["prompt"]["tokens"] == len(prompt.tokens)
    assert told["prompt"]["text"].endswith("import os\n\n<|fim_suffix|>\n<|fim_middle|>x =")
    assert told["prompt"]["held"] == " "
    said = context_text(told)
    assert said.endswith(told["prompt"]["text"])
    assert "left out: b.py (budget)" in said
    assert 'held back and written again first: " "' in said
    # A prompt that only a server can spell is told by its pieces.
    told = context_json(Context(Excerpt("", "x = ", "\n"), "", (), ()), len, Prompt((), "infill", ("x = ", "\n")), None, Settings())
    assert told["prompt"] == {"layout": "infill", "tokens": None, "text": None, "held": ""}
    assert "--- prefix\nx = " in context_text(told)
