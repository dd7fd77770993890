'use strict'
// Runs one trusted test after the other. A frame is the test's text; its answer is a frame `P` (passed), `F` with the reason, or `U` with
// the reason why the test can give no verdict. A name that neither the test nor the language defines is one of the program's.
const { inspect, isDeepStrictEqual } = require('util')
const { createRequire } = require('module')
const { compileFunction } = require('vm')
const { readFrame, writeFrame } = require('./frames.js')
const { Untransportable, Wire } = require('./wire.js')

// names that a test means itself, without those that programs commonly give to functions
const OURS = new Set([...Object.getOwnPropertyNames(globalThis), 'require', 'module', 'exports', 'arguments', 'programScope'])
for (const name of ['escape', 'unescape', 'fetch']) OURS.delete(name)
const installed = createRequire('/')
// the relay of the frames (call_relay.py) takes no longer one
const MOST_BYTES = 1 << 24
const LONGEST_REASON = 2000

/** No verdict: the test is at fault, or the program's process has ended, which the relay knows. */
class CannotJudge extends Error {}
/** The program's process answered with something that is no value, or with a value that can't be sent. */
class BadReply extends Error {}

class Session {
  constructor () {
    this.functions = []
    this.standIns = new Map()
    this.made = new Set()
    // containers made of the program's answers, and the lengths of these answers
    this.given = new WeakSet()
    this.received = 0
    this.names = new Map()
    this.failure = null
  }

  /** Record the error that decides the verdict, even where the test catches it; returns what to throw. */
  fail (error) {
    this.failure = this.failure || (error === undefined || error === null ? new Error(`thrown: ${error}`) : error)
    return error
  }

  exchange (call, values = []) {
    if (this.failure instanceof BadReply || this.failure instanceof CannotJudge) throw this.failure
    const wire = new Wire(this)
    const written = () => 'C' + JSON.stringify({ ...call, values: values.map(value => wire.write(value)) })
    writeFrame(1, this.framed(wire, 'the test passes', written))
    let reply = readFrame(0)
    while (reply !== null && reply[0] === 'C') {
      writeFrame(1, this.served(reply))
      reply = readFrame(0)
    }
    if (reply === null || reply[0] === 'D') throw this.fail(new CannotJudge("the program's process has ended"))
    return this.result(call, wire, reply)
  }

  /** A frame of what the test gives to the program; where that can't be written and came from the program, it has failed. */
  framed (wire, what, write) {
    let fault
    try {
      const frame = write()
      if (Buffer.byteLength(frame) <= MOST_BYTES) return frame
      fault = 'a value that is too large'
    } catch (error) {
      fault = error.message
    }
    const programs = this.received > MOST_BYTES / 8 || wire.known.some(value => this.given.has(value))
    throw this.fail(programs
      ? new BadReply(`it gave the test what cannot be given back: ${fault}`)
      : new CannotJudge(`${what} what it cannot: ${fault}`))
  }

  /** Record which containers were read that the test did not have. */
  take (wire, had, text) {
    this.received += text.length
    for (let i = had; i < wire.known.length; i++) this.given.add(wire.known[i])
  }

  result (call, wire, reply) {
    const had = wire.known.length
    if (reply[0] === 'X') throw this.fail(new BadReply(reply.slice(1)))
    let outcome
    try {
      const { changed, ...rest } = JSON.parse(reply.slice(1))
      const [[key, value]] = Object.entries(rest)
      // registered before the changes, which may contain the new object
      if (call.operation === 'new' && key === 'value' && Array.isArray(value) && value[0] === 'i') this.made.add(value[1])
      for (const [number, contents] of changed) wire.readContents(wire.container(number), contents)
      outcome = [key, wire.read(value)]
      this.take(wire, had, reply)
    } catch (error) {
      throw this.fail(new BadReply(`an answer that is no value: ${error.message}`))
    }
    const [key, value] = outcome
    if (key === 'thrown') throw value
    if (key !== 'rejected' && key !== 'promised') return value
    const promise = key === 'rejected' ? Promise.reject(value) : Promise.resolve(value)
    this.given.add(promise)
    return promise
  }

  /** Answer a call of one of the test's functions. */
  served (frame) {
    const wire = new Wire(this)
    let call
    let values
    try {
      call = JSON.parse(frame.slice(1))
      values = call.values.map(value => wire.read(value))
      this.take(wire, 0, frame)
      if (!Number.isInteger(call.target) || !Object.hasOwn(this.functions, call.target)) throw new TypeError('no such function')
    } catch (error) {
      throw this.fail(new BadReply(`a call that is none: ${error.message}`))
    }
    let key = 'value'
    let value
    try {
      value = this.functions[call.target](...values)
    } catch (error) {
      key = 'thrown'
      value = error
    }
    return this.framed(wire, 'a function of the test gives back', () => 'R' + JSON.stringify({ [key]: wire.write(value) }))
  }

