import type { IdKind } from '@slipway/contracts'
import { ALL_TENANTS, enqueue, type OutboxMessage, type Records, seeTenant, type Transaction } from '@slipway/database'
import { notFound } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import { uuidv7 } from '@slipway/runtime'
import type { CallingUser } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call, Check } from '../handler.ts'
import { answerPage, managedBy, nameContains, newestRecords, type RecordOrder, sortedBy, sortOf } from '../pages.ts'
import { conflictIfTaken, requireUnchanged, type Taken, timeOfChange } from './changes.ts'
import { amongIds } from './filters.ts'
import { findRecord, type RecordKind, type RecordRow } from './kind.ts'
import { describeTakenName } from './names.ts'
import { fieldReferences, type Reference, References } from './references.ts'
import { requireUnused } from './uses.ts'

interface Expectation {
  expected_updated_at?: string
}

interface ListQuery extends Expectation {
  search?: string
  managed_by?: string
  ids?: string
  sort?: string
  page?: string
  limit?: string
  cursor?: string
}
type Details = Record<string, unknown>

/** A call of one of the five operations. */
export type RecordCall = Pick<Call<'createAction'>, 'params' | 'caller' | 'audit'> & { body: unknown; query: ListQuery }

/** A body with the records that it names. */
export interface Prepared<Body> {
  body: Body
  references: References
}

export interface Preparation {
  caller: CallingUser
  /** As the schema allows it. */
  body: unknown
  /** @throws Problem NOT_FOUND that lists all missing records */
  resolve(references: Reference[]): Promise<References>
}

export interface Change<Row, Body> extends Prepared<Body> {
  tx: Transaction
  prisma: Records
  caller: CallingUser
  /** Locked. */
  old: Row
  /** The tenant of the record after the change. */
  tenant_id: string | null
}

export interface Creation<Body> extends Prepared<Body> {
  tx: Transaction
  prisma: Records
  caller: CallingUser
  id: string
  /** The tenant of the record: that of the caller, else that of the body, else none. */
  tenant_id: string | null
}

interface Write<Columns> {
  columns: Columns
  details: Details
  /** Runs in the transaction, after the row is written. */
  afterwards?(): Promise<void>
}

interface Deletion<Row> {
  tx: Transaction
  prisma: Records
  caller: CallingUser
  /** Locked. */
  old: Row
}

/** What differs between kinds of records. All functions except `prepare…` and `show` run in the transaction of the change. */
export interface RecordRules<Row, New, Changed, Create, Update> {
  show(rows: readonly Row[]): readonly unknown[] | Promise<readonly unknown[]>
  /** For Prisma: the records that a list shows. Without it: by name and by manager. */
  matching?(query: ListQuery): object
  /** How a list is ordered. Without it: newest first. */
  order?: RecordOrder<Row>
  /** The columns of `sort` that have another name in the table. */
  sortColumns?: Partial<Record<string, string>>
  /** The columns that may be empty. */
  nullableColumns?: readonly string[]
  /** Checks of a body, beside its schema. */
  check?: Check
  /** What a caller needs beside the permission, by the body of a create. */
  authorize?(caller: CallingUser, body: unknown): void
  /** The fields of a body that name other records. `tenant_id` gives the record its tenant. */
  references?: Partial<Record<string, IdKind>>
  /** For checks and for work that is too long for a transaction. Without it: finds the references. */
  prepareCreate?(preparation: Preparation): Promise<Prepared<Create>>
  prepareUpdate?(preparation: Preparation & { found: Row }): Promise<Prepared<Update>>
  /** The columns of a new record, and what its audit record says. `answer` has fields of the answer that no later one has. */
  create(creation: Creation<Create>): Promise<Write<New> & { answer?: object }>
  update(change: Change<Row, Update>): Promise<Write<Changed>>
  lockForDelete?(tx: Transaction): Promise<void>
  beforeDelete?(deletion: Deletion<Row>): Promise<void>
  afterDelete?(deletion: Deletion<Row>): Promise<void>
  /** What the audit record of a deletion says. */
  deleted(row: Row): Details
  /** Why a write broke a unique index. Without it: because of the name. `fields` are those of the record after the write. */
  describeTaken?(caller: CallingUser, id: string, fields: Partial<Row & Create>): Promise<Taken>
  /** The event of a change. */
  event?(change: 'created' | 'updated' | 'deleted', id: string, tenants: ChangedTenants): OutboxMessage
}

