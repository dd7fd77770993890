'use strict'
// Encodes values as tagged JSON, for one call and its reply. Decoding makes new plain values; no object of the other side is ever sent, and
// a function only as a reference to call. Containers are numbered in the order in which they are first met, the same on both sides. So an
// argument that comes back is the same object, and the changes that a call made in it are known.

const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, hasOwn, is, keys } = Object
const { isArray } = Array
const TYPED = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array,
  BigInt64Array, BigUint64Array]
const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }
// a function under one of these names could replace a method of the language that a test relies on
const BUILTIN = new Set([Object, Function, Array, String, Number, Boolean, Map, Set, Date, RegExp, Promise, BigInt]
  .flatMap(type => Object.getOwnPropertyNames(type.prototype)).concat('toJSON'))

// how deep containers may be nested
const DEEPEST = 200

class Untransportable extends Error {}

class Wire {
  /** handles: { write(value): tagged or undefined, read(tagged): value } for functions and for objects known by a number. */
  constructor (handles) {
    this.handles = handles
    this.known = []
    this.depth = 0
    this.numbers = new Map()
  }

  learn (value) {
    if (!this.numbers.has(value)) this.numbers.set(value, this.known.length)
    this.known[this.known.length] = value
    return value
  }

  write (value) {
    switch (typeof value) {
      case 'string': case 'boolean': return value
      case 'undefined': return ['u']
      case 'bigint': return ['b', `${value}`]
      case 'number': return is(value, -0) ? ['n', '-0'] : Number.isFinite(value) ? value : ['n', `${value}`]
      case 'symbol': throw new Untransportable('a symbol cannot travel between the program and its test')
    }
    if (value === null) return null
    if (this.numbers.has(value)) return ['k', this.numbers.get(value)]
    return this.handles.write(value) || this.writeContainer(value)
  }

  writeContainer (value) {
    this.learn(value)
    if (value instanceof Promise) throw new Untransportable('a promise inside another value cannot travel between the program and its test')
    const kind = kindOf(value)
    return [kind, this.writeContents(value), ...extra(kind, value)]
  }

  /** Run one level deeper. */
  deeper (step) {
    if (this.depth === DEEPEST) throw new Untransportable('a value that is nested too deeply')
    this.depth += 1
    try {
      return step()
    } finally {
      this.depth -= 1
    }
  }

  /** Write what is inside a container, flat as `contents` returns it. */
  writeContents (value) {
    const items = contents(value)
    const written = new Array(items.length)
    this.deeper(() => {
      for (let i = 0; i < items.length; i++) written[i] = i in items ? this.write(items[i]) : ['h']
    })
    return written
  }

  read (tagged) {
    if (typeof tagged === 'string' || typeof tagged === 'boolean' || typeof tagged === 'number' || tagged === null) return tagged
    if (!isArray(tagged)) throw new TypeError('not a value')
    const [tag, body] = tagged
    switch (tag) {
      case 'u': return undefined
      case 'b': return BigInt(body)
      case 'n': return Number(body)
      case 'k': return this.container(body)
      case 'f': case 'i': return this.handles.read(tagged)
    }
    const made = this.learn(empty(tagged))
    this.readContents(made, body)
    return made
  }

  /** The container of that number. Anything but a number is refused, since a name would reach an array's own properties. */
  container (number) {
    if (!Number.isInteger(number) || number < 0 || number >= this.known.length) throw new TypeError(`no container has the number ${number}`)
    return this.known[number]
  }

  /** Fill a container with what `writeContents` of the other side wrote. */
  readContents (value, body) {
    if (!isArray(body)) throw new TypeError('not the contents of a container')
    const items = new Array(body.length)
    this.deeper(() => {
      for (let i = 0; i < body.length; i++) {
        if (!(isArray(body[i]) && body[i][0] === 'h')) items[i] = this.read(body[i])
      }
    })
    fill(value, items)
  }
}

function kindOf (value) {
  if (isArray(value)) return 'a'
  if (value instanceof Map) return 'm'
  if (value instanceof Set) return 's'
  if (value instanceof Date) return 'd'
  if (value instanceof RegExp) return 'r'
  if (value instanceof Error) return 'e'
  return TYPED.some(type => value instanceof type) ? 't' : 'o'
}

/** The values that an object has to be made with. */
function extra (kind, value) {
  switch (kind) {
    case 'r': return [`${value.source}`, `${value.flags}`]
    case 'e': return [errorName(value), `${value.message}`]
    case 't': return [TYPED.findIndex(type => value instanceof type), value.length]
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

function empty ([kind, body, first, second]) {
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
      if (!TYPED[first] || second !== body.length) throw new TypeError('not a typed array')
      return new TYPED[first](second)
    case 'o': return first ? Object.create(null) : {}
    default: throw new TypeError(`no kind of value has the tag ${kind}`)
  }
}

/** The items of a container; keys and values of a map or an object in turn. Functions under the names of built-in methods are left out. */
function contents (value) {
  switch (kindOf(value)) {
    case 'a': case 's': case 't': return isArray(value) ? value : [...value]
    case 'm': return [...value].flat(1)
    case 'd': return [value.getTime()]
    case 'o': case 'e': {
      const items = []
      for (const key of keys(value)) {
        const item = value[key]
        if (!(typeof item === 'function' && BUILTIN.has(key))) items.push(key, item)
      }
      return items
    }
    default: return []
  }
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
      if (items.some(item => typeof item !== 'number' && typeof item !== 'bigint')) throw new TypeError('not the items of a typed array')
      for (let i = 0; i < items.length; i++) value[i] = items[i]
      break
    case 's':
      value.clear()
      for (const item of items) value.add(item)
      break
    case 'm':
      value.clear()
      for (let i = 0; i + 1 < items.length; i += 2) value.set(items[i], items[i + 1])
      break
    case 'd':
      if (typeof items[0] !== 'number') throw new TypeError('not the time of a date')
      value.setTime(items[0])
      break
    default:
      for (let i = 0; i < items.length; i += 2) {
        if (typeof items[i] !== 'string') throw new TypeError('not the name of a property')
        if (typeof items[i + 1] === 'function' && BUILTIN.has(items[i])) throw new TypeError(`a function of its own as ${items[i]}`)
      }
      for (const key of keys(value)) delete value[key]
      for (let i = 0; i + 1 < items.length; i += 2) define(value, items[i], items[i + 1])
  }
}

function define (object, key, value) {
  defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

module.exports = { Untransportable, Wire, contents }
