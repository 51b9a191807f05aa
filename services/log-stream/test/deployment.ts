import type { StoredLine, StreamBatch, StreamPartialLine } from '@slipway/contracts'
import type { Database, Queryable } from '@slipway/database'
import { type DeploymentState, isEndedStepState, type StepState } from '@slipway/domain'
import { SLIPWAY_VERSION, uuidv7 } from '@slipway/runtime'
import { streamKey } from '@slipway/runtime/redis'
import type { Redis } from 'ioredis'

export interface BatchInput {
  lines?: string[]
  /** `output` is what the command wrote to stderr. */
  steps?: [target: number, action: number, state: StepState, output?: string][]
}

/** A deployment whose rows and stream change as by the dispatcher and the executor-bridge. */
export class TestDeployment {
  readonly id = uuidv7()
  readonly targets: { id: string; name: string }[]
  readonly actions: number
  nextLine = 0
  nextEvent = 0
  epoch = 1
  readonly #database: Database
  readonly #states = new Map<string, StepState>()
  #transitions = 0

  constructor(database: Database, { targets = 2, actions = 2 } = {}) {
    this.#database = database
    this.actions = actions
    this.targets = Array.from({ length: targets }, (_, n) => ({ id: uuidv7(), name: `target ${n}` }))
  }

  static async create(
    database: Database,
    options: { targets?: number; actions?: number; tenantId?: string | null } = {},
  ): Promise<TestDeployment> {
    const deployment = new TestDeployment(database, options)
    const { id, targets, actions } = deployment
    await database.query(
      `INSERT INTO deployments (id, state, tenant_id, source_type, source_id, source_name, source_version, plan_head,
                                selection, total_steps, started_at)
       VALUES ($1, 'running', $2, 'action', $3, 'release', '1.0.0', '{}', '{}', $4, now())`,
      [id, options.tenantId ?? null, uuidv7(), targets.length * actions],
    )
    await database.query(
      `INSERT INTO deployment_actions (deployment_id, action_index, sequence_id, sequence_name, sequence_version,
         sequence_order, action_id, action_name, action_version, action_order, timeout_seconds, max_retries, has_rollback, variables)
       SELECT $1, n, $2, 'release', '1.0.0', 0, $2, 'release', '1.0.0', n, 60, 0, false, '{}'
       FROM generate_series(0, $3::int - 1) AS n`,
      [id, uuidv7(), actions],
    )
    await database.query(
      `INSERT INTO deployment_targets (deployment_id, target_index, target_id, target_name, variables)
       SELECT $1, n - 1, t, 'target ' || (n - 1), '{}' FROM unnest($2::uuid[]) WITH ORDINALITY AS x (t, n)`,
      [id, targets.map((target) => target.id)],
    )
    await database.query(
      `INSERT INTO steps (deployment_id, target_index, action_index)
       SELECT $1, t, a FROM generate_series(0, $2::int - 1) AS t, generate_series(0, $3::int - 1) AS a`,
      [id, targets.length, actions],
    )
    await deployment.#transition(null, 'running')
    return deployment
  }

