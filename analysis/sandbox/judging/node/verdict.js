'use strict'
// The verdict of the judge, a frame `P` (passed), `F` with the reason, or `U` with the reason why the test can't decide. Sending it ends the
// process: the first failure decides, even where the test would catch it.
const { inspect } = require('util')
const { writeFrame } = require('./frames.js')
const { method } = require('./language.js')

const leave = process.reallyExit.bind(process)
const execute = method(RegExp.prototype.exec)
const slice = method(String.prototype.slice)
const LONGEST_REASON = 2000
const PLACE = /test\.js:(\d+)/

// kept, in case that the stack is full: then the error of sending it may be caught
let decided = null

function decide (letter, words) {
  decided ||= { __proto__: null, letter, words }
  writeFrame(1, decided.letter + slice(decided.words(), 0, LONGEST_REASON))
  leave(0)
}

/** The test passed, unless it has failed before. */
const pass = () => decide('P', () => '')
/** The test can't decide, whatever the program does. */
const refuse = reason => decide('U', () => reason)
/** The program is at fault, as the judge found. */
const fail = reason => decide('F', () => reason)
/** The test failed by what was thrown. */
const failWith = thrown => decide('F', () => inWords(thrown))

/** What was thrown, in words: the message and the line of the test. */
function inWords (thrown) {
  try {
    return thrown instanceof Error ? `${shown(thrown.name)}: ${shown(thrown.message)}${place(thrown)}` : `thrown: ${shown(thrown)}`
  } catch {
    return 'thrown: a value that cannot be shown'
  }
}

function place (error) {
  try {
    const line = execute(PLACE, error.stack)
    return line ? ` at line ${line[1]} of the test` : ''
  } catch {
    // reading `stack` formats it for the first time, which fails where the error's name is no text
    return ''
  }
}

/** Any value as text, also one that came from the program. */
function shown (value) {
  return slice(typeof value === 'string' ? value : inspect(value, { __proto__: null, breakLength: Infinity }), 0, LONGEST_REASON)
}

module.exports = { fail, failWith, inWords, pass, refuse }
