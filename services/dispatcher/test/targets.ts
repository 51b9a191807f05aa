import type { ConcurrencyPolicy } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { finishDeployment } from '../src/deployments/finish.ts'
import type { CatalogDatabase } from './database.ts'
import { type CommandOptions, liveLease, startCommand, startDeployment } from './fixtures.ts'

/** The operations and queries of tests on target locks. A test chooses the names of its targets. */
export function targetsOf({ database, asDispatcher, catalog }: CatalogDatabase) {
  const ids = new Map<string, string>()
  const idOf = (name: string) => ids.get(name) ?? ''

  /** A start of a deployment on targets with names of one letter, such as "ab". */
  const command = (targets: string, options: CommandOptions = {}) =>
    startCommand({ ...catalog, target_ids: [...targets].map(idOf) }, options)

  return {
    idOf,

    async addTargets(policies: Record<string, ConcurrencyPolicy | null>): Promise<void> {
      for (const [name, concurrency] of Object.entries(policies)) {
        ids.set(name, uuidv7())
        await database.query(
          `INSERT INTO targets (id, name, connection, concurrency, updated_at)
           VALUES ($1, $2, '{"type":"local"}', $3::target_concurrency, now())`,
          [idOf(name), `${name} ${idOf(name)}`, concurrency],
        )
      }
    },

    setPolicy: (name: string, concurrency: ConcurrencyPolicy | null) =>
      database.query('UPDATE targets SET concurrency = $2::target_concurrency WHERE id = $1', [
        idOf(name),
        concurrency,
      ]),

    command,

    /** Starts or queues a deployment on targets. Returns the id of the command message. */
    async deploy(targets: string, options: CommandOptions = {}): Promise<string> {
      const start = command(targets, options)
      await startDeployment(database, start, { request_id: null })
      return start.command_id
    },

    /** The deployments that hold target locks, by target, such as { a: id }. */
    async holders(): Promise<Record<string, string>> {
      const { rows } = await database.query<{ target_id: string; deployment_id: string }>(
        'SELECT target_id, deployment_id FROM target_locks WHERE deployment_id IS NOT NULL',
      )
      const names = new Map([...ids].map(([name, id]) => [id, name]))
      return Object.fromEntries(rows.map(({ target_id, deployment_id }) => [names.get(target_id), deployment_id]))
    },

    /** The deployment of a start: its own, or the one of its request. Null while the request is pending. */
    async deploymentOf(command: string): Promise<string | null> {
      const { rows } = await database.query<{ id: string | null }>(
        `SELECT id FROM deployments WHERE id = $1 UNION ALL SELECT deployment_id FROM pending_requests WHERE id = $1`,
        [command],
      )
      return rows[0]?.id ?? null
    },

    async finish(deployment: string, outcome: 'success' | 'failed' = 'success'): Promise<void> {
      const lease = await liveLease(database, deployment)
      await finishDeployment(asDispatcher, {
        deployment_id: deployment,
        epoch: lease?.epoch ?? 0,
        outcome,
        error_message: null,
      })
    },
  }
}
