const STEPS = Array.from({ length: 64 }, (_, step) => step)
const CONSTANTS = Int32Array.from(STEPS, (step) => Math.floor(Math.abs(Math.sin(step + 1)) * 2 ** 32))
/** Which word of the block a step takes, and by how much it turns what comes of it. */
const WORDS = Uint8Array.from(STEPS, (step) => ([step, 5 * step + 1, 3 * step + 5, 7 * step][step >> 4] as number) & 15)
const TURNS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
const TURN = Uint8Array.from(STEPS, (step) => TURNS[((step >> 4) << 2) | (step & 3)] as number)
const A = 0x67452301
const B = 0xefcdab89 | 0
const C = 0x98badcfe | 0
const D = 0x10325476

/**
 * MD5 (RFC 1321) of one block, padding included, as the 16 words that it has on a little-endian machine. For identifiers
 * by the hundred thousand: each call of the one in `node:crypto` costs four times as much, however short the text.
 */
export function md5OfBlock(block: Int32Array, digest: Int32Array): void {
  let a = A
  let b = B
  let c = C
  let d = D
  for (let step = 0; step < 64; step += 1) {
    const mixed = step < 16 ? (b & c) | (~b & d) : step < 32 ? (d & b) | (~d & c) : step < 48 ? b ^ c ^ d : c ^ (b | ~d)
    const sum = (a + mixed + (CONSTANTS[step] as number) + (block[WORDS[step] as number] as number)) | 0
    const turn = TURN[step] as number
    a = d
    d = c
    c = b
    b = (b + ((sum << turn) | (sum >>> (32 - turn)))) | 0
  }
  digest[0] = A + a
  digest[1] = B + b
  digest[2] = C + c
  digest[3] = D + d
}
