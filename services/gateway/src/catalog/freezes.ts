import { enqueue, eventMessage } from '@slipway/database'
import { isUuid, notFound, windowAt } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { Check, HandlersOf } from '../http/handler.ts'
import { visible } from '../tenancy/visibility.ts'
import { answerPage, NEWEST_FIRST, nameContains } from './listing.ts'
import { inPrisma } from './outbox.ts'
import { fieldReferences, References } from './references.ts'

interface FreezeRow {
  id: string
  name: string
  description: string | null
  start_time: Date
  end_time: Date
  recurrence: string | null
  start_offset: string | null
  tenant_id: string | null
  environment_id: string | null
  solution_id: string | null
  created_by: string | null
  created_at: Date
  updated_at: Date
}

const shown = ({ start_offset: _, ...row }: FreezeRow) => ({ ...row, active: windowAt(row, new Date()) !== null })

/** A well-formed timestamp that is no moment (a leap second, say) has no place on the clock. */
const timesInOrder: Check = ({ start_time, end_time }) => {
  const [start, end] = [start_time, end_time].map((time) => (typeof time === 'string' ? Date.parse(time) : undefined))
  const problems = [
    { path: '/start_time', time: start },
    { path: '/end_time', time: end },
  ].flatMap(({ path, time }) => (Number.isNaN(time) ? [{ path, message: 'must be a moment that exists' }] : []))
  if (start !== undefined && end !== undefined && end <= start) {
    problems.push({ path: '/end_time', message: 'must be after start_time' })
  }
  return problems
}

export function freezeHandlers({
  database,
  outboxChanged,
}: Dependencies): HandlersOf<'listFreezes' | 'createFreeze' | 'getFreeze'> {
  const { prisma } = database
  return {
    listFreezes: {
      handle({ caller, query }) {
        const where = { AND: [visible(caller), nameContains(query.search)] }
        return answerPage(
          query,
          () => prisma.freeze.count({ where }),
          async (slice) => (await prisma.freeze.findMany({ where, orderBy: NEWEST_FIRST, ...slice })).map(shown),
        )
      },
    },

    createFreeze: {
      check: timesInOrder,
      async handle({ caller, body, audit }) {
        const scope = { tenant_id: 'tenant', environment_id: 'environment', solution_id: 'solution' } as const
        const references = await References.resolve(database, caller, fieldReferences(body, scope))
        const tenant_id = references.tenantFor(caller)
        // One without a tenant may still be limited to an environment or a solution of some tenant.
        if (tenant_id !== null) references.requireFit(tenant_id)
        const freeze = await prisma.$transaction(async (tx) => {
          const created = await tx.freeze.create({
            data: {
              id: uuidv7(),
              name: body.name,
              description: body.description ?? null,
              start_time: new Date(body.start_time),
              end_time: new Date(body.end_time),
              tenant_id,
              environment_id: references.id('/environment_id'),
              solution_id: references.id('/solution_id'),
              created_by: caller.username,
            },
          })
          await enqueue(inPrisma(tx), [eventMessage('freeze.created', { freeze_id: created.id, tenant_id })])
          const { name, start_time, end_time } = created
          const details = { name, start_time, end_time }
          await audit.record(inPrisma(tx), { resource_id: created.id, tenant_id, details })
          return created
        })
        outboxChanged()
        return { status: 201, body: shown(freeze) }
      },
    },

    getFreeze: {
      async handle({ caller, params }) {
        const id = params['id'] ?? ''
        const freeze = isUuid(id) ? await prisma.freeze.findFirst({ where: { id, AND: visible(caller) } }) : null
        if (freeze === null) throw notFound('The freeze')
        return { status: 200, body: shown(freeze) }
      },
    },
  }
}
