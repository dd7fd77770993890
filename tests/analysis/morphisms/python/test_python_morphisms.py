from __future__ import annotations

import random

import pytest
from analyzed_program import PROGRAM

from assay.analysis.bugs import KINDS, bug
from assay.analysis.morphisms.morphism import Morphism, Refused, rewrite, rewrite_somewhere
from assay.analysis.morphisms.registry import MORPHISMS, morphism, morphisms
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


def why_not(name: str, source: str, what: str = "") -> str:
    """The reason for which a morphism refuses the site, which must be the only one or the one with that `what`."""
    found = [site for site in morphism(name, "python").sites(source) if not what or site.what == what]
    with pytest.raises(Refused) as caught:
        morphism(name, "python").apply(source, found[0], random.Random(0))
    return str(caught.value)


def in_function(body: str, head: str = "def f(a, b):") -> str:
    return head + "\n" + "".join(f"    {line}\n" for line in body.split("\n"))


@pytest.mark.parametrize("one", ALL, ids=lambda r: r.name)
def test_a_morphism_says_whether_it_is_equivalent_and_what_its_precondition_is(one: Morphism) -> None:
    assert (one.name in {entry.name for entry in MORPHISMS if entry.equivalent}) is one.equivalent
    assert one.rule.__doc__
    assert "Precondition" in one.rule.__doc__ or not one.equivalent


@pytest.mark.parametrize("variant", ["\n", "\r\n", "tabs", "mark", "no last line end"])
@pytest.mark.parametrize("one", ALL, ids=lambda r: r.name)
def test_what_is_outside_of_the_change_comes_back_as_it_was(one: Morphism, variant: str) -> None:
    source = {
        "\n": PROGRAM,
        "\r\n": PROGRAM.replace("\n", "\r\n"),
        "tabs": PROGRAM.replace("    ", "\t"),
        "mark": "\ufeff" + PROGRAM,
        "no last line end": PROGRAM.rstrip("\n"),
    }[variant]
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


def test_the_changed_span_is_the_shortest() -> None:
    for before, after in (("aXb", "aYYb"), ("aa", "aaa"), ("ab", "ab"), ("", "x"), ("aba", "a")):
        start, end, text = changed_span(before, after)
        assert before[:start] + text + before[end:] == after
        assert end - start <= len(before)
    assert changed_span("aXb", "aYYb") == (1, 2, "YY")


def test_a_morphism_without_a_place_refuses() -> None:
    with pytest.raises(Refused, match="finds no place"):
        rewrite_somewhere(morphism("remove_else", "python"), "x = 1\n", random.Random(0))


@pytest.mark.parametrize(
    ("source", "what", "reason"),
    [
        (in_function("return a"), "a", "keyword"),
        (in_function("x = 1\nreturn locals()"), "x", "locals"),
        (in_function("x = 1\nreturn f'{x=}'"), "x", "f-string"),
        (in_function("x = 1\nreturn f'{a:{x + 1=}}'"), "x", "f-string"),
        (in_function("def x(): pass"), "x", "def"),
        (in_function("import x"), "x", "import"),
        (in_function("__x = 1"), "__x", "mangled"),
        ("f = lambda x: x\n", "x", "keyword"),
        (in_function("def g(x): return x\nreturn g(x=1)"), "x", "keyword"),
        (in_function("def g(x): return x\nreturn g"), "x", "keyword"),
        (in_function("@a\ndef g(x): return x\ng(1)"), "x", "keyword"),
    ],
)
def test_a_variable_that_others_may_know_by_name_keeps_it(source: str, what: str, reason: str) -> None:
    assert reason in why_not("rename_variable", source, what)


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


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("p = True\np = a", "may be something else"),
        ("p = True\np = a == b", "may be something else"),
        ("p = True\ndef g():\n    nonlocal p\n    p = a", "may be something else"),
        ("p = True\ndel p", "bound by del"),
        ("p = True\nfor p in a: pass", "bound by for"),
        ("p = q = True\np = False", "can't be negated"),
        ("p, q = True, False\np = True", "can't be negated"),
        ("p = True\nwith a as p: pass", "bound by with"),
        ("p = True\np += 1", "may be something else"),
        ("p = True\np -= True", "gives no bool"),
        ("p = True\nf'{p=}'", "f-string"),
        ("p = True\neval('p')", "eval"),
        ("p = True\nmatch a:\n    case p.real: pass", "pattern"),
    ],
)
def test_a_variable_is_negated_only_where_it_is_a_bool_everywhere(body: str, reason: str) -> None:
    assert reason in why_not("boolean_exchange", in_function(body), "p")


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
    ("source", "reason"),
    [
        ("for x in y:\n    pass\n", "outside of a function"),
        (in_function("async for x in a:\n    pass", "async def f(a):"), "async"),
        (in_function("while a:\n    break\nelse:\n    b()"), "else of a while"),
        (in_function("for x in a: pass"), "begin a line"),
        (in_function("iter = 1\nfor x in a:\n    pass"), "iter"),
        ("from a import *\n" + in_function("for x in a:\n    pass"), "iter"),
        (in_function("for x in a:\n    vars()"), "vars"),
    ],
)
def test_a_loop_whose_exchange_could_be_seen_is_left(source: str, reason: str) -> None:
    assert reason in why_not("loop_exchange", source)


