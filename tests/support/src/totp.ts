import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const STEP_MS = 30_000
/** Long enough for a code to arrive on a busy machine. */
const NEEDED_MS = 8_000

/** The code of an authenticator (RFC 6238), computed without the code of Slipway. `shift` is in steps of 30 s. */
export function totp(secret: string, shift = 0, now = Date.now()): string {
  const bits = [...secret].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  )
  const key = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(now / STEP_MS) + shift))
  const mac = createHmac('sha1', key).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/** Waits until no new time step can begin for some seconds, so that codes that are made now still fit when they arrive. */
export async function steadyClock(): Promise<void> {
  const left = STEP_MS - (Date.now() % STEP_MS)
  if (left < NEEDED_MS) await sleep(left + 50)
}
