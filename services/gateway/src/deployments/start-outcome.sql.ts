import { jsonb, nullable, statement, uuid } from '@slipway/database'

/** The warnings of the deployment or pending request that a command created. */
export const findWarnings = statement({
  name: 'gateway.deployments.find-warnings',
  parameters: { id: uuid },
  row: {
    started: nullable(jsonb<string[]>()),
    queued: nullable(jsonb<string[]>()),
    unchanged_target_ids: nullable(jsonb<string[]>()),
  },
  sql: `SELECT (SELECT warnings FROM deployments WHERE id = :id) AS started,
       (SELECT coalesce(command -> 'warnings', '[]') FROM pending_requests WHERE id = :id) AS queued,
       (SELECT command #> '{selection,unchanged_target_ids}' FROM pending_requests WHERE id = :id) AS unchanged_target_ids`,
})
