import type { CreateTarget, Static } from '@slipway/contracts'
import { enqueue, eventMessage, type Prisma } from '@slipway/database'
import { conflict, encodeSqid, notFound } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { isUniqueViolation } from '../http/problem-of.ts'
import { type Viewer, visible } from '../tenancy/visibility.ts'
import { shownConnection, storedConnection } from './connection.ts'
import { answerPage, NEWEST_FIRST, nameContains } from './listing.ts'
import { inPrisma } from './outbox.ts'
import { recordKey } from './record-id.ts'
import { fieldReferences, References } from './references.ts'
import { targetSightings } from './target-sightings.ts'
import { valueProblems } from './variable-rules.ts'
import { sealVariables, shownVariables } from './variables.ts'

const withTags = {
  tags: { orderBy: [{ key: 'asc' }, { value: 'asc' }], select: { key: true, value: true } },
} satisfies Prisma.TargetInclude
type TargetRow = Prisma.TargetGetPayload<{ include: typeof withTags }>

export function targetHandlers({
  database,
  keys,
  outboxChanged,
}: Dependencies): HandlersOf<'listTargets' | 'createTarget' | 'getTarget'> {
  const { prisma } = database

  async function shown(viewer: Viewer, rows: TargetRow[]) {
    const sightings = await targetSightings(
      database,
      rows.map(({ id }) => id),
    )
    const variablesOf = await shownVariables({ db: database, keys, viewer }, 'target', rows)
    return rows.map((row) => {
      const sighting = sightings.get(row.id)
      const { id, number, name, description, tenant_id, environment_id, tags, enabled, created_at, updated_at } = row
      return {
        ...{ id, sqid: encodeSqid('target', number), name, description, tenant_id, environment_id, tags },
        connection: shownConnection(row.connection, sighting?.host_key ?? null),
        variables: variablesOf(row),
        status: sighting?.status ?? 'offline',
        last_seen_at: sighting?.last_seen_at ?? null,
        ...{ enabled, created_at, updated_at },
      }
    })
  }

  return {
    listTargets: {
      handle({ caller, query }) {
        const where = { AND: [visible(caller), nameContains(query.search)] }
        return answerPage(
          query,
          () => prisma.target.count({ where }),
          async (slice) =>
            shown(caller, await prisma.target.findMany({ where, orderBy: NEWEST_FIRST, ...slice, include: withTags })),
        )
      },
    },

    createTarget: {
      check: ({ variables }) => valueProblems(variables, 'variables'),
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
        // A tag that is given twice counts once.
        const tags = new Map((body.tags ?? []).map(({ key, value }) => [JSON.stringify([key, value]), { key, value }]))
        const data = {
          id,
          tenant_id,
          environment_id: references.id('/environment_id'),
          name: body.name,
          description: body.description ?? null,
          ...storedConnection(keys, id, body.connection),
          variables_sealed: sealVariables(keys, 'target', id, body.variables),
          enabled: body.enabled ?? true,
          tags: { create: [...tags.values()] },
        }
        try {
          const target = await prisma.$transaction(async (tx) => {
            await enqueue(inPrisma(tx), [eventMessage('target.created', { target_id: id, tenant_id })])
            await call.audit.record(inPrisma(tx), { resource_id: id, tenant_id, details: { name: body.name } })
            return tx.target.create({ data, include: withTags })
          })
          outboxChanged()
          const [record] = await shown(caller, [target])
          return { status: 201, body: record }
        } catch (error) {
          if (!isUniqueViolation(error)) throw error
          throw conflict(`There is already a target named "${body.name}"`)
        }
      },
    },

    getTarget: {
      async handle({ caller, params }) {
        const key = recordKey('target', params['id'] ?? '')
        const where = { ...key, AND: visible(caller) }
        const target = key && (await prisma.target.findFirst({ where, include: withTags }))
        if (target === null) throw notFound('The target')
        const [record] = await shown(caller, [target])
        return { status: 200, body: record }
      },
    },
  }
}
