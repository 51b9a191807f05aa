import type { Queryable } from '@slipway/database'
import type { Logger } from '@slipway/runtime'
import { bypassesPolicies } from './row-level-security.sql.ts'

/** Says so when Postgres would not hold back foreign rows: its superusers pass by row-level security. */
export async function warnWithoutRowLevelSecurity(db: Queryable, logger: Logger): Promise<boolean> {
  const { bypasses } = await bypassesPolicies.one(db)
  if (bypasses) {
    logger.warn(
      'the user of DATABASE_URL passes by row-level security, so only the gateway itself keeps tenants apart: ' +
        'use one that is no superuser',
    )
  }
  return bypasses
}
