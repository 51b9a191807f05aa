import { auditCount } from '@slipway/audit'
import type { Queryable } from '@slipway/database'
import { type FieldError, pageOf, parsePage, validationProblem } from '@slipway/domain'
import { jsonObject } from '@slipway/views'
import type { Answer, Call } from '../http/handler.ts'

const RECORD = jsonObject({
  id: 'r.id',
  at: `to_char(r.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  actor_id: 'r.actor_id',
  actor_name: 'r.actor_name',
  actor_ip: 'r.actor_ip',
  action: 'r.action',
  resource_type: 'r.resource_type',
  resource_id: 'r.resource_id',
  tenant_id: 'r.tenant_id',
  request_id: 'r.request_id',
  details: 'r.details',
})

type AuditQuery = Call<'listAuditLogs'>['query']

/** One page of the audit log, newest first. Whoever is bound to a tenant sees what was done in it, and no more. */
export async function listAuditLogs(db: Queryable, { caller, query }: Call<'listAuditLogs'>): Promise<Answer> {
  const page = parsePage(query)
  const { where, parameters } = filter(caller.tenant_id, query)
  const total = await count(db, where, parameters)
  const data = page.offset < total ? await readPage(db, { where, parameters, total, ...page }) : '[]'
  return { status: 200, json: `{"data":${data},"meta":${JSON.stringify(pageOf(page, total))}}` }
}

function filter(tenantId: string | null, query: AuditQuery): { where: string; parameters: unknown[] } {
  const parameters: unknown[] = []
  const conditions: string[] = []
  const add = (value: unknown, sql: (placeholder: string) => string) => {
    if (value === undefined || value === null) return
    parameters.push(value)
    conditions.push(sql(`$${parameters.length}`))
  }
  add(tenantId, (tenant) => `r.tenant_id = ${tenant}::uuid`)
  add(query.action, (action) => `r.action = ${action}`)
  add(query.resource_type, (type) => `r.resource_type = ${type}`)
  add(query.resource_id, (id) => `r.resource_id = ${id}`)
  add(query.actor_id, (id) => `r.actor_id = ${id}::uuid`)
  const [from, to] = moments(query)
  add(from, (time) => `r.at >= to_timestamp(${time}::float8 / 1000)`)
  add(to, (time) => `r.at < to_timestamp(${time}::float8 / 1000)`)
  return { where: conditions.join(' AND '), parameters }
}

/** A well-formed timestamp that is no moment (a leap second, say) has no place on the clock. */
function moments(query: AuditQuery): (number | undefined)[] {
  const times = [query.from, query.to].map((text) => (text === undefined ? undefined : Date.parse(text)))
  const problems = times.flatMap((time, index): FieldError[] =>
    Number.isNaN(time)
      ? [{ path: `query/${index === 0 ? 'from' : 'to'}`, message: 'must be a moment that exists' }]
      : [],
  )
  if (problems.length > 0) throw validationProblem(problems)
  return times
}

async function count(db: Queryable, where: string, parameters: unknown[]): Promise<number> {
  if (where === '') return auditCount(db)
  const { rows } = await db.query<{ total: number }>(
    `SELECT count(*)::int AS total FROM audit_records r WHERE ${where}`,
    parameters,
  )
  return rows[0]?.total ?? 0
}

interface Slice {
  where: string
  parameters: unknown[]
  total: number
  offset: number
  limit: number
}

/** Pages of the older half are read from the other end. */
async function readPage(db: Queryable, { where, parameters, total, offset, limit }: Slice): Promise<string> {
  const fromEnd = offset > total / 2
  const size = Math.min(limit, total - offset)
  const skip = fromEnd ? total - offset - size : offset
  const order = fromEnd ? 'r.at, r.number' : 'r.at DESC, r.number DESC'
  const { rows } = await db.query<{ data: string }>(
    `SELECT coalesce(json_agg(${RECORD} ORDER BY r.at DESC, r.number DESC), '[]')::text AS data
       FROM (SELECT * FROM audit_records r ${where === '' ? '' : `WHERE ${where}`}
              ORDER BY ${order} LIMIT ${size} OFFSET ${skip}) r`,
    parameters,
  )
  return rows[0]?.data ?? '[]'
}
