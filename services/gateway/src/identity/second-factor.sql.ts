import { array, bool, int4, int8, nullable, statement, text, timestamptz, uuid } from '@slipway/database'

/** Stores the secret of a user without an enabled second factor. */
export const setFactor = statement({
  name: 'gateway.second-factor.set',
  parameters: { user_id: uuid, totp_sealed: text },
  sql: `UPDATE users SET totp_sealed = :totp_sealed, totp_last_step = NULL WHERE id = :user_id AND NOT totp_enabled`,
})

export const enableFactor = statement({
  name: 'gateway.second-factor.enable',
  parameters: { user_id: uuid },
  sql: 'UPDATE users SET totp_enabled = true WHERE id = :user_id',
})

export const disableFactor = statement({
  name: 'gateway.second-factor.disable',
  parameters: { user_id: uuid },
  sql: 'UPDATE users SET totp_enabled = false, totp_sealed = NULL, totp_last_step = NULL WHERE id = :user_id',
})

/** `totp_last_step`: the time step of the last accepted code. */
const factor = {
  parameters: { user_id: uuid },
  row: { totp_enabled: bool, totp_sealed: nullable(text), totp_last_step: nullable(int8) },
}
const FACTOR = 'SELECT totp_enabled, totp_sealed, totp_last_step FROM users WHERE id = :user_id'

export const findFactor = statement({ name: 'gateway.second-factor.find', ...factor, sql: FACTOR })
export const lockFactor = statement({ name: 'gateway.second-factor.lock', ...factor, sql: `${FACTOR} FOR UPDATE` })

/** Accepts each code once, also if the same code arrives several times at once. */
export const spendStep = statement({
  name: 'gateway.second-factor.spend-step',
  parameters: { user_id: uuid, step: int8 },
  sql: 'UPDATE users SET totp_last_step = :step WHERE id = :user_id AND coalesce(totp_last_step < :step, true)',
})

export const insertRecoveryCodes = statement({
  name: 'gateway.recovery-codes.insert',
  parameters: { user_id: uuid, code_hashes: array(text) },
  sql: 'INSERT INTO recovery_codes (user_id, code_hash) SELECT :user_id, unnest(:code_hashes::text[])',
})

export const deleteRecoveryCodes = statement({
  name: 'gateway.recovery-codes.delete',
  parameters: { user_id: uuid },
  sql: 'DELETE FROM recovery_codes WHERE user_id = :user_id',
})

/** Consumes a recovery code, once. Returns no row if there is no such code. */
export const spendCode = statement({
  name: 'gateway.recovery-codes.spend',
  parameters: { user_id: uuid, code_hash: text },
  row: { is_spent_now: bool },
  sql: `WITH spent AS (
      UPDATE recovery_codes SET used_at = now()
       WHERE user_id = :user_id AND code_hash = :code_hash AND used_at IS NULL RETURNING 1)
    SELECT EXISTS (SELECT FROM spent) AS is_spent_now
      FROM recovery_codes WHERE user_id = :user_id AND code_hash = :code_hash`,
})

/** The seconds until the codes of a user are unlocked; no row if they are not locked. */
export const findLock = statement({
  name: 'gateway.wrong-codes.find-lock',
  parameters: { user_id: uuid },
  row: { seconds: int4 },
  sql: `SELECT ceil(extract(epoch FROM locked_until - clock_timestamp()))::int AS seconds FROM wrong_codes
     WHERE user_id = :user_id AND locked_until > clock_timestamp()`,
})

/** Uses the clock of the database, because the clocks of replicas may differ. */
export const findWrongCodes = statement({
  name: 'gateway.wrong-codes.find',
  parameters: { user_id: uuid },
  row: { now: timestamptz, failed_at: array(timestamptz), locks: int4, locked_until: nullable(timestamptz) },
  sql: `SELECT clock_timestamp() AS now, coalesce(w.failed_at, '{}') AS failed_at, coalesce(w.locks, 0) AS locks,
       w.locked_until
      FROM users u LEFT JOIN wrong_codes w ON w.user_id = u.id WHERE u.id = :user_id`,
})

export const storeWrongCodes = statement({
  name: 'gateway.wrong-codes.store',
  parameters: { user_id: uuid, failed_at: array(timestamptz), locks: int4, locked_until: nullable(timestamptz) },
  sql: `INSERT INTO wrong_codes (user_id, failed_at, locks, locked_until)
    VALUES (:user_id, :failed_at, :locks, :locked_until)
    ON CONFLICT (user_id) DO UPDATE SET failed_at = :failed_at, locks = :locks, locked_until = :locked_until`,
})

export const deleteWrongCodes = statement({
  name: 'gateway.wrong-codes.delete',
  parameters: { user_id: uuid },
  sql: 'DELETE FROM wrong_codes WHERE user_id = :user_id',
})
