import { createHash } from 'node:crypto'

/** The limits of the log volume: of one deployment, and of all deployments of a tenant in a day. */
export const LOG_LIMITS = ['deployment', 'tenant_day'] as const
export type LogLimit = (typeof LOG_LIMITS)[number]

/** In UTF-8. Longer lines of output are split. */
export const MAX_LINE_BYTES = 65_536

/** The id of a log line, a version 5 UUID. It follows from deployment and line number, so it is not stored. */
export function lineId(deploymentId: string, seq: number): string {
  const namespace = Buffer.from(deploymentId.replaceAll('-', ''), 'hex')
  const bytes = createHash('sha1').update(namespace).update(String(seq)).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Cuts a line into pieces of at most MAX_LINE_BYTES, never inside a character. An empty line gives one piece. */
export function splitLine(line: string): string[] {
  // A UTF-16 code unit takes at most three bytes in UTF-8.
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

const TAIL_CHARACTERS = 2_000

/**
 * The end of a command's output as the end of its step shows it: the last characters, stderr after stdout. Null without output.
 */
export function outputTail(stdout: string, stderr: string): string | null {
  const between = stdout === '' || stderr === '' || stdout.endsWith('\n') ? '' : '\n'
  // The cut may leave the second half of a surrogate pair at the beginning.
  const tail = `${stdout}${between}${stderr}`.slice(-TAIL_CHARACTERS).replace(/^[\udc00-\udfff]/, '')
  return tail === '' ? null : tail
}
