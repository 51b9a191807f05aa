import { client } from '../../api/client.ts'

/** A line as the viewer shows it, from the history or from the live stream. */
export interface LogLine {
  number: number
  at: string
  level: string
  target: string | null
  text: string
}

const PAGE = 500
/** 100,000 lines are kept; older pages are read again when somebody scrolls to them. */
const MAX_PAGES = 200
/** Listeners hear of new lines at most this often. */
const TELL_EVERY_MS = 100
/** How long to wait after a read that failed. */
const PAUSE_MS = 2_000

/**
 * The log of one deployment as a browser keeps it: how many lines there are, and the pages that were read or streamed last.
 * Memory stays bounded however long the log is.
 */
export class LogStore {
  readonly #id: string
  readonly #pages = new Map<number, (LogLine | undefined)[]>()
  readonly #reading = new Set<number>()
  readonly #listeners = new Set<() => void>()
  #telling: ReturnType<typeof setTimeout> | undefined
  #version = 0
  count = 0

  constructor(id: string) {
    this.#id = id
  }

  /** Raised whenever lines or their number have changed. */
  readonly version = () => this.#version

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The line, or undefined while its page is being read. */
  line(number: number): LogLine | undefined {
    const index = Math.floor(number / PAGE)
    const line = this.#pages.get(index)?.[number % PAGE]
    if (line === undefined && number < this.count) void this.#read(index)
    return line
  }

  add(line: LogLine): void {
    this.count = Math.max(this.count, line.number + 1)
    const index = Math.floor(line.number / PAGE)
    const page = this.#pages.get(index) ?? []
    page[line.number % PAGE] = line
    this.#keep(index, page)
    this.#tell()
  }

  setCount(count: number): void {
    this.count = Math.max(this.count, count)
    this.#tell()
  }

  async #read(index: number): Promise<void> {
    if (this.#reading.has(index)) return
    this.#reading.add(index)
    try {
      const page = this.#pages.get(index) ?? []
      const lines = await readLines(this.#id, index * PAGE, PAGE)
      lines.forEach((line, place) => {
        page[place] = line
      })
      this.#keep(index, page)
      this.#tell()
    } catch {
      // The client has repeated the read for ten seconds. The viewer asks again after a pause.
      setTimeout(() => this.#tell(), PAUSE_MS)
    } finally {
      setTimeout(() => this.#reading.delete(index), PAUSE_MS / 2)
    }
  }

  /** Pages in the order of their use; the one that was used longest ago goes first. */
  #keep(index: number, page: (LogLine | undefined)[]): void {
    this.#pages.delete(index)
    this.#pages.set(index, page)
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) break
      this.#pages.delete(oldest)
    }
  }

  #tell(): void {
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined
      this.#version += 1
      for (const listener of this.#listeners) listener()
    }, TELL_EVERY_MS)
  }
}

/** Lines of the stored log, from number `offset` on. */
export async function readLines(id: string, offset: number, limit: number): Promise<LogLine[]> {
  const entries = await client.call('listDeploymentLogs', { params: { id }, query: { offset, limit } })
  return entries.map((entry, place) => ({
    number: offset + place,
    at: entry.timestamp,
    level: entry.level,
    target: entry.target_name,
    text: entry.message,
  }))
}

/** How many lines are stored now. The API pages by number and tells no total, so this doubles and then halves its steps. */
export async function countLines(id: string, signal: AbortSignal): Promise<number> {
  const has = async (number: number) => {
    const query = { offset: number, limit: 1 }
    return (await client.call('listDeploymentLogs', { params: { id }, query, signal })).length > 0
  }
  if (!(await has(0))) return 0
  let [known, beyond] = [0, PAGE]
  while (await has(beyond)) [known, beyond] = [beyond, beyond * 4]
  while (beyond - known > 1) {
    const middle = Math.floor((known + beyond) / 2)
    if (await has(middle)) known = middle
    else beyond = middle
  }
  return beyond
}
