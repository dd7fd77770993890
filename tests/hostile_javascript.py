"""JavaScript programs that try to pass a test that they should fail, or to do harm: tests/analysis/sandbox/judging/test_javascript.py."""

import json

from assay.analysis.sandbox.judging.result import ProgramOutcome


def wrong(square: str = "return 0", squares: str = "return []", more: str = "") -> str:
    """A wrong program: the bodies of its two functions, and more around them."""
    return f"{more}\nconst square = (x) => {{ {square} }}\nfunction squares (n) {{ {squares} }}\n"


PASS = "Buffer.from([0, 0, 0, 1, 80])"
# writes frames of its own in the place of the runner's: first an answer to the call, then `true` to whatever is called, and for properties
# a length of 3, and functions
FRAMES = """const fs = require('fs')
function put (text) {
  const body = Buffer.from(text)
  const frame = Buffer.concat([Buffer.alloc(4), body])
  frame.writeUInt32BE(body.length, 0)
  for (let done = 0; done < frame.length;) done += fs.writeSync(1, frame, done)
}
function read (count) {
  const bytes = Buffer.alloc(count)
  for (let have = 0; have < count;) {
    const more = fs.readSync(0, bytes, have, count - have, null)
    if (more === 0) process.exit(0)
    have += more
  }
  return bytes
}
function answer (...replies) {
  for (const reply of replies) {
    put('R' + reply)
    const call = JSON.parse(read(read(4).readUInt32BE(0)).toString().slice(1))
    const value = call.operation !== 'value' ? 'true' : call.property === 'length' ? '3' : '["f",9]'
    replies.push(`{"changed":[],"value":${value}}`)
  }
}
"""


def framed(*replies: str) -> str:
    """A program whose answers to the last call of TEST, and to what follows, are these."""
    answers = "".join(f", {json.dumps(reply)}" for reply in replies)
    return wrong("return x * x", f"return n === 4 ? [0, 1, 4, 9] : answer(...[{answers[2:]}])", FRAMES)


