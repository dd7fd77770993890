// Draws media/icon.png: the shape of a likely suggestion over the three lines of a reliability diagram's bins. `node scripts/icon.mjs`
import { writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';

const SIZE = 128;
// Points of each pixel that are looked at, across and down: edges are as smooth as that.
const SAMPLES = 4;
const NIGHT = [20, 33, 61];
const GOLD = [252, 202, 92];
const PALE = [120, 140, 180];

const inBox = (x, y, left, top, right, bottom, radius) => {
  const dx = Math.max(left + radius - x, 0, x - (right - radius));
  const dy = Math.max(top + radius - y, 0, y - (bottom - radius));
  return dx * dx + dy * dy <= radius * radius;
};
const inDiamond = (x, y, cx, cy, r) => Math.abs(x - cx) + Math.abs(y - cy) <= r;

/** The colour at a point, null outside of the icon. */
function at(x, y) {
  if (!inBox(x, y, 4, 4, 124, 124, 26)) return null;
  if (inDiamond(x, y, 84, 46, 26)) return inDiamond(x, y, 84, 46, 12) ? NIGHT : GOLD;
  const bars = [
    [26, 86, 40, 104],
    [48, 74, 62, 104],
    [70, 86, 84, 104],
    [92, 80, 106, 104],
  ];
  if (inBox(x, y, 24, 40, 50, 48, 4) || inBox(x, y, 24, 58, 44, 66, 4)) return PALE;
  return bars.some((bar) => inBox(x, y, ...bar, 4)) ? PALE : NIGHT;
}

function pixel(column, row) {
  const sum = [0, 0, 0, 0];
  for (let i = 0; i < SAMPLES; i++)
    for (let j = 0; j < SAMPLES; j++) {
      const colour = at(column + (i + 0.5) / SAMPLES, row + (j + 0.5) / SAMPLES);
      if (colour) [...colour, 1].forEach((value, channel) => (sum[channel] += value));
    }
  const covered = sum[3];
  return [...sum.slice(0, 3).map((value) => (covered ? Math.round(value / covered) : 0)), Math.round((255 * covered) / SAMPLES ** 2)];
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  const check = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

const header = Buffer.alloc(13);
header.writeUInt32BE(SIZE, 0);
header.writeUInt32BE(SIZE, 4);
header.set([8, 6, 0, 0, 0], 8); // 8 bits for each of red, green, blue, alpha
const rows = Array.from({ length: SIZE }, (_, row) => [0, ...Array.from({ length: SIZE }, (_, column) => pixel(column, row)).flat()]);
const image = deflateSync(Buffer.from(rows.flat()), { level: 9 });
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
writeFileSync(
  new URL('../media/icon.png', import.meta.url),
  Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', image), chunk('IEND', Buffer.alloc(0))]),
);
