import { randomBytes } from 'node:crypto'
import type { Queryable } from '@slipway/database'
import { hashToken } from '@slipway/runtime'
import { deleteRecoveryCodes, insertRecoveryCodes, spendCode } from './second-factor.sql.ts'
import { base32 } from './totp.ts'

const COUNT = 10
/** 80 bits cannot be guessed, so a hash without salt is enough. */
const BYTES = 10

/** Replaces the recovery codes of a user. The database has only their hashes. */
export async function replaceRecoveryCodes(tx: Queryable, userId: string): Promise<string[]> {
  const codes = Array.from({ length: COUNT }, () => base32(randomBytes(BYTES)))
  await dropRecoveryCodes(tx, userId)
  await insertRecoveryCodes.run(tx, { user_id: userId, code_hashes: codes.map(hashToken) })
  return codes.map((code) => (code.match(/.{4}/g) ?? []).join('-').toLowerCase())
}

export async function dropRecoveryCodes(tx: Queryable, userId: string): Promise<void> {
  await deleteRecoveryCodes.run(tx, { user_id: userId })
}

export type CodeJudgement = 'right' | 'used' | 'wrong'

/** Uses a recovery code up. Only one of several concurrent calls gets `right`. */
export async function spendRecoveryCode(tx: Queryable, userId: string, code: string): Promise<CodeJudgement> {
  const code_hash = hashToken(code.replaceAll(/[\s-]/g, '').toUpperCase())
  const found = await spendCode.first(tx, { user_id: userId, code_hash })
  if (found === null) return 'wrong'
  return found.is_spent_now ? 'right' : 'used'
}
