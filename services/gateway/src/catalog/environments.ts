import type { CreateEnvironment, Static } from '@slipway/contracts'
import { conflict, encodeSqid, notFound } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { isUniqueViolation } from '../http/problem-of.ts'
import { type Viewer, visible } from '../tenancy/visibility.ts'
import { answerPage, NEWEST_FIRST, nameContains } from './listing.ts'
import { inPrisma } from './outbox.ts'
import { recordKey } from './record-id.ts'
import { fieldReferences, References } from './references.ts'
import { valueProblems } from './variable-rules.ts'
import { sealVariables, shownVariables } from './variables.ts'

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
}: Dependencies): HandlersOf<'listEnvironments' | 'createEnvironment' | 'getEnvironment'> {
  const { prisma } = database

  async function shown(viewer: Viewer, rows: EnvironmentRow[]) {
    const variablesOf = await shownVariables({ db: database, keys, viewer }, 'environment', rows)
    return rows.map((row) => {
      const { id, number, name, description, tenant_id, created_at, updated_at } = row
      const sqid = encodeSqid('environment', number)
      return { id, sqid, name, description, tenant_id, variables: variablesOf(row), created_at, updated_at }
    })
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
        const data = {
          id,
          tenant_id: references.tenantFor(caller),
          name: body.name,
          description: body.description ?? null,
          variables_sealed: sealVariables(keys, 'environment', id, body.variables),
        }
        try {
          const environment = await prisma.$transaction(async (tx) => {
            const { tenant_id, name } = data
            await call.audit.record(inPrisma(tx), { resource_id: id, tenant_id, details: { name } })
            return tx.environment.create({ data })
          })
          const [record] = await shown(caller, [environment])
          return { status: 201, body: record }
        } catch (error) {
          if (!isUniqueViolation(error)) throw error
          throw conflict(`There is already an environment named "${body.name}"`)
        }
      },
    },

    getEnvironment: {
      async handle({ caller, params }) {
        const key = recordKey('environment', params['id'] ?? '')
        const environment = key && (await prisma.environment.findFirst({ where: { ...key, AND: visible(caller) } }))
        if (environment === null) throw notFound('The environment')
        const [record] = await shown(caller, [environment])
        return { status: 200, body: record }
      },
    },
  }
}
