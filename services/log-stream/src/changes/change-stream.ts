import type { StreamResource } from '@slipway/contracts'
import { ALL_TENANTS, type Database, isConnectionError, Quarantine, seeTenant } from '@slipway/database'
import { isVisible, listItems } from '@slipway/database/read-models'
import { createTicker, type KeyRing, type Logger, sleep, type Ticker } from '@slipway/runtime'
import { frame, PING } from '../streams/frames.ts'
import { dropped } from '../streams/metrics.ts'
import { type Change, RESOURCES } from './change.ts'
import type { ChangeClient } from './change-client.ts'
import { type UnannouncedChanges, unannouncedChangesOf } from './unannounced.ts'

/** How often to look for changes without an event. */
const LOOK_MS = 1_000
/** How many records are read at a time. */
const BATCH = 100
/** How many bytes are written to clients at a time. */
const PIECE_BYTES = 64 * 1024
/** How long the others wait for slow clients, before these are cut off. */
const PATIENCE_MS = 50
/** The most changes in memory. Above that, reading the list again is faster for a client. */
const MAX_WAITING = 50_000

export interface ChangeStreamOptions {
  database: Database
  keys: KeyRing
  logger: Logger
}

type Items = Awaited<ReturnType<typeof listItems>>

/** A change of one record that was not sent yet. */
interface UnsentChange {
  id: string
  tenants: Set<string | null>
  created: boolean
  gone: boolean
  timestamp: string
}

/**
 * Changes of one kind of record, for all clients. Events name the record. It is read and encoded once for all clients that see
 * the same.
 */
export class ChangeStream {
  readonly #resource: StreamResource
  readonly #options: ChangeStreamOptions
  /** By the tenant of the clients. */
  readonly #views = new Map<string | null, Set<ChangeClient>>()
  #waiting = new Map<string, UnsentChange>()
  #telling: Promise<void> | undefined
  #users = 0
  #following: Promise<Ticker | null> | undefined
  /** Records that cannot be read. Lists cannot show them either. */
  readonly #unreadable: Quarantine

  constructor(resource: StreamResource, options: ChangeStreamOptions) {
    this.#resource = resource
    this.#options = options
    this.#unreadable = new Quarantine({ task: `stream-${resource}`, logger: options.logger })
  }

