import type { StreamBatch, StreamPartialLine } from '@slipway/contracts'
import { type Logger, sleep } from '@slipway/runtime'
import type { Redis } from '@slipway/runtime/redis'

/** Also the longest delay before a new stream is read, if the wake-up comes at the wrong moment. */
const BLOCK_MS = 1_000
/** How many entries of one stream are read at a time. Some have megabytes. */
const COUNT = 16
const PAUSE_MS = 500
const BEGINNING = '0-0'

interface Source {
  /** The last entry that was read. */
  id: string
  listener: StreamListener
}

interface StreamListener {
  take(batch: StreamBatch): void
  takePartialLines(lines: StreamPartialLine[]): void
}

export interface StreamReader {
  /** Reads a stream from its present end, best effort. */
  add(key: string, listener: StreamListener): Promise<void>
  remove(key: string): void
  /**
   * Continues at the present end of the stream. After a FLUSHALL or a clock that was set back, the end may be before the last
   * entry.
   */
  toEnd(key: string): Promise<void>
  stop(): Promise<void>
}

type Reply = [key: string, entries: [id: string, fields: string[]][]][] | null

/**
 * Reads the streams of all hubs over one connection, with one blocking command. `blocking` is used for nothing else. Delivery
 * is best effort: hubs find lost entries in the database.
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
    const [field, json = ''] = fields
    try {
      if (field === 'partial') source.listener.takePartialLines(JSON.parse(json) as StreamPartialLine[])
      else source.listener.take(JSON.parse(json) as StreamBatch)
    } catch (error) {
      logger.warn('an entry of a live stream cannot be read and is skipped', { error })
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
        // The answer to a late command may still arrive, so only a new connection is reliable.
        if (blocking.status === 'ready') blocking.disconnect(true)
        await sleep(PAUSE_MS, stopping.signal)
      }
    }
  }
  const running = run()

  return {
    async add(key, listener) {
      const id = await lastId(key).catch(() => BEGINNING)
      sources.set(key, { id, listener })
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
