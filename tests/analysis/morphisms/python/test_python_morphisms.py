from __future__ import annotations

import random

import pytest
from analyzed_program import PROGRAM

from assay.analysis.bugs import KINDS, bug
from assay.analysis.morphisms.morphism import Morphism, Refused, rewrite, rewrite_somewhere
from assay.analysis.morphisms.registry import morphism, morphisms
from assay.analysis.text_edits import Edit, changed_span, edited

ALL = [*morphisms("python", equivalent=True), *morphisms("python", equivalent=False), *(bug(kind) for kind in KINDS)]


def everywhere(one: Morphism, source: str) -> list[str]:
    """What the morphism makes of a source at each of its sites where it applies."""
    made = []
    for site in one.sites(source):
        try:
            made.append(one.apply(source, site, random.Random(0)))
        except Refused:
            continue
    return made


def in_function(body: str, head: str = "def f(a, b):") -> str:
    return head + "\n" + "".join(f"    {line}\n" for line in body.split("\n"))


VARIANTS = {"\n": PROGRAM, "\r\n": PROGRAM.replace("\n", "\r\n"), "mark, tabs": "\ufeff" + PROGRAM.replace("    ", "\t").rstrip("\n")}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("one", ALL, ids=lambda r: r.name)
def test_what_is_outside_of_the_change_comes_back_as_it_was(one: Morphism, variant: str) -> None:
    source = VARIANTS[variant]
    sites = one.sites(source)
    assert sites == sorted(sites, key=lambda s: s.start)
    for site in sites:
        try:
            step = rewrite(one, source, site, random.Random(1))
        except Refused:
            continue
        after = step.of(source)
        compile(after.removeprefix("\ufeff"), "after", "exec")
        assert after == one.apply(source, site, random.Random(1))
        assert after.startswith(source[: step.start])
        assert after.endswith(source[step.end :])
        # the string that looks like code, its second line, and each line end are those of the file
        assert "kept as it is" in after
        assert after.count("\n    kept") == source.count("\n    kept")
        assert "Not code:" in after
        if variant == "\r\n":
            assert "\n" not in after.replace("\r\n", "")


@pytest.mark.parametrize(
    ("source", "after"),
    [
        ("def f(n: int):\n    if(n) < 0:\n        return 1\n", "    if 0 > (n):\n"),
        ("def f(n: int):\n    return 2 if n < (0)else 3\n", "2 if (0) > n else 3\n"),
    ],
)
def test_words_that_a_change_brings_together_stay_apart(source: str, after: str) -> None:
    (changed,) = everywhere(morphism("reorder_condition", "python"), source)
    assert after in changed
    compile(changed, "", "exec")


def test_edits_are_made_in_offsets_of_the_source_and_never_overlap() -> None:
    assert edited("abc", [Edit(2, 3, "C"), Edit(0, 0, "("), Edit(0, 0, "["), Edit(0, 1, "A")]) == "([AbC"
    with pytest.raises(ValueError, match="overlap at character 1"):
        edited("abc", [Edit(0, 2, ""), Edit(1, 3, "")])


def test_a_morphism_without_a_place_refuses() -> None:
    with pytest.raises(Refused, match="finds no place"):
        rewrite_somewhere(morphism("remove_else", "python"), "x = 1\n", random.Random(0))