@pytest.mark.parametrize(
    ("stop", "written"),
    [
        ("len(a)\n    + len(b)", "(len(a)\n    + len(b))"),
        ("\n        len(a),\n    ", "len(a)"),
        ("n := len(a)", "(n := len(a))"),
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


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("[x, y]", "looks into"),
        ("{'k': v}", "looks into"),
        ("a.B(c=1)", "looks into"),
        ("Other()", "something else"),
        ("(1 as x) | (2 as x)", "inside of a pattern"),
        ("1 as x if x", "guard"),
    ],
)
def test_a_pattern_that_no_expression_says_is_left(pattern: str, reason: str) -> None:
    assert reason in why_not("match_to_if", in_function(f"match a:\n    case {pattern}:\n        pass"))


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
    ("body", "what", "reason"),
    [
        ("if a < b: pass", "<", "not certain"),
        ("if a() == b(): pass", "==", "order shows"),
        ("if a < 1.5: pass", "<", "not certain"),
        ("if a == True: pass", "==", "not certain"),
        ("if 1 < a < 2: pass", "<", "chain"),
        ("if a and b: pass", "and", "truth"),
        ("if a() or b is None: pass", "or", "not always evaluated"),
        ("x = 1\ndel x\nif x == len(a): pass", "==", "order shows"),
        ("x = 1\nif x == (x := len(a)): pass", "==", "order shows"),
        ("x = 1\ndef g():\n    nonlocal x\n    x = 2\nif x == int(g()): pass", "==", "order shows"),
        ("g = ((x := n) for n in a)\nx = 1\nif x == int(next(g)): pass", "==", "order shows"),
        ("f'{(2 if a == 1 else 3)=}'", "==", "f-string"),
        ("if (1  # one\n    == a): pass", "==", "comment"),
    ],
)
def test_a_condition_is_not_reordered_where_that_could_be_seen(body: str, what: str, reason: str) -> None:
    assert reason in why_not("reorder_condition", in_function(body), what)


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("if len(a) > 0: pass", "if 0 < len(a): pass"),
        ("if a is(None): pass", "if (None) is a: pass"),
        ("if a is None or b is None: pass", "if b is None or a is None: pass"),
        ("x = 1\nif (x)<=2: pass", "x = 1\nif 2 >= (x): pass"),
        ("return [n for n in a if n == 'x']", "return [n for n in a if 'x' == n]"),
    ],
)
def test_a_condition_whose_sides_do_not_matter_is_reordered(body: str, after: str) -> None:
    assert in_function(after) in everywhere(morphism("reorder_condition", "python"), in_function(body))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("a()\nb()", "does more than bind"),
        ("x = 1\ny = x", "uses what"),
        ("x = a\na = b()", "binds what"),
        ("x = a.b\ny = b()", "may raise or have an effect"),
        ("try:\n    x = 1\n    a()\nexcept E:\n    return x", "inside a try"),
        ("with a:\n    x = 1\n    a()", "inside a try or with"),
        ("def g(): return x\nx = 1\ng()", "another function"),
        ("g = (x + n for n in a)\nx = 1\nnext(g)", "another function"),
        ("x = open(a)\nif a:\n    x = None\n    a()", "drops a value"),
        ("for n in a:\n    b(n)\n    x = []", "drops a value"),
        ("x = 1\n# about a\na()", "comment stands between"),
    ],
)
def test_statements_that_depend_on_each_other_keep_their_order(body: str, reason: str) -> None:
    source = in_function(body)
    last = morphism("permute_statements", "python").sites(source)[-1]
    with pytest.raises(Refused, match=reason):
        morphism("permute_statements", "python").apply(source, last, random.Random(0))


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
