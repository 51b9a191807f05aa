import { open } from 'node:fs/promises'
import type { RunEvent } from '@slipway/contracts'
import type { Header, Record } from './records.ts'

const CHUNK_BYTES = 256 * 1024

/** Reads a journal's first line, and where it ends. Null when the file is no journal. */
export async function readHeader(file: string): Promise<{ header: Header; end: number } | null> {
  for await (const { text, end } of lines(file)) {
    const header = parse<Header>(text)
    return header?.journal === 1 ? { header, end } : null
  }
  return null
}

/**
 * Reads the lines after the first, in order, with the position in the file at which each ends. A last line that was
 * being written when the machine stopped is left out, and so is all from the first line that cannot be read.
 */
export async function* readRecords(file: string): AsyncGenerator<{ record: Record; end: number }> {
  let isHeader = true
  for await (const { text, end } of lines(file)) {
    const record = parse<Record>(text)
    if (record === null) return
    if (!isHeader) yield { record, end }
    isHeader = false
  }
}

/** Events from number `from`, at most `limit`: those that have been written so far. */
export async function readEvents(file: string, from: number, limit: number): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for await (const { record } of readRecords(file)) {
    if ('n' in record && record.n >= from) events.push(record.event)
    if (events.length >= limit) break
  }
  return events
}

async function* lines(file: string): AsyncGenerator<{ text: string; end: number }> {
  const handle = await open(file, 'r')
  try {
    let rest: Buffer = Buffer.alloc(0)
    let end = 0
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES)
      if (bytesRead === 0) return
      rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)])
      let start = 0
      for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10, start)) {
        end += at + 1 - start
        yield { text: rest.toString('utf8', start, at), end }
        start = at + 1
      }
      rest = rest.subarray(start)
    }
  } finally {
    await handle.close()
  }
}

function parse<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T
  } catch {
    return null
  }
}
