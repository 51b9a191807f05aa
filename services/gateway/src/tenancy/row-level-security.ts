import type { Queryable } from '@slipway/database'
import type { Logger } from '@slipway/runtime'
import { bypassesPolicies } from './row-level-security.sql.ts'

/** Warns if row-level security has no effect. Returns whether the user of the database bypasses it. */
export async function warnWithoutRowLevelSecurity(db: Queryable, logger: Logger): Promise<boolean> {
  const { bypasses } = await bypassesPolicies.one(db)
  if (bypasses) {
    logger.warn(
      'the user of DATABASE_URL bypasses row-level security, so only the gateway separates tenants: ' +
        'use a user without SUPERUSER and BYPASSRLS',
    )
  }
  return bypasses
}
