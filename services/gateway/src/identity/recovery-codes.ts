import { randomBytes } from 'node:crypto'
import type { Queryable } from '@slipway/database'
import { hashToken } from '@slipway/runtime'
import { base32 } from './totp.ts'

const COUNT = 10
/** 80 bits: too many to be tried, so a plain hash keeps them. */
const BYTES = 10

/** Replaces the recovery codes of a user; they are shown this once. */
export async function replaceRecoveryCodes(tx: Pick<Queryable, 'query'>, userId: string): Promise<string[]> {
  const codes = Array.from({ length: COUNT }, () => base32(randomBytes(BYTES)))
  await dropRecoveryCodes(tx, userId)
  await tx.query('INSERT INTO recovery_codes (user_id, code_hash) SELECT $1, unnest($2::text[])', [
    userId,
    codes.map(hashToken),
  ])
  return codes.map((code) => (code.match(/.{4}/g) ?? []).join('-').toLowerCase())
}

export async function dropRecoveryCodes(tx: Pick<Queryable, 'query'>, userId: string): Promise<void> {
  await tx.query('DELETE FROM recovery_codes WHERE user_id = $1', [userId])
}

export type CodeJudgement = 'right' | 'used' | 'wrong'

/** Uses a recovery code up. Of many at once one is right. */
export async function spendRecoveryCode(
  tx: Pick<Queryable, 'query'>,
  userId: string,
  code: string,
): Promise<CodeJudgement> {
  const { rows } = await tx.query<{ is_spent_now: boolean }>(
    `WITH spent AS (
       UPDATE recovery_codes SET used_at = now() WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL RETURNING 1)
     SELECT EXISTS (SELECT FROM spent) AS is_spent_now FROM recovery_codes WHERE user_id = $1 AND code_hash = $2`,
    [userId, hashToken(code.replaceAll(/[\s-]/g, '').toUpperCase())],
  )
  const [found] = rows
  if (found === undefined) return 'wrong'
  return found.is_spent_now ? 'right' : 'used'
}