  /** Commits a batch like the executor-bridge and returns what the bridge publishes afterwards. */
  async commit({ lines = [], steps = [] }: BatchInput): Promise<StreamBatch> {
    const stored = lines.map(
      (m, n): StoredLine => ({ t: Date.UTC(2026, 0, 31) + this.nextLine + n, i: 0, a: 0, s: 'o', l: 'info', m }),
    )
    for (const [target, action, state] of steps) this.#states.set(`${target}/${action}`, state)
    const states = [...this.#states.values()]
    const batch: StreamBatch = {
      epoch: this.epoch,
      first_event: this.nextEvent,
      next_event: this.nextEvent + lines.length + steps.length,
      first_line: this.nextLine,
      lines: stored,
      steps: steps.map(([target, action, state, output]) => ({
        target,
        action,
        state,
        ...resultOf(state),
        ...(output === undefined ? {} : { output }),
      })),
      completed_steps: states.filter((state) => state === 'completed').length,
      ended_steps: states.filter(isEndedStepState).length,
      total_steps: this.targets.length * this.actions,
    }
    await this.#database.transaction(async (tx) => {
      if (lines.length > 0) {
        await tx.query(
          'INSERT INTO log_chunks (deployment_id, first_line, line_count, lines) VALUES ($1, $2, $3, $4)',
          [this.id, this.nextLine, lines.length, JSON.stringify(stored)],
        )
      }
      await tx.query(
        `UPDATE steps s SET state = c.state::step_state, exit_code = c.exit_code, error_message = c.error_message
         FROM unnest($2::int[], $3::int[], $4::text[], $5::int[], $6::text[]) AS c (t, a, state, exit_code, error_message)
         WHERE s.deployment_id = $1 AND s.target_index = c.t AND s.action_index = c.a`,
        [
          this.id,
          steps.map(([target]) => target),
          steps.map(([, action]) => action),
          steps.map(([, , state]) => state),
          steps.map(([, , state]) => resultOf(state).exit_code),
          steps.map(([, , state]) => resultOf(state).error_message),
        ],
      )
      const wrote = steps.filter(([, , , output]) => output !== undefined)
      await tx.query(
        `INSERT INTO command_results (deployment_id, target_index, action_index, status, stdout_tail, stderr_tail,
           started_at, completed_at)
         SELECT $1, t, a, 'completed', '', output, now(), now()
           FROM unnest($2::int[], $3::int[], $4::text[]) AS wrote (t, a, output)`,
        [
          this.id,
          wrote.map(([target]) => target),
          wrote.map(([, action]) => action),
          wrote.map(([, , , output]) => output),
        ],
      )
      await tx.query(
        `INSERT INTO run_progress (deployment_id, epoch, next_event, next_line, ended_steps, completed_steps)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (deployment_id) DO UPDATE SET epoch = EXCLUDED.epoch, next_event = EXCLUDED.next_event,
           next_line = EXCLUDED.next_line, ended_steps = EXCLUDED.ended_steps, completed_steps = EXCLUDED.completed_steps`,
        [this.id, this.epoch, batch.next_event, this.nextLine + lines.length, batch.ended_steps, batch.completed_steps],
      )
    })
    this.nextEvent = batch.next_event
    this.nextLine += lines.length
    return batch
  }

  /** Commits a batch and publishes it. */
  async apply(redis: Redis, namespace: string, input: BatchInput): Promise<void> {
    await this.publish(redis, namespace, await this.commit(input))
  }

  async publish(redis: Redis, namespace: string, batch: StreamBatch): Promise<void> {
    await redis.xadd(streamKey(namespace, this.id), 'MAXLEN', '~', 10_000, '*', 'batch', JSON.stringify(batch))
  }

  /** Publishes an unfinished line of the first step. `n` is the number that the next line had. */
  async publishPartialLine(redis: Redis, namespace: string, m: string, n: number): Promise<void> {
    const line: StreamPartialLine = { t: Date.UTC(2026, 0, 31), i: 0, a: 0, s: 'o', l: 'info', m, n }
    await redis.xadd(streamKey(namespace, this.id), '*', 'partial', JSON.stringify([line]))
  }

  /** Ends the deployment like the dispatcher: unfinished steps end too. */
  async end(state: DeploymentState, from: DeploymentState = 'running'): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await tx.query('UPDATE deployments SET state = $2::deployment_state, completed_at = now() WHERE id = $1', [
        this.id,
        state,
      ])
      await tx.query(
        `UPDATE steps SET state = $2::step_state WHERE deployment_id = $1 AND state IN ('pending', 'running')`,
        [this.id, state === 'cancelled' ? 'cancelled' : 'skipped'],
      )
      // The transition is in the same transaction, because a stream sends the state with the message of its transition.
      await this.#transition(from, state, tx)
    })
  }

  /** Cancels the deployment at a time in the past, like the dispatcher. The instance has not confirmed the stop. */
  async cancel(ago = '0 seconds'): Promise<void> {
    const instanceId = uuidv7()
    await this.#database.query(
      `INSERT INTO instances (id, name, version, capacity, credential_hash) VALUES ($1, $2, '${SLIPWAY_VERSION}', 1, '')`,
      [instanceId, instanceId],
    )
    await this.#database.query('INSERT INTO instance_slots (instance_id, slot) VALUES ($1, 1)', [instanceId])
    await this.#database.query(
      `INSERT INTO leases (epoch, instance_id, slot, deployment_id, ended_at, end_reason)
       VALUES ($1, $2, 1, $3, now() - $4::interval, 'cancelled')`,
      [this.epoch, instanceId, this.id, ago],
    )
    await this.end('cancelled')
  }

  /** Confirms like the instance that nothing of the cancelled run is left. */
  async confirmStop(): Promise<void> {
    await this.#database.query('UPDATE leases SET stopped_at = now() WHERE deployment_id = $1', [this.id])
  }

  async rollBack(): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await tx.query(`UPDATE deployments SET state = 'rolling_back' WHERE id = $1`, [this.id])
      await this.#transition('running', 'rolling_back', tx)
    })
  }

  async #transition(from: DeploymentState | null, to: DeploymentState, db: Queryable = this.#database): Promise<void> {
    await db.query(
      `INSERT INTO deployment_transitions (deployment_id, number, from_state, to_state, message)
       VALUES ($1, $2, $3::deployment_state, $4::deployment_state, $5)`,
      [this.id, this.#transitions++, from, to, `Now ${to}`],
    )
  }
}

const resultOf = (state: StepState): { exit_code: number | null; error_message: string | null } => ({
  exit_code: state === 'completed' ? 0 : state === 'failed' ? 3 : null,
  error_message: state === 'failed' ? 'exit code 3' : null,
})

export const numbered = (from: number, to: number, width = 0) =>
  Array.from({ length: to - from }, (_, n) => `line ${from + n}${width > 0 ? ` ${'x'.repeat(width)}` : ''}`)