/** The previous tenant is named, because its users see the record disappear. */
interface ChangedTenants {
  tenant_id: string | null
  previous_tenant_id?: string | null
}

/**
 * The handlers of a kind of record. Each change is one transaction: lock, check, write, event, audit record.
 */
export function recordHandlers<Row extends RecordRow, New, Changed, Create extends object, Update extends object>(
  { database, outboxChanged }: Pick<Dependencies, 'database' | 'outboxChanged'>,
  kind: RecordKind<Row, New, Changed>,
  rules: RecordRules<Row, New, Changed, Create, Update>,
) {
  const { table, owner, resource, only = {} } = kind
  const what = `The ${kind.name}`
  const { check, authorize, order = newestRecords(resource) } = rules

  async function answer(status: number, row: Row, more: object = {}): Promise<Answer> {
    const [record] = await rules.show([row])
    return { status, body: { ...(record as object), ...more } }
  }

  const resolverOf = (caller: CallingUser) => (references: Reference[]) =>
    References.resolve(database, caller, references)

  async function prepare<Body extends object>(caller: CallingUser, body: unknown): Promise<Prepared<Body>> {
    // The schema of the operation has checked the body.
    const given = body as Body
    const references = await resolverOf(caller)(fieldReferences(given, rules.references ?? {}))
    return { body: given, references }
  }

  async function describeTaken(
    caller: CallingUser,
    id: string,
    tenant_id: string | null,
    fields: object,
  ): Promise<Taken> {
    if (rules.describeTaken !== undefined) return rules.describeTaken(caller, id, fields as Partial<Row & Create>)
    const { name } = fields as { name: string }
    return { path: '/name', message: await describeTakenName(database, kind, { id, name, tenant_id }) }
  }

  /** Locks a record and reads it again: it may have changed or gone since it was found. */
  async function lock(tx: Transaction, prisma: Records, caller: CallingUser, id: string): Promise<Row> {
    await kind.lock.run(tx, { id })
    const row = await table.find(prisma, { id, AND: [only, owner.seenBy(caller)] })
    if (row === null) throw notFound(what)
    return row
  }

  async function tell(
    tx: Transaction,
    change: 'created' | 'updated' | 'deleted',
    id: string,
    tenants: ChangedTenants,
  ): Promise<void> {
    if (rules.event !== undefined) await enqueue(tx, [rules.event(change, id, tenants)])
  }

  function orderOf(query: ListQuery): readonly object[] {
    const { sortColumns = {}, nullableColumns = [] } = rules
    const sort = sortOf(query, order.sort)
    if (sort === null) return order.orderBy
    const { column, direction } = sort
    return sortedBy({ column: sortColumns[column] ?? column, direction }, nullableColumns.includes(column))
  }

  async function list({ caller, query }: RecordCall): Promise<Answer> {
    const {
      matching = ({ search, managed_by }: ListQuery) => ({ AND: [nameContains(search), managedBy(managed_by)] }),
    } = rules
    const where = { AND: [only, owner.seenBy(caller), matching(query), amongIds(kind.sqids ?? null, query.ids)] }
    const read = { ...order, orderBy: orderOf(query) }
    return answerPage(
      query,
      order,
      async () => table.count(await database.prisma(), where),
      async (slice) => table.page(await database.prisma(), where, slice, read),
      rules.show,
    )
  }

  async function create({ caller, body: given, audit }: RecordCall): Promise<Answer> {
    const resolve = resolverOf(caller)
    const { body, references } = await (rules.prepareCreate?.({ caller, body: given, resolve }) ??
      prepare<Create>(caller, given))
    // Loads Prisma, if this is its first use: Postgres would end a transaction that waits for that on a busy machine.
    await database.prisma()
    const id = uuidv7()
    const tenant_id = references.tenantFor(caller)
    const { row, more } = await conflictIfTaken(
      () => describeTaken(caller, id, tenant_id, body),
      () =>
        database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          const made = await rules.create({ tx, prisma, caller, id, tenant_id, body, references })
          const owned = { tenant_id: owner.tenantOf({ id, tenant_id }) }
          await tell(tx, 'created', id, owned)
          await audit.record(tx, { resource_id: id, ...owned, details: made.details })
          const row = await table.create(prisma, made.columns)
          await made.afterwards?.()
          // What it wrote afterwards belongs to the answer, too.
          const whole = made.afterwards === undefined ? row : ((await table.find(prisma, { id })) ?? row)
          return { row: whole, more: made.answer }
        }),
    )
    outboxChanged()
    return answer(201, row, more)
  }

  async function update({ caller, params, body: whole, audit }: RecordCall): Promise<Answer> {
    const { expected_updated_at, ...given } = whole as Expectation
    const found = await findRecord(kind, await database.prisma(), caller, params['id'] ?? '')
    owner.requireChangeable(caller, found, `${resource}:update`)
    const { id } = found
    const resolve = resolverOf(caller)
    const { body, references } = await (rules.prepareUpdate?.({ caller, body: given, resolve, found }) ??
      prepare<Update>(caller, given))
    const tenantAfter = (row: Row) =>
      'tenant_id' in body && body.tenant_id !== undefined ? references.tenantFor(caller) : owner.tenantOf(row)
    const row = await conflictIfTaken(
      () => describeTaken(caller, id, tenantAfter(found), { ...found, ...body }),
      () =>
        database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          const old = await lock(tx, prisma, caller, id)
          requireUnchanged(what, old, expected_updated_at)
          const [tenant_id, previous_tenant_id] = [tenantAfter(old), owner.tenantOf(old)]
          const change = { tx, prisma, caller, old, tenant_id, body, references }
          const { columns, details, afterwards } = await rules.update(change)
          await tell(tx, 'updated', id, {
            tenant_id,
            ...(previous_tenant_id === tenant_id ? {} : { previous_tenant_id }),
          })
          await audit.record(tx, { resource_id: id, tenant_id, details })
          const row = await table.update(prisma, id, { ...columns, updated_at: timeOfChange(old) })
          await afterwards?.()
          return row
        }),
    )
    outboxChanged()
    return answer(200, row)
  }

  async function remove({ caller, params, query, audit }: RecordCall): Promise<Answer> {
    const found = await findRecord(kind, await database.prisma(), caller, params['id'] ?? '')
    owner.requireChangeable(caller, found, `${resource}:delete`)
    const { id } = found
    await database.transaction(async (tx) => {
      const prisma = await tx.prisma()
      await rules.lockForDelete?.(tx)
      const old = await lock(tx, prisma, caller, id)
      requireUnchanged(what, old, query.expected_updated_at)
      // A user of another tenant may use it.
      await seeTenant.run(tx, { tenant: ALL_TENANTS })
      await requireUnused(tx, kind, id)
      await seeTenant.run(tx, { tenant: caller.tenant_id ?? ALL_TENANTS })
      await rules.beforeDelete?.({ tx, prisma, caller, old })
      if (!(await table.delete(prisma, id))) throw notFound(what)
      await rules.afterDelete?.({ tx, prisma, caller, old })
      const tenant_id = owner.tenantOf(old)
      await tell(tx, 'deleted', id, { tenant_id })
      await audit.record(tx, { resource_id: id, tenant_id, details: rules.deleted(old) })
    })
    outboxChanged()
    return { status: 204 }
  }

  return {
    list: { handle: list },
    create: { handle: create, ...(check && { check }), ...(authorize && { authorize }) },
    get: {
      handle: async ({ caller, params }: RecordCall) =>
        answer(200, await findRecord(kind, await database.prisma(), caller, params['id'] ?? '')),
    },
    update: { handle: update, ...(check && { check }) },
    delete: { handle: remove },
  }
}
