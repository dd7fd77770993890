"""JavaScript programs that try to pass a test that they should fail, to get no verdict, or to do harm, and tests for them.

They are used by tests/analysis/sandbox/judging/test_javascript.py.
"""

import json

from assay.analysis.sandbox.judging.result import ProgramOutcome

TEST = """const testSquares = () => {
  console.assert(square(3) === 9)
  console.assert(square(-4) === 16)
  console.assert(JSON.stringify(squares(4)) === JSON.stringify([0, 1, 4, 9]))
  const found = squares(3)
  console.assert(found.length === 3 && found.every((x, i) => x === i * i))
}
testSquares()
"""
RIGHT = """const square = (x) => x * x
function squares (n) { return Array.from({ length: n }, (_, i) => i * i) }
"""


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


# What each program tries, and what comes of it; None for any outcome but that it passes.
_THAT_FAIL = {
    "exits in a call": wrong("process.exit(0)"),
    "exits when it is asked to end": wrong("process.on('exit', () => process.reallyExit(0)); throw 1"),
    "writes a verdict in the place of an answer": wrong(f"require('fs').writeSync(1, {PASS}); return 0"),
    "says that it has ended, so that no verdict be given": wrong("require('fs').writeSync(1, Buffer.from([0, 0, 0, 1, 68])); return 0"),
    "prints what a passed test prints": wrong("console.log('PASSED'); console.log('1 passing'); return 0"),
    "makes console.assert do nothing": wrong(more="console.assert = () => {}"),
    "changes JSON and arrays": wrong(
        "return x * x", more="JSON.stringify = () => 'same'; Array.prototype.every = () => true; Object.is = () => true"
    ),
    "has a test of its own": wrong(more="var testSquares = () => {}"),
    "gives an object whose methods agree": wrong(
        "return x * x", "return n > 3 ? [0, 1, 4, 9] : { length: 3, every: () => true, equals: () => true, toJSON: () => [] }"
    ),
    "gives a proxy for an array": wrong(
        "return x * x", "return n > 3 ? [0, 1, 4, 9] : new Proxy([1, 2, 3], { get: (a, k) => k === 'every' ? () => true : a[k] })"
    ),
    "gives a number that equals everything": wrong("return { valueOf: () => 9, [Symbol.toPrimitive]: () => 9 }"),
    "pollutes prototypes by what it gives": wrong(
        "return { constructor: { prototype: { every: () => true } }, __proto__: { toString: () => '9' } }"
    ),
    "answers with an object that has functions for methods": framed('{"changed": [], "value": ["o", ["every", ["f", 0], "length", 3]]}'),
    "answers with an object that the test did not make": framed('{"changed": [], "value": ["i", 7]}'),
    "gives back a function for the test's function": wrong("return () => true", "return () => true"),
    "goes below by process.binding": wrong("process.binding('fs'); process.binding('spawn_sync'); return 0"),
    "leaves timers behind": wrong(more="setInterval(() => {}, 1); process.on('uncaughtException', () => {})"),
    "throws undefined": wrong("throw undefined"),
    "throws away the stack": wrong("return square(x) + 1"),
    "gives an array that holds itself": wrong("return x * x", "const a = []; a.push(a); return a"),
    "gives an array nested beyond all bounds": wrong("return x * x", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a"),
}
HOSTILE = {name: (program, ProgramOutcome.FAILED) for name, program in _THAT_FAIL.items()} | {
    "kills every process it sees": (wrong("try { process.kill(-1, 'SIGKILL') } catch {} return 9"), None),
    "looks for the judge in its own modules": (
        wrong(more="for (const m of Object.values(require('module')._cache)) m.exports.writeFrame = () => {}"),
        None,
    ),
    "starts a shell that kills": (wrong("require('child_process').spawnSync('sh', ['-c', 'kill -9 -1']); return 9"), None),
    "leaves a worker behind": (wrong(more="new (require('worker_threads').Worker)('for (;;) {}', { eval: true })"), None),
    "gives a promise that is never kept": (wrong("return new Promise(() => {})"), None),
    "never ends": (wrong("for (;;) {}"), ProgramOutcome.TIMED_OUT),
    "never ends as it is loaded": (wrong(more="for (;;) {}"), ProgramOutcome.TIMED_OUT),
    "fills the heap": (wrong("const all = []; for (;;) all.push(new Array(1e6).fill(x))"), None),
    "fills memory outside of the heap": (wrong("const all = []; for (;;) all.push(Buffer.alloc(1e8, 1))"), None),
    "prints without end": (wrong("for (;;) console.log('x'.repeat(1 << 16))"), None),
    "fills the disk": (wrong("for (;;) require('fs').appendFileSync('/tmp/full', Buffer.alloc(1 << 20))"), None),
}
# these end when their limits end them, or make the machine work

# walks from any value to the language's own functions, and makes text into code in the process of whoever serves the functions handed over
TAKEOVER = """const reached = get(get('', 'constructor'), 'constructor')
  const forge = "Object.defineProperty(Object.prototype, 'failure', { get: () => null, set () {}, configurable: true });" +
    "console.assert = () => {}; Array.prototype.every = () => true"
  try { reached(forge)() } catch {}"""
# wrong programs, and tests that hand over functions or let values decide more than they should: the program must fail
ATTACKS = {
    "takes over the judge by a getter": (
        f"const pick = (o, k, get) => {{ {TAKEOVER}; return 0 }}",
        "console.assert(pick({ a: 1 }, 'a', (o, k) => o[k]) === 1)",
    ),
    "takes over the judge by a function that calls methods": (
        """const total = (a, invoke) => {
          try { invoke(() => 1, 'constructor', 'console.assert = () => {}; process.exit(0)')() } catch {}
          try { invoke('', 'constructor', 'constructor', 'process.exit(0)')() } catch {}
          return 0 }""",
        "console.assert(total([1, 2], (o, name, ...values) => o[name](...values)) === 3)",
    ),
    "puts what it likes on all objects": (
        """const total = (a, set) => {
          for (const key of ['failure', 'get', 'set', 'apply', 'has', 'value', 'toJSON', 'then', 'write', 'read', 'changed', 'thrown']) {
            try { set({}, '__proto__', key, null) } catch {}
          }
          return 0 }""",
        "console.assert(total([1], (o, a, b, value) => { o[a][b] = value }) === 1)",
    ),
    "replaces functions of the language through the test": (
        "const total = (a, set) => { set([], '__proto__', 'every', () => true); return 0 }",
        "const found = total([1, 2], (o, a, b, value) => { o[a][b] = value }); console.assert([found].every(x => x === 3))",
    ),
    "puts the expected property on all objects by a key": (
        """const settings = () => JSON.parse('{"__proto__": {"safe": true}}')\nconst other = () => ({})""",
        "const merge = (a, b) => { for (const k of Object.keys(b))\n"
        "  a[k] = typeof b[k] === 'object' ? merge(a[k] || {}, b[k]) : b[k]\nreturn a }\n"
        "merge({}, settings()); console.assert(other().safe === true)",
    ),
    "writes a verdict by what the test prints": (
        r"const f = () => '\0\0\0\x01P'",
        "process.stdout.write(f()); console.table(f()); console.assert(f() === 1)",
    ),
    "changes the language's own objects that it is handed": (
        "const draw = (all) => { all.every = 1; all.assert = 1; return 7 }",
        "const drawn = draw(Math) + draw(JSON) + draw(Array.prototype)\n"
        "console.assert(drawn === 21 && Math.every === undefined && [].assert === undefined); console.assert(draw({}) === 8)",
    ),
    "has the test make a text too large to send": (
        "const repeated = (f) => f('x', 1 << 25)",
        "console.assert(repeated((s, n) => s.repeat(n)) === 'xx')",
    ),
    "has the test give back a symbol": (
        "const key = (f) => f(1)",
        "console.assert(key(x => x === 1 ? Symbol('s') : x) === 2)",
    ),
    "has the test and itself call each other for ever, whatever is caught": (
        "const run = (f) => { try { return f(run, f) } catch { return f(run, f) } }",
        "try { run((g, f) => { try { return g(f) } catch { return g(f) } }) } catch {}\nconsole.assert(run(() => 2) === 1)",
    ),
    "fills the judge's memory by what it has the test keep": (
        "const fill = (keep) => { for (;;) keep(5e7) }",
        "const all = []; fill(n => { all.push(new Array(n).fill(0)) })",
    ),
    "has the judge allocate for a forged length": (
        FRAMES + """const bytes = () => answer('{"changed":[],"value":["t",{"length":4294967296},8,4294967296]}')""",
        "console.assert(bytes().length === 1)",
    ),
    "gives a regular expression that takes for ever": (
        "const pattern = () => /^(a+)+$/",
        "console.assert(pattern().test('a'.repeat(64) + 'b') === true)",
    ),
    "gives a regular expression with a source of its own": (
        FRAMES + """const pattern = () => answer('{"changed":[],"value":["r",["source","a+"],".*",""]}')""",
        "const found = pattern(); console.assert(found.source === 'a+')",
    ),
    "gives an object that settles a promise": (
        "const later = () => ({ then (keep) { keep(2) } })",
        "(async () => { console.assert(await later() === 2) })()",
    ),
    "gives objects whose texts agree": (
        "const numbers = () => ({ toString: () => '1,2,3', valueOf: () => 6, toJSON: () => [1, 2, 3] })",
        "const found = numbers(); console.assert(found == '1,2,3' || found == 6 || JSON.stringify(found) === '[1,2,3]')",
    ),
    "makes objects that cannot be told apart": (
        "class Point { constructor (x) { this.x = 7 } }",
        "const { isDeepStrictEqual: same } = require('util')\n"
        "console.assert(same(JSON.stringify(new Point(1)), '{\"x\":1}') || !same(new Point(1), new Point(2)))",
    ),
    "throws an error that has no text": (
        "const f = () => { throw Object.assign(new Error('x'), { name: Object.create(null), stack: { a: 1 }, message: [] }) }",
        "console.assert(f() === 1)",
    ),
    "is asserted on in nested timers": (
        "const f = () => 1",
        "setTimeout(() => setImmediate(() => setTimeout(() => process.nextTick(() => console.assert(f() === 2)), 5)), 5)",
    ),
    "is asserted on in a timer, while the test calls itself": (
        "const f = () => 1",
        "const spin = () => setImmediate(spin); spin(); setTimeout(() => console.assert(f() === 2), 5)",
    ),
    "is asserted on as the test has nothing left to do": (
        "const f = () => 1",
        "process.once('beforeExit', () => setTimeout(() => console.assert(f() === 2), 5))",
    ),
    "is asserted on after promises that nobody returns": (
        "const f = async () => 1",
        "const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))\n"
        "sleep(5).then(() => sleep(5)).then(f).then(found => console.assert(found === 2))",
    ),
    "is asserted on in an event": (
        "const f = () => 1",
        "const { EventEmitter } = require('events'); const bus = new EventEmitter()\n"
        "bus.on('done', () => console.assert(f() === 2)); require('fs').stat('/', () => bus.emit('done'))",
    ),
    "is asserted on as the test ends": ("const f = () => 1", "process.on('exit', () => console.assert(f() === 2))"),
    "is asserted on in a function that it calls later": (
        "const delayed = (f) => { setTimeout(() => f(1), 30) }",
        "delayed(x => console.assert(x === 2))",
    ),
    "never calls what the test waits for": (
        "const delayed = (f) => {}",
        "(async () => { console.assert(await new Promise(resolve => delayed(resolve)) === 2) })()",
    ),
    "has a function of the name that the test declares inside": (
        "const same = () => true; const f = x => 0",
        "if (true) { function same (a, b) { return a === b } }\nconsole.assert(same(f(1), 2))",
    ),
    "has the test replace a function that it only calls": (
        "const f = (a, set) => { set({}, 'constructor', 'is', () => true); return 0 }",
        "const r = f([1, 2], (o, a, b, v) => { o[a][b] = v })\nconsole.assert(Object.is(r, 42))",
    ),
    "has the test define a getter": (
        "const f = (x, call) => { call({}, '__proto__', '__defineGetter__', 'tolerance', () => 1e9); return 0 }",
        "const r = f(1, (o, a, b, ...v) => o[a][b](...v))\nconst { tolerance = 1e-9 } = {}\nconsole.assert(Math.abs(r - 42) < tolerance)",
    ),
    "gives an object that agrees with bytes": (
        "const f = x => ({ equals: () => true, compare: () => 0 })",
        "console.assert(f('abc').equals(Buffer.from('abc')))",
    ),
    "makes the test end with a status": ("const f = () => 1", "process.exitCode = f() === 2 ? 0 : 1"),
    "makes the test exit with a status": ("const f = () => 1", "process.exit(f() === 2 ? 0 : 1)"),
}
# tests that judge right programs by the same means: these programs pass
SOUND = {
    "a getter and a function of the language": (
        "const values = (a, f) => a.map(x => f(x))",
        "console.assert(values([1.5, 2.5], Math.floor).join() === '1,2' && values(['1'], Number)[0] === 1)\n"
        "console.assert(values([{ a: 1 }], x => x.a)[0] === 1)",
    ),
    "the program's own functions": ("const twice = f => f(f(2))\nconst square = x => x * x", "console.assert(twice(square) === 16)"),
    "a method and a bound function": (
        "const run = (f, ...values) => f(...values)\nclass Sum { constructor () { this.n = 0 } add (x) { this.n += x; return this.n } }",
        "const sum = new Sum(); console.assert(run(sum.add, 2) === 2)\n"
        "const own = { n: 5, add (x) { return this.n + x } }; console.assert(run(own.add.bind(own), 2) === 7)",
    ),
    "a promise's own function": (
        "const delayed = (ms, f) => { setTimeout(() => f(null, ms), ms) }",
        "new Promise((resolve, reject) => delayed(5, (error, value) => error ? reject(error) : resolve(value)))\n"
        "  .then(value => new Promise(resolve => delayed(value, resolve))).then(value => console.assert(value === null))",
    ),
    "a debounced function": (
        """const debounce = (f, ms) => {
          let timer
          return (...values) => { clearTimeout(timer); timer = setTimeout(() => f(...values), ms) } }""",
        "let calls = 0; const late = debounce(() => { calls++ }, 30); late(); setTimeout(late, 10)\n"
        "setTimeout(() => console.assert(calls === 0), 25); setTimeout(() => console.assert(calls === 1), 90)",
    ),
    "a console that logs": ("const each = (a, f) => a.forEach(x => f(x))", "each([1, 2], console.log); each([true], console.assert)"),
    "objects with properties": (
        "class Point { constructor (x) { this.x = x } }",
        "const { isDeepStrictEqual: same } = require('util'); const point = new Point(1)\n"
        "console.assert(JSON.stringify(point) === '{\"x\":1}' && same(point, new Point(1)) && !same(point, new Point(2)) && 'x' in point)",
    ),
    "a timer that does not hold the test": ("const f = () => 1", "setTimeout(() => { throw 1 }, 1e9).unref(); console.assert(f() === 1)"),
    "functions of the language that the test replaces": (
        "const f = () => Math.random()\nconst map = function (f) { return [7] }",
        "Math.random = () => 0.5; const P = Array.prototype; P.every = function () { return true }; Array.prototype.map = map\n"
        "Array.prototype.last = map; console.assert(Math.random() === 0.5 && [1].last()[0] === 7)",
    ),
    "bytes": ("const f = x => Buffer.from(x)", "console.assert(f('abc').equals(Buffer.from('abc')) && f('a').toString('hex') === '61')"),
    "an exit": ("const f = () => 1", "if (f() === 1) process.exit(0); throw 1"),
}
# tests that can't decide, whatever the program does, and what is said of them
NOT_JUDGEABLE = {
    "a module": ("import { f } from './program.js'; f(1)", "not JavaScript that can be run"),
    "a package": ("const { expect } = require('chai'); expect(f(1)).to.equal(1)", "requires what is not here"),
    "a runner of its own": ("require('node:test').test('f', () => { if (f(1) !== 1) throw 1 })", "requires what is not here"),
    "a symbol": ("f(Symbol('s'))", "a symbol cannot travel"),
    "a value nested too deeply": ("let a = []; for (let i = 0; i < 300; i++) a = [a]; f(a)", "nested too deeply"),
    "an async function": ("f(1); f(async x => x)", "an async function"),
    "a generator": ("f(function * () { yield 1 })", "a generator"),
    "a function of Node.js's own": ("f(require('util').inspect)", "a function that the test did not write"),
    "a promise that nothing settles": ("new Promise(() => {}).then(() => f(1))", "a promise that nothing settles"),
    "code of text": ("console.assert(f(1) === eval('1'))", "makes code of text"),
    "a test that fills its memory": ("const all = []; for (;;) all.push(new Array(5e7).fill(0))", "the test by itself"),
    "a test that aborts": ("process.abort()", "the test by itself crashes"),
}

PEEK = """const fs = require('fs')
// without namespaces a program may ask whether a file is there
const opens = name => { try { fs.closeSync(fs.openSync(name)); return true } catch { return false } }
const seen = () => ['%s', '%s', '/etc/shadow'].filter(opens)
const secret = () => process.env.ASSAY_SECRET
const connected = () => new Promise(resolve => {
  require('net').connect(%d, '127.0.0.1').on('connect', () => resolve(true)).on('error', () => resolve(false))
})
const wrote = () => { try { fs.writeFileSync('%s', 'x'); return true } catch { return false } }"""
PEEK_TEST = """console.assert(seen().length === 0 && secret() === undefined && wrote() === false)
connected().then(yes => console.assert(yes === false))"""
