'use strict'
// Encodes values as tagged JSON, for one call and its reply. Decoding makes new plain values; no object of the other side is ever sent, and
// a function only as a reference to call. Containers are numbered in the order in which they are first met, the same on both sides. So an
// argument that comes back is the same object, and the changes that a call made in it are known.
const { method } = require('./language.js')

const { create, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, is, keys } = Object
const { alloc } = Buffer
const { isArray } = Array
const { isFinite, isInteger } = Number
// a Buffer is a Uint8Array, too
const TYPED = [Buffer, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array,
  BigInt64Array, BigUint64Array]
const ERRORS = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }
const mapClear = method(Map.prototype.clear)
const mapEach = method(Map.prototype.forEach)
const mapGet = method(Map.prototype.get)
const mapHas = method(Map.prototype.has)
const mapSet = method(Map.prototype.set)
const setAdd = method(Set.prototype.add)
const setClear = method(Set.prototype.clear)
const setEach = method(Set.prototype.forEach)
const setHas = method(Set.prototype.has)
const getTime = method(Date.prototype.getTime)
const setTime = method(Date.prototype.setTime)
// a function under one of these names could replace a method of the language that a test relies on
const BUILTIN = new Set([Object, Function, Array, String, Number, Boolean, Map, Set, Date, RegExp, Promise, BigInt, Buffer, Uint8Array]
  .flatMap(type => Object.getOwnPropertyNames(type.prototype)).concat('toJSON'))

// how deep containers may be nested
const DEEPEST = 200

/** A value that can't be sent. ofSize: because of its size, which may follow from other values. */
class Untransportable extends Error {
  constructor (message, ofSize = false) {
    super(message)
    this.ofSize = ofSize
  }
}

class Wire {
  #handles
  #depth = 0
  #numbers = new Map()

  /** handles: { write(value): tagged or undefined, read(tagged): value } for functions, symbols, and objects that are known by a name. */
  constructor (handles) {
    this.#handles = handles
    this.known = []
  }

  #learn (value) {
    if (!mapHas(this.#numbers, value)) mapSet(this.#numbers, value, this.known.length)
    this.known[this.known.length] = value
    return value
  }

  write (value) {
    switch (typeof value) {
      case 'string': case 'boolean': return value
      case 'undefined': return ['u']
      case 'bigint': return ['b', `${value}`]
      case 'number': return is(value, -0) ? ['n', '-0'] : isFinite(value) ? value : ['n', `${value}`]
    }
    if (value === null) return null
    if (mapHas(this.#numbers, value)) return ['k', mapGet(this.#numbers, value)]
    const handle = this.#handles.write(value)
    if (handle) return handle
    if (typeof value === 'symbol') throw new Untransportable('a symbol cannot travel between the program and its test')
    return this.#writeContainer(value)
  }

  /** Write each of some values. */
  writeAll (values) {
    const written = []
    for (let i = 0; i < values.length; i++) written[i] = this.write(values[i])
    return written
  }

  #writeContainer (value) {
    this.#learn(value)
    if (value instanceof Promise) throw new Untransportable('a promise inside another value cannot travel between the program and its test')
    const kind = kindOf(value)
    return [kind, this.writeContents(value), ...extra(kind, value)]
  }

  /** Run one level deeper. */
  #deeper (step) {
    if (this.#depth === DEEPEST) throw new Untransportable('a value that is nested too deeply', true)
    this.#depth += 1
    try {
      return step()
    } finally {
      this.#depth -= 1
    }
  }

  /** Write what is inside a container, flat as `contents` returns it. */
  writeContents (value) {
    const items = contents(value)
    const written = new Array(items.length)
    this.#deeper(() => {
      for (let i = 0; i < items.length; i++) written[i] = i in items ? this.write(items[i]) : ['h']
    })
    return written
  }

  read (tagged) {
    if (typeof tagged === 'string' || typeof tagged === 'boolean' || typeof tagged === 'number' || tagged === null) return tagged
    if (!isArray(tagged)) throw new TypeError('not a value')
    const tag = tagged[0]
    const body = tagged[1]
    switch (tag) {
      case 'u': return undefined
      case 'b': return BigInt(body)
      case 'n': return Number(body)
      case 'k': return this.container(body)
      case 'f': case 'i': case 'l': return this.#handles.read(tagged)
    }
    if (!isArray(body)) throw new TypeError('not the contents of a container')
    const made = this.#learn(empty(tag, body, tagged[2], tagged[3]))
    this.readContents(made, body)
    return made
  }

  /** Read each of some values. */
  readAll (tagged) {
    if (!isArray(tagged)) throw new TypeError('not values')
    const values = []
    for (let i = 0; i < tagged.length; i++) values[i] = this.read(tagged[i])
    return values
  }

  /** The container of that number. Anything but a number is refused, since a name would reach an array's own properties. */
  container (number) {
    if (!isInteger(number) || number < 0 || number >= this.known.length) throw new TypeError(`no container has the number ${number}`)
    return this.known[number]
  }

