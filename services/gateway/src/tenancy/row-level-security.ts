import type { Queryable } from '@slipway/database'
import type { Logger } from '@slipway/runtime'

/** Says so when Postgres would not hold back foreign rows: its superusers pass by row-level security. */
export async function warnWithoutRowLevelSecurity(db: Queryable, logger: Logger): Promise<boolean> {
  const { rows } = await db.query<{ bypasses: boolean }>(
    'SELECT rolsuper OR rolbypassrls AS bypasses FROM pg_roles WHERE rolname = current_user',
  )
  const bypasses = rows[0]?.bypasses === true
  if (bypasses) {
    logger.warn(
      'the user of DATABASE_URL passes by row-level security, so only the gateway itself keeps tenants apart: ' +
        'use one that is no superuser',
    )
  }
  return bypasses
}
