'use strict'
// A test's side of its conversation with a program: stand-ins for the program's names, functions and objects. What the program says is read
// as data. No function and no object of the judge's own is ever sent.
const { readFrame, writeFrame } = require('./frames.js')
const { language, method } = require('./language.js')
const { fail, refuse } = require('./verdict.js')
const { Untransportable, Wire } = require('./wire.js')

const { parse, stringify } = JSON
const { entries, getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf, hasOwn } = Object
const { isArray } = Array
const { isInteger } = Number
const { apply } = Reflect
const { byteLength } = Buffer
const leave = process.reallyExit.bind(process)
const resolved = Promise.resolve.bind(Promise)
const rejected = Promise.reject.bind(Promise)
const textOf = method(Function.prototype.toString)
const slice = method(String.prototype.slice)
const includes = method(String.prototype.includes)
const indexOf = method(String.prototype.indexOf)
const endsWith = method(String.prototype.endsWith)
const listed = method(Array.prototype.includes)
const mapEach = method(Map.prototype.forEach)
const mapGet = method(Map.prototype.get)
const mapHas = method(Map.prototype.has)
const mapSet = method(Map.prototype.set)
const setAdd = method(Set.prototype.add)
const setHas = method(Set.prototype.has)
const weakAdd = method(WeakSet.prototype.add)
const weakHas = method(WeakSet.prototype.has)

// names that a test means itself, without those that programs commonly give to functions
const OURS = new Set([...Object.getOwnPropertyNames(globalThis), 'require', 'module', 'exports', 'arguments', 'programScope'])
for (const name of ['escape', 'unescape', 'fetch']) OURS.delete(name)
// calling a function of these kinds gives a promise or an iterator, which can't be sent
const NOT_PLAIN = [async () => {}, function * () {}, async function * () {}].map(getPrototypeOf)
// the relay of the frames (call_relay.py) takes no longer one
const MOST_BYTES = 1 << 24

const isNative = value => endsWith(textOf(value), '{ [native code] }')

class Session {
  #test
  #language = language()
  // functions that the program may call, and their numbers
  #functions = []
  #numbers = new Map()
  // functions of the judge's own that a test may hand over
  #open = new WeakSet()
  // stand-ins by the number or name of what they stand for, and the other way round
  #standIns = new Map()
  #identities = new Map()
  #made = new Set()
  #kinds = new Map()
  // containers and promises made of the program's answers
  #given = new WeakSet()
  #heard = false
  // whether a call is on its way, whose answer was not read
  #underway = false
  // whether the program may have something left to do
  #restless = false

  /** test: its text. */
  constructor (test) {
    this.#test = test
  }

  /** Whether the program has given the test any value. */
  get heard () {
    return this.#heard
  }

