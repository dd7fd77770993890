import numpy as np

from assay.inference.project_memory.project import Copies, shingles_of


def code(seed: int, lines: int = 40) -> str:
    random = np.random.default_rng(seed)
    return "".join(f"value_{number} = {number} + {seed}\n" for number in random.integers(0, 10**6, lines))


def test_a_file_most_of_which_stands_in_another_is_a_near_copy_either_way() -> None:
    text = code(1)
    edited = text.replace("value_", "name_", 5)
    bundle = code(2, 400) + text + code(3, 400)
    copies = Copies([shingles_of(each) for each in (text, edited, bundle, code(4), "")])
    assert copies.of(shingles_of(text)).tolist() == [True, True, True, False, False]
    assert copies.of(shingles_of(bundle)).tolist() == [True, True, True, False, False]


def test_white_space_makes_no_difference_and_order_does() -> None:
    lines = code(1).splitlines()
    indented = "\n\n".join("    " + line for line in lines)
    copies = Copies([shingles_of(indented), shingles_of("\n".join(sorted(lines)))])
    assert copies.of(shingles_of("\n".join(lines))).tolist() == [True, False]


def test_what_many_files_share_makes_no_copies() -> None:
    licence = code(0, 30)
    copies = Copies([shingles_of(licence + code(seed, 10)) for seed in range(1, 30)])
    assert not copies.of(shingles_of(licence + code(99, 4))).any()


def test_an_empty_project_and_an_empty_file_have_no_copies() -> None:
    assert Copies([]).of(shingles_of(code(1))).tolist() == []
    assert Copies([shingles_of(code(1))]).of(shingles_of("")).tolist() == [False]


def test_a_file_that_was_just_begun_is_no_copy_of_those_that_begin_like_it() -> None:
    header = code(0, 12)
    copies = Copies([shingles_of(header + code(seed, 60)) for seed in range(1, 11)])
    assert not copies.of(shingles_of(header)).any()
    assert Copies([shingles_of(header)]).of(shingles_of(header)).all()