  write (value) {
    for (const [id, standIn] of this.standIns) {
      if (standIn === value) return ['i', id]
    }
    if (typeof value !== 'function') return undefined
    let id = this.functions.indexOf(value)
    if (id < 0) id = this.functions.push(value) - 1
    return ['f', id, true]
  }

  read ([tag, id]) {
    if (!Number.isInteger(id)) throw new Untransportable('no object has such a number')
    if (tag === 'i' && !this.made.has(id)) throw new Untransportable('an object that the test did not make')
    if (!this.standIns.has(id)) this.standIns.set(id, tag === 'f' ? this.callable(id) : this.object(id))
    return this.standIns.get(id)
  }

  /** A function of the program: it can be called, also with `new`; one of the top level has static properties. */
  callable (target) {
    const session = this
    const own = function () {}
    return new Proxy(own, {
      apply: (_, self, values) => session.exchange({ operation: 'call', target }, values),
      construct: (_, values) => session.exchange({ operation: 'new', target }, values),
      get: (_, property) => typeof property === 'symbol' || property in own || typeof target !== 'string'
        ? own[property]
        : session.property(target, property)
    })
  }

  /** An object that the test has made of one of the program's classes. */
  object (target) {
    const session = this
    return new Proxy({}, {
      get: (_, property) => typeof property === 'symbol' ? undefined : session.property(target, property),
      set: (_, property, value) => {
        session.exchange({ operation: 'set', target, property }, [value])
        return true
      }
    })
  }

  property (target, property) {
    const value = this.exchange({ operation: 'value', target, property })
    return typeof value === 'function' ? (...values) => this.exchange({ operation: 'call', target, property }, values) : value
  }

  /** The scope around a test: the program's names, and the values that the test assigns to undeclared names. */
  scope () {
    return new Proxy(Object.create(null), {
      has: (own, name) => typeof name === 'string' && !OURS.has(name) && (name in own || this.kind(name) !== 'undefined'),
      get: (own, name) => typeof name === 'symbol' ? undefined : name in own ? own[name] : this.named(name)
    })
  }

  kind (name) {
    if (!this.names.has(name)) this.names.set(name, { kind: this.exchange({ operation: 'kind', target: name }) })
    return this.names.get(name).kind
  }

  named (name) {
    if (this.kind(name) !== 'function') return this.exchange({ operation: 'value', target: name })
    const known = this.names.get(name)
    known.standIn = known.standIn || this.callable(name)
    return known.standIn
  }
}

/** `console.assert` only prints where a condition is false; in a test that is a failure. */
function asserting (session) {
  return Object.assign(Object.create(console), {
    assert (condition, ...message) {
      if (!condition) throw session.fail(new Error(['assertion failed', ...message].join(': ')))
    },
    log () {}, info () {}, warn () {}, error () {}, debug () {}
  })
}

// the tests of MBXP and of mxeval's HumanEval compare with lodash's isEqual
function requiring (session) {
  return name => {
    if (name === 'lodash') return { isEqual: isDeepStrictEqual }
    try {
      return installed(name)
    } catch (error) {
      throw session.fail(new CannotJudge(`the test requires what is not here: ${shown(error.message).split('\n')[0]}`))
    }
  }
}

function compiled (test) {
  try {
    return compileFunction(`with (programScope) {${test}\n}`, ['programScope', 'require', 'console'], { filename: 'test.js' })
  } catch (error) {
    throw new CannotJudge(`the test is not JavaScript that can be run: ${reason(error)}`)
  }
}

/** A failure in words: its message and the line of the test. */
function reason (error) {
  if (error instanceof BadReply || error instanceof CannotJudge) return error.message
  if (!(error instanceof Error)) return `thrown: ${shown(error)}`
  return `${shown(error.name)}: ${shown(error.message)}${place(error)}`
}

function place (error) {
  try {
    const line = /test\.js:(\d+)/.exec(error.stack)
    return line ? ` at line ${line[1]} of the test` : ''
  } catch {
    // reading `stack` formats it for the first time, which fails where the error's name is no text
    return ''
  }
}

/** Any value as text, also one that came from the program. */
function shown (value) {
  return (typeof value === 'string' ? value : inspect(value, { breakLength: Infinity })).slice(0, LONGEST_REASON)
}

async function judged (test) {
  const session = new Session()
  const failed = error => session.fail(error)
  process.on('unhandledRejection', failed)
  process.on('uncaughtException', failed)
  try {
    await compiled(test)(session.scope(), requiring(session), asserting(session))
    // wait for what the test left to pending promises
    await new Promise(resolve => setImmediate(resolve))
  } catch (error) {
    session.fail(error)
  }
  process.off('unhandledRejection', failed)
  process.off('uncaughtException', failed)
  if (session.failure === null) return 'P'
  return (session.failure instanceof CannotJudge ? 'U' : 'F') + reason(session.failure).slice(0, LONGEST_REASON)
}

async function main () {
  for (let test = readFrame(0); test !== null; test = readFrame(0)) writeFrame(1, await judged(test))
}

main()