  /** The name of something of the language that now is what the test did not write; undefined where there is none. */
  get replaced () {
    let first
    const check = (holder, key, name, value) => {
      const found = getOwnPropertyDescriptor(holder, key)
      const current = found?.value ?? found?.get ?? found?.set
      if (current === value || (typeof current === 'function' && this.#writtenByTest(current))) return
      if (!this.#assigns(slice(name, 'globalThis.'.length))) first ||= name
    }
    mapEach(this.#language, ({ name, holder, key, keys }, value) => {
      if (holder !== undefined && key !== '__proto__') check(holder, key, name, value)
      if (keys === undefined) return
      const own = getOwnPropertyNames(value)
      for (let i = 0; i < own.length; i++) {
        const getter = mapGet(keys, own[i])
        if (getter !== undefined || !mapHas(keys, own[i])) check(value, own[i], `${name}.${own[i]}`, getter)
      }
    })
    return first
  }

  /** Whether the test's text assigns something to this name. */
  #assigns (name) {
    for (let at = indexOf(this.#test, name); at >= 0; at = indexOf(this.#test, name, at + 1)) {
      let next = at + name.length
      while (this.#test[next] === ' ') next++
      if (this.#test[next] === '=' && this.#test[next + 1] !== '=' && this.#test[next + 1] !== '>') return true
    }
    return false
  }

  /** Let a test hand over this function of the judge's; returns it. */
  open (value) {
    weakAdd(this.#open, value)
    return value
  }

  /** Let the program's time pass, for ms milliseconds. */
  rest (ms) {
    this.#exchange({ operation: 'rest', ms }, [])
  }

  /** Let the program finish what it does by itself, if that may call the test; returns whether it may. */
  finish () {
    if (!this.#restless || this.#functions.length === 0) return false
    this.#exchange({ operation: 'rest' }, [])
    this.#restless = false
    return true
  }

  #exchange (call, values) {
    // a stack that overflows in the judge's own code leaves a call without its answer
    if (this.#underway) fail('its calls are nested too deeply')
    this.#restless = true
    const wire = this.#wire(false)
    const frame = this.#framed(wire, false, () => 'C' + stringify({ __proto__: null, ...call, values: wire.writeAll(values) }))
    this.#underway = true
    writeFrame(1, frame)
    let reply = readFrame(0)
    while (reply !== null && reply[0] === 'C') {
      this.#underway = false
      const answer = this.#served(reply)
      this.#underway = true
      writeFrame(1, answer)
      reply = readFrame(0)
    }
    this.#underway = false
    // the relay gives the verdict on a program whose process has ended
    if (reply === null) leave(0)
    return this.#result(call.operation, wire, reply)
  }

  #wire (answering) {
    return new Wire({ __proto__: null, write: value => this.#write(value, answering), read: tagged => this.#read(tagged) })
  }

  /** A frame of what the test gives to the program. Where it can't be written, the test is at fault only if the program can't be the cause. */
  #framed (wire, answering, write) {
    let fault
    let ofSize = true
    try {
      const frame = write()
      if (byteLength(frame) <= MOST_BYTES) return frame
      fault = 'a value that is too large'
    } catch (error) {
      fault = error instanceof Error ? `${error.message}` : 'a value that cannot be read'
      if (error instanceof Untransportable) ofSize = error.ofSize
    }
    if (answering || this.#holdsGiven(wire) || (ofSize && this.#heard)) fail(`it has the test give back what cannot be sent: ${fault}`)
    refuse(`the test passes what cannot be sent: ${fault}`)
  }

  #holdsGiven (wire) {
    for (let i = 0; i < wire.known.length; i++) {
      if (weakHas(this.#given, wire.known[i])) return true
    }
    return false
  }

  /** Record which containers were read that the test did not have. */
  #take (wire, had) {
    this.#heard = true
    for (let i = had; i < wire.known.length; i++) weakAdd(this.#given, wire.known[i])
  }

  #result (operation, wire, reply) {
    const had = wire.known.length
    if (reply[0] === 'X') fail(slice(reply, 1))
    let key
    let value
    try {
      const { changed, ...rest } = parse(slice(reply, 1))
      const outcome = entries(rest)[0]
      key = outcome[0]
      const tagged = outcome[1]
      // registered before the changes, which may contain the new object
      if (operation === 'new' && key === 'value' && isArray(tagged) && tagged[0] === 'i') setAdd(this.#made, tagged[1])
      for (let i = 0; i < changed.length; i++) wire.readContents(wire.container(changed[i][0]), changed[i][1])
      value = wire.read(tagged)
    } catch (error) {
      fail(`an answer that is no value: ${error.message}`)
    }
    if (operation !== 'kind' && operation !== 'rest') this.#take(wire, had)
    if (key === 'thrown') throw value
    if (key !== 'rejected' && key !== 'promised') return value
    const promise = key === 'rejected' ? rejected(value) : resolved(value)
    weakAdd(this.#given, promise)
    return promise
  }

  /** Answer a call of one of the test's functions. */
  #served (frame) {
    const wire = this.#wire(true)
    let target
    let values
    try {
      const call = parse(slice(frame, 1))
      target = call.target
      values = wire.readAll(call.values)
      if (!isInteger(target) || !hasOwn(this.#functions, target)) throw new TypeError('no such function')
    } catch (error) {
      fail(`a call that is none: ${error.message}`)
    }
    this.#take(wire, 0)
    let key = 'value'
    let value
    try {
      value = apply(this.#functions[target], undefined, values)
    } catch (error) {
      key = 'thrown'
      value = error
    }
    return this.#framed(wire, true, () => 'R' + stringify({ __proto__: null, [key]: wire.write(value) }))
  }

  #write (value, answering) {
    const id = mapGet(this.#identities, value)
    if (id !== undefined) return ['i', id]
    // the program gets its own
    const known = mapGet(this.#language, value)
    if (known !== undefined) return ['l', known.name]
    if (typeof value !== 'function') return undefined
    if (!mapHas(this.#numbers, value)) {
      this.#checkCallable(value, answering)
      mapSet(this.#numbers, value, this.#functions.length)
      this.#functions[this.#functions.length] = value
    }
    return ['f', mapGet(this.#numbers, value), true]
  }

  /** Refuse a function that the test did not write. Promises' and bound functions are the language's, and have no name: they may be passed. */
  #checkCallable (value, answering) {
    if (weakHas(this.#open, value)) return
    if (listed(NOT_PLAIN, getPrototypeOf(value))) throw new Untransportable('an async function or a generator cannot be called by the program')
    if (isNative(value) ? answering : !this.#writtenByTest(value)) throw new Untransportable('a function that the test did not write')
  }

  #writtenByTest (value) {
    return !isNative(value) && includes(this.#test, textOf(value))
  }

  #read (tagged) {
    const tag = tagged[0]
    const id = tagged[1]
    if (tag === 'l' || !isInteger(id)) throw new Untransportable('no object has such a number')
    if (tag === 'i' && !setHas(this.#made, id)) throw new Untransportable('an object that the test did not make')
    return mapGet(this.#standIns, id) || (tag === 'f' ? this.#callable(id) : this.#object(id))
  }

  #register (id, standIn) {
    mapSet(this.#standIns, id, standIn)
    mapSet(this.#identities, standIn, id)
    return standIn
  }

  /** A function of the program: it can be called, also with `new`; one of the top level has static properties. */
  #callable (target) {
    const own = function () {}
    return this.#register(target, new Proxy(own, {
      __proto__: null,
      apply: (_, self, values) => this.#exchange({ operation: 'call', target }, values),
      construct: (_, values) => this.#exchange({ operation: 'new', target }, values),
      get: (_, property) => typeof property === 'symbol' || property in own || typeof target !== 'string'
        ? own[property]
        : this.#property(target, property)
    }))
  }

  /** An object that the test has made of one of the program's classes. Its properties are compared and listed as the program has them. */
  #object (target) {
    return this.#register(target, new Proxy({}, {
      __proto__: null,
      get: (_, property) => typeof property === 'symbol' ? undefined : this.#property(target, property),
      set: (_, property, value) => {
        this.#exchange({ operation: 'set', target, property }, [value])
        return true
      },
      has: (_, property) => typeof property === 'string' && this.#exchange({ operation: 'has', target, property }, []) === true,
      ownKeys: () => this.#exchange({ operation: 'keys', target }, []),
      getOwnPropertyDescriptor: (_, property) => typeof property === 'symbol' || !listed(this.#exchange({ operation: 'keys', target }, []), property)
        ? undefined
        : { __proto__: null, value: this.#property(target, property), writable: true, enumerable: true, configurable: true }
    }))
  }

  #property (target, property) {
    const value = this.#exchange({ operation: 'value', target, property }, [])
    if (typeof value !== 'function') return value
    return this.open((...values) => this.#exchange({ operation: 'call', target, property }, values))
  }

  /** The scope around a test: the program's names, and the values that the test assigns to them. */
  scope () {
    return new Proxy({ __proto__: null }, {
      __proto__: null,
      has: (own, name) => typeof name === 'string' && !setHas(OURS, name) && (name in own || this.#kind(name) !== 'undefined'),
      get: (own, name) => typeof name === 'symbol' ? undefined : name in own ? own[name] : this.#named(name)
    })
  }

  #kind (name) {
    if (!mapHas(this.#kinds, name)) mapSet(this.#kinds, name, this.#exchange({ operation: 'kind', target: name }, []))
    return mapGet(this.#kinds, name)
  }

  #named (name) {
    if (this.#kind(name) !== 'function') return this.#exchange({ operation: 'value', target: name }, [])
    return mapGet(this.#standIns, name) || this.#callable(name)
  }
}

module.exports = { Session }
