'use strict'
// Frames on a pipe: four bytes of length, most significant first, and as many bytes. Reads and writes block.
const { readSync, writeSync } = require('fs')
const { method } = require('./language.js')

const { alloc, concat, from } = Buffer
const readUInt32 = method(Buffer.prototype.readUInt32BE)
const writeUInt32 = method(Buffer.prototype.writeUInt32BE)
const text = method(Buffer.prototype.toString)

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
  const body = head && readBytes(fd, readUInt32(head, 0))
  return body && text(body, 'utf8')
}

function writeFrame (fd, frame) {
  const body = from(frame, 'utf8')
  const head = alloc(4)
  writeUInt32(head, body.length, 0)
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
