'use strict'
// The timers of a test. Their time passes in the program's process, so that the program's own timers run in between, in their order.
const modules = { timers: require('timers'), promises: require('timers/promises') }
const { promisify } = require('util')
const { method } = require('./language.js')

const { apply } = Reflect
const { max } = Math
const { assign } = Object
const MOST_MS = 2 ** 31 - 1
const later = setTimeout
const now = performance.now.bind(performance)
const setAdd = method(Set.prototype.add)
const setDelete = method(Set.prototype.delete)
const setEach = method(Set.prototype.forEach)
const setHas = method(Set.prototype.has)

class Timer {
  counts = true
  #timers

  constructor (timers, number, callback, values, ms, repeats) {
    this.#timers = timers
    this.number = number
    this.callback = callback
    this.values = values
    // as Node.js does
    this.ms = ms >= 1 && ms <= MOST_MS ? ms : 1
    this.repeats = repeats
    this.refresh()
  }

  refresh () {
    this.due = now() + this.ms
    this.#timers.wake(this.ms)
    return this
  }

  ref () {
    this.counts = true
    return this
  }

  unref () {
    this.counts = false
    return this
  }

  hasRef () {
    return this.counts
  }

  close () {
    this.#timers.clear(this)
    return this
  }

  [Symbol.toPrimitive] () {
    return this.number
  }
}

class Timers {
  #rest
  #waiting = new Set()
  #made = 0

  /** rest: waits, in the program's process, for that many milliseconds. */
  constructor (rest) {
    this.#rest = rest
  }

  /** Run what is due in ms milliseconds even where the test does not rest until then, but calls itself by setImmediate. */
  wake (ms) {
    later(() => this.fire(1), ms).unref()
  }

  start (callback, ms, values, repeats) {
    if (typeof callback !== 'function') throw new TypeError('The "callback" argument must be of type function.')
    const timer = new Timer(this, this.#made += 1, callback, values, +ms, repeats)
    setAdd(this.#waiting, timer)
    return timer
  }

  /** timer: what `start` returned, or its number. */
  clear (timer) {
    setEach(this.#waiting, each => {
      if (each === timer || each.number === +timer) setDelete(this.#waiting, each)
    })
  }

  /** Wait for the timer that is due first, unless it is due only after `most` milliseconds, and run it; returns whether there was one. */
  fire (most) {
    let first
    let counts = false
    setEach(this.#waiting, timer => {
      if (first === undefined || timer.due < first.due) first = timer
      counts ||= timer.counts
    })
    if (first === undefined || (most === undefined && !counts)) return false
    const left = max(0, first.due - now())
    if (left > most) return false
    this.#rest(left)
    // what the program called meanwhile may have stopped it
    if (!setHas(this.#waiting, first)) return true
    if (first.repeats) first.refresh()
    else setDelete(this.#waiting, first)
    apply(first.callback, first, first.values)
    return true
  }

  /** Give these timers to a test; returns the modules that have them. */
  install () {
    const setTimeout = (callback, ms, ...values) => this.start(callback, ms, values, false)
    const setInterval = (callback, ms, ...values) => this.start(callback, ms, values, true)
    const clear = timer => this.clear(timer)
    const later = (ms, value) => new Promise(resolve => setTimeout(resolve, ms, value))
    setTimeout[promisify.custom] = later
    const timers = { setTimeout, setInterval, clearTimeout: clear, clearInterval: clear }
    assign(globalThis, timers)
    return { timers: { ...modules.timers, ...timers }, 'timers/promises': { ...modules.promises, setTimeout: later } }
  }
}

module.exports = { Timers }
