import type { ChangeEnvironment, CreateEnvironment, Static } from '@slipway/contracts'
import type { Prisma } from '@slipway/database'
import {
  requireOwn,
  type StoredVariables,
  shownSelector,
  shownVariables,
  type Viewer,
  visible,
} from '@slipway/database/read-models'
import { type ConcurrencyPolicy, encodeSqid, notFound } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { answerPage, managedBy, nameContains, newestOrder, pageOfNewest } from '../pages.ts'
import { changesOf, conflictIfTaken, lockRecord, pickGiven } from './changing.ts'
import { changedSelector, newSelector } from './instance-selectors.ts'
import { recordKey } from './record-id.ts'
import { fieldReferences, References, tenantAfter } from './references.ts'
import { describeTakenName, keyOfName } from './taken-names.ts'
import { requireUnused } from './uses.ts'
import { valueProblems } from './variable-rules.ts'
import { changedVariables, newVariables } from './variables.ts'

interface EnvironmentRow extends StoredVariables {
  number: number
  instance_selector: unknown
  tenant_id: string | null
  name: string
  description: string | null
  concurrency: ConcurrencyPolicy | null
  managed_by: string | null
  created_at: Date
  updated_at: Date
}

export function environmentHandlers({
  database,
  keys,
}: Dependencies): HandlersOf<
  'listEnvironments' | 'createEnvironment' | 'getEnvironment' | 'updateEnvironment' | 'deleteEnvironment'
> {
  const { prisma } = database

  function toRecord(row: EnvironmentRow) {
    const { id, number, name, description, tenant_id, concurrency, managed_by, created_at, updated_at } = row
    const sqid = encodeSqid('environment', number)
    const variables = { ...shownVariables(keys, 'environment', row), ...shownSelector(row) }
    return { id, sqid, name, description, tenant_id, ...variables, concurrency, managed_by, created_at, updated_at }
  }

  async function find(viewer: Viewer, id: string): Promise<EnvironmentRow> {
    const key = recordKey('environment', id)
    const environment =
      key && (await (await prisma()).environment.findFirst({ where: { ...key, AND: visible(viewer) } }))
    if (environment === null) throw notFound('The environment')
    return environment
  }

  return {
    listEnvironments: {
      handle({ caller, query }) {
        const where = { AND: [visible(caller), nameContains(query.search), managedBy(query.managed_by)] }
        return answerPage(
          query,
          newestOrder('environments'),
          async () => (await prisma()).environment.count({ where }),
          async (slice) => (await prisma()).environment.findMany(pageOfNewest(where, slice)),
          (rows) => rows.map(toRecord),
        )
      },
    },

    createEnvironment: {
      check: ({ variables }) => valueProblems(variables, 'variables'),
      async handle(call) {
        const { caller } = call
        const body = call.body as Static<typeof CreateEnvironment>
        const references = await References.resolve(database, caller, fieldReferences(body, { tenant_id: 'tenant' }))
        const id = uuidv7()
        const data = {
          id,
          tenant_id: references.tenantFor(caller),
          name: body.name,
          ...keyOfName(body),
          description: body.description ?? null,
          concurrency: body.concurrency ?? null,
          managed_by: body.managed_by ?? null,
          ...newVariables(keys, 'environment', id, body),
          ...newSelector(body),
        }
        const environment = await conflictIfTaken(
          () => describeTakenName(database, 'environment', data),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              const { tenant_id, name } = data
              await call.audit.record(tx, { resource_id: id, tenant_id, details: { name } })
              return prisma.environment.create({ data })
            }),
        )
        return { status: 201, body: toRecord(environment) }
      },
    },

    getEnvironment: {
      async handle({ caller, params }) {
        return { status: 200, body: toRecord(await find(caller, params['id'] ?? '')) }
      },
    },

    updateEnvironment: {
      check: ({ variables }) => valueProblems(variables, 'variables'),
      async handle(call) {
        const { caller } = call
        const body = call.body as Static<typeof ChangeEnvironment>
        const { id, ...found } = await find(caller, call.params['id'] ?? '')
        requireOwn(caller, found, 'environments:update')
        const references = await References.resolve(database, caller, fieldReferences(body, { tenant_id: 'tenant' }))
        const wanted = { id, name: body.name ?? found.name, tenant_id: tenantAfter(caller, body, found, references) }
        const environment = await conflictIfTaken(
          () => describeTakenName(database, 'environment', wanted),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              await lockRecord(tx, 'environments', id)
              const old = await prisma.environment.findFirst({ where: { id } })
              if (old === null) throw notFound('The environment')
              const tenant_id = tenantAfter(caller, body, old, references)
              // The users of a shared environment may belong to other tenants.
              if (tenant_id !== old.tenant_id && tenant_id !== null) await requireUnused(tx, 'environment', id)
              const fields = { ...pickGiven(body, ['name', 'description', 'concurrency', 'managed_by']), tenant_id }
              const selector = changedSelector(body)
              const details: Record<string, unknown> = { changes: changesOf(old, { ...fields, ...selector }) }
              const data: Prisma.EnvironmentUncheckedUpdateInput = { ...fields, ...keyOfName(body), ...selector }
              const variables = changedVariables(keys, 'environment', old, body)
              if (variables !== null) {
                Object.assign(data, variables.columns)
                details['variables'] = variables.changes
              }
              await call.audit.record(tx, { resource_id: id, tenant_id, details })
              return prisma.environment.update({ where: { id }, data })
            }),
        )
        return { status: 200, body: toRecord(environment) }
      },
    },

    deleteEnvironment: {
      async handle({ caller, params, audit }) {
        const environment = await find(caller, params['id'] ?? '')
        requireOwn(caller, environment, 'environments:delete')
        const { id, name, tenant_id } = environment
        await database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          await lockRecord(tx, 'environments', id)
          await requireUnused(tx, 'environment', id)
          const { count } = await prisma.environment.deleteMany({ where: { id } })
          if (count === 0) throw notFound('The environment')
          await audit.record(tx, { resource_id: id, tenant_id, details: { name } })
        })
        return { status: 204 }
      },
    },
  }
}
