import { LRUCache } from 'lru-cache'
import type { Chunk } from '../deployments/queries.ts'
import type { PlanIndex } from './frames.ts'
import { encodeLines, type LineFrames } from './recent-frames.ts'

/** Long enough for all clients that are behind together, short enough not to waste memory. */
const KEEP_MS = 1_000
const MAX_PAGES = 4

type Read = (from: number, to: number) => Promise<Chunk[]>

/**
 * Pages of a deployment's log for clients that are behind. Usually many clients are behind together, so a page is read and
 * encoded once for all of them.
 */
export class Pages {
  readonly #places: PlanIndex
  readonly #read: Read
  readonly #pages = new LRUCache<number, Promise<LineFrames[]>>({ max: MAX_PAGES })

  constructor(places: PlanIndex, read: Read) {
    this.#places = places
    this.#read = read
  }

  /** The lines after `line`. At least one below `upTo` exists; the result is empty if retention has dropped it. */
  from(line: number, upTo: number): Promise<LineFrames[]> {
    const known = this.#pages.get(line)
    if (known !== undefined) return known
    const page = this.#encoded(line, upTo)
    this.#pages.set(line, page)
    const forget = () => {
      if (this.#pages.get(line) === page) this.#pages.delete(line)
    }
    page.then(
      ({ length }) => (length === 0 ? forget() : setTimeout(forget, KEEP_MS).unref()),
      () => forget(),
    )
    return page
  }

  async #encoded(line: number, upTo: number): Promise<LineFrames[]> {
    const chunks = await this.#read(line, upTo)
    return chunks.map(({ first_line, lines }) => encodeLines(this.#places, first_line, lines))
  }
}
