'use strict'
// Runs one trusted test on one program. It reports that it is ready, gets the test's text in its first frame, and sends the verdict when
// neither of them has anything left to do. A name that neither the test nor the language defines is one of the program's.
const { createRequire } = require('module')
const { isDeepStrictEqual } = require('util')
const { compileFunction } = require('vm')
const { readFrame, writeFrame } = require('./frames.js')
const { method } = require('./language.js')
const { Session } = require('./session.js')
const { Timers } = require('./timers.js')
const { fail, failWith, inWords, pass, refuse } = require('./verdict.js')
const { stillWaits, watchPromises } = require('./waiting.js')

const { create, defineProperty, hasOwn } = Object
const again = setImmediate
const exit = process.exit.bind(process)
const installed = createRequire('/')
const execute = method(RegExp.prototype.exec)
const includes = method(String.prototype.includes)
const join = method(Array.prototype.join)
const replace = method(String.prototype.replace)
// the judge runs without `eval`: a function that makes functions of text would run a program's text here
const MAKES_CODE = /\beval\b|\bFunction\s*\(/

/** `console.assert` only prints where a condition is false; in a test that is a failure. */
function asserting (session) {
  const own = create(console)
  own.assert = session.open((condition, ...message) => {
    if (!condition) failWith(new Error(join(['assertion failed', ...message], ': ')))
  })
  own.log = own.info = own.warn = own.error = own.debug = session.open(() => {})
  return own
}

/** What a test may require: Node.js's own modules, and lodash's isEqual, with which MBXP and mxeval's HumanEval compare. */
function requiring (session, test, timers) {
  const modules = { __proto__: null, ...timers, lodash: { isEqual: session.open(isDeepStrictEqual) } }
  return name => {
    const own = replace(`${name}`, 'node:', '')
    if (hasOwn(modules, own)) return modules[own]
    try {
      // the runner of node:test reports as the process ends, which is after the verdict
      if (own !== 'test') return installed(name)
    } catch {}
    const decide = includes(test, name) ? refuse : fail
    decide(`the test requires what is not here: ${name}`)
  }
}

// in a function of its own, so that what it declares with `var` is its own, whatever names the program has
function compiled (test) {
  if (execute(MAKES_CODE, test)) refuse('the test makes code of text, which is not run here')
  try {
    return compileFunction(`with (programScope) { (function () {${test}\n})() }`, ['programScope', 'require', 'console'], { filename: 'test.js' })
  } catch (error) {
    refuse(`the test is not JavaScript that can be run: ${inWords(error)}`)
  }
}

function judge (test) {
  // frames alone go to stdout, and nothing that the test prints
  defineProperty(process, 'stdout', { get: () => process.stderr })
  const timers = new Timers(ms => session.rest(ms))
  const modules = timers.install()
  watchPromises()
  const session = new Session(test)
  process.on('uncaughtException', failWith)
  process.on('unhandledRejection', failWith)
  // the test has nothing left to do but to wait for its timers and for the program
  let idle = false
  process.on('beforeExit', () => {
    const busy = timers.fire() || session.finish()
    if (idle && !busy) {
      if (!stillWaits()) exit()
      const decide = session.heard ? fail : refuse
      decide('the test waits for a promise that nothing settles')
    }
    // once more, since listeners of the test's own may begin something
    idle = !busy
    again(() => {})
  })
  // the last step of `exit`, also of the test's own
  defineProperty(process, 'reallyExit', {
    value: status => {
      const { replaced } = session
      if (replaced !== undefined) fail(`it has the test change ${replaced}`)
      if (status !== 0) fail(`the test ended with status ${status}`)
      pass()
    }
  })
  try {
    compiled(test)(session.scope(), requiring(session, test, modules), asserting(session))
  } catch (error) {
    failWith(error)
  }
}

writeFrame(1, 'H')
judge(readFrame(0))