HOSTILE = {
    "exits as it is loaded": (wrong(more="process.exit(0)"), ProgramOutcome.FAILED),
    "exits in a call": (wrong("process.exit(0)"), ProgramOutcome.FAILED),
    "exits by the way below": (wrong("process.reallyExit(0)"), ProgramOutcome.FAILED),
    "exits when it is asked to end": (wrong("process.on('exit', () => process.reallyExit(0)); throw 1"), ProgramOutcome.FAILED),
    "kills itself": (wrong("process.kill(process.pid, 'SIGKILL')"), None),
    "kills every process it sees": (wrong("try { process.kill(-1, 'SIGKILL') } catch {} return 9"), None),
    "aborts": (wrong("process.abort()"), ProgramOutcome.CRASHED),
    "writes a verdict in the place of an answer": (wrong(f"require('fs').writeSync(1, {PASS}); return 0"), ProgramOutcome.FAILED),
    "writes verdicts as it is loaded": (
        wrong(more=f"for (let i = 0; i < 99; i++) require('fs').writeSync(1, {PASS})"),
        ProgramOutcome.FAILED,
    ),
    "says that it has ended, so that no verdict be given": (
        wrong("require('fs').writeSync(1, Buffer.from([0, 0, 0, 1, 68])); return 0"),
        ProgramOutcome.FAILED,
    ),
    "prints what a passed test prints": (wrong("console.log('PASSED'); console.log('1 passing'); return 0"), ProgramOutcome.FAILED),
    "makes console.assert do nothing": (wrong(more="console.assert = () => {}"), ProgramOutcome.FAILED),
    "has a console of its own": (wrong(more="const console = { assert () {} }"), ProgramOutcome.FAILED),
    "has a JSON of its own": (wrong("return x * x", more="const JSON = { stringify: () => 'same' }"), ProgramOutcome.FAILED),
    "changes JSON and arrays": (
        wrong("return x * x", more="JSON.stringify = () => 'same'; Array.prototype.every = () => true; Object.is = () => true"),
        ProgramOutcome.FAILED,
    ),
    "has a test of its own": (wrong(more="var testSquares = () => {}"), ProgramOutcome.FAILED),
    "gives an object whose methods agree": (
        wrong("return x * x", "return n > 3 ? [0, 1, 4, 9] : { length: 3, every: () => true, equals: () => true, toJSON: () => [] }"),
        ProgramOutcome.FAILED,
    ),
    "gives an array whose methods agree": (
        wrong(
            "return x * x",
            "return n > 3 ? [0, 1, 4, 9] : Object.assign(new (class extends Array { every () { return true } })(), [7, 7, 7])",
        ),
        ProgramOutcome.FAILED,
    ),
    "gives a proxy for an array": (
        wrong("return x * x", "return n > 3 ? [0, 1, 4, 9] : new Proxy([1, 2, 3], { get: (a, k) => k === 'every' ? () => true : a[k] })"),
        ProgramOutcome.FAILED,
    ),
    "gives a number that equals everything": (wrong("return { valueOf: () => 9, [Symbol.toPrimitive]: () => 9 }"), ProgramOutcome.FAILED),
    "pollutes prototypes by a key": (
        wrong('return globalThis.JSON.parse(\'{"__proto__": {"every": 1, "assert": 1}}\')'),
        ProgramOutcome.FAILED,
    ),
    "pollutes prototypes by what it gives": (
        wrong("return { constructor: { prototype: { every: () => true } }, __proto__: { toString: () => '9' } }"),
        ProgramOutcome.FAILED,
    ),
    "answers with an object that has functions for methods": (
        framed('{"changed": [], "value": ["o", ["every", ["f", 0], "length", 3]]}'),
        ProgramOutcome.FAILED,
    ),
    "answers with an object whose keys are no strings": (
        framed('{"changed": [], "value": ["o", [["a", ["every"]], ["f", 0], "length", 3]]}'),
        ProgramOutcome.FAILED,
    ),
    "answers with an object that the test did not make": (framed('{"changed": [], "value": ["i", 7]}'), ProgramOutcome.FAILED),
    "gives back a function for the test's function": (wrong("return () => true", "return () => true"), ProgramOutcome.FAILED),
    "goes below by process.binding": (wrong("process.binding('fs'); process.binding('spawn_sync'); return 0"), ProgramOutcome.FAILED),
    "looks for the judge in its own modules": (
        wrong(more="for (const m of Object.values(require('module')._cache)) m.exports.writeFrame = () => {}"),
        None,
    ),
    "starts a shell that kills": (wrong("require('child_process').spawnSync('sh', ['-c', 'kill -9 -1']); return 9"), None),
    "leaves timers behind": (wrong(more="setInterval(() => {}, 1); process.on('uncaughtException', () => {})"), ProgramOutcome.FAILED),
    "leaves a worker behind": (
        wrong(more="new (require('worker_threads').Worker)('for (;;) {}', { eval: true })"),
        None,
    ),
    "throws as it is loaded": (wrong(more="throw new Error('no')"), ProgramOutcome.FAILED),
    "throws undefined": (wrong("throw undefined"), ProgramOutcome.FAILED),
    "throws away the stack": (wrong("return square(x) + 1"), ProgramOutcome.FAILED),
    "gives a promise that is never kept": (wrong("return new Promise(() => {})"), None),
    "gives an array that holds itself": (wrong("return x * x", "const a = []; a.push(a); return a"), ProgramOutcome.FAILED),
    "gives an array nested beyond all bounds": (
        wrong("return x * x", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a"),
        ProgramOutcome.FAILED,
    ),
    "never ends": (wrong("for (;;) {}"), ProgramOutcome.TIMED_OUT),
    "never ends as it is loaded": (wrong(more="for (;;) {}"), ProgramOutcome.TIMED_OUT),
    "fills the heap": (wrong("const all = []; for (;;) all.push(new Array(1e6).fill(x))"), None),
    "fills memory outside of the heap": (wrong("const all = []; for (;;) all.push(Buffer.alloc(1e8, 1))"), None),
    "prints without end": (wrong("for (;;) console.log('x'.repeat(1 << 16))"), None),
    "fills the disk": (wrong("for (;;) require('fs').appendFileSync('/tmp/full', Buffer.alloc(1 << 20))"), None),
}
# these end when their limits end them, or make the machine work
