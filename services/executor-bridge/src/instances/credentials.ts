import { constantTimeEqual, hashToken, randomToken } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { unauthorized } from '../http/refusal.ts'

const CREDENTIAL = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}$/

/** A new credential of an instance: its id, so that the one row is found, and 32 random bytes. Only its hash is kept. */
export function newCredential(instanceId: string): string {
  return `${instanceId}.${randomToken(32)}`
}

export function authenticateEnrolment(
  { enrolmentToken }: Pick<Bridge, 'enrolmentToken'>,
  token: string | undefined,
): void {
  if (token === undefined || !constantTimeEqual(token, enrolmentToken)) {
    throw unauthorized('The enrolment token is not the one in SLIPWAY_ENROLMENT_TOKEN of the bridge')
  }
}

/** The instance that holds the credential. Throws a 401 that sends it back to enrol. */
export async function authenticateInstance(
  { database }: Pick<Bridge, 'database'>,
  credential: string | undefined,
): Promise<string> {
  const instanceId = CREDENTIAL.exec(credential ?? '')?.[1]
  if (instanceId !== undefined) {
    const { rows } = await database.query<{ credential_hash: string }>(
      'SELECT credential_hash FROM instances WHERE id = $1',
      [instanceId],
    )
    const known = rows[0]?.credential_hash
    if (known !== undefined && constantTimeEqual(hashToken(String(credential)), known)) return instanceId
  }
  throw unauthorized('The credential is not valid: enrol again')
}
