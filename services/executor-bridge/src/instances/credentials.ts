import { constantTimeEqual } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { holderOf } from '../http/credential.ts'
import { unauthorized } from '../http/refusal.ts'

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
  bridge: Pick<Bridge, 'database'>,
  credential: string | undefined,
): Promise<string> {
  const instanceId = await holderOf(bridge, 'instances', credential)
  if (instanceId !== undefined) return instanceId
  throw unauthorized('The credential is not valid: enrol again')
}
