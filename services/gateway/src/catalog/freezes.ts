import type { ChangeFreeze, Static } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable, type Records } from '@slipway/database'
import { type FreezeRow, freezeItem, requireOwn, type Viewer, visible } from '@slipway/database/read-models'
import {
  conflict,
  endOfRecurrence,
  isTimeZone,
  isUuid,
  notFound,
  offsetOf,
  recurrenceProblem,
  validationProblem,
} from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import type { Dependencies } from '../dependencies.ts'
import type { Check, HandlersOf } from '../handler.ts'
import { answerPage, managedBy, nameContains, newestOrder, pageOfNewest } from '../pages.ts'
import { changesOf, conflictIfTaken, lockRecord, pickGiven, tenantChange } from './changing.ts'
import { countBeside, lockFreezes } from './freezes.sql.ts'
import { fieldReferences, References, tenantAfter } from './references.ts'
import { describeTakenName, keyOfName } from './taken-names.ts'

type Times = Record<'start_time' | 'end_time' | 'recurrence' | 'time_zone', unknown>
const isMoment = (time: unknown): time is string | Date => !Number.isNaN(new Date(time as string).getTime())

/** Checks times that are well-formed, alone and together. Absent times are allowed. */
function timeProblems({ start_time, end_time, recurrence, time_zone }: Times, start_offset: string | null) {
  const times = Object.entries({ start_time, end_time }).filter(([, time]) => typeof time === 'string')
  // A well-formed time may not exist, such as a leap second.
  const problems = times.flatMap(([field, time]) =>
    isMoment(time) ? [] : [{ path: `/${field}`, message: 'must be a moment that exists' }],
  )
  if (typeof time_zone === 'string' && !isTimeZone(time_zone)) {
    problems.push({ path: '/time_zone', message: 'must be the name of a time zone, such as Europe/Berlin' })
  }
  if (problems.length > 0 || start_time === undefined || end_time === undefined) return problems
  if (!isMoment(start_time) || !isMoment(end_time)) return []
  if (new Date(end_time) <= new Date(start_time)) return [{ path: '/end_time', message: 'must be after start_time' }]
  if (typeof recurrence !== 'string') return []
  const problem = recurrenceProblem({
    start_time,
    end_time,
    recurrence,
    start_offset,
    time_zone: typeof time_zone === 'string' ? time_zone : null,
  })
  return problem === null ? [] : [{ path: '/recurrence', message: problem }]
}

const checkTimes: Check = ({ start_time, end_time, recurrence, time_zone }) =>
  timeProblems(
    { start_time, end_time, recurrence, time_zone },
    typeof start_time === 'string' ? offsetOf(start_time) : null,
  )

const SCOPE = { tenant_id: 'tenant', environment_id: 'environment', solution_id: 'solution' } as const

