import type { ChangeTarget, CreateTarget, Static } from '@slipway/contracts'
import { enqueue, eventMessage, type Prisma, type Records, type Transaction } from '@slipway/database'
import { targetItems } from '@slipway/database/read-models'
import { validationProblem } from '@slipway/domain'
import { isObject } from '@slipway/http'
import { requireMayTouch } from '../callers/require-may.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call, HandlersOf } from '../handler.ts'
import { answerPage, containsPattern, newestOrder, searchedKey, sortOf } from '../pages.ts'
import { changesOf, orNull, pickGiven } from '../records/changes.ts'
import { idsFilter, recordFilter, tagFilter } from '../records/filters.ts'
import { type Change, type Creation, recordHandlers } from '../records/handlers.ts'
import { type RecordOf, recordKind } from '../records/kind.ts'
import { OF_TENANT } from '../records/names.ts'
import { SHARED } from '../records/ownership.ts'
import { tableOf } from '../records/table.ts'
import { requireUnused, WAITS } from '../records/uses.ts'
import { isSameHost, keyProblems, replacedConnection, storedConnection } from './connection.ts'
import { isLocal, requireMayMakeLocal, requireMayPlaceLocal } from './local-targets.ts'
import { countTargets, findSortedTargets, findTargets } from './target-pages.sql.ts'
import { changedSelector, changedValues, newValues } from './values.ts'
import { valueProblems } from './variable-rules.ts'

const withTags = {
  tags: { orderBy: [{ key: 'asc' }, { value: 'asc' }], select: { key: true, value: true } },
} satisfies Prisma.TargetInclude

export const TARGET = recordKind({
  name: 'target',
  resource: 'targets',
  table: tableOf('target', { include: withTags }),
  sqids: 'target',
  owner: SHARED,
  uniqueName: OF_TENANT,
  usedBy: [
    `SELECT 'a deployment that runs' AS what WHERE EXISTS (
       SELECT FROM deployments d JOIN deployment_targets t ON t.deployment_id = d.id
        WHERE d.completed_at IS NULL AND t.target_id = :id::uuid)`,
    `SELECT 'a deployment that waits' AS what WHERE EXISTS (
       SELECT FROM pending_requests p
        WHERE ${WAITS} AND p.command #> '{plan,targets}' @> jsonb_build_array(jsonb_build_object('id', :id::uuid)))`,
  ],
})

/** Stored and shown as they are given. */
const FIELDS = ['description', 'concurrency', 'managed_by'] as const

type TargetRow = RecordOf<typeof TARGET>
type TargetChange = Static<typeof ChangeTarget>
type TargetOperation = `${'create' | 'get' | 'update' | 'delete'}Target` | 'listTargets'

