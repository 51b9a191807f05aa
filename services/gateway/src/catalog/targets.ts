import type { ChangeTarget, CreateTarget, Static } from '@slipway/contracts'
import { enqueue, eventMessage, type Prisma, type Records, type Transaction } from '@slipway/database'
import { requireOwn, targetItems, type Viewer, visible } from '@slipway/database/read-models'
import { notFound, validationProblem } from '@slipway/domain'
import { isObject } from '@slipway/http'
import { uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { answerPage, NEWEST_FIRST, newestOrder } from '../pages.ts'
import { revokeAgent } from './agents.ts'
import { changesOf, conflictIfTaken, lockRecord, pickGiven, tenantChange } from './changing.ts'
import { isSameHost, keyProblems, replacedConnection, storedConnection } from './connection.ts'
import { changedSelector, newSelector } from './instance-selectors.ts'
import { isLocal, requireMayMakeLocal, requireMayPlaceLocal } from './local-targets.ts'
import { recordKey } from './record-id.ts'
import { fieldReferences, References, tenantAfter } from './references.ts'
import { describeTakenName, keyOfName } from './taken-names.ts'
import { targetFilter } from './target-filter.ts'
import { countTargets, findTargets } from './target-pages.sql.ts'
import { requireUnused } from './uses.ts'
import { valueProblems } from './variable-rules.ts'
import { changedVariables, newVariables } from './variables.ts'

const withTags = {
  tags: { orderBy: [{ key: 'asc' }, { value: 'asc' }], select: { key: true, value: true } },
} satisfies Prisma.TargetInclude
type TargetRow = Prisma.TargetGetPayload<{ include: typeof withTags }>

export function targetHandlers({
  database,
  keys,
  outboxChanged,
}: Dependencies): HandlersOf<'listTargets' | 'createTarget' | 'getTarget' | 'updateTarget' | 'deleteTarget'> {
  const { prisma } = database

  const toRecords = (rows: TargetRow[]) => targetItems({ db: database, keys }, rows)

  async function find(viewer: Viewer, id: string): Promise<TargetRow> {
    const key = recordKey('target', id)
    const where = { ...key, AND: visible(viewer) }
    const target = key && (await (await prisma()).target.findFirst({ where, include: withTags }))
    if (target === null) throw notFound('The target')
    return target
  }

  return {
    listTargets: {
      handle({ caller, query }) {
        const filter = targetFilter({ caller, query })
        return answerPage(
          query,
          newestOrder('targets'),
          async () => (filter === null ? 0 : (await countTargets.one(database, filter)).total),
          async (slice) => (filter === null ? [] : findTargets.all(database, { ...filter, ...slice })),
          async (found) => {
            const where = { id: { in: found.map(({ id }) => id) } }
            return toRecords(
              await (await prisma()).target.findMany({ where, orderBy: NEWEST_FIRST, include: withTags }),
            )
          },
        )
      },
    },

    createTarget: {
      authorize: (caller, body) => {
        if (isObject(body) && isLocal(body['connection'])) requireMayMakeLocal(caller)
      },
      check: ({ variables, connection }) => [...valueProblems(variables, 'variables'), ...keyProblems(connection)],
      async handle(call) {
        const { caller } = call
        const body = call.body as Static<typeof CreateTarget>
        const references = await References.resolve(
          database,
          caller,
          fieldReferences(body, { tenant_id: 'tenant', environment_id: 'environment' }),
        )
        const tenant_id = references.tenantFor(caller)
        references.requireFit(tenant_id)
        const id = uuidv7()
        const data = {
          id,
          tenant_id,
          environment_id: references.id('/environment_id'),
          name: body.name,
          ...keyOfName(body),
          description: body.description ?? null,
          ...storedConnection(keys, id, body.connection),
          ...newVariables(keys, 'target', id, body),
          ...newSelector(body),
          enabled: body.enabled ?? true,
          concurrency: body.concurrency ?? null,
          managed_by: body.managed_by ?? null,
          tags: { create: distinct(body.tags ?? []) },
        }
        const target = await conflictIfTaken(
          () => describeTakenName(database, 'target', data),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              await enqueue(tx, [eventMessage('target.created', { target_id: id, tenant_id })])
              await call.audit.record(tx, { resource_id: id, tenant_id, details: { name: body.name } })
              return prisma.target.create({ data, include: withTags })
            }),
        )
        outboxChanged()
        const [record] = await toRecords([target])
        return { status: 201, body: record }
      },
    },

    getTarget: {
      async handle({ caller, params }) {
        const [record] = await toRecords([await find(caller, params['id'] ?? '')])
        return { status: 200, body: record }
      },
    },

    updateTarget: {
      check: ({ variables, connection }) => [...valueProblems(variables, 'variables'), ...keyProblems(connection)],
      async handle(call) {
        const { caller } = call
        const body = call.body as Static<typeof ChangeTarget>
        const { id, ...found } = await find(caller, call.params['id'] ?? '')
        requireOwn(caller, found, 'targets:update')
        const references = await References.resolve(
          database,
          caller,
          fieldReferences(body, { tenant_id: 'tenant', environment_id: 'environment' }),
        )
        const wanted = { id, name: body.name ?? found.name, tenant_id: tenantAfter(caller, body, found, references) }
        const target = await conflictIfTaken(
          () => describeTakenName(database, 'target', wanted),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              await lockRecord(tx, 'targets', id)
              const old = await prisma.target.findFirst({ where: { id }, include: withTags })
              if (old === null) throw notFound('The target')
              const tenant_id = tenantAfter(caller, body, old, references)
              const environment_id =
                body.environment_id === undefined ? old.environment_id : references.id('/environment_id')
              const fields = {
                ...pickGiven(body, ['name', 'description', 'enabled', 'concurrency', 'managed_by']),
                tenant_id,
                environment_id,
              }
              if (tenant_id !== old.tenant_id) await requireUnused(tx, 'target', id)
              await requireFittingEnvironment(
                prisma,
                fields,
                body.environment_id === undefined ? '/tenant_id' : '/environment_id',
              )
              const selector = changedSelector(body)
              requireMayPlaceLocal(caller, old, { connection: body.connection ?? old.connection, ...selector })
              const details: Record<string, unknown> = { changes: changesOf(old, { ...fields, ...selector }) }
              const data: Prisma.TargetUncheckedUpdateInput = { ...fields, ...keyOfName(body), ...selector }
              if (body.tags !== undefined) {
                const tags = distinct(body.tags)
                data.tags = { deleteMany: {}, create: tags }
                details['tags'] = { from: old.tags, to: tags }
              }
              const variables = changedVariables(keys, 'target', old, body)
              if (variables !== null) {
                Object.assign(data, variables.columns)
                details['variables'] = variables.changes
              }
              if (body.connection !== undefined) {
                const columns = replacedConnection(keys, id, body.connection, old)
                if (!isSameHost(old.connection, columns.connection)) await forgetHost(tx, id)
                Object.assign(data, columns)
                details['connection'] = {
                  ...changesOf({ connection: old.connection }, { connection: columns.connection }),
                  secrets_changed: columns.connection_secrets !== old.connection_secrets,
                }
              }
              await enqueue(tx, [eventMessage('target.updated', { target_id: id, ...tenantChange(old, tenant_id) })])
              await call.audit.record(tx, { resource_id: id, tenant_id, details })
              return prisma.target.update({ where: { id }, data, include: withTags })
            }),
        )
        outboxChanged()
        const [record] = await toRecords([target])
        return { status: 200, body: record }
      },
    },

    deleteTarget: {
      async handle({ caller, params, audit }) {
        const target = await find(caller, params['id'] ?? '')
        requireOwn(caller, target, 'targets:delete')
        const { id, name, tenant_id } = target
        await database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          await lockRecord(tx, 'targets', id)
          await requireUnused(tx, 'target', id)
          // Before the target: the lock is visible as long as its target is.
          await prisma.targetLock.deleteMany({ where: { target_id: id } })
          const { count } = await prisma.target.deleteMany({ where: { id } })
          if (count === 0) throw notFound('The target')
          await prisma.targetFact.deleteMany({ where: { target_id: id } })
          await enqueue(tx, [eventMessage('target.deleted', { target_id: id, tenant_id })])
          await audit.record(tx, { resource_id: id, tenant_id, details: { name } })
        })
        outboxChanged()
        return { status: 204 }
      },
    },
  }
}

function distinct(tags: { key: string; value: string }[]): { key: string; value: string }[] {
  return [...new Map(tags.map(({ key, value }) => [JSON.stringify([key, value]), { key, value }])).values()]
}

/** The environment of a target is shared, or belongs to the tenant of the target. */
async function requireFittingEnvironment(
  prisma: Records,
  { tenant_id, environment_id }: { tenant_id: string | null; environment_id: string | null },
  path: string,
): Promise<void> {
  if (environment_id === null) return
  const environment = await prisma.environment.findFirst({ where: { id: environment_id } })
  if (environment === null || environment.tenant_id === null || environment.tenant_id === tenant_id) return
  throw validationProblem([{ path, message: 'the environment belongs to another tenant than the target' }])
}

/**
 * Deletes what is known of the previous host: its host key, its agent, and when it was last seen. A run on the previous host would
 * store these facts again, so the target must not be in use.
 */
async function forgetHost(tx: Transaction, targetId: string): Promise<void> {
  const prisma = await tx.prisma()
  await requireUnused(tx, 'target', targetId)
  await prisma.targetFact.deleteMany({ where: { target_id: targetId } })
  await revokeAgent(prisma, targetId)
}
