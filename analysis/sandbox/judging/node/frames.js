'use strict'
// Frames on a pipe: four bytes of length, most significant first, and as many bytes. Reads and writes block.
const fs = require('fs')

const { readSync, writeSync } = fs
const { alloc, concat, from } = Buffer

function readBytes (fd, count) {
  const bytes = alloc(count)
  let have = 0
  while (have < count) {
    const read = retry(() => readSync(fd, bytes, have, count - have, null))
    if (read === 0) return null
    have += read
  }
  return bytes
}

/** The text of the next frame; null at the end of the stream. */
function readFrame (fd) {
  const head = readBytes(fd, 4)
  const body = head && readBytes(fd, head.readUInt32BE(0))
  return body && body.toString('utf8')
}

function writeFrame (fd, text) {
  const body = from(text, 'utf8')
  const head = alloc(4)
  head.writeUInt32BE(body.length, 0)
  const bytes = concat([head, body])
  let done = 0
  while (done < bytes.length) done += retry(() => writeSync(fd, bytes, done, bytes.length - done))
}

function retry (step) {
  for (;;) {
    try {
      return step()
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}

module.exports = { readFrame, writeFrame }
