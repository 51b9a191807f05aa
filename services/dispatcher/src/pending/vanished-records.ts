import { array, nullable, oneOf, type Queryable, rowSet, statement, text, uuid } from '@slipway/database'
import type { Plan } from '@slipway/domain'
import type { ClaimedRequest } from './status.ts'

/** The records that still exist. Targets must also be enabled. */
const findPresent = statement({
  name: 'dispatcher.records.present',
  parameters: {
    versions: rowSet({ id: uuid, version: text }),
    target_ids: array(uuid),
    tenant_ids: array(uuid),
    environment_ids: array(uuid),
  },
  row: { kind: oneOf('text', ['source', 'target', 'tenant', 'environment']), id: uuid, version: nullable(text) },
  sql: `SELECT 'source' AS kind, v.source_id AS id, v.version
      FROM source_versions v
      JOIN :versions AS requested
        ON requested.id = v.source_id AND requested.version = v.version
    UNION ALL SELECT 'target', id, NULL FROM targets WHERE id = ANY (:target_ids::uuid[]) AND enabled
    UNION ALL SELECT 'tenant', id, NULL FROM tenants WHERE id = ANY (:tenant_ids::uuid[])
    UNION ALL SELECT 'environment', id, NULL FROM environments WHERE id = ANY (:environment_ids::uuid[])`,
})

/** A record that a plan uses. */
interface UsedRecord {
  kind: 'source' | 'target' | 'tenant' | 'environment'
  id: string
  /** Only sources have one. */
  version?: string
  /** The name of the record for the caller. */
  label: string
}

/**
 * Reasons why requests can no longer be dispatched, by id. The records of a plan may have been deleted or disabled since
 * planning.
 */
export async function vanishedRecords(
  tx: Queryable,
  requests: readonly ClaimedRequest[],
): Promise<Map<string, string>> {
  const used = requests.map(({ id, command }) => ({ id, records: recordsOf(command.plan) }))
  // Pending requests often share source and targets, so each record is looked up once.
  const requested = [...new Map(used.flatMap(({ records }) => records).map((each) => [keyOf(each), each])).values()]
  const ofKind = (kind: UsedRecord['kind']) => requested.filter((each) => each.kind === kind)
  const idsOf = (kind: UsedRecord['kind']) => ofKind(kind).map(({ id }) => id)
  const found = await findPresent.all(tx, {
    versions: ofKind('source').map(({ id, version = '' }) => ({ id, version })),
    target_ids: idsOf('target'),
    tenant_ids: idsOf('tenant'),
    environment_ids: idsOf('environment'),
  })
  const present = new Set(found.map(keyOf))
  return new Map(
    used.flatMap(({ id, records }): [string, string][] => {
      const gone = records.filter((each) => !present.has(keyOf(each))).map(({ label }) => label)
      return gone.length === 0 ? [] : [[id, sentence([...new Set(gone)].sort())]]
    }),
  )
}

const keyOf = ({ kind, id, version }: { kind: string; id: string; version?: string | null }) =>
  `${kind} ${id} ${version ?? ''}`

function recordsOf({ source, actions, targets, tenant, environment }: Plan): UsedRecord[] {
  const { type, id, name, version } = source
  return [
    { kind: 'source', id, version, label: `${type} "${name}" ${version}` },
    ...actions.map(({ action_id, action_name, action_version }): UsedRecord => {
      const label = `action "${action_name}" ${action_version}`
      return { kind: 'source', id: action_id, version: action_version, label }
    }),
    ...targets.map((target): UsedRecord => ({ kind: 'target', id: target.id, label: `target "${target.name}"` })),
    ...(tenant ? [{ kind: 'tenant' as const, id: tenant.id, label: `tenant "${tenant.name}"` }] : []),
    ...(environment
      ? [{ kind: 'environment' as const, id: environment.id, label: `environment "${environment.name}"` }]
      : []),
  ]
}

const NAMED = 5

function sentence(gone: string[]): string {
  const named = gone.slice(0, NAMED).join(', ')
  const more = gone.length > NAMED ? ` and ${gone.length - NAMED} more` : ''
  return `Since the request was queued these were deleted or disabled: ${named}${more}`
}
