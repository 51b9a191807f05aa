import type { Database } from '@slipway/database'
import { createTicker, type Logger } from '@slipway/runtime'
import { streamKey } from '@slipway/runtime/redis'
import { findHeads } from '../deployments/deployments.sql.ts'
import { Hub } from './hub.ts'
import type { StreamReader } from './reader.ts'
import type { StreamClient } from './stream-client.ts'

/** A change that Redis or RabbitMQ did not deliver is found within two of these intervals. */
const RESYNC_MS = 1_000
const CHECK_MS = 1_000

interface OpenHub {
  hub: Promise<Hub>
  clients: Set<StreamClient>
  /** Streams that are open or opening. */
  users: number
}

export interface Hubs {
  /** Calls `use` with the hub of the deployment. The hub exists as long as a client uses it. */
  use<T>(
    deploymentId: string,
    use: (hub: Hub, watch: (client: StreamClient) => Promise<void>) => Promise<T>,
  ): Promise<T>
  /** Checks a deployment that may have changed. */
  look(deploymentId: string): void
  lookAtAll(): void
  size(): number
  /** Ends all streams and all periodic work. */
  stop(): Promise<void>
}

interface HubsOptions {
  database: Database
  reader: StreamReader
  namespace: string
  logger: Logger
  resyncMs?: number
  checkMs?: number
}

/** The hubs of this replica, one for each deployment with stream clients. */
export function createHubs(options: HubsOptions): Hubs {
  const { database, reader, namespace, logger } = options
  const entries = new Map<string, OpenHub>()
  const ready = new Map<string, Hub>()
  let stopped = false

  const open = async (id: string): Promise<Hub> => {
    const key = streamKey(namespace, id)
    const hub = await Hub.open(id, { database, logger, onMissed: () => void reader.toEnd(key) })
    // Before the first snapshot, so that no batch is lost. Batches have numbers, so the hub recognizes repeated ones.
    await reader.add(key, hub)
    await hub.start()
    ready.set(id, hub)
    return hub
  }
  const close = (id: string) => {
    entries.delete(id)
    ready.get(id)?.close()
    ready.delete(id)
    reader.remove(streamKey(namespace, id))
  }

  const resync = createTicker({
    name: 'stream-resync',
    intervalMs: options.resyncMs ?? RESYNC_MS,
    logger,
    async run() {
      const ids = [...ready.values()].filter((hub) => !hub.ending).map((hub) => hub.id)
      if (ids.length === 0) return
      for (const head of await findHeads.all(database, { ids })) ready.get(head.id)?.notice(head)
    },
  })
  const check = setInterval(() => {
    const now = performance.now()
    for (const { clients } of entries.values()) for (const client of clients) client.check(now)
    // Pings are due by time, not by change.
    for (const hub of ready.values()) hub.wake()
  }, options.checkMs ?? CHECK_MS)

  return {
    async use(id, use) {
      const entry = entries.get(id) ?? { hub: open(id), clients: new Set<StreamClient>(), users: 0 }
      entries.set(id, entry)
      entry.users += 1
      try {
        return await use(await entry.hub, async (client) => {
          if (stopped) return client.dismiss()
          entry.clients.add(client)
          await client.run().finally(() => entry.clients.delete(client))
        })
      } finally {
        entry.users -= 1
        if (entry.users === 0) close(id)
      }
    },
    look: (id) => ready.get(id)?.sync(),
    lookAtAll() {
      for (const hub of ready.values()) hub.sync()
    },
    size: () => entries.size,
    async stop() {
      stopped = true
      clearInterval(check)
      for (const { clients } of entries.values()) for (const client of clients) client.dismiss()
      await resync.stop()
    },
  }
}
