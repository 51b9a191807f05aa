import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { connectTo } from './database.ts'

export interface JoinTokenOptions {
  /** How many instances can join with the token; 1 by default. */
  uses?: number
  /** Labels that a joining instance may claim: key to value, null for any value. */
  labels?: Record<string, string | null>
  tenantId?: string
}

/** Inserts a grant as the gateway does, and returns its join token. */
export async function addJoinToken(databaseUrl: string, options: JoinTokenOptions = {}): Promise<string> {
  const { uses = 1, labels = {}, tenantId = null } = options
  const id = randomUUID()
  const token = `${id}.${randomBytes(32).toString('base64url')}`
  const hash = createHash('sha256').update(token).digest('hex')
  const database = await connectTo(databaseUrl)
  try {
    await database.query(
      `INSERT INTO instance_grants (id, token_hash, uses, labels, tenant_id, expires_at)
       VALUES ($1, $2, $3, $4, $5, now() + interval '1 hour')`,
      [id, hash, uses, JSON.stringify(labels), tenantId],
    )
  } finally {
    await database.end()
  }
  return token
}
