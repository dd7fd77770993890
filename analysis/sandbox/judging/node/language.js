'use strict'
// The language's own objects and functions. The judge captures what it uses of them before a test runs: a prototype that a test changes
// then changes nothing of what the judge does.
const { getOwnPropertyDescriptor, getOwnPropertyNames, getPrototypeOf } = Object

/** A method as a function that takes the object first. Calling it looks nothing up. */
const method = Function.prototype.bind.bind(Function.prototype.call)

/**
 * The functions, objects and symbols that are reached from the global object by names: each with these names, and with where it is kept. A
 * prototype has its keys with it, and their getters.
 */
function language () {
  const found = new Map([[globalThis, { __proto__: null, name: 'globalThis' }]])
  for (const [holder, entry] of found) {
    if (typeof holder === 'symbol') continue
    const keys = getOwnPropertyNames(holder)
    if (entry.key === 'prototype') entry.keys = new Map(keys.map(key => [key, getOwnPropertyDescriptor(holder, key).get]))
    for (const key of [...keys, '__proto__']) {
      // a getter is not called: it may load something
      const value = key === '__proto__' ? getPrototypeOf(holder) : getOwnPropertyDescriptor(holder, key).value
      const type = typeof value
      if (value === null || !(type === 'function' || type === 'object' || type === 'symbol') || found.has(value)) continue
      found.set(value, { __proto__: null, name: `${entry.name}.${key}`, holder, key })
    }
  }
  return found
}

/** What has this name here. */
function named (name) {
  return name.split('.').slice(1).reduce((object, key) => key === '__proto__' ? getPrototypeOf(object) : object[key], globalThis)
}

module.exports = { language, method, named }
