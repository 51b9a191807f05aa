import { int8, statement, uuid } from '@slipway/database'
import { notEndedAt } from '@slipway/views'

const LIVE = notEndedAt('now()')

/** How many freezes that have not ended the tenant of this one has; none if it has ended itself. */
export const countBeside = statement({
  name: 'gateway.freezes.count-beside',
  parameters: { id: uuid },
  row: { count: int8 },
  sql: `SELECT count(*) AS count
      FROM (SELECT tenant_id FROM freezes WHERE ${LIVE}) others
      JOIN (SELECT tenant_id FROM freezes WHERE ${LIVE} AND id = :id) written
        ON others.tenant_id IS NOT DISTINCT FROM written.tenant_id`,
})
