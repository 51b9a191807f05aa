import type { Database, RowOf } from '@slipway/database'
import { uuidv7 } from '@slipway/runtime'
import { claimDeliveries, lockClaims } from './webhooks.sql.ts'

/** A delivery in hand. Whoever writes its outcome must still hold the claim. */
export type Claimed = RowOf<typeof claimDeliveries> & { claim: string }

/** Takes up to `limit` deliveries that are due. */
export function claimDue(database: Database, limit: number): Promise<Claimed[]> {
  return database.transaction(async (tx) => {
    await lockClaims.run(tx)
    const claim = uuidv7()
    const rows = await claimDeliveries.all(tx, { limit, claim })
    return rows.map((row) => ({ ...row, claim }))
  })
}
