import { randomInt, randomUUID } from 'node:crypto'

let lastTime = 0
let counter = 0
/** The beginning of all ids of `lastTime`. */
let head = ''

/** A new UUID (version 7). It sorts after every earlier UUID of this process, even if the clock goes back. */
export function uuidv7(): string {
  const now = Date.now()
  if (now > lastTime) {
    begin(now)
    // The upper half of the 12 bits is for more ids in the same millisecond.
    counter = randomInt(0x800)
  } else if (++counter > 0xfff) {
    begin(lastTime + 1)
    counter = 0
  }
  const order = counter.toString(16).padStart(3, '0')
  // The tail of a random UUID: variant bits and 62 random ones.
  return `${head}${order}-${randomUUID().slice(19)}`
}

function begin(time: number): void {
  lastTime = time
  const digits = time.toString(16).padStart(12, '0')
  head = `${digits.slice(0, 8)}-${digits.slice(8)}-7`
}
