'use strict'
// Whether a test still waits for a promise. What stands after such an `await` or in such a `then` has not run, assertions included.
const { promiseHooks } = require('v8')
const { method } = require('./language.js')

const { apply } = Reflect
const setAdd = method(Set.prototype.add)
const setDelete = method(Set.prototype.delete)
const setSize = method(Object.getOwnPropertyDescriptor(Set.prototype, 'size').get)
const weakAdd = method(WeakSet.prototype.add)
const weakHas = method(WeakSet.prototype.has)

const settled = new WeakSet()
const awaited = new Set()
let racing = false

/** Watch all promises from here on. */
function watchPromises () {
  promiseHooks.createHook({
    init (promise, parent) {
      if (parent !== undefined && !racing && !weakHas(settled, parent)) setAdd(awaited, parent)
    },
    settled (promise) {
      weakAdd(settled, promise)
      setDelete(awaited, promise)
    }
  })
  // who loses a race may stay unsettled
  for (const name of ['race', 'any']) {
    const own = Promise[name]
    Promise[name] = { [name] (promises) {
      racing = true
      try {
        return apply(own, this, [promises])
      } finally {
        racing = false
      }
    } }[name]
  }
}

/** Whether something waits for a promise that is not settled. */
const stillWaits = () => setSize(awaited) > 0

module.exports = { stillWaits, watchPromises }
