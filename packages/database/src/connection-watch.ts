import { setImmediate as nextTurn } from 'node:timers/promises'
import { counter, type Logger } from '@slipway/runtime'
import type pg from 'pg'
import type { Probe } from './probe.ts'
import type { WatchedClient } from './watched-client.ts'

const TICK_MS = 1_000
/** Half of that stays for the judgement, so that ticks never overlap. */
const ASK_MS = 800
/** A connection that owes an answer for so many ticks is asked about. Statements rarely take that long. */
const SUSPECT_TICKS = 2
/** When the server does not answer at all, connections that owe an answer for so many ticks are closed. */
const SILENT_TICKS = 5

/** Identifies a session for as long as the server lives; process ids alone come again, above all in containers. */
const SESSION = `pid || ' ' || backend_start`
const OWN_SESSION = `SELECT ${SESSION} AS session FROM pg_stat_activity WHERE pid = pg_backend_pid()`
const WORKING_SESSIONS = `SELECT ${SESSION} AS session FROM pg_stat_activity
  WHERE ${SESSION} = ANY($1::text[]) AND state NOT LIKE 'idle%'`

const lostConnections = counter(
  'slipway_database_connections_lost_total',
  'Connections to Postgres that were closed because the server did not answer on them',
)

interface Watched {
  /** Null until the server has told it. */
  session: string | null
  bytesRead: number
  /** Ticks in a row in which the connection brought no byte. */
  unheardTicks: number
  /** Those of them in which it owed an answer. */
  silentTicks: number
}

export interface WatchOptions {
  probe: Probe
  /** Ticks after which a connection that owes an answer is closed when the server cannot be asked about it. */
  boundTicks: number
  logger: Logger | undefined
}

/**
 * Finds half-open connections and closes them. The server's side of such a connection is gone, but nothing tells the client:
 * without this, a statement on it waits for ever, and its place in the pool is lost.
 *
 * While nothing waits for longer than two seconds, it costs a look at a few numbers each second.
 */
export class ConnectionWatch {
  readonly #options: WatchOptions
  readonly #watched = new Map<WatchedClient, Watched>()
  readonly #timer: NodeJS.Timeout
  #bytesOfEnded = 0
  #judging = false

  constructor(options: WatchOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#tick(), TICK_MS)
    this.#timer.unref()
  }

  add(client: WatchedClient): void {
    const watched: Watched = { session: null, bytesRead: 0, unheardTicks: 0, silentTicks: 0 }
    this.#watched.set(client, watched)
    client.once('end', () => {
      this.#watched.delete(client)
      this.#bytesOfEnded += client.bytesRead
    })
    // Not awaited: it travels with the first statement. Without an answer only the bounds hold for the connection.
    const asking: Promise<pg.QueryResult<{ session: string }>> = client.query(OWN_SESSION)
    asking.then(
      ({ rows }) => {
        watched.session = rows[0]?.session ?? null
      },
      () => {},
    )
  }

  /** All bytes that came from the server so far: a number that grows says that the server answers. */
  get bytesRead(): number {
    return [...this.#watched.keys()].reduce((sum, client) => sum + client.bytesRead, this.#bytesOfEnded)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #tick(): Promise<void> {
    // Ticks, not milliseconds: after a pause of this process, answers that have arrived are read before the next tick.
    for (const [client, watched] of this.#watched) {
      const { bytesRead } = client
      watched.unheardTicks = bytesRead === watched.bytesRead ? watched.unheardTicks + 1 : 0
      watched.silentTicks = client.isWaiting && watched.unheardTicks > 0 ? watched.silentTicks + 1 : 0
      watched.bytesRead = bytesRead
    }
    const suspects = this.#silentFor(SUSPECT_TICKS)
    if (suspects.length === 0 || this.#judging) return
    this.#judging = true
    try {
      await this.#judge(suspects)
    } finally {
      this.#judging = false
    }
  }

  async #judge(suspects: WatchedClient[]): Promise<void> {
    const sessions = suspects.map((client) => this.#watched.get(client)?.session ?? null)
    const asked = sessions.filter((session) => session !== null)
    const heardBefore = this.bytesRead
    /** Connections on whose statement the server works. Its own bounds hold for them. */
    const atWork = new Set<WatchedClient>()
    const answer = await this.#options.probe.ask<{ session: string }>(WORKING_SESSIONS, [asked], ASK_MS)
    // What the suspects were sent in the meantime is read first.
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
    const { boundTicks } = this.#options
    const unknown = this.#silentFor(boundTicks).filter((client) => !atWork.has(client))
    await this.#close(unknown, `no answer within ${(boundTicks * TICK_MS) / 1_000} s`)
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
    // Connections that brought nothing since then, idle ones too, have not proved to work: they are closed as well.
    const longest = Math.max(...found.map((client) => this.#watched.get(client)?.silentTicks ?? 0))
    const closing = [...this.#watched].flatMap(([client, { unheardTicks }]) =>
      unheardTicks >= longest ? [client] : [],
    )
    // Idle ones first: the work whose statement fails may be tried again at once, and must not be given one of them.
    for (const client of closing) if (!client.isWaiting) client.destroy()
    await nextTurn()
    for (const client of closing) client.destroy()
    lostConnections.inc(closing.length)
    this.#options.logger?.warn('connections to Postgres were closed', { connections: closing.length, reason })
  }
}
