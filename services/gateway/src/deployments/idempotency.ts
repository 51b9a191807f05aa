import { BrokerUnavailable } from '@slipway/broker'
import type { Database } from '@slipway/database'
import { canonicalJson, conflict, Problem, unavailable } from '@slipway/domain'
import { constantTimeEqual, type KeyRing, sleep, uuidv7 } from '@slipway/runtime'
import type { Call } from '../http/handler.ts'
import { ANSWER_MS } from './command.ts'
import { findKey, releaseKey, takeKey } from './idempotency.sql.ts'
import { type StartOutcome, startOutcome } from './start-outcome.ts'

const LOOK_AGAIN_MS = 50
const MAX_LOOK_AGAIN_MS = 250

/** Carries a call out under the id of this command. `since` is when the caller began to wait. */
type CarryOut = (commandId: string, since: number) => Promise<StartOutcome>

interface Key {
  user_id: string
  /** Method and path. */
  scope: string
  key: string
}

/**
 * Carries out a call, with an `Idempotency-Key` once: the key stands for the id of a command, which was stored before that
 * was sent, and what the command came to is read from the rows that it wrote. So nothing depends on the gateway that
 * took the key. A refused call leaves the key free.
 * @throws Problem CONFLICT when the key stands for another body
 */
export async function onlyOnce(
  { database, keys }: { database: Database; keys: KeyRing },
  { caller, body, headers, requestId, clientIp, audit }: Call<'createDeployment' | 'redeployDeployment'>,
  scope: string,
  carryOut: CarryOut,
): Promise<StartOutcome> {
  const since = Date.now()
  const header = headers['idempotency-key']
  if (header === undefined) return carryOut(uuidv7(), since)
  const key: Key = { user_id: caller.user_id, scope, key: String(header) }
  const bodyHash = hashOf(keys, body)

  for (let wait = LOOK_AGAIN_MS; ; wait = Math.min(2 * wait, MAX_LOOK_AGAIN_MS)) {
    const commandId = uuidv7()
    const call = { command_id: commandId, request_id: requestId, client_ip: clientIp }
    if ((await takeKey.run(database, { ...key, ...call, body_hash: bodyHash })) === 1)
      return holding(database, key, commandId, since, carryOut)
    const claim = await findKey.first(database, key)
    if (claim !== null) {
      const outcome = await startOutcome(database, claim.command_id)
      if (outcome !== null) {
        if (!isOf(keys, claim, body)) {
          throw conflict('This Idempotency-Key stands for a request with another body', { idempotency_key: key.key })
        }
        audit.changesNothing()
        return outcome
      }
      if (!claim.in_hand) {
        // Its gateway died, or could not tell. Once refused it can have no effect any more, whoever still has it in hand.
        await audit.forbid(unanswered(), claim)
        if ((await startOutcome(database, claim.command_id)) === null)
          await releaseKey.run(database, { ...key, command_id: claim.command_id })
        continue
      }
    }
    if (Date.now() + wait > since + ANSWER_MS) throw unanswered()
    await sleep(wait)
  }
}

const unanswered = () =>
  unavailable('The first request with this Idempotency-Key has not been answered; nothing was done, try again')

async function holding(db: Database, key: Key, commandId: string, since: number, carryOut: CarryOut) {
  try {
    return await carryOut(commandId, since)
  } catch (error) {
    const isRefusal = error instanceof Problem || (error instanceof BrokerUnavailable && !error.mayHaveBeenSent)
    // Of anything else it is not known whether it had an effect: the next one with this key finds out.
    if (isRefusal) await releaseKey.run(db, { ...key, command_id: commandId })
    throw error
  }
}

const hashUnder = (keys: KeyRing, keyId: string, body: unknown): string | null => {
  const digest = keys.hmac('idempotency', keyId)?.update(canonicalJson(body)).digest('base64url')
  return digest === undefined ? null : `${keyId}.${digest}`
}

const hashOf = (keys: KeyRing, body: unknown): string => hashUnder(keys, keys.currentKeyId, body) ?? ''

/** Whether the key was taken for this body. Where the encryption key is gone by now, that cannot be told: nothing is created. */
function isOf(keys: KeyRing, { body_hash }: { body_hash: string }, body: unknown): boolean {
  const now = hashUnder(keys, body_hash.slice(0, body_hash.lastIndexOf('.')), body)
  return now === null || constantTimeEqual(now, body_hash)
}
