import { createHash } from 'node:crypto'

/** A longer line of output is split. Counted in UTF-8. */
export const MAX_LINE_BYTES = 65_536

/** The id of a log line: always the same for a deployment's line number, so it need not be stored. A version 5 UUID. */
export function lineId(deploymentId: string, seq: number): string {
  const namespace = Buffer.from(deploymentId.replaceAll('-', ''), 'hex')
  const bytes = createHash('sha1').update(namespace).update(String(seq)).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Cuts a line into pieces of at most MAX_LINE_BYTES, never inside a character. An empty line is one piece. */
export function splitLine(line: string): string[] {
  // No character takes more than three bytes for each of its code units.
  if (line.length * 3 <= MAX_LINE_BYTES) return [line]
  const bytes = Buffer.from(line, 'utf8')
  const pieces: string[] = []
  for (let start = 0; start < bytes.length; ) {
    let end = Math.min(start + MAX_LINE_BYTES, bytes.length)
    while (end < bytes.length && isContinuation(bytes.readUInt8(end))) end -= 1
    pieces.push(bytes.toString('utf8', start, end))
    start = end
  }
  return pieces
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