export function targetHandlers(dependencies: Dependencies): HandlersOf<TargetOperation> {
  const { database, keys } = dependencies
  const show = (rows: readonly TargetRow[]) => targetItems({ db: database, keys }, rows)

  const handlers = recordHandlers(dependencies, TARGET, {
    show,
    authorize(caller, body) {
      if (isObject(body) && isLocal(body['connection'])) requireMayMakeLocal(caller)
    },
    check: ({ variables, connection }) => [...valueProblems(variables, 'variables'), ...keyProblems(connection)],
    references: { tenant_id: 'tenant', environment_id: 'environment' },
    async create({ tx, caller, id, tenant_id, body, references }: Creation<Static<typeof CreateTarget>>) {
      references.requireFit(tenant_id)
      await requireMayTouch(tx, caller, 'targets:create', inEnvironment(references.id('/environment_id')))
      const columns = {
        id,
        tenant_id,
        environment_id: references.id('/environment_id'),
        name: body.name,
        ...orNull(body, FIELDS),
        ...storedConnection(keys, id, body.connection),
        ...newValues(keys, 'target', id, body),
        enabled: body.enabled ?? true,
        tags: { create: distinct(body.tags ?? []) },
      }
      return { columns, details: { name: body.name } }
    },
    async update({ tx, prisma, caller, old, tenant_id, body, references }: Change<TargetRow, TargetChange>) {
      const environment_id = body.environment_id === undefined ? old.environment_id : references.id('/environment_id')
      for (const place of new Set([old.environment_id, environment_id])) {
        await requireMayTouch(tx, caller, 'targets:update', inEnvironment(place))
      }
      if (tenant_id !== old.tenant_id) await requireUnused(tx, TARGET, old.id)
      if (tenant_id !== old.tenant_id || environment_id !== old.environment_id) {
        await enqueue(tx, [eventMessage('target.moved', { target_id: old.id })])
      }
      const path = body.environment_id === undefined ? '/tenant_id' : '/environment_id'
      await requireFittingEnvironment(prisma, { tenant_id, environment_id }, path)
      requireMayPlaceLocal(caller, old, { connection: body.connection ?? old.connection, ...changedSelector(body) })
      const fields = { ...pickGiven(body, ['name', 'enabled', ...FIELDS]), tenant_id, environment_id }
      const values = changedValues(keys, 'target', old, body, fields)
      const tags = body.tags && distinct(body.tags)
      const connection = body.connection && (await changedConnection(tx, old, body.connection))
      return {
        columns: {
          ...values.columns,
          ...(tags && { tags: { deleteMany: {}, create: tags } }),
          ...connection?.columns,
        },
        details: {
          ...values.details,
          ...(tags && { tags: { from: old.tags, to: tags } }),
          ...(connection && { connection: connection.changes }),
        },
      }
    },
    // Before the target: the lock is visible as long as its target is.
    async beforeDelete({ tx, prisma, caller, old }) {
      await requireMayTouch(tx, caller, 'targets:delete', inEnvironment(old.environment_id))
      await prisma.targetLock.deleteMany({ where: { target_id: old.id } })
    },
    async afterDelete({ prisma, old }) {
      await prisma.targetFact.deleteMany({ where: { target_id: old.id } })
    },
    deleted: ({ name }) => ({ name }),
    event: (change, target_id, tenants) => eventMessage(`target.${change}`, { target_id, ...tenants }),
  })

  async function changedConnection(tx: Transaction, old: TargetRow, given: NonNullable<TargetChange['connection']>) {
    const columns = replacedConnection(keys, old.id, given, old)
    if (!isSameHost(old.connection, columns.connection)) await forgetHost(tx, old.id)
    const changes = {
      ...changesOf({ connection: old.connection }, { connection: columns.connection }),
      secrets_changed: columns.connection_secrets !== old.connection_secrets,
    }
    return { columns, changes }
  }

  return {
    listTargets: {
      handle({ caller, query }) {
        const filter = targetFilter({ caller, query })
        const sorted = sortOf(query, '-created_at') && findSortedTargets.get(query.sort ?? '')
        return answerPage(
          query,
          newestOrder('targets'),
          async () => (filter === null ? 0 : (await countTargets.one(database, filter)).total),
          async (slice) =>
            filter === null
              ? []
              : (sorted?.all(database, { ...filter, ...slice }) ?? findTargets.all(database, { ...filter, ...slice })),
          async (found) => {
            const ids = found.map(({ id }) => id)
            const { target } = await database.prisma()
            const rows = await target.findMany({ where: { id: { in: ids } }, include: withTags })
            const byId = new Map(rows.map((row) => [row.id, row]))
            return show(ids.flatMap((id) => byId.get(id) ?? []))
          },
        )
      },
    },
    createTarget: handlers.create,
    getTarget: handlers.get,
    updateTarget: handlers.update,
    deleteTarget: handlers.delete,
  }
}

/** What changes of a target touch. */
export const inEnvironment = (environment_id: string | null) => ({ kind: 'target', environment_id }) as const

/** What the statements of a page of targets filter by; null if the environment cannot name a record. */
function targetFilter({ caller, query }: Pick<Call<'listTargets'>, 'caller' | 'query'>) {
  const environment = recordFilter('environment', query.environment_id)
  if (environment === null) return null
  return {
    tenant_id: caller.tenant_id,
    pattern: containsPattern(query.search),
    searched_key: searchedKey(query.search),
    of_environment: environment.id,
    of_environment_number: environment.number,
    ...tagFilter(query.tag),
    ...idsFilter('target', query.ids),
    enabled: query.enabled === undefined ? null : query.enabled === 'true',
    status: query.status ?? null,
    managed_by: query.managed_by ?? null,
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
async function forgetHost(tx: Transaction, target_id: string): Promise<void> {
  const prisma = await tx.prisma()
  await requireUnused(tx, TARGET, target_id)
  await prisma.targetFact.deleteMany({ where: { target_id } })
  // Deleting the grant of an agent deletes the agent.
  await prisma.agentGrant.deleteMany({ where: { target_id } })
}