export function freezeHandlers({
  database,
  freezesPerTenant,
  outboxChanged,
}: Dependencies): HandlersOf<'listFreezes' | 'createFreeze' | 'getFreeze' | 'updateFreeze' | 'deleteFreeze'> {
  const { prisma } = database

  async function find(viewer: Viewer, id: string): Promise<FreezeRow> {
    const freeze = isUuid(id) ? await (await prisma()).freeze.findFirst({ where: { id, AND: visible(viewer) } }) : null
    if (freeze === null) throw notFound('The freeze')
    return freeze
  }

  return {
    listFreezes: {
      handle({ caller, query }) {
        const where = { AND: [visible(caller), nameContains(query.search), managedBy(query.managed_by)] }
        return answerPage(
          query,
          newestOrder('freezes'),
          async () => (await prisma()).freeze.count({ where }),
          async (slice) => (await prisma()).freeze.findMany(pageOfNewest(where, slice)),
          (rows) => rows.map(freezeItem),
        )
      },
    },

    createFreeze: {
      check: checkTimes,
      async handle({ caller, body, audit }) {
        const references = await References.resolve(database, caller, fieldReferences(body, SCOPE))
        const tenant_id = references.tenantFor(caller)
        // A freeze without tenant may be limited to an environment or a solution of any tenant.
        if (tenant_id !== null) references.requireFit(tenant_id)
        const freeze = await conflictIfTaken(
          () => describeTakenName(database, 'freeze', { name: body.name, tenant_id }),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              const times = {
                start_time: new Date(body.start_time),
                end_time: new Date(body.end_time),
                recurrence: body.recurrence ?? null,
                start_offset: offsetOf(body.start_time),
                time_zone: body.time_zone ?? null,
              }
              const created = await prisma.freeze.create({
                data: {
                  id: uuidv7(),
                  name: body.name,
                  ...keyOfName(body),
                  description: body.description ?? null,
                  managed_by: body.managed_by ?? null,
                  ...times,
                  recurs_until: recursUntil(times),
                  tenant_id,
                  environment_id: references.id('/environment_id'),
                  solution_id: references.id('/solution_id'),
                  created_by: caller.username,
                },
              })
              await requireRoom(tx, created.id, freezesPerTenant)
              await enqueue(tx, [eventMessage('freeze.created', { freeze_id: created.id, tenant_id })])
              const { name, start_time, end_time, recurrence, time_zone, environment_id, solution_id } = created
              const details = { name, start_time, end_time, recurrence, time_zone, environment_id, solution_id }
              await audit.record(tx, { resource_id: created.id, tenant_id, details })
              return created
            }),
        )
        outboxChanged()
        return { status: 201, body: freezeItem(freeze) }
      },
    },

    getFreeze: {
      handle: async ({ caller, params }) => ({ status: 200, body: freezeItem(await find(caller, params['id'] ?? '')) }),
    },

    updateFreeze: {
      check: checkTimes,
      async handle({ caller, params, body, audit }) {
        const found = await find(caller, params['id'] ?? '')
        requireOwn(caller, found, 'freezes:update')
        const { id } = found
        const references = await References.resolve(database, caller, fieldReferences(body, SCOPE))
        const place = { id, name: body.name ?? found.name, tenant_id: tenantAfter(caller, body, found, references) }
        const freeze = await conflictIfTaken(
          () => describeTakenName(database, 'freeze', place),
          () =>
            database.transaction(async (tx) => {
              const prisma = await tx.prisma()
              await lockRecord(tx, 'freezes', id)
              const old = await prisma.freeze.findFirst({ where: { id } })
              if (old === null) throw notFound('The freeze')
              const data = changedFields(body, references, caller)
              const wanted = { ...old, ...data }
              const { tenant_id } = wanted
              // A later release may refuse times that an earlier one accepted. Such a freeze can still be renamed.
              const changesTimes = TIME_FIELDS.some((field) => data[field] !== undefined)
              const problems = changesTimes ? timeProblems(wanted, wanted.start_offset) : []
              if (problems.length > 0) throw validationProblem(problems)
              await requireFittingScope(prisma, wanted)
              const { start_offset: _, ...told } = data
              await enqueue(tx, [eventMessage('freeze.updated', { freeze_id: id, ...tenantChange(old, tenant_id) })])
              await audit.record(tx, { resource_id: id, tenant_id, details: { changes: changesOf(old, told) } })
              const updated = await prisma.freeze.update({
                where: { id },
                data: {
                  ...data,
                  ...keyOfName(body),
                  ...(changesTimes ? { recurs_until: recursUntil(wanted) } : {}),
                },
              })
              if (changesTimes || data.tenant_id !== undefined) await requireRoom(tx, id, freezesPerTenant)
              return updated
            }),
        )
        outboxChanged()
        return { status: 200, body: freezeItem(freeze) }
      },
    },

    deleteFreeze: {
      async handle({ caller, params, audit }) {
        const freeze = await find(caller, params['id'] ?? '')
        requireOwn(caller, freeze, 'freezes:delete')
        const { id, name, tenant_id } = freeze
        await database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          const { count } = await prisma.freeze.deleteMany({ where: { id } })
          if (count === 0) throw notFound('The freeze')
          await enqueue(tx, [eventMessage('freeze.deleted', { freeze_id: id, tenant_id })])
          await audit.record(tx, { resource_id: id, tenant_id, details: { name } })
        })
        outboxChanged()
        return { status: 204 }
      },
    },
  }
}

const TIME_FIELDS = ['start_time', 'end_time', 'recurrence', 'time_zone'] as const

const recursUntil = ({
  recurrence,
  ...times
}: Pick<FreezeRow, 'start_time' | 'end_time' | 'recurrence' | 'start_offset' | 'time_zone'>) =>
  recurrence === null ? null : endOfRecurrence({ ...times, recurrence })

/**
 * Refuses the written freeze if its tenant has too many: every create checks each. Parallel writers wait
 * for each other until their transactions end.
 */
async function requireRoom(tx: Queryable, id: string, limit: number): Promise<void> {
  await lockFreezes.run(tx)
  const { count } = await countBeside.one(tx, { id })
  if (count <= limit) return
  throw conflict(
    `There are ${limit} freezes that have not ended, the most that a tenant may have; delete one or let one end`,
    { limit },
  )
}

function changedFields(body: Static<typeof ChangeFreeze>, references: References, caller: Viewer): Partial<FreezeRow> {
  const { start_time, end_time } = body
  return {
    ...pickGiven(body, ['name', 'description', 'managed_by', 'recurrence', 'time_zone']),
    ...(start_time === undefined ? {} : { start_time: new Date(start_time), start_offset: offsetOf(start_time) }),
    ...(end_time === undefined ? {} : { end_time: new Date(end_time) }),
    ...(body.tenant_id === undefined ? {} : { tenant_id: caller.tenant_id ?? references.id('/tenant_id') }),
    ...(body.environment_id === undefined ? {} : { environment_id: references.id('/environment_id') }),
    ...(body.solution_id === undefined ? {} : { solution_id: references.id('/solution_id') }),
  }
}

/** A freeze of a tenant may name shared records and those of the tenant. A freeze without tenant may name any. */
async function requireFittingScope(
  prisma: Records,
  { tenant_id, environment_id, solution_id }: Pick<FreezeRow, 'tenant_id' | 'environment_id' | 'solution_id'>,
): Promise<void> {
  if (tenant_id === null) return
  const foreign = { tenant_id: { not: tenant_id } }
  const environments = environment_id && (await prisma.environment.count({ where: { id: environment_id, ...foreign } }))
  const solutions = solution_id && (await prisma.source.count({ where: { id: solution_id, ...foreign } }))
  const message = 'belongs to another tenant than the freeze'
  const problems = [
    ...(environments ? [{ path: '/environment_id', message }] : []),
    ...(solutions ? [{ path: '/solution_id', message }] : []),
  ]
  if (problems.length > 0) throw validationProblem(problems)
}
