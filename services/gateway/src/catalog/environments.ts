import type { ChangeEnvironment, CreateEnvironment, GivenRules, Static } from '@slipway/contracts'
import { enqueue, eventMessage, type Records, type Transaction } from '@slipway/database'
import { shownSelector, shownVariables } from '@slipway/database/read-models'
import { encodeSqid, NO_INTEGER } from '@slipway/domain'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import type { RecordOrder } from '../pages.ts'
import { changesOf, orNull, pickGiven } from '../records/changes.ts'
import { type Change, type Creation, type Preparation, recordHandlers } from '../records/handlers.ts'
import { type RecordOf, recordKind } from '../records/kind.ts'
import { OF_TENANT } from '../records/names.ts'
import { SHARED } from '../records/ownership.ts'
import { fieldReferences, type References } from '../records/references.ts'
import { tableOf } from '../records/table.ts'
import { refers, requireUnused, scopesWith } from '../records/uses.ts'
import { ruleProblems, ruleReferences, showRules, storedRules } from './environment-rules.ts'
import { changedValues, newValues } from './values.ts'
import { valueProblems } from './variable-rules.ts'

type Rules = Static<typeof GivenRules> | undefined

async function prepare<Body extends { tenant_id?: unknown; rules?: Rules }>(
  body: Body,
  resolve: Preparation['resolve'],
) {
  const named = [...fieldReferences(body, { tenant_id: 'tenant' }), ...ruleReferences(body.rules)]
  return { body, references: await resolve(named) }
}

/** Empty columns if the body says nothing of rules. */
async function changedRules(prisma: Records, given: { id: string; rules: Rules; references: References }) {
  const { rules } = given
  if (rules === undefined) return { columns: {}, stored: {} }
  const stored = await storedRules(prisma, { ...given, rules })
  return { columns: { rules: { ...stored } as object }, stored }
}

/** Requests that wait are judged by the new rules. */
const tellOfRules = async (tx: Transaction, environment_id: string, rules: Rules) => {
  if (rules !== undefined) await enqueue(tx, [eventMessage('rules.changed', { environment_id })])
}

const ENVIRONMENT = recordKind({
  name: 'environment',
  resource: 'environments',
  table: tableOf('environment', {}),
  sqids: 'environment',
  owner: SHARED,
  uniqueName: OF_TENANT,
  usedBy: [
    refers('targets', 'environment_id', 'a target'),
    refers('freezes', 'environment_id', 'a freeze'),
    refers('deployments', 'environment_id', 'a deployment'),
    refers('pending_requests', 'environment_id', 'a request for a deployment'),
    ...scopesWith('environment_ids'),
    `SELECT 'the promotion rule of "' || e.name || '"' AS what FROM environments e
      WHERE e.rules #>> '{promotion,from_environment_id}' = :id::uuid::text`,
  ],
})

/** Stored and shown as they are given. */
const FIELDS = ['description', 'position', 'concurrency', 'managed_by'] as const

type EnvironmentRow = RecordOf<typeof ENVIRONMENT>

/** By position, those without one last, then by name. */
const BY_POSITION: RecordOrder<EnvironmentRow> = {
  list: 'environments',
  sort: 'position',
  kinds: ['maybe-integer', 'text', 'uuid'],
  keyOf: ({ position, name, id }) => [position === null ? NO_INTEGER : `${position}`, name, id],
  orderBy: [{ position: { sort: 'asc', nulls: 'last' } }, { name: 'asc' }, { id: 'asc' }],
  isAfter([place = '', name = '', id = '']) {
    const position = place === NO_INTEGER ? null : Number(place)
    const later = position === null ? [] : [{ position: { gt: position } }, { position: null }]
    return { OR: [...later, { position, name: { gt: name } }, { position, name, id: { gt: id } }] }
  },
}

type EnvironmentOperation = `${'create' | 'get' | 'update' | 'delete'}Environment` | 'listEnvironments'

export function environmentHandlers(dependencies: Dependencies): HandlersOf<EnvironmentOperation> {
  const { keys } = dependencies

  async function show(rows: readonly EnvironmentRow[]) {
    const rules = await showRules(
      await dependencies.database.prisma(),
      rows.map((row) => row.rules),
    )
    return rows.map((row, index) => ({ ...toRecord(row), rules: rules[index] ?? null }))
  }

  function toRecord(row: EnvironmentRow) {
    const { id, number, name, description, position, tenant_id, concurrency, managed_by, created_at, updated_at } = row
    return {
      id,
      sqid: encodeSqid('environment', number),
      name,
      description,
      position,
      tenant_id,
      ...shownVariables(keys, 'environment', row),
      ...shownSelector(row),
      concurrency,
      managed_by,
      created_at,
      updated_at,
    }
  }

  const handlers = recordHandlers(dependencies, ENVIRONMENT, {
    show,
    order: BY_POSITION,
    nullableColumns: ['position'],
    check: ({ variables, rules }) => [...valueProblems(variables, 'variables'), ...ruleProblems(rules)],
    prepareCreate: ({ body, resolve }) => prepare(body as Static<typeof CreateEnvironment>, resolve),
    prepareUpdate: ({ body, resolve }) => prepare(body as Static<typeof ChangeEnvironment>, resolve),
    async create({ tx, prisma, id, tenant_id, body, references }: Creation<Static<typeof CreateEnvironment>>) {
      references.requireFit(tenant_id)
      const { name } = body
      const rules = await changedRules(prisma, { id, rules: body.rules, references })
      return {
        columns: {
          id,
          tenant_id,
          name,
          ...orNull(body, FIELDS),
          ...newValues(keys, 'environment', id, body),
          ...rules.columns,
        },
        details: { name, ...(body.rules ? { rules: rules.stored } : {}) },
        afterwards: () => tellOfRules(tx, id, body.rules),
      }
    },
    async update(change: Change<EnvironmentRow, Static<typeof ChangeEnvironment>>) {
      const { tx, prisma, old, tenant_id, body, references } = change
      references.requireFit(tenant_id)
      // The users of a shared environment may belong to other tenants.
      if (tenant_id !== old.tenant_id && tenant_id !== null) await requireUnused(tx, ENVIRONMENT, old.id)
      const fields = { ...pickGiven(body, ['name', ...FIELDS]), tenant_id }
      const { columns, details } = changedValues(keys, 'environment', old, body, fields)
      const rules = await changedRules(prisma, { id: old.id, rules: body.rules, references })
      const changes = body.rules === undefined ? {} : changesOf({ rules: old.rules }, { rules: rules.stored })
      return {
        columns: { ...columns, ...rules.columns },
        details: { ...details, changes: { ...(details['changes'] as object), ...changes } },
        afterwards: () => tellOfRules(tx, old.id, body.rules),
      }
    },
    deleted: ({ name }) => ({ name }),
  })
  return {
    listEnvironments: handlers.list,
    createEnvironment: handlers.create,
    getEnvironment: handlers.get,
    updateEnvironment: handlers.update,
    deleteEnvironment: handlers.delete,
  }
}