  /**
   * Adds a client until the returned function is called. Calls `open` when every later commit will be sent. Throws if the
   * database cannot be read.
   */
  async add(tenantId: string | null, open: () => ChangeClient): Promise<() => void> {
    this.#users += 1
    this.#following ??= this.#follow()
    let client: ChangeClient
    try {
      await this.#following
      client = open()
    } catch (error) {
      this.#leave()
      throw error
    }
    const view = this.#views.get(tenantId) ?? new Set()
    this.#views.set(tenantId, view.add(client))
    client.send(PING)
    return () => {
      if (!view.delete(client)) return
      if (view.size === 0 && this.#views.get(tenantId) === view) this.#views.delete(tenantId)
      this.#leave()
    }
  }

  /** Queues changes to be sent soon. */
  note(changes: readonly Change[]): void {
    if (this.#views.size === 0) return
    for (const { id, tenant_id, what, timestamp } of changes) {
      const known = this.#waiting.get(id) ?? { id, tenants: new Set(), created: false, gone: false, timestamp }
      known.tenants.add(tenant_id)
      known.created ||= what === 'created'
      known.gone ||= what === 'deleted'
      known.timestamp = timestamp
      this.#waiting.set(id, known)
    }
    if (this.#waiting.size > MAX_WAITING) this.cut('more changed than could be told')
    this.#telling ??= this.#tell()
  }

  /** Sends pings when they are due, and cuts off clients that are too slow. Called periodically. */
  check(now: number): void {
    for (const client of this.#clients()) if (!client.check(now)) this.#cutOff(client)
  }

  /** Cuts off all clients. They connect again and read what they missed. */
  cut(reason: string): void {
    this.#waiting.clear()
    const all = [...this.#clients()]
    if (all.length === 0) return
    this.#options.logger.warn(`change streams are ended: ${reason}`, {
      resource_type: this.#resource,
      streams: all.length,
    })
    dropped.inc({ reason: 'missed' }, all.length)
    for (const client of all) client.cut()
  }

  dismiss(): void {
    for (const client of this.#clients()) client.dismiss()
  }

  *#clients(): Generator<ChangeClient> {
    for (const view of this.#views.values()) yield* view
  }

  #leave(): void {
    this.#users -= 1
    if (this.#users > 0) return
    const following = this.#following
    this.#following = undefined
    void following?.then(
      (ticker) => ticker?.stop(),
      () => {},
    )
  }

  /** Looks for changes without an event from now on. Resolves when the first state is known. */
  async #follow(): Promise<Ticker | null> {
    const unannounced = unannouncedChangesOf(this.#resource, this.#options.database)
    if (unannounced === null) return null
    await unannounced.find()
    return this.#startLooking(unannounced)
  }

  #startLooking(unannounced: UnannouncedChanges): Ticker {
    const { logger } = this.#options
    return createTicker({
      name: `look-at-${this.#resource}`,
      intervalMs: LOOK_MS,
      logger,
      run: async () => this.note(await unannounced.find()),
    })
  }

  async #tell(): Promise<void> {
    // Changes of the same moment are read together.
    await sleep(0)
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting.values()].slice(0, BATCH)
      for (const { id } of batch) this.#waiting.delete(id)
      for (const [tenantId, view] of [...this.#views]) await this.#tellView(tenantId, view, batch)
    }
    this.#telling = undefined
  }

  async #tellView(tenantId: string | null, view: Set<ChangeClient>, batch: readonly UnsentChange[]): Promise<void> {
    const { shared } = RESOURCES[this.#resource]
    const concerning = batch.filter(
      ({ tenants }) => tenantId === null || tenants.has(tenantId) || (shared && tenants.has(null)),
    )
    if (concerning.length === 0) return
    try {
      for (const piece of inPieces(await this.#framesOf(tenantId, concerning))) await this.#send(view, piece)
    } catch (error) {
      // A cut-off client reads the list again. Otherwise it would miss changes.
      this.#options.logger.warn('changes cannot be read; the clients of the change stream are cut off', {
        resource_type: this.#resource,
        error,
      })
      dropped.inc({ reason: 'missed' }, view.size)
      for (const client of view) client.cut()
    }
  }

  async #framesOf(tenantId: string | null, batch: readonly UnsentChange[]): Promise<string[]> {
    const { shared } = RESOURCES[this.#resource]
    const items = await this.#itemsOf(tenantId, batch)
    return batch.flatMap((waiting) => {
      const item = items.get(waiting.id)
      if (item !== undefined && isVisible({ tenant_id: tenantId }, item, shared)) return [this.#frame(waiting, item)]
      // The record is gone: only its delete event is sent.
      return waiting.gone ? [this.#frame(waiting, null)] : []
    })
  }

  /** Reads all records at once. If that fails, reads each alone: one unreadable record must not end all streams. */
  async #itemsOf(tenantId: string | null, batch: readonly UnsentChange[]): Promise<Items> {
    try {
      const items = await this.#read(
        tenantId,
        batch.map(({ id }) => id),
      )
      for (const { id } of batch) this.#unreadable.release(id)
      return items
    } catch (error) {
      if (isConnectionError(error)) throw error
      const [only, ...others] = batch
      if (only !== undefined && others.length === 0) {
        this.#tellLater(only, error)
        return new Map()
      }
      const items: Items = new Map()
      for (const one of batch) for (const [id, item] of await this.#itemsOf(tenantId, [one])) items.set(id, item)
      return items
    }
  }

  #read(tenantId: string | null, ids: readonly string[]): Promise<Items> {
    const { database, keys } = this.#options
    return database.transaction(async (tx) => {
      // Row-level security applies from here on: the statements see what this tenant sees.
      await seeTenant.run(tx, { tenant: tenantId ?? ALL_TENANTS })
      const viewer = { tenant_id: tenantId, may_override_freezes: false }
      return listItems({ db: tx, keys, viewer }, RESOURCES[this.#resource].kind, ids)
    })
  }

  #tellLater({ id, tenants, created, gone, timestamp }: UnsentChange, error: unknown): void {
    const what = gone ? 'deleted' : created ? 'created' : 'updated'
    const changes = [...tenants].map((tenant_id): Change => ({ id, tenant_id, what, timestamp }))
    setTimeout(() => this.note(changes), this.#unreadable.hold(id, error)).unref()
  }

  #frame({ id, created, timestamp }: UnsentChange, resource: object | null): string {
    const type = resource === null ? 'deleted' : created ? 'created' : 'updated'
    return frame({ event: type, data: { type, resource_type: this.#resource, id, timestamp, resource } })
  }

  /** Sends the same bytes to all clients. Waits for slow clients for a moment, then cuts them off. */
  async #send(view: Set<ChangeClient>, bytes: Buffer): Promise<void> {
    const isAnyBehind = () => [...view].some((client) => client.isBehind)
    for (let waited = 0; waited < PATIENCE_MS && isAnyBehind(); waited += 5) await sleep(5)
    for (const client of view) {
      if (client.isBehind) this.#cutOff(client)
      else client.send(bytes)
    }
  }

  #cutOff(client: ChangeClient): void {
    this.#options.logger.info('a client of a change stream reads too slowly and is cut off', {
      resource_type: this.#resource,
    })
    dropped.inc({ reason: 'slow' })
    client.cut()
  }
}

/** Combines frames into pieces of limited size. */
function* inPieces(frames: readonly string[]): Generator<Buffer> {
  let piece = ''
  for (const frame of frames) {
    if (piece !== '' && piece.length + frame.length > PIECE_BYTES) {
      yield Buffer.from(piece)
      piece = ''
    }
    piece += frame
  }
  if (piece !== '') yield Buffer.from(piece)
}
