import { bool, int4, nullable, statement, text, uuid } from '@slipway/database'

export const findCredential = statement({
  name: 'executor-bridge.agents.find-credential',
  parameters: { id: uuid },
  row: { credential_hash: text },
  sql: 'SELECT credential_hash FROM agents WHERE id = :id',
})

/** Locks the target of a grant. Every change of a target locks the target first. */
export const lockTargetOfGrant = statement({
  name: 'executor-bridge.agents.lock-target-of-grant',
  parameters: { grant_id: uuid },
  sql: 'SELECT FROM targets WHERE id = (SELECT target_id FROM agent_grants WHERE id = :grant_id) FOR NO KEY UPDATE',
})

/** The grant, if it is the newest of its target, has not expired and was not used. */
export const findUsableGrant = statement({
  name: 'executor-bridge.agents.find-usable-grant',
  parameters: { id: uuid },
  row: { id: uuid, target_id: uuid, token_hash: text, target_name: text, tenant_id: nullable(uuid) },
  sql: `SELECT g.id, g.target_id, g.token_hash, t.name AS target_name, t.tenant_id
      FROM agent_grants g JOIN targets t ON t.id = g.target_id
     WHERE g.id = :id AND g.expires_at > now() AND t.connection ->> 'type' = 'agent'
       AND NOT EXISTS (SELECT FROM agents a WHERE a.grant_id = g.id)
       AND NOT EXISTS (SELECT FROM agent_grants n WHERE n.target_id = g.target_id AND n.created_at > g.created_at)`,
})

/** Puts an agent in the place of the former agent of its target. */
export const replaceAgent = statement({
  name: 'executor-bridge.agents.replace',
  parameters: {
    id: uuid,
    target_id: uuid,
    grant_id: uuid,
    host: text,
    port: int4,
    version: text,
    key_sealed: text,
    credential_hash: text,
  },
  sql: `INSERT INTO agents (id, target_id, grant_id, host, port, version, key_sealed, credential_hash)
    VALUES (:id, :target_id, :grant_id, :host, :port, :version, :key_sealed, :credential_hash)
    ON CONFLICT (target_id) DO UPDATE SET
      id = EXCLUDED.id, grant_id = EXCLUDED.grant_id, host = EXCLUDED.host, port = EXCLUDED.port,
      version = EXCLUDED.version, key_sealed = EXCLUDED.key_sealed, credential_hash = EXCLUDED.credential_hash,
      enrolled_at = now()`,
})

/** Stores the address and version of an agent. `moved`: one of them changed. */
export const noteAgent = statement({
  name: 'executor-bridge.agents.note',
  parameters: { id: uuid, version: text, host: text, port: int4 },
  row: { target_id: uuid, moved: bool },
  sql: `WITH moved AS (
      UPDATE agents SET version = :version, host = :host, port = :port
       WHERE id = :id AND (version, host, port) IS DISTINCT FROM (:version, :host, :port) RETURNING id)
    SELECT target_id, EXISTS (SELECT FROM moved) AS moved FROM agents WHERE id = :id`,
})
