import type { ServerResponse } from 'node:http'
import { STREAM_RESOURCES, type StreamResource } from '@slipway/contracts'
import { unavailable } from '@slipway/domain'
import { whenClosed } from '../streams/closed.ts'
import type { Change } from './change.ts'
import { ChangeClient, type ChangeClientLimits } from './change-client.ts'
import { ChangeStream, type ChangeStreamOptions } from './change-stream.ts'

const CHECK_MS = 1_000

const CHANGE_CLIENT_LIMITS: ChangeClientLimits = { pingMs: 15_000, bytes: 256 * 1024, stallMs: 30_000 }

export interface ChangeStreams {
  /**
   * Serves a client with the rights of this tenant, until it is gone. `begin` sends the head of the answer. Throws if changes
   * cannot be sent now.
   */
  listen(resource: StreamResource, tenantId: string | null, response: ServerResponse, begin: () => void): Promise<void>
  /** Queues changes of records of one kind. */
  note(resource: StreamResource, changes: Change[]): void
  /** Called when every later event arrives. */
  resume(): void
  /** Called when events may be lost: cuts off the clients, because they would miss changes. */
  suspend(): void
  /** Ends all streams. */
  stop(): void
}

interface ChangeStreamsOptions extends ChangeStreamOptions {
  limits?: Partial<ChangeClientLimits>
  checkMs?: number
}

/** The change streams of all kinds of records. No client is served before `resume`. */
export function createChangeStreams(options: ChangeStreamsOptions): ChangeStreams {
  const limits = { ...CHANGE_CLIENT_LIMITS, ...options.limits }
  const changeStreams = new Map(STREAM_RESOURCES.map((resource) => [resource, new ChangeStream(resource, options)]))
  let taking = false
  const check = setInterval(() => {
    const now = performance.now()
    for (const changeStream of changeStreams.values()) changeStream.check(now)
  }, options.checkMs ?? CHECK_MS)

  const requireTaking = () => {
    if (!taking) throw unavailable('Changes cannot be sent now: try again with a new token')
  }
  return {
    async listen(resource, tenantId, response, begin) {
      requireTaking()
      const leave = await changeStreams.get(resource)?.add(tenantId, () => {
        requireTaking()
        begin()
        return new ChangeClient(response, limits)
      })
      if (leave) whenClosed(response, leave)
    },
    note(resource, changes) {
      changeStreams.get(resource)?.note(changes)
    },
    resume() {
      taking = true
    },
    suspend() {
      taking = false
      for (const changeStream of changeStreams.values()) changeStream.cut('events may have been lost')
    },
    stop() {
      taking = false
      clearInterval(check)
      for (const changeStream of changeStreams.values()) changeStream.dismiss()
    },
  }
}
