import type { CredentialResponse } from '@slipway/contracts'
import type { RowOf } from '@slipway/database'
import { Refusal } from '@slipway/http'
import { constantTimeEqual, hashToken } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { idOf, newCredential } from '../callers/credential.ts'
import { unauthorized } from '../callers/refusal.ts'
import * as sql from './instances.sql.ts'

/**
 * The hashes of an instance's credentials. Empty and null match nothing.
 *
 *     next     issued last and not used yet; null if there is none
 *     current  empty until the first credential is used
 *     former   the one before the current one; null when it has expired
 *
 * The first use of the next credential makes it the current one. An instance that dies before it has stored a new credential
 * continues with the old one.
 */
type Credentials = RowOf<typeof sql.findCredentials>

/** The instance that holds the credential. @throws Problem UNAUTHORIZED; Refusal INSTANCE_REMOVED */
export async function authenticateInstance(
  bridge: Pick<Bridge, 'database'>,
  credential: string | undefined,
): Promise<string> {
  const id = idOf(credential)
  const known: Credentials | null = id === undefined ? null : await sql.findCredentials.first(bridge.database, { id })
  if (id !== undefined && known !== null) {
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

/** An administrator has removed the instance. The caller has proved only the id, which is no secret. */
export const removed = () =>
  new Refusal(401, 'INSTANCE_REMOVED', 'An administrator has removed this instance: it needs a new join token')

/** Makes the next credential the current one. Another bridge may do so at the same time. */
async function isCurrentNow({ database }: Pick<Bridge, 'database'>, id: string, hash: string): Promise<boolean> {
  if ((await sql.useNextCredential.run(database, { id, hash })) > 0) return true
  return matches(hash, (await sql.findCredentials.first(database, { id }))?.current ?? null)
}

/** Issues a new credential. The old one stays valid until an hour after the first use of the new one. */
export async function rotateCredential({ database, logger }: Bridge, instanceId: string): Promise<CredentialResponse> {
  const credential = newCredential(instanceId)
  const written = await sql.setNextCredential.run(database, { id: instanceId, hash: hashToken(credential) })
  if (written === 0) throw removed()
  logger.info('an instance was given a new credential', { instance_id: instanceId })
  return { credential }
}
