import type { CredentialResponse } from '@slipway/contracts'
import { constantTimeEqual, hashToken } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { idOf, newCredential } from '../callers/credential.ts'
import { Refusal, unauthorized } from '../callers/refusal.ts'

/** How long the credential before the current one is good. Calls that began with it may be on their way. */
const FORMER_LIFE = '1 hour'

/**
 * The hashes of an instance's credentials. Empty and null match nothing.
 *
 *     next     given out last and not used yet; null when there is none
 *     current  empty until the first credential is used
 *     former   the one before the current one; null when its time is over
 *
 * The first use of the next credential makes it the current one. So an instance that dies before it has stored a new
 * credential goes on with the one that it has.
 */
interface Credentials {
  current: string
  next: string | null
  former: string | null
  removed: boolean
}

/** The instance that holds the credential. @throws Refusal 401 */
export async function authenticateInstance(
  bridge: Pick<Bridge, 'database'>,
  credential: string | undefined,
): Promise<string> {
  const id = idOf(credential)
  const known = id === undefined ? undefined : await credentialsOf(bridge, id)
  if (id !== undefined && known !== undefined) {
    if (known.removed) throw removed()
    const hash = hashToken(String(credential))
    if (matches(hash, known.current) || matches(hash, known.former)) return id
    if (matches(hash, known.next) && (await isCurrentNow(bridge, id, hash))) return id
  }
  throw unauthorized(
    'The credential is not valid: the instance was removed, or another one has joined under its name. It needs a new join token',
  )
}

const matches = (hash: string, known: string | null) => known !== null && known !== '' && constantTimeEqual(hash, known)

/** An administrator has removed the instance. Only its id is known to be right, and an id is no secret. */
export const removed = () =>
  new Refusal(401, 'INSTANCE_REMOVED', 'An administrator has removed this instance: it needs a new join token')

async function credentialsOf({ database }: Pick<Bridge, 'database'>, id: string): Promise<Credentials | undefined> {
  const { rows } = await database.query<Credentials>(
    `SELECT credential_hash AS current, next_credential_hash AS next,
            CASE WHEN former_credential_until > now() THEN former_credential_hash END AS former,
            removed_at IS NOT NULL AS removed
       FROM instances WHERE id = $1`,
    [id],
  )
  return rows[0]
}

/** Makes the next credential the current one. Another bridge may have done that in the same moment. */
async function isCurrentNow({ database }: Pick<Bridge, 'database'>, id: string, hash: string): Promise<boolean> {
  const { rows } = await database.query<{ current: string }>(
    `UPDATE instances SET
       credential_hash = $2, next_credential_hash = NULL, join_key_hash = NULL,
       former_credential_hash = nullif(credential_hash, ''), former_credential_until = now() + interval '${FORMER_LIFE}'
     WHERE id = $1 AND next_credential_hash = $2
     RETURNING credential_hash AS current`,
    [id, hash],
  )
  if (rows.length > 0) return true
  return matches(hash, (await credentialsOf({ database }, id))?.current ?? null)
}

/** Gives an instance a new credential. The one that it has stays good until an hour after the new one is first used. */
export async function rotateCredential({ database, logger }: Bridge, instanceId: string): Promise<CredentialResponse> {
  const credential = newCredential(instanceId)
  const { rowCount } = await database.query(
    'UPDATE instances SET next_credential_hash = $2 WHERE id = $1 AND removed_at IS NULL',
    [instanceId, hashToken(credential)],
  )
  if (rowCount === 0) throw removed()
  logger.info('an instance was given a new credential', { instance_id: instanceId })
  return { credential }
}
