import type { IdKind } from '@slipway/contracts'
import { type Records, type Statement, statement, uuid } from '@slipway/database'
import type { Viewer } from '@slipway/database/read-models'
import { isUuid, notFound, type Resource } from '@slipway/domain'
import { type FindNamed, findNamed } from './names.ts'
import type { Ownership } from './ownership.ts'
import { recordKey } from './references.ts'
import type { Table } from './table.ts'
import { type FindUses, findUses } from './uses.ts'

/** What every row of a record has. */
export interface RecordRow {
  id: string
  tenant_id?: string | null
  created_at: Date
  updated_at: Date
}

interface Declaration<Row, New, Changed> {
  /** As messages name it, for example `environment`. */
  name: string
  /** The plural, in permissions and cursors. */
  resource: Resource
  table: Table<Row, New, Changed>
  /** The table in Postgres, if it is not named like the resource. */
  sqlTable?: string
  /** For Prisma: the rows of this kind, if the table holds several kinds. */
  only?: object
  /** Callers may name a record by a short id of this kind. */
  sqids?: IdKind
  owner: Ownership<NoInfer<Row>>
  /** SQL: the records among which a name is unique. */
  uniqueName?: string
  /** SQL: what may use a record, each with the column `what`. A record that is in use cannot be deleted. */
  usedBy?: readonly string[]
}

/** A kind of record with its statements. */
export interface RecordKind<Row, New, Changed> extends Declaration<Row, New, Changed> {
  /** Locks a record until the transaction ends. A concurrent change waits and then sees this one. */
  lock: Statement<{ id: typeof uuid }, Record<never, never>>
  named: FindNamed | null
  uses: FindUses | null
}

/** A row of a kind: `RecordOf<typeof TARGET>`. */
export type RecordOf<Kind> = Kind extends RecordKind<infer Row, infer _New, infer _Changed> ? Row : never

/** Declares a kind of record. */
export function recordKind<Row extends RecordRow, New, Changed>(
  declaration: Declaration<Row, New, Changed>,
): RecordKind<Row, New, Changed> {
  const { name, resource, sqlTable = resource, uniqueName, usedBy } = declaration
  return {
    ...declaration,
    lock: statement({
      name: `gateway.records.lock-${name}`,
      parameters: { id: uuid },
      sql: `SELECT FROM ${sqlTable} WHERE id = :id FOR UPDATE`,
    }),
    named: uniqueName === undefined ? null : findNamed(`gateway.records.named-${name}`, sqlTable, uniqueName),
    uses: usedBy === undefined ? null : findUses(`gateway.records.uses-of-${name}`, usedBy),
  }
}

type Findable<Row> = Pick<RecordKind<Row, never, never>, 'name' | 'only' | 'sqids' | 'owner'> & {
  table: Pick<Table<Row, never, never>, 'find'>
}

/** @throws Problem NOT_FOUND, also for a record that the viewer must not see */
export async function findRecord<Row>(
  { name, table, only = {}, sqids, owner }: Findable<Row>,
  prisma: Records,
  viewer: Viewer,
  id: string,
): Promise<Row> {
  const key = sqids === undefined ? (isUuid(id) ? { id } : null) : recordKey(sqids, id)
  const row = key && (await table.find(prisma, { ...key, AND: [only, owner.seenBy(viewer)] }))
  if (row === null) throw notFound(`The ${name}`)
  return row
}
