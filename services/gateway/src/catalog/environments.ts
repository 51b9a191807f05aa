import type { ChangeEnvironment, CreateEnvironment, Static } from '@slipway/contracts'
import { openVariables, type Prisma, shownVariables } from '@slipway/database'
import { encodeSqid, notFound } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { type Viewer, visible } from '../tenancy/visibility.ts'
import { changesOf, given, lockRecord, orTaken, requireOwn } from './changing.ts'
import { answerPage, NEWEST_FIRST, nameContains } from './listing.ts'
import { inPrisma } from './outbox.ts'
import { recordKey } from './record-id.ts'
import { fieldReferences, References } from './references.ts'
import { requireUnused } from './uses.ts'
import { valueProblems } from './variable-rules.ts'
import { givenVariables, sealVariables, variableChanges } from './variables.ts'

interface EnvironmentRow {
  id: string
  number: number
  tenant_id: string | null
  name: string
  description: string | null
  variables_sealed: string | null
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

  async function shown(viewer: Viewer, rows: EnvironmentRow[]) {
    const variablesOf = await shownVariables({ db: database, keys, viewer }, 'environment', rows)
    return rows.map((row) => {
      const { id, number, name, description, tenant_id, created_at, updated_at } = row
      const sqid = encodeSqid('environment', number)
      return { id, sqid, name, description, tenant_id, variables: variablesOf(row), created_at, updated_at }
    })
  }

  async function find(viewer: Viewer, id: string): Promise<EnvironmentRow> {
    const key = recordKey('environment', id)
    const environment = key && (await prisma.environment.findFirst({ where: { ...key, AND: visible(viewer) } }))
    if (environment === null) throw notFound('The environment')
    return environment
  }

  return {
    listEnvironments: {
      handle({ caller, query }) {
        const where = { AND: [visible(caller), nameContains(query.search)] }
        return answerPage(
          query,
          () => prisma.environment.count({ where }),
          async (slice) => shown(caller, await prisma.environment.findMany({ where, orderBy: NEWEST_FIRST, ...slice })),
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
        const variablesOver = await givenVariables(database, caller, body.variables)
        const data = {
          id,
          tenant_id: references.tenantFor(caller),
          name: body.name,
          description: body.description ?? null,
          variables_sealed: sealVariables(keys, 'environment', id, variablesOver()),
        }
        const environment = await orTaken(taken(body.name), () =>
          database.prismaTransaction(async (tx) => {
            const { tenant_id, name } = data
            await call.audit.record(inPrisma(tx), { resource_id: id, tenant_id, details: { name } })
            return tx.environment.create({ data })
          }),
        )
        const [record] = await shown(caller, [environment])
        return { status: 201, body: record }
      },
    },

    getEnvironment: {
      async handle({ caller, params }) {
        const [record] = await shown(caller, [await find(caller, params['id'] ?? '')])
        return { status: 200, body: record }
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
        const variablesOver = await givenVariables(database, caller, body.variables)
        const environment = await orTaken(taken(body.name ?? found.name), () =>
          database.prismaTransaction(async (tx) => {
            await lockRecord(tx, 'environments', id)
            const old = await tx.environment.findFirst({ where: { id } })
            if (old === null) throw notFound('The environment')
            const tenant_id = body.tenant_id === undefined ? old.tenant_id : references.tenantFor(caller)
            // Those that carry it may be of other tenants; shared by all it suits everybody.
            if (tenant_id !== old.tenant_id && tenant_id !== null) await requireUnused(tx, 'environment', id)
            const fields = { ...given(body, ['name', 'description']), tenant_id }
            const details: Record<string, unknown> = { changes: changesOf(old, fields) }
            const data: Prisma.EnvironmentUncheckedUpdateInput = fields
            if (body.variables !== undefined) {
              const before = openVariables(keys, 'environment', old)
              const variables = variablesOver(before)
              data.variables_sealed = sealVariables(keys, 'environment', id, variables)
              details['variables'] = variableChanges(before, variables)
            }
            await call.audit.record(inPrisma(tx), { resource_id: id, tenant_id, details })
            return tx.environment.update({ where: { id }, data })
          }),
        )
        const [record] = await shown(caller, [environment])
        return { status: 200, body: record }
      },
    },

    deleteEnvironment: {
      async handle({ caller, params, audit }) {
        const environment = await find(caller, params['id'] ?? '')
        requireOwn(caller, environment, 'environments:delete')
        const { id, name, tenant_id } = environment
        await database.prismaTransaction(async (tx) => {
          await lockRecord(tx, 'environments', id)
          await requireUnused(tx, 'environment', id)
          const { count } = await tx.environment.deleteMany({ where: { id } })
          if (count === 0) throw notFound('The environment')
          await audit.record(inPrisma(tx), { resource_id: id, tenant_id, details: { name } })
        })
        return { status: 204 }
      },
    },
  }
}

const taken = (name: string) => `There is already an environment named "${name}"`
