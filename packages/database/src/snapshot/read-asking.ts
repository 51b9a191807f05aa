import type { Snapshot, StartRequest } from '@slipway/engine'
import { type Queryable, statement } from '../sql/statement.ts'
import { json, nullable } from '../sql/types.ts'
import { findPending } from './queue.sql.ts'
import { storedRequest } from './read-round.ts'
import { ALL_RULES, findApprovals, type StoredRules } from './rules.sql.ts'
import { approvalsByRequest, rulesById } from './rules.ts'

const findRules = statement({
  name: 'database.snapshot.find-rules',
  row: { rules: nullable(json<StoredRules[]>()) },
  sql: `SELECT ${ALL_RULES} AS rules`,
})

/** What decides who may approve these pending requests: the rules, and each request with its approvals. One round trip. */
export async function readAsking(
  db: Queryable,
  ids: readonly string[],
): Promise<Pick<Snapshot, 'rules'> & { requests: StartRequest[] }> {
  const [rows, approvals, { rules }] = await Promise.all([
    findPending.all(db, { ids }),
    findApprovals.all(db, { ids }),
    findRules.one(db),
  ])
  const given = approvalsByRequest(approvals)
  const requests = rows.map((row) => {
    const request = storedRequest(row, [])
    return { ...request, terms: { ...request.terms, approvals: given.get(row.id) ?? [] } }
  })
  return { rules: rulesById(rules), requests }
}