@pytest.mark.parametrize(
    ("name", "source", "what", "reason"),
    [
        # a variable that others may know by name keeps it
        ("rename_variable", in_function("return a"), "a", "keyword"),
        ("rename_variable", in_function("x = 1\nreturn locals()"), "x", "locals"),
        ("rename_variable", in_function("x = 1\nreturn f'{x=}'"), "x", "f-string"),
        ("rename_variable", in_function("import x"), "x", "import"),
        ("rename_variable", in_function("__x = 1"), "__x", "mangled"),
        ("rename_variable", in_function("def g(x): return x\nreturn g(x=1)"), "x", "keyword"),
        # a variable is negated only where it is a bool everywhere
        ("boolean_exchange", in_function("p = True\np = a"), "p", "may be something else"),
        ("boolean_exchange", in_function("p = True\ndef g():\n    nonlocal p\n    p = a"), "p", "may be something else"),
        ("boolean_exchange", in_function("p = True\nfor p in a: pass"), "p", "bound by for"),
        ("boolean_exchange", in_function("p = q = True\np = False"), "p", "can't be negated"),
        ("boolean_exchange", in_function("p = True\np -= True"), "p", "gives no bool"),
        ("boolean_exchange", in_function("p = True\neval('p')"), "p", "eval"),
        ("boolean_exchange", in_function("p = True\nmatch a:\n    case p.real: pass"), "p", "pattern"),
        # a loop whose exchange could be seen is left
        ("loop_exchange", "for x in y:\n    pass\n", "", "outside of a function"),
        ("loop_exchange", in_function("async for x in a:\n    pass", "async def f(a):"), "", "async"),
        ("loop_exchange", in_function("while a:\n    break\nelse:\n    b()"), "", "else of a while"),
        ("loop_exchange", in_function("for x in a: pass"), "", "begin a line"),
        ("loop_exchange", in_function("iter = 1\nfor x in a:\n    pass"), "", "iter"),
        ("loop_exchange", in_function("for x in a:\n    vars()"), "", "vars"),
        # a pattern that no expression says is left
        ("match_to_if", in_function("match a:\n    case [x, y]:\n        pass"), "", "looks into"),
        ("match_to_if", in_function("match a:\n    case Other():\n        pass"), "", "something else"),
        ("match_to_if", in_function("match a:\n    case (1 as x) | (2 as x):\n        pass"), "", "inside of a pattern"),
        ("match_to_if", in_function("match a:\n    case 1 as x if x:\n        pass"), "", "guard"),
        # a condition is not reordered where that could be seen
        ("reorder_condition", in_function("if a < b: pass"), "<", "not certain"),
        ("reorder_condition", in_function("if a() == b(): pass"), "==", "order shows"),
        ("reorder_condition", in_function("if 1 < a < 2: pass"), "<", "chain"),
        ("reorder_condition", in_function("if a and b: pass"), "and", "truth"),
        ("reorder_condition", in_function("if a() or b is None: pass"), "or", "not always evaluated"),
        ("reorder_condition", in_function("x = 1\nif x == (x := len(a)): pass"), "==", "order shows"),
        ("reorder_condition", in_function("f'{(2 if a == 1 else 3)=}'"), "==", "f-string"),
        ("reorder_condition", in_function("if (1  # one\n    == a): pass"), "==", "comment"),
        # statements that depend on each other keep their order: the last two
        ("permute_statements", in_function("a()\nb()"), "", "does more than bind"),
        ("permute_statements", in_function("x = 1\ny = x"), "", "uses what"),
        ("permute_statements", in_function("x = a\na = b()"), "", "binds what"),
        ("permute_statements", in_function("x = a.b\ny = b()"), "", "may raise or have an effect"),
        ("permute_statements", in_function("try:\n    x = 1\n    a()\nexcept E:\n    return x"), "", "inside a try"),
        ("permute_statements", in_function("def g(): return x\nx = 1\ng()"), "", "another function"),
        ("permute_statements", in_function("x = open(a)\nif a:\n    x = None\n    a()"), "", "drops a value"),
        ("permute_statements", in_function("x = 1\n# about a\na()"), "", "comment stands between"),
    ],
)
def test_a_morphism_refuses_where_the_rewrite_could_be_seen(name: str, source: str, what: str, reason: str) -> None:
    one = morphism(name, "python")
    sites = [site for site in one.sites(source) if not what or site.what == what]
    with pytest.raises(Refused) as caught:
        one.apply(source, sites[-1 if name == "permute_statements" else 0], random.Random(0))
    assert reason in str(caught.value)


def test_names_that_are_no_local_variables_are_no_sites_for_renaming() -> None:
    source = "x = 1\nclass C:\n    y = 2\n    def m(self):\n        global z\n        z = self.x\n        f(x=y)\n"
    assert {site.what for site in morphism("rename_variable", "python").sites(source)} == {"self"}


def test_renaming_reaches_closures_comprehensions_walrus_targets_deletions_and_captures_and_nothing_else() -> None:
    body = (
        "x = a.x\ndef g():\n    nonlocal x\n    x += 1\n    return lambda: x\n[(x := n) for n in b]\nmatch a:\n"
        "    case {'x': x}:\n        del x\nclass C:\n    x = x\n    y = [x]\nf(x=f'{x!r:>{x}}')\nfor x in b: pass"
    )
    source = in_function(body)
    site = next(s for s in morphism("rename_variable", "python").sites(source) if s.what == "x")
    after = morphism("rename_variable", "python").apply(source, site, random.Random(0))
    name = changed_span(source, after)[2].split(" ", 1)[0]
    lines = (
        f"{name} = a.x", "def g():", f"    nonlocal {name}", f"    {name} += 1", f"    return lambda: {name}",
        f"[({name} := n) for n in b]",
        "match a:", f"    case {{'x': {name}}}:", f"        del {name}", "class C:", "    x = x", "    y = [x]",
        f"f(x=f'{{{name}!r:>{{{name}}}}}')", f"for {name} in b: pass",
    )  # fmt: skip
    assert after == in_function("\n".join(lines))


