import type { Database, RowOf } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { claimDeliveries, lockClaims } from './webhooks.sql.ts'

/** A claimed delivery. Its outcome is stored only while the claim is valid. */
export type Claimed = RowOf<typeof claimDeliveries> & { claim: string }

/** Claims up to `limit` deliveries that are due. */
export function claimDue(database: Database, limit: number): Promise<Claimed[]> {
  return database.transaction(async (tx) => {
    await lockClaims.run(tx)
    const claim = uuidv7()
    const rows = await claimDeliveries.all(tx, { limit, claim })
    return rows.map((row) => ({ ...row, claim }))
  })
}
