import { type Database, forAllTenants } from '@slipway/database'
import { canonicalJson, conflict, unavailable } from '@slipway/domain'
import { constantTimeEqual, createTicker, type KeyRing, type Logger, sleep, type Ticker } from '@slipway/runtime'
import type { Call } from '../handler.ts'
import { deleteOldKeys, findKey, releaseKey, takeKey } from './idempotency.sql.ts'
import { findStartOutcome, type StartOutcome } from './start-outcome.ts'

const LOOK_AGAIN_MS = 50
const MAX_LOOK_AGAIN_MS = 250

type StartCall = Call<'createDeployment' | 'redeployDeployment'>

interface Key {
  user_id: string
  /** Method and path. */
  scope: string
  key: string
}

/** The `Idempotency-Key` of a call. Null if the call has none. */
export function keyOf({ caller, headers }: StartCall, scope: string): Key | null {
  const header = headers['idempotency-key']
  return header === undefined ? null : { user_id: caller.user_id, scope, key: String(header) }
}

/**
 * Takes the key for this command, or returns the outcome of the command that has it. Null: the key is taken, and the command can be
 * sent. While another gateway works on the key, this waits.
 * @throws Problem CONFLICT if the key was used with another body, SERVICE_UNAVAILABLE if the other call is not answered in time
 */
export async function takeKeyOrReplay(
  { database, keys }: { database: Database; keys: KeyRing },
  { caller, body, requestId, bounds, clientIp, audit }: StartCall,
  key: Key,
  commandId: string,
): Promise<StartOutcome | null> {
  const mine = {
    ...key,
    command_id: commandId,
    body_hash: hashBody(keys, body),
    request_id: requestId,
    client_ip: clientIp,
    api_key: caller.api_key ?? null,
  }
  for (let wait = LOOK_AGAIN_MS; ; wait = Math.min(2 * wait, MAX_LOOK_AGAIN_MS)) {
    if ((await takeKey.run(database, mine)) === 1) return null
    const claim = await findKey.first(database, key)
    if (claim !== null) {
      const outcome = await findStartOutcome(database, claim.command_id)
      if (outcome !== null) {
        if (!isSameBody(keys, claim, body)) {
          throw conflict('This Idempotency-Key was used with another body: use a new one', { idempotency_key: key.key })
        }
        audit.changesNothing()
        return outcome
      }
      if (!claim.in_progress) {
        // The gateway of the first call died or got no answer. After `forbid`, its command cannot take effect.
        await audit.forbid(unanswered(), claim)
        if ((await findStartOutcome(database, claim.command_id)) === null)
          await releaseKey.run(database, { ...key, command_id: claim.command_id })
        continue
      }
    }
    if (performance.now() + wait > bounds.answer) throw unanswered()
    await sleep(wait)
  }
}

const unanswered = () =>
  unavailable('The first request with this Idempotency-Key has not been answered; nothing was done, try again')

const hashWithKey = (keys: KeyRing, keyId: string, body: unknown): string | null => {
  const digest = keys.hmac('idempotency', keyId)?.update(canonicalJson(body)).digest('base64url')
  return digest === undefined ? null : `${keyId}.${digest}`
}

const hashBody = (keys: KeyRing, body: unknown): string => hashWithKey(keys, keys.currentKeyId, body) ?? ''

/** Whether the key was used with this body. If the encryption key is gone, this returns true: then nothing is created. */
function isSameBody(keys: KeyRing, { body_hash }: { body_hash: string }, body: unknown): boolean {
  const now = hashWithKey(keys, body_hash.slice(0, body_hash.lastIndexOf('.')), body)
  return now === null || constantTimeEqual(now, body_hash)
}

const SWEEP_INTERVAL_MS = 60_000
const SWEEP_BATCH = 5_000

/** Deletes expired idempotency keys. Several gateways may do so at the same time. */
export function startKeySweeper(database: Database, logger: Logger): Ticker {
  const sweep = async () => {
    if ((await deleteOldKeys.run(database, { limit: SWEEP_BATCH })) === SWEEP_BATCH) await sweep()
  }
  return createTicker({
    name: 'idempotency-keys',
    intervalMs: SWEEP_INTERVAL_MS,
    logger,
    run: () => forAllTenants(sweep),
  })
}
