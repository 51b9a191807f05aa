import type { StreamBatch } from '@slipway/contracts'
import type { Redis } from '@slipway/redis'
import { type Logger, sleep } from '@slipway/runtime'

/** Also the time after which a new stream is read for certain, should the wake-up miss its moment. */
const BLOCK_MS = 1_000
/** Entries of one stream at a time: some are megabytes. */
const COUNT = 16
const PAUSE_MS = 500
const BEGINNING = '0-0'

interface Source {
  /** The last entry that was read. */
  id: string
  take(batch: StreamBatch): void
}

export interface StreamReader {
  /** Reads a stream from its present end on; best effort. */
  add(key: string, take: (batch: StreamBatch) => void): Promise<void>
  remove(key: string): void
  /** Goes to the stream's present end, wherever that is: after a FLUSHALL or a clock that stepped back it may be before. */
  toEnd(key: string): Promise<void>
  stop(): Promise<void>
}

type Reply = [key: string, entries: [id: string, fields: string[]][]][] | null

/**
 * Reads all watched streams over one connection (`blocking`, used for nothing else) with one blocking command.
 * It is a fast way and no more: what does not come is found in the database by its readers.
 */
export function startStreamReader(blocking: Redis, commands: Redis, logger: Logger): StreamReader {
  const sources = new Map<string, Source>()
  const stopping = new AbortController()
  let clientId: number | null = null
  let wakeIdle: () => void = () => {}

  const lastId = async (key: string): Promise<string> => {
    const [last] = await commands.xrevrange(key, '+', '-', 'COUNT', 1)
    return last?.[0] ?? BEGINNING
  }
  const unblock = async () => {
    wakeIdle()
    if (clientId !== null) await commands.client('UNBLOCK', clientId).catch(() => {})
  }
  blocking.on('close', () => {
    clientId = null
  })

  async function readOnce(): Promise<void> {
    clientId ??= await blocking.client('ID')
    const keys = [...sources.keys()]
    const ids = keys.map((key) => sources.get(key)?.id ?? BEGINNING)
    const reply = (await blocking.xread('COUNT', COUNT, 'BLOCK', BLOCK_MS, 'STREAMS', ...keys, ...ids)) as Reply
    for (const [key, entries] of reply ?? []) {
      for (const [id, fields] of entries) {
        const source = sources.get(key)
        if (!source) break
        source.id = id
        deliver(source, fields)
      }
    }
  }

  function deliver(source: Source, fields: string[]): void {
    const at = fields.indexOf('batch')
    try {
      source.take(JSON.parse(fields[at + 1] ?? '') as StreamBatch)
    } catch (error) {
      logger.warn('an entry of a live stream cannot be read and is passed over', { error })
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (sources.size === 0) {
        await new Promise<void>((resolve) => {
          wakeIdle = resolve
        })
        continue
      }
      try {
        await readOnce()
      } catch (error) {
        if (stopping.signal.aborted) return
        logger.debug('live streams cannot be read', { error })
        // A command that is late may still be answered: only a new connection is sure to be in step.
        if (blocking.status === 'ready') blocking.disconnect(true)
        await sleep(PAUSE_MS, stopping.signal)
      }
    }
  }
  const running = run()

  return {
    async add(key, take) {
      const id = await lastId(key).catch(() => BEGINNING)
      sources.set(key, { id, take })
      void unblock()
    },
    remove(key) {
      sources.delete(key)
    },
    async toEnd(key) {
      const source = sources.get(key)
      if (!source) return
      source.id = await lastId(key).catch(() => BEGINNING)
      void unblock()
    },
    async stop() {
      stopping.abort()
      sources.clear()
      wakeIdle()
      blocking.disconnect()
      await running
    },
  }
}
