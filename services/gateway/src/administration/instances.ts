import { int8, json, nullable, type Queryable, statement, text, timestamptz, uuid } from '@slipway/database'
import { INSTANCE, type Viewer, visibleSql } from '@slipway/database/read-models'
import { insufficientPermissions, isUuid, notFound } from '@slipway/domain'
import { type CallingUser, messageCaller } from '../callers/calling-user.ts'
import type { Dependencies } from '../dependencies.ts'
import { sendRecordedCommand } from '../deployments/recorded-command.ts'
import type { Call, HandlersOf } from '../handler.ts'
import { afterNewerSql, ordersOf, pageColumns, sortedName } from '../pages.sql.ts'
import { answerPage, containsPattern, newestOrder, sortOf } from '../pages.ts'

const VISIBLE = `FROM instances i WHERE i.removed_at IS NULL AND ${visibleSql('i')}`
const row = { item: json<object>() }
const matching = { tenant_id: nullable(uuid), pattern: nullable(text) }
const MATCHING = `${VISIBLE} AND (:pattern::text IS NULL OR i.name ILIKE :pattern)`

const countInstances = statement({
  name: 'gateway.instances.count',
  parameters: matching,
  row: { total: int8 },
  sql: `SELECT count(*) AS total ${MATCHING}`,
})

const findInstances = statement({
  name: 'gateway.instances.find-page',
  parameters: { ...matching, ...pageColumns },
  row: { ...row, id: uuid, created_at: timestamptz },
  sql: `SELECT ${INSTANCE} AS item, i.id, i.created_at ${MATCHING} AND ${afterNewerSql('i')}
     ORDER BY i.created_at DESC, i.id DESC LIMIT :take OFFSET :skip`,
})

/** The same pages in another order, by `sort`. */
const findSortedInstances = new Map(
  ordersOf({ name: 'i.name', created_at: 'i.created_at' }, 'i.id').map(([sort, order]) => [
    sort,
    statement({
      name: sortedName('gateway.instances.find-page', sort),
      parameters: { ...matching, take: pageColumns.take, skip: pageColumns.skip },
      row: { ...row, id: uuid, created_at: timestamptz },
      sql: `SELECT ${INSTANCE} AS item, i.id, i.created_at ${MATCHING} ORDER BY ${order} LIMIT :take OFFSET :skip`,
    }),
  ]),
)

const findInstance = statement({
  name: 'gateway.instances.find',
  parameters: { id: uuid, tenant_id: nullable(uuid) },
  row,
  sql: `SELECT ${INSTANCE} AS item ${VISIBLE} AND i.id = :id`,
})

type InstanceOperation = 'listInstances' | 'getInstance' | 'updateInstance' | 'deleteInstance'

/** Changes go to the executor-bridge, because it owns the rows. Only users without tenant may change instances. */
export function instanceHandlers({ database, broker }: Dependencies): HandlersOf<InstanceOperation> {
  async function send(
    call: Call<'updateInstance' | 'deleteInstance'>,
    order:
      | { type: 'instance.update'; change: Call<'updateInstance'>['body'] }
      | { type: 'instance.delete'; force: boolean },
  ): Promise<string> {
    const instance_id = call.params['id'] ?? ''
    await readInstance(database, call.caller, instance_id)
    const subject = { resource_id: instance_id, tenant_id: null }
    const body = { instance_id, caller: messageCaller(call.caller) }
    const done = { instance_id }
    const parts = { database, broker }
    if (order.type === 'instance.delete') {
      const command = { type: order.type, body: { ...body, force: order.force }, done }
      await sendRecordedCommand(parts, call, subject, command)
    } else
      await sendRecordedCommand(parts, call, subject, { type: order.type, body: { ...body, ...order.change }, done })
    return instance_id
  }

  return {
    listInstances: {
      handle({ query, caller: { tenant_id } }) {
        const matching = { tenant_id, pattern: containsPattern(query.search) }
        const sorted = sortOf(query, '-created_at') && findSortedInstances.get(query.sort ?? '')
        return answerPage(
          query,
          newestOrder('instances'),
          async () => (await countInstances.one(database, matching)).total,
          async (slice) =>
            sorted?.all(database, { ...matching, ...slice }) ?? findInstances.all(database, { ...matching, ...slice }),
          (rows) => rows.map(({ item }) => item),
        )
      },
    },

    getInstance: {
      handle: async ({ params, caller }) => ({
        status: 200,
        body: await readInstance(database, caller, params['id'] ?? ''),
      }),
    },

    updateInstance: {
      authorize: (caller) => requireNoTenant(caller, 'instances:update'),
      async handle(call) {
        const id = await send(call, { type: 'instance.update', change: call.body })
        return { status: 200, body: await readInstance(database, call.caller, id) }
      },
    },

    deleteInstance: {
      authorize: (caller) => requireNoTenant(caller, 'instances:delete'),
      async handle(call) {
        await send(call, { type: 'instance.delete', force: call.query.force === 'true' })
        return { status: 204 }
      },
    },
  }
}

export function requireNoTenant({ tenant_id }: CallingUser, permission: string): void {
  if (tenant_id !== null) throw insufficientPermissions(`${permission}, which only users of no tenant have`)
}

/** @throws Problem NOT_FOUND */
async function readInstance(db: Queryable, { tenant_id }: Viewer, id: string): Promise<object> {
  const found = isUuid(id) ? await findInstance.first(db, { id, tenant_id }) : null
  if (found === null) throw notFound('The instance')
  return found.item
}
