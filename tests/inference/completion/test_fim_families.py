from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.completion.fim_families import FAMILIES, Family, end_tokens, family_named, family_of, lay_out, prefix_parts

FULL = [(family, {spelling: 1000 + i for i, spelling in enumerate((*family.controls, *family.marks))}) for family in FAMILIES]
NAMES = [family.name for family in FAMILIES]


@pytest.mark.parametrize(("family", "vocabulary"), FULL, ids=NAMES)
def test_a_family_is_known_by_its_vocabulary_and_name(family: Family, vocabulary: dict[str, int]) -> None:
    assert family_of(vocabulary.get, family.names[0]) is family_of(vocabulary.get) is family
    assert family_named(f"Someone/{family.names[0].upper()}-7b-base") is family


def test_a_name_alone_tells_a_family_only_where_all_models_of_that_name_are_of_it() -> None:
    assert family_named("ibm-granite/granite-8b-code-base-4k") is FAMILIES[NAMES.index("starcoder")]
    assert family_named("ibm-granite/granite-4.0-h-small") is None
    assert family_named("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("starcoder", ["<fim_prefix>", "P", "<fim_suffix>", "S", "<fim_middle>", "L"]),
        ("starcoder2", ["<fim_prefix>", "P", "<fim_suffix>", "S", "<fim_middle>", "L"]),
        ("santacoder", ["<fim-prefix>", "P", "<fim-suffix>", "S", "<fim-middle>", "L"]),
        ("qwen2.5-coder", ["<|fim_prefix|>", "P", "<|fim_suffix|>", "S", "<|fim_middle|>", "L"]),
        ("codegemma", ["<bos>", "<|fim_prefix|>", "P", "<|fim_suffix|>", "S", "<|fim_middle|>", "L"]),
        ("deepseek-coder", ["<｜begin▁of▁sentence｜>", "<｜fim▁begin｜>", "P", "<｜fim▁hole｜>", "S", "<｜fim▁end｜>", "L"]),
        ("codellama", ["<s>", "▁<PRE>", "P", "▁<SUF>", "S", "▁<MID>", "L"]),
        ("codestral", ["<s>", "[SUFFIX]", "S", "[PREFIX]", "P"]),
        ("assay", ["<|fim_prefix|>", "<|fim_suffix|>", "S", "<|fim_middle|>", "P"]),
    ],
)
def test_a_prompt_is_laid_out_as_its_source_says(name: str, expected: list[str]) -> None:
    family, vocabulary = FULL[NAMES.index(name)]
    spellings = {token: spelling for spelling, token in vocabulary.items()}
    tokens = lay_out(family, vocabulary.get, [1], [2], [3])
    assert [{1: "P", 2: "S", 3: "L"}.get(token) or spellings[token] for token in tokens] == expected
    assert family.layout == ("anchored" if "L" in expected else "spm")


def test_a_vocabulary_without_such_tokens_has_no_family() -> None:
    assert family_of({"<|endoftext|>": 0, "<s>": 1, "[PREFIX]": 2}.get, "codestral") is None
    assert family_named("gpt2") is None
    family, vocabulary = FULL[NAMES.index("santacoder")]
    assert family_of(vocabulary.get, "starcoder2-santa-qwen2.5-coder") is family, "a name decides nothing against the vocabulary"


def test_what_ends_a_text_is_every_control_token_that_the_vocabulary_has() -> None:
    family, vocabulary = FULL[NAMES.index("codellama")]
    assert end_tokens(family, vocabulary.get) >= {vocabulary["▁<EOT>"], vocabulary["</s>"], vocabulary["▁<MID>"]}
    vocabulary.pop("▁<EOT>")
    assert len(end_tokens(family, vocabulary.get)) == len(vocabulary)


LINES = st.lists(st.text("ab .("), max_size=4).map("\n".join)


@given(LINES)
def test_what_is_typed_on_a_line_changes_only_the_end_of_an_anchored_prompt(prefix: str) -> None:
    def split(text: str) -> tuple[str, str]:
        return text[:-1], text[-1:]

    above, line, held = prefix_parts(prefix, "anchored", None, split)
    assert above + line + held == prefix
    assert above == prefix_parts(f"{prefix}x", "anchored", None, split)[0]
    assert (above + "\n").endswith("\n\n" if above else "\n")
    assert "\n" not in line + held
    begun = len(prefix) // 2
    assert len(prefix_parts(prefix, "anchored", begun, split)[0]) == len(prefix) - begun
    assert prefix_parts(prefix, "spm", None, split) == (prefix[:-1], "", prefix[-1:])
