import type { Queryable, RowOf } from '@slipway/database'
import { conflict, Problem } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import type { AuditTrail } from '../audit-trail.ts'
import type { CallingUser } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { type CodeJudgement, dropRecoveryCodes, replaceRecoveryCodes, spendRecoveryCode } from './recovery-codes.ts'
import { disableFactor, enableFactor, findFactor, lockFactor, setFactor, spendStep } from './second-factor.sql.ts'
import { makeTotpSecret, otpauthUrl, stepOfCode } from './totp.ts'
import { codesAreLocked, countWrongCode, forgetWrongCodes, requireNotLocked } from './wrong-codes.ts'

const sealedFor = (userId: string) => `user:${userId}:totp`
const wrongCode = () => new Problem('INVALID_CREDENTIALS', 'The code is wrong, or was used before')

export function secondFactorHandlers({
  database,
  keys,
  codeClock,
}: Pick<Dependencies, 'database' | 'keys' | 'codeClock'>): HandlersOf<
  'setUpTwoFactor' | 'enableTwoFactor' | 'disableTwoFactor'
> {
  /** Runs `work` in the transaction that uses the code up. */
  async function withCode(
    { caller, body, audit }: CodeCall,
    required: 'enabled' | 'set up',
    work: Work,
  ): Promise<void> {
    const refusal = await database.transaction(async (tx) => {
      const requireFactor = (factor: Factor) => requireState(factor, required)
      const refused = await takeCode(tx, { keys, codeClock, audit, requireFactor }, caller, body.code)
      if (refused === null) await work(tx)
      return refused
    })
    if (refusal !== null) throw refusal
  }

  return {
    setUpTwoFactor: {
      async handle({ caller, audit }) {
        const secret = makeTotpSecret()
        await database.transaction(async (tx) => {
          const totp_sealed = keys.seal(secret, sealedFor(caller.user_id))
          const set = await setFactor.run(tx, { user_id: caller.user_id, totp_sealed })
          if (set === 0) throw conflict('Two-factor authentication is enabled: disable it first')
          await audit.record(tx, { resource_id: caller.user_id, tenant_id: caller.tenant_id })
        })
        return { status: 200, body: { secret, otpauth_url: otpauthUrl(secret, caller.email ?? caller.username) } }
      },
    },

    enableTwoFactor: {
      async handle(call) {
        const { caller, audit } = call
        let recoveryCodes: string[] = []
        await withCode(call, 'set up', async (tx) => {
          await enableFactor.run(tx, caller)
          recoveryCodes = await replaceRecoveryCodes(tx, caller.user_id)
          await audit.record(tx, { resource_id: caller.user_id, tenant_id: caller.tenant_id })
        })
        const message = 'Two-factor authentication is enabled. Keep the recovery codes: they are not shown again'
        return { status: 200, body: { message, recovery_codes: recoveryCodes } }
      },
    },

    disableTwoFactor: {
      async handle(call) {
        const { caller, audit } = call
        await withCode(call, 'enabled', async (tx) => {
          await disableFactor.run(tx, caller)
          await dropRecoveryCodes(tx, caller.user_id)
          await audit.record(tx, { resource_id: caller.user_id, tenant_id: caller.tenant_id })
        })
        return { status: 200, body: { message: 'Two-factor authentication is disabled' } }
      },
    },
  }
}

interface CodeCall {
  caller: CallingUser
  body: { code: string }
  audit: AuditTrail
}

type Work = (tx: Queryable) => Promise<void>

export type Factor = RowOf<typeof findFactor>
const NO_FACTOR: Factor = { totp_enabled: false, totp_sealed: null, totp_last_step: null }

function requireState({ totp_enabled, totp_sealed }: Factor, required: 'enabled' | 'set up'): void {
  if (required === 'enabled' && !totp_enabled) throw conflict('Two-factor authentication is not enabled')
  if (required === 'set up' && totp_enabled) throw conflict('Two-factor authentication is enabled already')
  if (required === 'set up' && totp_sealed === null) throw conflict('Set two-factor authentication up first')
}

type FactorUser = Pick<CallingUser, 'user_id' | 'tenant_id'>

interface CodeContext {
  keys: KeyRing
  codeClock(): number
  audit: AuditTrail
  /** Throws if the second factor is not in the state that the call needs. */
  requireFactor(factor: Factor): void
}

/**
 * Uses up a code of the authenticator or, once enabled, a recovery code. Returns null for a right code, else the refusal. The
 * caller throws the refusal after the commit, because the transaction counts the wrong code.
 * @throws Problem AUTH_RATE_LIMIT_EXCEEDED while the codes of the user are locked
 */
export async function takeCode(
  tx: Queryable,
  { keys, codeClock, audit, requireFactor }: CodeContext,
  user: FactorUser,
  code: string,
): Promise<Problem | null> {
  const subject = { resource_id: user.user_id, tenant_id: user.tenant_id }
  audit.about(subject)
  const stepOf = (sealed: string) => stepOfCode(keys.openText(sealed, sealedFor(user.user_id)), code, codeClock())
  // Refuses without the row lock where possible. A flood of codes for one user would take all connections to wait for it.
  await requireNotLocked(tx, user.user_id)
  const before = (await findFactor.first(tx, user)) ?? NO_FACTOR
  requireFactor(before)
  if (isUsed(before, stepOf)) return wrongCode()

  // From here on, codes of one user are checked one after the other.
  const factor = (await lockFactor.first(tx, user)) ?? NO_FACTOR
  requireFactor(factor)
  await requireNotLocked(tx, user.user_id)
  const judgement = await judgeCode(tx, { user_id: user.user_id, ...factor }, code, stepOf)
  if (judgement === 'right') {
    await forgetWrongCodes(tx, user.user_id)
    return null
  }
  // A used code is no guess. Counting it would lock out a user who sends a form twice.
  if (judgement === 'used') return wrongCode()
  const { lockSeconds } = await countWrongCode(tx, user.user_id)
  if (lockSeconds === null) return wrongCode()
  const problem = codesAreLocked(lockSeconds)
  const details = { outcome: 'refused', status: problem.status, code: problem.code, codes_locked_seconds: lockSeconds }
  await audit.record(tx, { ...subject, details })
  return problem
}

/** The time step of the code of a call under this sealed secret, or null. */
type StepOf = (sealed: string) => number | null

/** Whether this code or a later one was accepted before. */
function isUsed({ totp_sealed, totp_last_step }: Factor, stepOf: StepOf): boolean {
  if (totp_sealed === null || totp_last_step === null) return false
  const step = stepOf(totp_sealed)
  return step !== null && step <= totp_last_step
}

/** Uses a right code up. Only one of several concurrent calls gets `right`. */
async function judgeCode(
  tx: Queryable,
  { user_id, totp_sealed, totp_enabled }: Factor & { user_id: string },
  code: string,
  stepOf: StepOf,
): Promise<CodeJudgement> {
  if (totp_sealed === null) return 'wrong'
  const step = stepOf(totp_sealed)
  if (step === null) return totp_enabled ? spendRecoveryCode(tx, user_id, code) : 'wrong'
  return (await spendStep.run(tx, { user_id, step })) === 1 ? 'right' : 'used'
}
