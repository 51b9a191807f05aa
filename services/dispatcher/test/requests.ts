import { testLogger as logger } from '@slipway/testing'
import { dispatchQueue } from '../src/dispatch/dispatch-queue.ts'
import type { CatalogDatabase } from './database.ts'
import { type CommandOptions, startCommand, startDeployment } from './fixtures.ts'

interface Pending {
  id: string
  status: string
  deployment_id: string | null
  dispatched_to_instance_id: string | null
  error_message: string | null
  retry_count: number
}

/** The operations and queries of tests on the queue. */
export function requestsOf({ database, asDispatcher, catalog }: CatalogDatabase) {
  return {
    dispatchAll: () => dispatchQueue({ database: asDispatcher, logger, onCommitted: () => {} }),

    /** Starts or queues a deployment. Returns the id of the command message. */
    async submit(options: CommandOptions = {}, of = catalog): Promise<string> {
      const command = startCommand(of, options)
      await startDeployment(database, command, { request_id: `request-${command.command_id}` })
      return command.command_id
    },

    async pending(id: string): Promise<Pending> {
      const { rows } = await database.query<Pending>('SELECT * FROM pending_requests WHERE id = $1', [id])
      if (!rows[0]) throw new Error(`no pending request ${id}`)
      return rows[0]
    },
  }
}
