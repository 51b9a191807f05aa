import type { Queryable } from '@slipway/database'
import { conflict, Problem } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import type { Attempts } from './attempts.ts'
import type { CallingUser } from './calling-user.ts'
import { dropRecoveryCodes, replaceRecoveryCodes, spendRecoveryCode } from './recovery-codes.ts'
import { makeTotpSecret, otpauthUrl, stepOfCode } from './totp.ts'

const sealedFor = (userId: string) => `user:${userId}:totp`
const wrongCode = () => new Problem('INVALID_CREDENTIALS', 'The code is wrong, or was used before')

/** Setting up, enabling and disabling the second factor of the caller. */
export function secondFactorHandlers({
  database,
  keys,
  attempts,
}: Pick<Dependencies, 'database' | 'keys'> & { attempts: Attempts }): HandlersOf<
  'setUpTwoFactor' | 'enableTwoFactor' | 'disableTwoFactor'
> {
  /** Runs `work` in a transaction that commits only when the code is good: the code then counts as used. */
  const withCode = (caller: CallingUser, wanted: 'enabled' | 'set up', code: string, work: Work) =>
    attempts.proving(caller.user_id, () =>
      database.transaction(async (tx) => {
        const factor = await lockFactor(tx, caller.user_id)
        requireState(factor, wanted)
        const good = await acceptCode(tx, keys, { user_id: caller.user_id, ...factor }, code)
        if (good) await work(tx)
        return good
      }),
    )

  return {
    setUpTwoFactor: {
      async handle({ caller, audit }) {
        const secret = makeTotpSecret()
        await database.transaction(async (tx) => {
          const { rowCount } = await tx.query(
            `UPDATE users SET totp_sealed = $2, totp_last_step = NULL WHERE id = $1 AND NOT totp_enabled`,
            [caller.user_id, keys.seal(secret, sealedFor(caller.user_id))],
          )
          if (rowCount === 0) throw conflict('Two-factor authentication is enabled: disable it first')
          await audit.record(tx, { resource_id: caller.user_id, tenant_id: caller.tenant_id })
        })
        return { status: 200, body: { secret, otpauth_url: otpauthUrl(secret, caller.email) } }
      },
    },

    enableTwoFactor: {
      async handle({ caller, body, audit }) {
        let recoveryCodes: string[] = []
        const good = await withCode(caller, 'set up', body.code, async (tx) => {
          await tx.query('UPDATE users SET totp_enabled = true WHERE id = $1', [caller.user_id])
          recoveryCodes = await replaceRecoveryCodes(tx, caller.user_id)
          await audit.record(tx, { resource_id: caller.user_id, tenant_id: caller.tenant_id })
        })
        if (!good) throw wrongCode()
        const message = 'Two-factor authentication is enabled. Keep the recovery codes: they are not shown again'
        return { status: 200, body: { message, recovery_codes: recoveryCodes } }
      },
    },

    disableTwoFactor: {
      async handle({ caller, body, audit }) {
        const good = await withCode(caller, 'enabled', body.code, async (tx) => {
          await tx.query(
            'UPDATE users SET totp_enabled = false, totp_sealed = NULL, totp_last_step = NULL WHERE id = $1',
            [caller.user_id],
          )
          await dropRecoveryCodes(tx, caller.user_id)
          await audit.record(tx, { resource_id: caller.user_id, tenant_id: caller.tenant_id })
        })
        if (!good) throw wrongCode()
        return { status: 200, body: { message: 'Two-factor authentication is disabled' } }
      },
    },
  }
}

type Work = (tx: Queryable) => Promise<void>

interface Factor {
  totp_enabled: boolean
  totp_sealed: string | null
}

async function lockFactor(tx: Pick<Queryable, 'query'>, userId: string): Promise<Factor> {
  const { rows } = await tx.query<Factor>('SELECT totp_enabled, totp_sealed FROM users WHERE id = $1 FOR UPDATE', [
    userId,
  ])
  return rows[0] ?? { totp_enabled: false, totp_sealed: null }
}

function requireState({ totp_enabled, totp_sealed }: Factor, wanted: 'enabled' | 'set up'): void {
  if (wanted === 'enabled' && !totp_enabled) throw conflict('Two-factor authentication is not enabled')
  if (wanted === 'set up' && totp_enabled) throw conflict('Two-factor authentication is enabled already')
  if (wanted === 'set up' && totp_sealed === null) throw conflict('Set two-factor authentication up first')
}

/**
 * Takes a code of the authenticator or, once enabled, a recovery code, and uses it up: it succeeds once, however many
 * come at the same time.
 */
export async function acceptCode(
  tx: Pick<Queryable, 'query'>,
  keys: KeyRing,
  user: Factor & { user_id: string },
  code: string,
): Promise<boolean> {
  const { user_id, totp_sealed, totp_enabled } = user
  if (totp_sealed === null) return false
  const step = stepOfCode(keys.openText(totp_sealed, sealedFor(user_id)), code)
  if (step === null) return totp_enabled && (await spendRecoveryCode(tx, user_id, code))
  const { rowCount } = await tx.query(
    'UPDATE users SET totp_last_step = $2 WHERE id = $1 AND coalesce(totp_last_step < $2, true)',
    [user_id, step],
  )
  return rowCount === 1
}
