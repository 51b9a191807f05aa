import type { StreamBatch, StreamPartialLine } from '@slipway/contracts'
import { counter, type Logger } from '@slipway/runtime'
import { type Redis, streamKey } from '@slipway/runtime/redis'
import { storableJson } from './storable.ts'

const unpublished = counter(
  'slipway_live_failures_total',
  'Batches that Redis did not take; stream clients get them from Postgres, later',
)

export interface LiveStreams {
  /** Publishes a committed batch to stream clients. Never fails: a client that misses a batch gets it from Postgres. */
  publish(deploymentId: string, batch: StreamBatch): Promise<void>
  /** Publishes unfinished lines. Never fails: a later version or the finished line follows. */
  publishPartialLines(deploymentId: string, lines: StreamPartialLine[]): Promise<void>
}

/** The length bounds the memory. Older batches are in Postgres. */
const MAX_ENTRIES = 10_000
const EXPIRE_SECONDS = 3_600
/** A larger batch (a skip of a hundred thousand steps) is cheaper to read from Postgres than to send to every stream client. */
const MAX_BYTES = 4 * 1024 * 1024
const WARN_EVERY_MS = 10_000

export function createLiveStreams(redis: Redis, namespace: string, logger: Logger): LiveStreams {
  let quietUntil = 0
  const warn = (error: unknown) => {
    unpublished.inc()
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + WARN_EVERY_MS
    logger.warn('Redis refused a batch; stream clients get it from Postgres later', { error })
  }
  const add = async (deploymentId: string, field: 'batch' | 'partial', json: string) => {
    if (json.length > MAX_BYTES) return
    const key = streamKey(namespace, deploymentId)
    try {
      const results = await redis
        .pipeline()
        .xadd(key, 'MAXLEN', '~', MAX_ENTRIES, '*', field, json)
        .expire(key, EXPIRE_SECONDS)
        .exec()
      const failure = results?.find(([error]) => error)?.[0]
      if (failure) warn(failure)
    } catch (error) {
      warn(error)
    }
  }
  return {
    publish: (deploymentId, batch) => add(deploymentId, 'batch', storableJson(batch)),
    publishPartialLines: (deploymentId, lines) => add(deploymentId, 'partial', storableJson(lines)),
  }
}
