import { BrokerUnavailable } from '@slipway/broker'
import type { Database } from '@slipway/database'
import { canonicalJson, conflict, Problem, unavailable } from '@slipway/domain'
import { constantTimeEqual, failpoint, type KeyRing, sleep, uuidv7 } from '@slipway/runtime'
import type { Call } from '../http/handler.ts'
import { inTime } from './command.ts'
import { findKey, releaseKey, takeKey } from './idempotency.sql.ts'
import { findStartOutcome, type StartOutcome } from './start-outcome.ts'

const LOOK_AGAIN_MS = 50
const MAX_LOOK_AGAIN_MS = 250

type StartCall = Call<'createDeployment' | 'redeployDeployment'>

interface StartDependencies {
  database: Database
  keys: KeyRing
}

type CarryOut = (commandId: string) => Promise<StartOutcome>

interface Key {
  user_id: string
  /** Method and path. */
  scope: string
  key: string
}

/**
 * Starts a deployment, only once for each `Idempotency-Key`. The key is stored with the id of the command before the command is
 * sent. A repeated call reads the rows that the command wrote, so any gateway can answer it. A refused call frees the key.
 * @throws Problem CONFLICT if the key was used with another body, or as inTime() does
 */
export function startOnce(
  dependencies: StartDependencies,
  call: StartCall,
  scope: string,
  carryOut: CarryOut,
): Promise<StartOutcome> {
  const { bounds } = call
  const header = call.headers['idempotency-key']
  if (header === undefined) return inTime(bounds, carryOut(uuidv7()))
  const key: Key = { user_id: call.caller.user_id, scope, key: String(header) }
  return inTime(bounds, startWithKey(dependencies, call, key, carryOut))
}

async function startWithKey(
  { database, keys }: StartDependencies,
  { caller, body, requestId, bounds, clientIp, audit }: StartCall,
  key: Key,
  carryOut: CarryOut,
): Promise<StartOutcome> {
  const bodyHash = hashBody(keys, body)

  for (let wait = LOOK_AGAIN_MS; ; wait = Math.min(2 * wait, MAX_LOOK_AGAIN_MS)) {
    const commandId = uuidv7()
    const call = { command_id: commandId, request_id: requestId, client_ip: clientIp, api_key: caller.api_key ?? null }
    failpoint('idempotency-key', 'before-commit')
    if ((await takeKey.run(database, { ...key, ...call, body_hash: bodyHash })) === 1) {
      failpoint('idempotency-key', 'after-commit')
      return carryOutHoldingKey(database, key, commandId, carryOut)
    }
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

async function carryOutHoldingKey(db: Database, key: Key, commandId: string, carryOut: CarryOut) {
  try {
    return await carryOut(commandId)
  } catch (error) {
    const isRefusal = error instanceof Problem || (error instanceof BrokerUnavailable && !error.mayHaveBeenSent)
    // After any other error, the command may have taken effect. The next call with this key finds out.
    if (isRefusal) await releaseKey.run(db, { ...key, command_id: commandId })
    throw error
  }
}

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