def test_a_walrus_inside_of_its_own_variables_value_is_negated_in_both() -> None:
    (after,) = everywhere(
        morphism("boolean_exchange", "python"), in_function("q = a\np = not ([(p := not q) for n in range(2)])\nreturn p")
    )
    assert after == in_function("q = a\np = not (not ([(not (p := not (not q))) for n in range(2)]))\nreturn not p")
    (back, *_) = everywhere(morphism("boolean_exchange", "python"), after)
    for source in (after, back):
        space: dict[str, object] = {}
        exec(source, space)
        assert [space["f"](q, 0) for q in (True, False)] == [False, False]  # type: ignore[operator]


@pytest.mark.parametrize(
    ("stop", "written"),
    [
        ("len(a)\n    + len(b)", "(len(a)\n    + len(b))"),
        ("\n        len(a),\n    ", "len(a)"),
        ("(n := 10)", "(n := 10)"),
    ],
)
def test_the_arguments_of_a_range_stay_whole_outside_of_its_brackets(stop: str, written: str) -> None:
    source = f"def f(a: list, b: list):\n    for i in range({stop}):\n        a[i] = 0\n"
    (after,) = everywhere(morphism("loop_exchange", "python"), source)
    compile(after, "", "exec")
    assert f"= 0, {written}\n    while " in after


def test_a_loop_over_what_may_have_a_finally_drops_its_iterator_when_it_is_left() -> None:
    source = in_function("for x in a:\n    s = '''\nkept'''\n    if x:\n        break")
    (after,) = everywhere(morphism("loop_exchange", "python"), source)
    assert "    finally:\n        del " in after
    assert "s = '''\n    kept'''" in after


def test_the_subject_of_a_match_is_evaluated_once() -> None:
    (after,) = everywhere(
        morphism("match_to_if", "python"), in_function("match a():\n    case 1:\n        b()\n    case _ if b:\n        pass")
    )
    assert after.count("a()") == 1
    (after,) = everywhere(
        morphism("match_to_if", "python"), in_function("match a:\n    case 1 if (a := 2):\n        b()\n    case 2:\n        pass")
    )
    assert "if a == 1" not in after


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("if len(a) > 0: pass", "if 0 < len(a): pass"),
        ("if a is None or b is None: pass", "if b is None or a is None: pass"),
        ("x = 1\nif (x)<=2: pass", "x = 1\nif 2 >= (x): pass"),
    ],
)
def test_a_condition_whose_sides_do_not_matter_is_reordered(body: str, after: str) -> None:
    assert in_function(after) in everywhere(morphism("reorder_condition", "python"), in_function(body))


def test_docstrings_stay_where_they_are() -> None:
    source = 'def f(a):\n    """Doc."""\n    x = 1\n    return a\n'
    assert morphism("permute_statements", "python").sites(source) == []
    for after in everywhere(morphism("unused_statement", "python"), source):
        space: dict[str, object] = {}
        exec(after, space)
        assert space["f"].__doc__ == "Doc."


def test_modifying_a_condition_changes_one_comparison_or_boolean_operator_of_it_and_never_to_a_division() -> None:
    modify = morphism("modify_condition", "python")
    source = in_function("x = a == b and a + b * 2\nif a == b and a != 2 or a + b * 2 < 3 and not (a is b): pass\nreturn a * b")
    found = {site.what: source[: site.start].count("\n") for site in modify.sites(source)}
    assert found == {"==": 2, "and": 2, "!=": 2, "or": 2, "<": 2, "is": 2}
    others = {"==": {"!="}, "!=": {"=="}, "and": {"or"}, "or": {"and"}, "<": {"<=", ">", ">="}, "is": {"is not"}}
    for site in modify.sites(source):
        made = {modify.apply(source, site, random.Random(seed)) for seed in range(50)}
        assert made == {source[: site.start] + other + source[site.end :] for other in others[site.what]}


def test_only_the_branch_itself_is_removed() -> None:
    source = in_function("if a:\n    x = 1\n# why\nelif b:\n    x = 2\nelse:  # rest\n    x = 3\nfor n in a:\n    pass\nelse:\n    x = 4")
    assert everywhere(morphism("remove_else", "python"), source) == [
        in_function("if a:\n    x = 1\n# why\nelse:  # rest\n    x = 3\nfor n in a:\n    pass\nelse:\n    x = 4"),
        in_function("if a:\n    x = 1\n# why\nelif b:\n    x = 2\nfor n in a:\n    pass\nelse:\n    x = 4"),
    ]
