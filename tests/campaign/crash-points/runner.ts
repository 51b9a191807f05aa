import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '@slipway/database'
import { openPool, type ServiceName, type Suite, startSuite, waitFor } from '@slipway/testing'
import { type Cell, holdsWork, needsLoss, needsRestart, processesOf } from './cells.ts'
import { checkAtRest } from './check.ts'
import { Load } from './load.ts'

/** The result of a cell. */
export interface CellResult extends Cell {
  hits: number
  /** The violations that were found at rest after a batch in which the cell was hit. */
  violations: string[]
}

export interface CrashOptions {
  cells: readonly Cell[]
  /** How often each cell is hit. */
  hits: number
  /** How long processes are killed between two checks. */
  batchMs?: number
  /** Results of an earlier run, which this one continues. */
  earlier?: readonly CellResult[]
  onBatch?(results: readonly CellResult[]): void
}

/** An instance needs capacity for a few runs. The others wait, so the queue has something to do. */
const CAPACITY = 2
const BATCH_MS = 90_000
/** How long a process may run until it comes to its failpoint. Then it starts again with the same one. */
const HIT_MS = 15_000
/** Long enough for a busy machine. */
const START_MS = 80_000
/** The same for failpoints that are reached after a restart alone. */
const RESTART_MS = 1_000
/** A cell that is missed this often in sequence cannot be hit. */
const MOST_MISSES = 12

/** Hits each cell, in two replicas of each service under load. Every batch ends at rest with a check. */
export async function runCrashPoints(options: CrashOptions): Promise<CellResult[]> {
  const suite = await startSuite({
    capacity: CAPACITY,
    secondReplicas: true,
    secondInstance: true,
    secondGateway: true,
    bundles: '.slipway/failpoints',
  })
  const database = openPool(suite.databaseUrl)
  try {
    const run = new CrashRun(suite, database, await Load.create(suite, database), options)
    return await run.all()
  } finally {
    await database.end()
    await suite.stop()
  }
}

interface Progress extends CellResult {
  misses: number
  isArmed: boolean
}

/** At which pass of the failpoint the process dies. */
function passesOf(cell: Progress): number {
  if (needsLoss(cell) || needsRestart(cell)) return 1
  // A process that holds messages or runs first brings one of them to its end. Otherwise each life could end in the same one.
  return (holdsWork(cell) ? 2 : 1) + (cell.hits % 2)
}

class CrashRun {
  readonly #suite: Suite
  readonly #database: Queryable
  readonly #load: Load
  readonly #options: CrashOptions
  readonly #cells: Progress[]
  /** Violations are reported once. Those in the database stay there. */
  readonly #seen = new Set<string>()
  #endOfBatch = 0

  constructor(suite: Suite, database: Queryable, load: Load, options: CrashOptions) {
    this.#suite = suite
    this.#database = database
    this.#load = load
    this.#options = options
    const earlier = new Map(options.earlier?.map((cell) => [cell.name, cell]))
    this.#cells = options.cells.map((cell) => {
      const { hits = 0, violations = [] } = earlier.get(cell.name) ?? {}
      return { ...cell, hits, violations, misses: 0, isArmed: false }
    })
  }

  async all(): Promise<CellResult[]> {
    // An instance that is killed for the cells of the dispatcher cannot be hit by its own cells.
    await this.#hitAll(this.#cells.filter((cell) => !needsLoss(cell)))
    await this.#hitAll(this.#cells.filter(needsLoss))
    return this.#results
  }

  get #results(): CellResult[] {
    return this.#cells.map(({ way, service, path, moment, name, hits, violations }) => {
      return { way, service, path, moment, name, hits, violations }
    })
  }

  #isOpen = ({ hits, misses }: Progress) => hits < this.#options.hits && misses < MOST_MISSES

  async #hitAll(cells: readonly Progress[]): Promise<void> {
    while (cells.some(this.#isOpen)) {
      const before = new Map(cells.map((cell) => [cell, cell.hits]))
      this.#endOfBatch = Date.now() + (this.#options.batchMs ?? BATCH_MS)
      this.#load.start()
      const processes = [...new Set(cells.flatMap(processesOf))]
      const losses = cells.some(needsLoss) ? this.#loseInstances(cells) : null
      await Promise.all(
        processes.map((process) =>
          this.#hitIn(
            process,
            cells.filter((cell) => processesOf(cell).includes(process)),
          ),
        ),
      )
      await losses
      await this.#load.stop()
      const found = (await checkAtRest(this.#suite, this.#database, this.#load)).filter((one) => !this.#seen.has(one))
      for (const one of found) this.#seen.add(one)
      for (const [cell, hits] of before) if (cell.hits > hits) cell.violations.push(...found)
      this.#options.onBatch?.(this.#results)
    }
  }

  /** Kills one process in its cells until the batch is over or no cell is open. Then it runs without a failpoint. */
  async #hitIn(process: ServiceName, cells: readonly Progress[]): Promise<void> {
    for (;;) {
      await this.#end(process)
      const cell = Date.now() > this.#endOfBatch ? undefined : cells.find((one) => !one.isArmed && this.#isOpen(one))
      if (cell === undefined) break
      cell.isArmed = true
      const isHit = await this.#hit(process, cell)
      cell.isArmed = false
      if (isHit) cell.hits += 1
      cell.misses = isHit ? 0 : cell.misses + 1
    }
    await this.#suite.start(process)
  }

  async #hit(process: ServiceName, cell: Progress): Promise<boolean> {
    const order = `${cell.name}=kill@${passesOf(cell)}`
    this.#suite.launch(process, { SLIPWAY_FAILPOINT: order })
    const hasEnded = () => this.#suite.exitOf(process) !== null
    await waitFor(async () => hasEnded() || (await this.#suite.isReady(process)), { timeoutMs: START_MS })
    const until = Date.now() + (needsRestart(cell) ? RESTART_MS : HIT_MS)
    while (!hasEnded() && Date.now() < until) await sleep(20)
    const isHit =
      this.#suite.exitOf(process) === 'SIGKILL' && this.#suite.logOf(process).endsWith(`failpoint ${order}\n`)
    if (!isHit && hasEnded()) {
      throw new Error(`${process} ended by itself:\n${this.#suite.logOf(process).slice(-2_000)}`)
    }
    return isHit
  }

  async #end(process: ServiceName): Promise<void> {
    if (this.#suite.exitOf(process) === null) await this.#suite.kill(process)
  }

  /** Kills an instance with runs, and ages its heartbeat. Its commands died with it, so the 30 s need not pass. */
  async #loseInstances(cells: readonly Progress[]): Promise<void> {
    const lost: ServiceName = 'orchestration-instance-2'
    while (Date.now() < this.#endOfBatch && cells.some(this.#isOpen)) {
      await waitFor(() => this.#holdsLease('two'), { timeoutMs: HIT_MS }).catch(() => {})
      await this.#suite.kill(lost)
      await sleep(500)
      await this.#database.query(
        `UPDATE instances SET last_heartbeat_at = now() - interval '60 seconds' WHERE name = 'two' AND removed_at IS NULL`,
      )
      await waitFor(async () => !(await this.#holdsLease('two')), { timeoutMs: HIT_MS }).catch(() => {})
      await this.#suite.start(lost)
    }
  }

  async #holdsLease(instance: string): Promise<boolean> {
    const { rows } = await this.#database.query(
      `SELECT FROM leases l JOIN instances i ON i.id = l.instance_id WHERE i.name = $1 AND l.ended_at IS NULL LIMIT 1`,
      [instance],
    )
    return rows.length > 0
  }
}
