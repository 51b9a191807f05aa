import { dependsOnScope } from '@slipway/domain'
import { type Approver, canApprove, rulesFor } from '@slipway/engine'
import { readAsking } from '../snapshot/read-asking.ts'
import { type Queryable, statement } from '../sql/statement.ts'
import { bool, int8, nullable, uuid } from '../sql/types.ts'
import { ALL_TENANTS, seeTenant } from '../tenant.ts'
import { ownSql, type Viewer } from './visibility.ts'

/** More requests that ask for approvals are not counted, and more groups of them are not judged. */
const MOST_ASKING = 10_000
const MOST_GROUPS = 1_000

/**
 * The requests that ask for approvals, in groups within which a user may approve all or none: of the same environments, by the
 * user or not, and of the same source if the rights of the user depend on it. Each with approvals is a group of its own. Reads an index alone, and one entry of `approvals` for each request.
 */
const findAskingGroups = statement({
  name: 'database.pending.find-asking-groups',
  parameters: { tenant_id: nullable(uuid), user_id: uuid, by_source: bool, most: int8, most_groups: int8 },
  row: { count: int8, id: uuid },
  sql: `SELECT count(*) AS count, (array_agg(a.id))[1] AS id
      FROM (SELECT r.id, r.freeze_key, CASE WHEN :by_source THEN r.source_id END AS source_id, r.overrides_rules,
                   r.author_id IS NOT DISTINCT FROM :user_id::uuid AS is_own,
                   (SELECT r.id FROM approvals g WHERE g.request_id = r.id LIMIT 1) AS approved
              FROM pending_requests r
             WHERE r.status = 'pending' AND r.parked_for IN ('start_time', 'approval') AND ${ownSql('r')}
             LIMIT :most) a
     GROUP BY a.freeze_key, a.source_id, a.overrides_rules, a.is_own, a.approved ORDER BY 1 DESC LIMIT :most_groups`,
})

/**
 * How many of the requests that the viewer sees the user may approve now. `tx` must be a transaction: whether approvals that were given
 * still count depends on users of all tenants.
 */
export async function countApprovable(tx: Queryable, { tenant_id }: Viewer, approver: Approver): Promise<number> {
  const groups = await findAskingGroups.all(tx, {
    tenant_id,
    user_id: approver.user_id,
    by_source: approver.subject !== null && dependsOnScope(approver.subject),
    most: MOST_ASKING,
    most_groups: MOST_GROUPS,
  })
  if (groups.length === 0) return 0
  const ids = groups.map(({ id }) => id)
  const [, { rules, requests }] = await Promise.all([
    seeTenant.run(tx, { tenant: ALL_TENANTS }),
    readAsking(tx, ids),
    seeTenant.run(tx, { tenant: tenant_id ?? ALL_TENANTS }),
  ])
  const approvable = new Set(
    requests.filter((request) => canApprove(rulesFor({ rules }, request), request, approver)).map(({ id }) => id),
  )
  return groups.reduce((sum, { id, count }) => sum + (approvable.has(id) ? count : 0), 0)
}
