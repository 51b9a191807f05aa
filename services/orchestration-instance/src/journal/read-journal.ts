import { open } from 'node:fs/promises'
import type { RunEvent } from '@slipway/contracts'
import type { Header, JournalRecord } from './records.ts'

const CHUNK_BYTES = 256 * 1024

/** Reads the header of a journal and its end position; null without a valid header. */
export async function readHeader(file: string): Promise<{ header: Header; end: number } | null> {
  for await (const { text, end } of lines(file)) {
    const header = parse<Header>(text)
    return header?.journal === 1 ? { header, end } : null
  }
  return null
}

/**
 * Reads the lines after the header, each with its end position. Stops at the first unreadable line, for example an incomplete
 * last line after a power failure.
 */
export async function* readRecords(file: string): AsyncGenerator<{ record: JournalRecord; end: number }> {
  let isHeader = true
  for await (const { text, end } of lines(file)) {
    const record = parse<JournalRecord>(text)
    if (record === null) return
    if (!isHeader) yield { record, end }
    isHeader = false
  }
}

/** An event with its JSON text, as the journal and the protocol have it. */
export interface NumberedEvent {
  n: number
  text: string
}

/** Reads at most `limit` events from number `from` on. */
export async function readEvents(file: string, from: number, limit: number): Promise<{ n: number; event: RunEvent }[]> {
  const events: { n: number; event: RunEvent }[] = []
  for await (const { record } of readRecords(file)) {
    if ('n' in record && record.n >= from) events.push(record)
    if (events.length >= limit) break
  }
  return events
}

/** Reads events from a position on, about `maxBytes` of them. Returns them with the position after the last one. */
export async function readEventsAt(
  file: string,
  position: number,
  maxBytes: number,
): Promise<{ events: NumberedEvent[]; position: number }> {
  const events: NumberedEvent[] = []
  let bytes = 0
  let reached = position
  for await (const { text, end } of lines(file, position)) {
    const event = eventOf(text)
    reached = end
    if (event === null) continue
    events.push(event)
    bytes += event.text.length
    if (bytes >= maxBytes) break
  }
  return { events, position: reached }
}

/** The position and size of the events from number `from` on; null if there are none. */
export async function locateEvents(file: string, from: number): Promise<{ position: number; bytes: number } | null> {
  let found: { position: number; bytes: number } | null = null
  let before = 0
  for await (const { text, end } of lines(file)) {
    const event = eventOf(text)
    if (event !== null && event.n >= from) {
      found ??= { position: before, bytes: 0 }
      found.bytes += event.text.length
    }
    before = end
  }
  return found
}

const EVENT = /^\{"n":(\d+),"event":/

/** Takes the event out of its line without parsing it, because it is sent as it is. */
function eventOf(line: string): NumberedEvent | null {
  const found = EVENT.exec(line)
  return found && { n: Number(found[1]), text: line.slice(found[0].length, -1) }
}

/** Reads complete lines from a position on, each with its end position. */
export async function* lines(file: string, from = 0): AsyncGenerator<{ text: string; end: number }> {
  const handle = await open(file, 'r')
  try {
    let rest: Buffer = Buffer.alloc(0)
    let end = from
    let position = from
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position)
      position += bytesRead
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
