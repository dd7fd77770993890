import gzip
import itertools
import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_javascript import ATTACKS, FRAMES, NOT_JUDGEABLE, SOUND, TEST, wrong
from needs import DATA, needs_data

from assay.analysis.corpora.benchmarks import read_items
from assay.analysis.sandbox.isolation import running_jail, running_process
from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.limits import Limits
from assay.analysis.sandbox.judging.javascript import JavaScriptSandbox, find_node
from assay.analysis.sandbox.judging.result import ProgramOutcome, Result
from assay.analysis.sandbox.judging.runtime import MissingRuntime

HUMANEVAL_X = "humaneval-x/humaneval_js.jsonl.gz"
# canonical solutions that are wrong, and pass upstream because its console.assert only prints: `return (z, false)` gives no pair, and by
# `while (num > 0)` the number 0 has no even digit
WRONG_UPSTREAM = ["JavaScript/112", "JavaScript/155"]
QUICK = Limits(cpu_s=1, wall_s=20)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[JavaScriptSandbox]:
    try:
        find_node()
        jail = Jail(best_level())
    except (MissingRuntime, NoIsolation) as reason:
        pytest.skip(str(reason))
    with JavaScriptSandbox(jail) as made:
        yield made


def test_an_assertion_that_fails_is_a_failure_whatever_the_test_catches(sandbox: JavaScriptSandbox) -> None:
    assert sandbox.check("const f = 1", "try { console.assert(f === 2) } catch {}").outcome is ProgramOutcome.FAILED


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_a_wrong_program_fails_whatever_it_does_with_what_a_test_hands_over(sandbox: JavaScriptSandbox, name: str) -> None:
    result = sandbox.check(*ATTACKS[name], limits=Limits(cpu_s=2, wall_s=6))
    assert result.label is False, result


@pytest.mark.slow
def test_a_program_that_uses_up_the_time_as_it_is_loaded_is_too_slow(sandbox: JavaScriptSandbox) -> None:
    slow = "const { performance } = require('perf_hooks'); while (performance.now() < 1500) {}\nconst f = () => 1"
    result = sandbox.check(slow, "for (;;) {}", limits=Limits(wall_s=2))
    assert result.outcome is ProgramOutcome.TIMED_OUT, result


@pytest.mark.slow
@pytest.mark.parametrize("name", SOUND)
def test_a_right_program_passes_a_test_of_any_kind(sandbox: JavaScriptSandbox, name: str) -> None:
    result = sandbox.check(*SOUND[name], limits=QUICK)
    assert result.outcome is ProgramOutcome.PASSED, result


@pytest.mark.slow
@pytest.mark.parametrize("name", NOT_JUDGEABLE)
def test_a_test_that_cannot_decide_says_nothing_about_the_program(sandbox: JavaScriptSandbox, name: str) -> None:
    test, says = NOT_JUDGEABLE[name]
    result = sandbox.check("const f = x => x", test, limits=Limits(wall_s=10))
    assert (result.outcome, result.label) == (ProgramOutcome.NOT_JUDGEABLE, None), result
    assert says in result.reason


@pytest.mark.slow
def test_no_program_changes_the_verdict_on_the_next(sandbox: JavaScriptSandbox) -> None:
    test = "console.assert(total([1, 2], (o, a, b, value) => { o[a][b] = value }) === 3)"
    polluter = "const total = (a, set) => { for (const key of ['every', 'failure']) set([], '__proto__', key, () => true); return 3 }"
    for program in (polluter, "const total = (a, set) => set('', 'constructor', 'prototype', 1)"):
        sandbox.check(program, test)
        assert sandbox.check(wrong("return x * x", "return [0, 1, 4, 9].slice(0, n).fill(9, 0, n === 3 ? 3 : 0)"), TEST).label is False
    # a test's own names are gone with it
    assert sandbox.check("const f = x => x", "left = 1; console.assert(f(1) === 1)").label is True
    assert "left is not defined" in sandbox.check("const f = x => x", "console.assert(f(1) === left)").reason


