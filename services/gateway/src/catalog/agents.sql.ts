import { statement, text, timestamptz, uuid } from '@slipway/database'

/** The grant of a new agent. One hour is long enough to install an agent by hand. */
export const insertGrant = statement({
  name: 'gateway.agents.insert-grant',
  parameters: { id: uuid, target_id: uuid, token_hash: text },
  row: { expires_at: timestamptz },
  sql: `INSERT INTO agent_grants (id, target_id, token_hash, expires_at)
    VALUES (:id, :target_id, :token_hash, now() + interval '1 hour') RETURNING expires_at`,
})
