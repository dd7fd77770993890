'use strict'
// The process of the program. It reports that it is ready, gets the program's text in its first frame, and answers calls with values.
// Nothing here is trusted: whatever the program does to this process, it can only change the values.
const { createHash } = require('crypto')
const { createRequire } = require('module')
const { runInThisContext } = require('vm')
const { readFrame, writeFrame } = require('./frames.js')
const { named } = require('./language.js')
const { Untransportable, Wire, contents } = require('./wire.js')

const { parse, stringify } = JSON
const { apply, construct, get, set } = Reflect
const { is } = Object
const objects = []
const numbers = new Map()
const made = new Set()
const exit = process.exit.bind(process)
const once = process.once.bind(process)
const later = setTimeout

function number (value) {
  if (!numbers.has(value)) {
    numbers.set(value, objects.length)
    objects.push(value)
  }
  return numbers.get(value)
}

/** The target of a call: a name of the program or an object by its number, or a property of either. */
function resolve (target, property) {
  const object = typeof target === 'string' ? runInThisContext(target) : objects[target]
  return property === undefined ? [undefined, object] : [object, get(object, property)]
}

const operations = {
  kind: ({ target }) => runInThisContext(`typeof ${target}`),
  value: ({ target, property }) => resolve(target, property)[1],
  call: ({ target, property }, values) => {
    const [self, callee] = resolve(target, property)
    return apply(callee, self, values)
  },
  new: ({ target, property }, values) => {
    const object = construct(resolve(target, property)[1], values)
    made.add(object)
    return object
  },
  set: ({ target, property }, [value]) => set(objects[target], property, value),
  has: ({ target, property }) => property in objects[target],
  keys: ({ target }) => Object.keys(objects[target]),
  // this process's own timers run meanwhile, and may call the test
  rest: ({ ms }) => new Promise(resolve => ms === undefined ? once('beforeExit', resolve) : later(resolve, ms))
}

function handles (talk) {
  return {
    write (value) {
      if (typeof value === 'function') return ['f', number(value)]
      return made.has(value) ? ['i', number(value)] : undefined
    },
    read ([tag, id, ofTest]) {
      if (tag === 'l') return named(id)
      if (!ofTest) return typeof id === 'string' ? runInThisContext(id) : objects[id]
      return (...values) => talk({ operation: 'call', target: id }, values)
    }
  }
}

/** Call one of the test's functions, and serve the calls that it makes meanwhile. */
function callBack (call, values) {
  const wire = new Wire(handles(callBack))
  writeFrame(1, 'C' + stringify({ ...call, values: values.map(value => wire.write(value)) }))
  for (;;) {
    const frame = readFrame(0)
    if (frame === null) exit(0)
    if (frame[0] === 'C') {
      writeFrame(1, answerNow(frame))
      continue
    }
    const { value, thrown } = parse(frame.slice(1))
    if (thrown !== undefined) throw wire.read(thrown)
    return wire.read(value)
  }
}

function prepared (frame) {
  const call = parse(frame.slice(1))
  const wire = new Wire(handles(callBack))
  const values = call.values.map(value => wire.read(value))
  const containers = wire.known.slice()
  const before = containers.map(container => contents(container).slice())
  return { call, wire, values, containers, before }
}

function reply ({ wire, containers, before }, key, value) {
  const changed = []
  containers.forEach((container, i) => {
    const now = contents(container)
    if (now.length !== before[i].length || !before[i].every((item, j) => is(item, now[j]) && j in now)) {
      changed.push([i, wire.writeContents(container)])
    }
  })
  return 'R' + stringify({ changed, [key]: wire.write(value) })
}

/** The reply, or why there is none. */
function replied (state, key, value) {
  try {
    return reply(state, key, value)
  } catch (error) {
    return 'X' + (error instanceof Untransportable ? error.message : `a value that cannot be written: ${error && error.message}`)
  }
}

function answerNow (frame) {
  const state = prepared(frame)
  let value
  try {
    value = operations[state.call.operation](state.call, state.values)
  } catch (error) {
    return replied(state, 'thrown', error)
  }
  return replied(state, 'value', value)
}

/** The same; a promise is waited for. */
async function answer (frame) {
  const state = prepared(frame)
  let value
  let promised = false
  try {
    value = operations[state.call.operation](state.call, state.values)
    promised = value instanceof Promise
    if (promised) value = await value
  } catch (error) {
    return replied(state, promised ? 'rejected' : 'thrown', error)
  }
  return replied(state, promised ? 'promised' : 'value', value)
}

// js-md5 is the only package that HumanEval-X uses
function packages () {
  const installed = createRequire('/')
  const md5 = text => createHash('md5').update(text).digest('hex')
  return name => name === 'js-md5' ? Object.assign(md5, { md5 }) : installed(name)
}

async function main () {
  Object.defineProperty(process, 'stdout', { value: process.stderr })
  writeFrame(1, 'H')
  const source = readFrame(0)
  Object.assign(globalThis, { require: packages(), module: { exports: {} } })
  globalThis.exports = globalThis.module.exports
  try {
    runInThisContext(source, { filename: 'program.js' })
  } catch (error) {
    writeFrame(1, 'E' + (error instanceof Error ? `${error.stack}`.split('\n    at ', 1)[0] : `thrown: ${String(error)}`))
    return
  }
  writeFrame(1, 'R')
  for (let frame = readFrame(0); frame !== null; frame = readFrame(0)) writeFrame(1, await answer(frame))
  exit(0)
}

main()
