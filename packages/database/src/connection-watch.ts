import { setImmediate as nextTurn } from 'node:timers/promises'
import { counter, type Logger } from '@slipway/runtime'
import type pg from 'pg'
import type { Probe } from './probe.ts'
import type { WatchedClient } from './watched-client.ts'

export interface WatchBounds {
  /** The time between two looks at all connections. */
  tickMs: number
  /** How long the server may take to answer the watch. */
  askMs: number
}

/** `askMs` leaves enough of the tick for the decision, so ticks never overlap. */
export const WATCH_BOUNDS: WatchBounds = { tickMs: 1_000, askMs: 800 }

/**
 * After this many ticks without an answer, the watch asks the server about the connection. Statements rarely take that long.
 */
const SUSPECT_TICKS = 2
/** After this many ticks without an answer, the connection is closed if the server does not answer the watch either. */
const SILENT_TICKS = 5

/** Identifies a session for the lifetime of the server. Process ids are reused, above all in containers. */
const SESSION = `pid || ' ' || backend_start`
const OWN_SESSION = `SELECT ${SESSION} AS session FROM pg_stat_activity WHERE pid = pg_backend_pid()`
const WORKING_SESSIONS = `SELECT ${SESSION} AS session FROM pg_stat_activity
  WHERE ${SESSION} = ANY($1::text[]) AND state NOT LIKE 'idle%'`

/** A lost session keeps its locks until a timeout of the server. */
const END_SESSIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${SESSION} = ANY($1::text[])`

const lostConnections = counter(
  'slipway_database_connections_lost_total',
  'Connections to Postgres that were closed because the server did not answer on them',
)

interface Watched {
  /** Null until the server has sent it. */
  session: string | null
  bytesRead: number
  /** Consecutive ticks in which the connection received nothing. */
  unheardTicks: number
  /** The ticks among them in which a statement was open. */
  silentTicks: number
}

export interface WatchOptions extends WatchBounds {
  probe: Probe
  /** After this time without an answer, the connection is closed if the server knows nothing about it. */
  boundMs: number
  logger: Logger | undefined
}

/**
 * Finds half-open connections and closes them. The server's side of such a connection is gone, but the client does not know it:
 * without this watch, a statement on it waits forever, and the pool loses the connection.
 *
 * Until a statement takes longer than two seconds, the watch only compares a few numbers each second.
 */
export class ConnectionWatch {
  readonly #options: WatchOptions
  readonly #watched = new Map<WatchedClient, Watched>()
  readonly #timer: NodeJS.Timeout
  #bytesOfEnded = 0
  #checking = false

  constructor(options: WatchOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#tick(), options.tickMs)
    this.#timer.unref()
  }

  add(client: WatchedClient): void {
    const watched: Watched = { session: null, bytesRead: 0, unheardTicks: 0, silentTicks: 0 }
    this.#watched.set(client, watched)
    client.once('end', () => {
      this.#watched.delete(client)
      this.#bytesOfEnded += client.bytesRead
    })
    // Not awaited: it is sent with the first statement. Without its answer, only the time limits apply to the connection.
    const asking: Promise<pg.QueryResult<{ session: string }>> = client.query(OWN_SESSION)
    asking.then(
      ({ rows }) => {
        watched.session = rows[0]?.session ?? null
      },
      () => {},
    )
  }

  /** All bytes received so far. A growing number proves that the server answers. */
  get bytesRead(): number {
    return [...this.#watched.keys()].reduce((sum, client) => sum + client.bytesRead, this.#bytesOfEnded)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #tick(): Promise<void> {
    // Ticks, not milliseconds: after a pause of this process, it reads received answers before the next tick.
    for (const [client, watched] of this.#watched) {
      const { bytesRead } = client
      watched.unheardTicks = bytesRead === watched.bytesRead ? watched.unheardTicks + 1 : 0
      watched.silentTicks = client.isWaiting && watched.unheardTicks > 0 ? watched.silentTicks + 1 : 0
      watched.bytesRead = bytesRead
    }
    const suspects = this.#silentFor(SUSPECT_TICKS)
    if (suspects.length === 0 || this.#checking) return
    this.#checking = true
    try {
      await this.#checkSuspects(suspects)
    } finally {
      this.#checking = false
    }
  }

  async #checkSuspects(suspects: WatchedClient[]): Promise<void> {
    const sessions = suspects.map((client) => this.#watched.get(client)?.session ?? null)
    const asked = sessions.filter((session) => session !== null)
    const heardBefore = this.bytesRead
    /** Connections with a statement that the server is executing. The server's own time limits apply to them. */
    const atWork = new Set<WatchedClient>()
    const answer = await this.#options.probe.ask<{ session: string }>(WORKING_SESSIONS, [asked], this.#options.askMs)
    // Reads first what the suspects received in the meantime.
    await nextTurn()
    await nextTurn()
    if (answer === 'silent') {
      if (this.bytesRead === heardBefore) await this.#close(this.#silentFor(SILENT_TICKS), 'the server does not answer')
    } else if (answer !== 'refused') {
      const working = new Set(answer.rows.map(({ session }) => session))
      const isKnown = (index: number) => sessions[index] !== null
      const isWorking = (index: number) => working.has(sessions[index] ?? '')
      const idle = suspects.filter((_, index) => isKnown(index) && !isWorking(index))
      await this.#close(idle, 'the server does not work on their statements')
      for (const [index, client] of suspects.entries()) if (isWorking(index)) atWork.add(client)
    }
    const { boundMs, tickMs } = this.#options
    const unknown = this.#silentFor(boundMs / tickMs).filter((client) => !atWork.has(client))
    await this.#close(unknown, `no answer within ${boundMs / 1_000} s`)
  }

  #silentFor(ticks: number): WatchedClient[] {
    return [...this.#watched].flatMap(([client, { silentTicks }]) => (silentTicks >= ticks ? [client] : []))
  }

  #stillSilent(clients: WatchedClient[]): WatchedClient[] {
    return clients.filter((client) => client.isWaiting && client.bytesRead === this.#watched.get(client)?.bytesRead)
  }

  async #close(lost: WatchedClient[], reason: string): Promise<void> {
    const found = this.#stillSilent(lost)
    if (found.length === 0) return
    // Idle connections that received nothing since then are closed too, because they may be half-open.
    const longest = Math.max(...found.map((client) => this.#watched.get(client)?.silentTicks ?? 0))
    const closing = [...this.#watched].flatMap(([client, { unheardTicks }]) =>
      unheardTicks >= longest ? [client] : [],
    )
    // Idle connections first: work that fails may be repeated at once and must not get one of them.
    for (const client of closing) if (!client.isWaiting) client.destroy()
    const sessions = closing.flatMap((client) => this.#watched.get(client)?.session ?? [])
    await nextTurn()
    for (const client of closing) client.destroy()
    await this.#options.probe.ask(END_SESSIONS, [sessions], this.#options.askMs)
    lostConnections.inc(closing.length)
    this.#options.logger?.warn('connections to Postgres were closed', { connections: closing.length, reason })
  }
}
