import { nullable, statement, text, uuid } from '@slipway/database'
import { INSTANCE } from '@slipway/database/read-models'

const row = { id: uuid, tenant_id: nullable(uuid), shown: text }

/** The progress of running deployments. */
export const findProgressShown = statement({
  name: 'log-stream.changes.find-progress',
  row,
  sql: `SELECT d.id, d.tenant_id, concat_ws(' ', p.ended_steps, p.completed_steps, p.failed_steps) AS shown
      FROM deployments d JOIN run_progress p ON p.deployment_id = d.id WHERE d.completed_at IS NULL AND NOT d.is_check`,
})

/** The status of each instance, and its number of leased slots. */
export const findInstancesShown = statement({
  name: 'log-stream.changes.find-instances',
  row,
  sql: `SELECT id, tenant_id, concat_ws(' ', item ->> 'status', item ->> 'active') AS shown
      FROM (SELECT i.id, i.tenant_id, ${INSTANCE} AS item FROM instances i WHERE i.removed_at IS NULL) i`,
})
