import type { ChangeEnvironment, CreateEnvironment, Static } from '@slipway/contracts'
import { shownSelector, shownVariables } from '@slipway/database/read-models'
import { encodeSqid } from '@slipway/domain'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { orNull, pickGiven } from '../records/changes.ts'
import { type Change, type Creation, recordHandlers } from '../records/handlers.ts'
import { type RecordOf, recordKind } from '../records/kind.ts'
import { OF_TENANT } from '../records/names.ts'
import { SHARED } from '../records/ownership.ts'
import { tableOf } from '../records/table.ts'
import { refers, requireUnused } from '../records/uses.ts'
import { changedValues, newValues } from './values.ts'
import { valueProblems } from './variable-rules.ts'

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
  ],
})

/** Stored and shown as they are given. */
const FIELDS = ['description', 'concurrency', 'managed_by'] as const

type EnvironmentRow = RecordOf<typeof ENVIRONMENT>
type EnvironmentOperation = `${'create' | 'get' | 'update' | 'delete'}Environment` | 'listEnvironments'

export function environmentHandlers(dependencies: Dependencies): HandlersOf<EnvironmentOperation> {
  const { keys } = dependencies

  function toRecord(row: EnvironmentRow) {
    const { id, number, name, description, tenant_id, concurrency, managed_by, created_at, updated_at } = row
    return {
      id,
      sqid: encodeSqid('environment', number),
      name,
      description,
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
    show: (rows) => rows.map(toRecord),
    check: ({ variables }) => valueProblems(variables, 'variables'),
    references: { tenant_id: 'tenant' },
    create: async ({ id, tenant_id, body }: Creation<Static<typeof CreateEnvironment>>) => ({
      columns: { id, tenant_id, name: body.name, ...orNull(body, FIELDS), ...newValues(keys, 'environment', id, body) },
      details: { name: body.name },
    }),
    async update({ tx, old, tenant_id, body }: Change<EnvironmentRow, Static<typeof ChangeEnvironment>>) {
      // The users of a shared environment may belong to other tenants.
      if (tenant_id !== old.tenant_id && tenant_id !== null) await requireUnused(tx, ENVIRONMENT, old.id)
      return changedValues(keys, 'environment', old, body, { ...pickGiven(body, ['name', ...FIELDS]), tenant_id })
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
