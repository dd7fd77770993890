import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.project_memory import project as project_module
from assay.inference.project_memory.project import Project, ProjectFiles, ProjectTooLarge, project_of
from assay.inference.project_memory.words import being_written

TEXTS = st.lists(st.sampled_from(["a = b\n", "if a:\n", "    b(c)\n", "\n", "c.b(a)\r\n", "  a_b"]), max_size=8).map("".join)
CHANGES = st.lists(st.tuples(st.sampled_from(["x.py", "y.py", "z.py"]), st.none() | TEXTS), max_size=12)


def places(project: Project, line: str) -> set[tuple[str, int, int]]:
    index = project.index
    complete, begun = being_written(line)
    context = [index.words.get(word, -1) for word in complete]
    found = index.places(context, begun, index.words.beginning_with(begun)[0] if begun else [])
    texts, lines = zip(*map(index.line_of, found.at.tolist()), strict=True) if len(found.at) else ((), ())
    return set(zip((project.paths[text] for text in texts), lines, found.matched.tolist(), strict=True))


@given(CHANGES)
def test_a_project_after_changes_is_as_one_made_anew(changes: list[tuple[str, str | None]]) -> None:
    files, changed = dict[str, str](), ProjectFiles()
    for path, text in changes:
        if text is None:
            files.pop(path, None)
            changed.remove(path)
        else:
            files[path] = text
            changed.add(path, text)
    now, anew = changed.project(), project_of(files.items())
    assert sorted(now.paths) == sorted(anew.paths)
    for line in ("a", "a = b", "b(c)", "c.b", "(a"):
        assert places(now, line) == places(anew, line)


def test_a_project_does_not_change_with_the_files_that_it_was_made_of() -> None:
    files = ProjectFiles()
    files.add("x.py", "alpha = beta\n")
    before = files.project()
    files.add("x.py", "gamma = delta\n")
    assert places(before, "alpha")
    assert not places(files.project(), "alpha")


def test_words_that_no_file_has_any_more_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_module, "_MIN_WORDS", 10)
    files = ProjectFiles()
    for number in range(50):
        files.add("x.py", f"only_{number} = kept(here)\n")
    project = files.project()
    assert len(project.index.words.texts) < 15
    assert places(project, "only_49 =") == {("x.py", 0, 2)}


def test_a_project_that_is_too_large_is_refused_with_its_size_and_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_module, "MAX_WORDS", 20)
    files = ProjectFiles()
    files.add("x.py", "a = b\n" * 4)
    with pytest.raises(ProjectTooLarge, match=r"with y\.py the project has 32 words.*at most 20"):
        files.add("y.py", "a = b\n" * 4)
    assert files.project().paths == ("x.py",)


def test_the_file_itself_and_its_near_copies_are_not_others() -> None:
    text = "".join(f"value_{number} = {number * 7}\n" for number in range(30))
    project = project_of([("a.py", text), ("backup/a.py", text + "# old\n"), ("b.py", "import a\n")])
    assert project.others("a.py", text).tolist() == [False, False, True]
    assert project.others("new.py", "import b\n").tolist() == [True, True, True]
