from __future__ import annotations

import random
import textwrap
import warnings

import pytest
from generated_programs import behaviour, program
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from assay.analysis.morphisms.morphism import Refused, chain, rewrite
from assay.analysis.morphisms.registry import morphisms

# a seed says nothing of its program's size: there is nothing to shrink
FEW = settings(deadline=None, max_examples=12, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
KEEPING = morphisms("python", equivalent=True)


TRICKY = {
    "a generator is closed as soon as its loop is left": """
        for u in numbers(1, 2, 3):
            if u == b:
                break
            print("turn", u)
        print("after", u)
        try:
            for v in numbers(*items):
                print(v + a)
        except TypeError:
            print("caught")
        for w in numbers(a, b):
            return w
    """,
    "what a loop lets go is gone": """
        for u in [Told() for n in range(2)]:
            del u
            print("turn")
        for u in map(lambda n: Told(), items):
            u = None
            print("turn")
        print("after")
    """,
    "else, continue, the last item, and a list that grows": """
        u = v = 0
        w = [1, 2, 3]
        for u in w:
            if len(w) < 6:
                w.append(u)
                continue
            v += u
        else:
            print("else", u, w)
        for u in range(len(w)):
            for q in range(1, u):
                if q == 2:
                    break
                u -= 1
            else:
                continue
            print(u, q)
        return u, v
    """,
    "closures see the loop's variable, generators yield from it": """
        u = []
        for v in range(3):
            u.append(lambda: v)
        def inner():
            for n in range(2):
                p = yield n
                while not p:
                    p = yield "again"
            return 1
        w = inner()
        print([n() for n in u], list(zip(range(5), w)))
    """,
    "a flag in closures, comprehensions, f-strings and operators": """
        p = True
        q = a is None
        def inner(n):
            nonlocal p
            p ^= n is b
            return f"{p!r:>6} {not p}"
        print(inner(a), inner(b), p)
        p |= q
        q = not ([(p := not q) for n in range(2)])
        while (q := not q) is not p:
            tick()
        return [p for n in range(2) if not p], {"p": p}, p is True, p + 1
    """,
    "operators of one's own are asked once, in their order": """
        if a == 1 or b is None or a < 2:
            print("first")
        if len("abc") > 2 and not a == "b":
            print("second")
        match a:
            case 0 | 1:
                return 0
            case True | "b" as u if b:
                return u
            case int():
                print("int")
            case w:
                print(w)
    """,
    "names that are bound late or taken away": """
        u = 1
        v = noisy(b)
        try:
            w = u
            print(p)
        except NameError as p:
            print("no p")
        del u
        w = 2
        try:
            u
        except NameError:
            return w, v
        p = q = u = 0
    """,
}


@pytest.mark.parametrize("body", TRICKY.values(), ids=TRICKY)
def test_no_equivalent_rewrite_shows_where_the_order_of_things_does(body: str) -> None:
    source = "def f(a, b, items):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"
    assert check_every_site(source, 0) > 5


def generated(seed: int) -> str | None:
    """A program, None where the one of that seed is not valid Python."""
    source = program(random.Random(seed))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "program", "exec")
    except SyntaxError:
        return None
    return source


def check_every_site(source: str, seed: int) -> int:
    """How many rewrites there are; fails for one after which the program does something else."""
    before, applied = behaviour(source), 0
    assert behaviour(source) == before
    for one in KEEPING:
        for site in one.sites(source):
            try:
                after = rewrite(one, source, site, random.Random(seed)).of(source)
            except Refused:
                continue
            assert behaviour(after) == before, f"{one.name} at {site}:\n{source}\nbecame\n{after}"
            applied += 1
    return applied


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(FEW, max_examples=120)
@given(st.integers(0, 10**9))
def test_generated_programs_do_the_same_after_any_equivalent_rewrite(seed: int) -> None:
    if (source := generated(seed)) is not None:
        check_every_site(source, seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@FEW
@given(st.integers(0, 10**9))
def test_generated_programs_do_the_same_after_many_equivalent_rewrites_one_after_another(seed: int) -> None:
    source = generated(seed)
    if source is None:
        return
    after = source
    for step in chain(source, KEEPING, str(seed), 8):
        after = step.of(after)
    assert behaviour(after) == behaviour(source), f"{source}\nbecame\n{after}"
