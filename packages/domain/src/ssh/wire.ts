/** Reads the binary format of SSH keys (RFC 4251, section 5). Throws RangeError at the end of the bytes. */
export class WireReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  number(): number {
    const value = this.#bytes.readUInt32BE(this.#at)
    this.#at += 4
    return value
  }

  string(): Buffer {
    const length = this.number()
    const end = this.#at + length
    if (end > this.#bytes.length) throw new RangeError('a string is longer than the key')
    const value = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return value
  }

  text(): string {
    return this.string().toString('latin1')
  }
}

export function wireString(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value as string)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** A positive integer. A zero byte before the highest bit keeps it positive. */
export function wireInteger(bytes: Buffer): Buffer {
  let from = 0
  while (from < bytes.length - 1 && bytes[from] === 0) from += 1
  const digits = bytes.subarray(from)
  return wireString((digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), digits]) : digits)
}