  /** Fill a container with what `writeContents` of the other side wrote. */
  readContents (value, body) {
    if (!isArray(body)) throw new TypeError('not the contents of a container')
    const items = new Array(body.length)
    this.#deeper(() => {
      for (let i = 0; i < body.length; i++) {
        if (!(isArray(body[i]) && body[i][0] === 'h')) items[i] = this.read(body[i])
      }
    })
    fill(value, items)
  }
}

function typeNumber (value) {
  for (let i = 0; i < TYPED.length; i++) {
    if (value instanceof TYPED[i]) return i
  }
  return -1
}

function kindOf (value) {
  if (isArray(value)) return 'a'
  if (value instanceof Map) return 'm'
  if (value instanceof Set) return 's'
  if (value instanceof Date) return 'd'
  if (value instanceof RegExp) return 'r'
  if (value instanceof Error) return 'e'
  return typeNumber(value) >= 0 ? 't' : 'o'
}

/** The values that an object has to be made with. */
function extra (kind, value) {
  switch (kind) {
    case 'r': return [`${value.source}`, `${value.flags}`]
    case 'e': return [errorName(value), `${value.message}`]
    case 't': return [typeNumber(value), value.length]
    case 'o': return [getPrototypeOf(value) === null]
    default: return []
  }
}

function errorName (error) {
  for (let type = error; type; type = getPrototypeOf(type)) {
    const own = getOwnPropertyDescriptor(type, 'name')
    if (own && typeof own.value === 'string' && hasOwn(ERRORS, own.value)) return own.value
  }
  return 'Error'
}

function empty (kind, body, first, second) {
  switch (kind) {
    case 'a': return []
    case 'm': return new Map()
    case 's': return new Set()
    case 'd': return new Date(NaN)
    case 'r': return new RegExp(first, second)
    case 'e':
      if (!hasOwn(ERRORS, first)) throw new TypeError('not an error')
      return new ERRORS[first](second)
    case 't':
      if (!isInteger(first) || !hasOwn(TYPED, first) || second !== body.length) throw new TypeError('not a typed array')
      return first === 0 ? alloc(second) : new TYPED[first](second)
    case 'o': return first ? create(null) : {}
    default: throw new TypeError(`no kind of value has the tag ${kind}`)
  }
}

/** The items of a container; keys and values of a map or an object in turn. Functions under the names of built-in methods are left out. */
function contents (value) {
  const items = []
  switch (kindOf(value)) {
    case 'a': return value
    case 't':
      for (let i = 0; i < value.length; i++) items[i] = value[i]
      break
    case 's':
      setEach(value, item => { items[items.length] = item })
      break
    case 'm':
      mapEach(value, (item, key) => {
        items[items.length] = key
        items[items.length] = item
      })
      break
    case 'd': return [getTime(value)]
    case 'o': case 'e': {
      const names = keys(value)
      for (let i = 0; i < names.length; i++) {
        const item = value[names[i]]
        if (typeof item === 'function' && setHas(BUILTIN, names[i])) continue
        items[items.length] = names[i]
        items[items.length] = item
      }
    }
  }
  return items
}

/**
 * Replace a container's contents in place. Properties are defined, never assigned, so that a key such as __proto__ is only a key. What
 * `contents` never returns is refused: the program may have written it.
 */
function fill (value, items) {
  switch (kindOf(value)) {
    case 'a':
      value.length = 0
      value.length = items.length
      for (let i = 0; i < items.length; i++) {
        if (i in items) define(value, i, items[i])
      }
      break
    case 't':
      for (let i = 0; i < items.length; i++) {
        if (typeof items[i] !== 'number' && typeof items[i] !== 'bigint') throw new TypeError('not the items of a typed array')
        value[i] = items[i]
      }
      break
    case 's':
      setClear(value)
      for (let i = 0; i < items.length; i++) setAdd(value, items[i])
      break
    case 'm':
      mapClear(value)
      for (let i = 0; i + 1 < items.length; i += 2) mapSet(value, items[i], items[i + 1])
      break
    case 'd':
      if (typeof items[0] !== 'number') throw new TypeError('not the time of a date')
      setTime(value, items[0])
      break
    case 'r':
      if (items.length > 0) throw new TypeError('a regular expression with properties of its own')
      break
    default: {
      for (let i = 0; i < items.length; i += 2) {
        if (typeof items[i] !== 'string') throw new TypeError('not the name of a property')
        if (typeof items[i + 1] === 'function' && setHas(BUILTIN, items[i])) throw new TypeError(`a function of its own as ${items[i]}`)
      }
      const names = keys(value)
      for (let i = 0; i < names.length; i++) delete value[names[i]]
      for (let i = 0; i + 1 < items.length; i += 2) define(value, items[i], items[i + 1])
    }
  }
}

function define (object, key, value) {
  defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true })
}

module.exports = { Untransportable, Wire, contents }
