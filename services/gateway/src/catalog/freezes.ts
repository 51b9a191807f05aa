import type { ChangeFreeze, CreateFreeze, Static } from '@slipway/contracts'
import {
  eventMessage,
  int8,
  LOCK_KEYS,
  notEndedAt,
  type Records,
  statement,
  type Transaction,
  uuid,
} from '@slipway/database'
import { type FreezeRow, freezeItem } from '@slipway/database/read-models'
import { conflict, endOfRecurrence, offsetOf, validationProblem } from '@slipway/domain'
import { requireMayTouch } from '../callers/require-may.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Check, HandlersOf } from '../handler.ts'
import { changesOf, orNull, pickGiven } from '../records/changes.ts'
import { type Change, type Creation, recordHandlers } from '../records/handlers.ts'
import { recordKind } from '../records/kind.ts'
import { keyOfName, OF_TENANT } from '../records/names.ts'
import { SHARED } from '../records/ownership.ts'
import type { References } from '../records/references.ts'
import { tableOf } from '../records/table.ts'
import { windowProblems } from './window-times.ts'

const LIVE = notEndedAt('now()')

/** A separate statement, because a statement that waits for the lock has an older snapshot. */
const lockFreezes = statement({
  name: 'gateway.freezes.lock',
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.freezes})`,
})

/** The number of freezes of the same tenant that have not ended; 0 if this freeze has ended. */
const countBeside = statement({
  name: 'gateway.freezes.count-beside',
  parameters: { id: uuid },
  row: { count: int8 },
  sql: `SELECT count(*) AS count
      FROM (SELECT tenant_id FROM freezes WHERE ${LIVE}) others
      JOIN (SELECT tenant_id FROM freezes WHERE ${LIVE} AND id = :id) written
        ON others.tenant_id IS NOT DISTINCT FROM written.tenant_id`,
})

const checkTimes: Check = ({ start_time, end_time, recurrence, time_zone }) =>
  windowProblems(
    { start_time, end_time, recurrence, time_zone },
    typeof start_time === 'string' ? offsetOf(start_time) : null,
  )

const SCOPE = { tenant_id: 'tenant', environment_id: 'environment', solution_id: 'solution' } as const

const FREEZE = recordKind({
  name: 'freeze',
  resource: 'freezes',
  table: tableOf('freeze', {}),
  owner: SHARED,
  uniqueName: OF_TENANT,
})

type FreezeOperation = `${'create' | 'get' | 'update' | 'delete'}Freeze` | 'listFreezes'

export function freezeHandlers(dependencies: Dependencies): HandlersOf<FreezeOperation> {
  const { freezesPerTenant } = dependencies
  const handlers = recordHandlers(dependencies, FREEZE, {
    show: (rows) => rows.map(freezeItem),
    check: checkTimes,
    references: SCOPE,
    async create({ tx, caller, id, tenant_id, body, references }: Creation<Static<typeof CreateFreeze>>) {
      // A freeze without tenant may be limited to an environment or a solution of any tenant.
      if (tenant_id !== null) references.requireFit(tenant_id)
      const { name, recurrence = null, time_zone = null } = body
      const environment_id = references.id('/environment_id')
      const solution_id = references.id('/solution_id')
      await requireMayTouch(tx, caller, 'freezes:create', { kind: 'freeze', environment_id, solution_id })
      const [start_time, end_time] = [new Date(body.start_time), new Date(body.end_time)]
      const times = { start_time, end_time, recurrence, time_zone, start_offset: offsetOf(body.start_time) }
      return {
        columns: {
          id,
          name,
          ...keyOfName(body),
          ...orNull(body, ['description', 'managed_by']),
          ...times,
          recurs_until: recursUntil(times),
          tenant_id,
          environment_id,
          solution_id,
          created_by: caller.username,
        },
        details: { name, start_time, end_time, recurrence, time_zone, environment_id, solution_id },
        afterwards: () => requireRoom(tx, id, freezesPerTenant),
      }
    },
    async update({
      tx,
      prisma,
      caller,
      old,
      tenant_id,
      body,
      references,
    }: Change<FreezeRow, Static<typeof ChangeFreeze>>) {
      const fields = { ...changedFields(body, references), tenant_id }
      const freeze = { ...old, ...fields }
      for (const { environment_id, solution_id } of [old, freeze]) {
        await requireMayTouch(tx, caller, 'freezes:update', { kind: 'freeze', environment_id, solution_id })
      }
      const changesTimes = TIME_FIELDS.some((field) => fields[field] !== undefined)
      // A later release may refuse times that an earlier one accepted. Such a freeze can still be renamed.
      const problems = changesTimes ? windowProblems(freeze, freeze.start_offset) : []
      if (problems.length > 0) throw validationProblem(problems)
      await requireFittingScope(prisma, freeze)
      const { start_offset: _, ...audited } = fields
      return {
        columns: { ...fields, ...keyOfName(body), ...(changesTimes ? { recurs_until: recursUntil(freeze) } : {}) },
        details: { changes: changesOf(old, audited) },
        async afterwards() {
          if (changesTimes || body.tenant_id !== undefined) await requireRoom(tx, old.id, freezesPerTenant)
        },
      }
    },
    async beforeDelete({ tx, caller, old: { environment_id, solution_id } }) {
      await requireMayTouch(tx, caller, 'freezes:delete', { kind: 'freeze', environment_id, solution_id })
    },
    deleted: ({ name }) => ({ name }),
    event: (change, freeze_id, tenants) => eventMessage(`freeze.${change}`, { freeze_id, ...tenants }),
  })
  return {
    listFreezes: handlers.list,
    createFreeze: handlers.create,
    getFreeze: handlers.get,
    updateFreeze: handlers.update,
    deleteFreeze: handlers.delete,
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
async function requireRoom(tx: Transaction, id: string, limit: number): Promise<void> {
  if (!tx.isRehearsal) await lockFreezes.run(tx)
  const { count } = await countBeside.one(tx, { id })
  if (count <= limit) return
  throw conflict(
    `There are ${limit} freezes that have not ended, the most that a tenant may have; delete one or let one end`,
    { limit },
  )
}

function changedFields(body: Static<typeof ChangeFreeze>, references: References): Partial<FreezeRow> {
  const { start_time, end_time } = body
  return {
    ...pickGiven(body, ['name', 'description', 'managed_by', 'recurrence', 'time_zone']),
    ...(start_time === undefined ? {} : { start_time: new Date(start_time), start_offset: offsetOf(start_time) }),
    ...(end_time === undefined ? {} : { end_time: new Date(end_time) }),
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
