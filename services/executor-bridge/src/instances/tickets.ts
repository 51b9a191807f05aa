import { constantTimeEqual, hashToken } from '@slipway/runtime'
import type { Bridge } from '../bridge.ts'
import { idOf } from '../callers/credential.ts'
import { unauthorized } from '../callers/refusal.ts'
import { findGrantToken } from './join.sql.ts'

/** The permission of a caller to join: the grant of its token, or the service account of its pod. */
export type Ticket = { kind: 'grant'; grant_id: string } | { kind: 'service_account'; account: string; pod: string }

export const MAKE_TOKEN = 'make one with `slipway join-tokens create`'

/** A JSON Web Token has three parts, a join token has two. */
const JSON_WEB_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]*$/

/**
 * Identifies the caller. Uses and expiry of a grant are checked later, when the use is counted.
 * @throws Problem UNAUTHORIZED, or SERVICE_UNAVAILABLE when the keys of the Kubernetes cluster cannot be read
 */
export async function ticketOf(
  { database, serviceAccounts }: Pick<Bridge, 'database' | 'serviceAccounts'>,
  token: string | undefined,
): Promise<Ticket> {
  if (token === undefined) throw unauthorized(`An instance joins with a join token: ${MAKE_TOKEN}`)
  if (JSON_WEB_TOKEN.test(token)) {
    if (serviceAccounts === null) {
      throw unauthorized(
        `The executor-bridge takes no service account tokens: set SLIPWAY_KUBERNETES_ISSUER there, or join with a join token (${MAKE_TOKEN})`,
      )
    }
    return { kind: 'service_account', ...(await serviceAccounts.identify(token)) }
  }
  const id = idOf(token)
  if (id !== undefined) {
    const known = (await findGrantToken.first(database, { id }))?.token_hash
    if (known !== undefined && constantTimeEqual(hashToken(token), known)) return { kind: 'grant', grant_id: id }
  }
  throw unauthorized(`The join token is not known here, or it was revoked: ${MAKE_TOKEN}`)
}