def test_a_kill_by_the_machine_says_nothing_about_the_program(sandbox: JavaScriptSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = wrong("process.kill(process.pid, 'SIGKILL')")
    # the kernel's count of the processes that it killed goes up meanwhile
    count = itertools.count(running_jail.oom_kills())
    monkeypatch.setattr(running_process, "oom_kills", lambda: next(count))
    result = sandbox.check(killed, TEST)
    assert (result.outcome, result.reason) == (ProgramOutcome.INFRASTRUCTURE, "the machine ran out of memory")
    assert sandbox.check(wrong("process.abort()"), TEST).outcome is ProgramOutcome.CRASHED


def checked(sandbox: JavaScriptSandbox, program: str, test: str) -> Result:
    return sandbox.check(program, "const { isDeepStrictEqual: same } = require('util')\n" + test)


def test_values_come_back_with_their_exact_types(sandbox: JavaScriptSandbox) -> None:
    test = """const all = [0, -0, NaN, Infinity, -Infinity, 1.5, 2n ** 70n,
      '', '\\ud800 é', true, null, undefined,
      [], [1, , 3], [[1], { a: [] }],
      { a: undefined, b: null, __proto__: null }, JSON.parse('{"__proto__": 1}'), new Map([[{ k: 1 }, new Set([1, 'x'])]]), new Date(5),
      /a+/gi, new Uint8Array([1, 255]), new Float64Array([-0, NaN]), new BigInt64Array([-1n]), new RangeError('far')]
    for (const value of all) {
      const back = echo(value)
      console.assert(same(back, value), String(value))
      console.assert(fresh(value) === 'same' || same(fresh(value), value), 'fresh', String(value))
    }
    console.assert(1 in echo([1, , 3]) === false && isNaN(echo(new Date(NaN)).getTime()))"""
    program = (
        "const echo = x => x\nconst fresh = x => x instanceof Error || typeof x !== 'object' || x === null ? 'same' : structuredClone(x)"
    )
    # structuredClone gives an ordinary prototype to an object that has none
    assert checked(sandbox, program, test.replace("null, __proto__: null", "null")).outcome is ProgramOutcome.PASSED


def test_changes_to_arguments_and_identity_come_back(sandbox: JavaScriptSandbox) -> None:
    program = """const sort = a => a.sort()
    const change = (o, m, s) => { delete o.gone; o.list.push(2); o.again = o.list; m.set('k', 1); s.clear() }"""
    test = """const a = [3, 1, 2]
    console.assert(sort(a) === a && same(a, [1, 2, 3]))
    const list = [1]; const o = { gone: 1, list }; const m = new Map(); const s = new Set([1])
    change(o, m, s)
    console.assert(same(o, { list: [1, 2], again: [1, 2] }) && o.again === list && m.get('k') === 1 && s.size === 0)"""
    assert checked(sandbox, program, test).outcome is ProgramOutcome.PASSED


@pytest.mark.slow
def test_functions_can_be_called_both_ways_and_objects_keep_their_state(sandbox: JavaScriptSandbox) -> None:
    program = """const map = (a, f) => a.map(x => f(x))
    const counter = () => { let n = 0; return () => ++n }
    class Stack {
      constructor () { this.items = [] }
      push (x) { this.items.push(x); return this }
      get size () { return this.items.length }
      static of (x) { return x + 1 } }
    const LIMIT = 7
    const later = async x => { await null; if (x < 0) throw new TypeError('negative'); return x + 1 }"""
    test = """console.assert(same(map([1, 2], x => x * 2), [2, 4]))
    const next = counter(); next(); console.assert(next() === 2)
    const stack = new Stack(); stack.push(5).push(6)
    console.assert(stack.size === 2 && stack.items[1] === 6 && Stack.of(1) === 2 && LIMIT === 7)
    let thrown; try { map([1], () => { throw new RangeError('mine') }) } catch (error) { thrown = error }
    console.assert(thrown instanceof RangeError && thrown.message === 'mine')
    later(1).then(x => console.assert(x === 2))
    later(-1).then(() => console.assert(false), error => console.assert(error instanceof TypeError))"""
    result = checked(sandbox, program, test)
    assert result.outcome is ProgramOutcome.PASSED, result
    assert checked(sandbox, program, "later(1).then(x => console.assert(x === 3))").outcome is ProgramOutcome.FAILED


def test_a_program_changes_nothing_of_the_judges_own(sandbox: JavaScriptSandbox) -> None:
    for name, own in (("constructor", "from"), ("__proto__", "0"), ("every", "call")):
        forged = json.dumps(json.dumps({"changed": [[name, [own, ["f", 0]]]], "value": 1}))
        result = sandbox.check(f"{FRAMES}\nconst touch = () => answer({forged})", "touch(); console.assert(Array.from([1]) === true)")
        assert result.outcome is ProgramOutcome.FAILED
        assert "an answer that is no value" in result.reason


def test_a_promise_that_is_rejected_with_nothing_fails(sandbox: JavaScriptSandbox) -> None:
    for nothing in ("null", "undefined"):
        result = sandbox.check(f"const later = async x => {{ throw {nothing} }}", "later(1).then(x => console.assert(x === 2))")
        assert (result.outcome, result.reason) == (ProgramOutcome.FAILED, f"thrown: {nothing}")


def test_what_a_test_sets_is_its_own_whatever_names_the_program_has(sandbox: JavaScriptSandbox) -> None:
    program = "var found = { length: 1 }\nconst ones = n => []"
    assert sandbox.check(program, "found = ones(1); console.assert(found.length === 1)").outcome is ProgramOutcome.FAILED


def test_packages_that_benchmarks_name_are_there(sandbox: JavaScriptSandbox) -> None:
    program = "const md5 = text => require('js-md5')(text)"
    test = "const _ = require('lodash')\nif (!_.isEqual(md5('Hello world'), '3e25960a79dbc69b674cd4ec67a72c62')) { throw 'Error' }"
    assert sandbox.check(program, test).outcome is ProgramOutcome.PASSED
    result = sandbox.check(program, test.replace("3e", "4e"))
    assert (result.outcome, result.reason) == (ProgramOutcome.FAILED, "thrown: Error")


NO_ANSWER = {
    "nested too deeply": FRAMES
    + """const deep = '["a",['.repeat(3000) + ']]'.repeat(3000)
const encode = s => answer(`{"changed":[],"value":${deep}}`)""",
    "a promise": "async function encode (s) { return s }",
    "too large to go back twice": "const encode = s => 'x'.repeat(1e7)",
    "an error whose name has no text": "const encode = s => { throw Object.assign(new Error('x'), { name: Object.create(null) }) }",
}


@pytest.mark.parametrize("name", NO_ANSWER)
def test_a_program_whose_value_cannot_go_back_to_it_has_failed(sandbox: JavaScriptSandbox, name: str) -> None:
    test = "const coded = encode('abc'); console.assert(decode([[coded, coded]]) === 'abc')"
    result = sandbox.check(NO_ANSWER[name] + "\nconst decode = a => ''", test)
    assert result.outcome is ProgramOutcome.FAILED, result
    assert "assertion" not in result.reason


def test_a_missing_or_old_node_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(MissingRuntime, match="sudo apt install nodejs"):
        find_node("no-such-node")
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\nprintf '/usr/bin/node\\n12.1.0\\n'\n")
    old.chmod(old.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(MissingRuntime, match=r"Node.js 12.1.0, which is too old"):
        find_node.__wrapped__(str(old))


@pytest.mark.slow
@needs_data(HUMANEVAL_X)
def test_the_right_ones_of_the_canonical_solutions_of_humaneval_x_pass(sandbox: JavaScriptSandbox) -> None:
    with gzip.open(DATA / HUMANEVAL_X, "rt") as lines:
        items = [item for n, item in enumerate(map(json.loads, lines)) if n % 8 == 0 or item["task_id"] in WRONG_UPSTREAM]
    pairs = [(item["prompt"] + item["canonical_solution"], item["test"]) for item in items]
    failed = [item["task_id"] for item, pair in zip(items, pairs, strict=True) if not sandbox.check(*pair).label]
    assert failed == WRONG_UPSTREAM
    broken = [(item["prompt"] + "throw new Error()\n}\n", item["test"]) for item in items[:20]]
    assert not any(sandbox.check(*pair).label for pair in broken)


@needs_data(HUMANEVAL_X)
def test_the_helpers_of_a_prompt_are_the_tests(sandbox: JavaScriptSandbox) -> None:
    items = {item.id: item for item in read_items(DATA / HUMANEVAL_X)}
    split = "String.prototype.split = function (x) { globalThis.text = `${this}`; return Array.from(this) }"
    for number, wrong_one in ((32, "return 7 }\nMath.pow = () => 0"), (50, f"return globalThis.text }}\n{split}")):
        item = items[f"JavaScript/{number}"]
        assert sandbox.check(item.program(), item.test).label
        assert sandbox.check(item.program(wrong_one), item.test).label is False
