import { LOCK_KEYS, type Prisma } from '@slipway/database'
import { conflict, type SourceType } from '@slipway/domain'

type Kind = SourceType | 'target' | 'environment' | 'tenant'

const UNFINISHED = 'd.completed_at IS NULL'
const WAITING = `p.status IN ('pending', 'processing')`
const carries = (table: string, field: string, what: string) =>
  `SELECT '${what}' AS what WHERE EXISTS (SELECT FROM ${table} r WHERE r.${field} = $1::uuid)`

const inVersionsOf = (kind: SourceType, list: string, field: string) =>
  `SELECT DISTINCT 'the ${kind} "' || s.name || '"' AS what FROM source_versions v JOIN sources s ON s.id = v.source_id
   WHERE s.kind = '${kind}'
     AND v.definition @> jsonb_build_object('${list}', jsonb_build_array(jsonb_build_object('${field}', $1::text)))`

const RUNS_OF_SOURCE = [
  `SELECT 'a deployment that runs' AS what WHERE EXISTS (
     SELECT FROM deployments d WHERE ${UNFINISHED} AND (d.source_id = $1::uuid OR EXISTS (
       SELECT FROM deployment_actions a
       WHERE a.deployment_id = d.id AND (a.action_id = $1::uuid OR a.sequence_id = $1::uuid))))`,
  `SELECT 'a deployment that waits' AS what WHERE EXISTS (
     SELECT FROM pending_requests p WHERE ${WAITING} AND (p.command #>> '{plan,source,id}' = $1::text
       OR p.command #> '{plan,actions}' @> jsonb_build_array(jsonb_build_object('action_id', $1::text))
       OR p.command #> '{plan,actions}' @> jsonb_build_array(jsonb_build_object('sequence_id', $1::text))))`,
]

/** Where a record of each kind can be in use. Each statement gives what uses the record `$1`, in words. */
const USES: Record<Kind, string[]> = {
  action: [inVersionsOf('sequence', 'actions', 'action_id'), ...RUNS_OF_SOURCE],
  sequence: [inVersionsOf('solution', 'sequences', 'sequence_id'), ...RUNS_OF_SOURCE],
  solution: [carries('freezes', 'solution_id', 'a freeze'), ...RUNS_OF_SOURCE],
  target: [
    `SELECT 'a deployment that runs' AS what WHERE EXISTS (
       SELECT FROM deployments d JOIN deployment_targets t ON t.deployment_id = d.id
       WHERE ${UNFINISHED} AND t.target_id = $1::uuid)`,
    `SELECT 'a deployment that waits' AS what WHERE EXISTS (
       SELECT FROM pending_requests p
       WHERE ${WAITING} AND p.command #> '{plan,targets}' @> jsonb_build_array(jsonb_build_object('id', $1::text)))`,
  ],
  environment: [
    carries('targets', 'environment_id', 'a target'),
    carries('freezes', 'environment_id', 'a freeze'),
    carries('deployments', 'environment_id', 'a deployment'),
    carries('pending_requests', 'environment_id', 'a request for a deployment'),
  ],
  tenant: [
    carries('users', 'tenant_id', 'a user'),
    carries('environments', 'tenant_id', 'an environment'),
    carries('targets', 'tenant_id', 'a target'),
    carries('sources', 'tenant_id', 'an action, a sequence or a solution'),
    carries('freezes', 'tenant_id', 'a freeze'),
    carries('webhooks', 'tenant_id', 'a webhook'),
    `SELECT 'an orchestration instance' AS what
      WHERE EXISTS (SELECT FROM instances i WHERE i.tenant_id = $1::uuid AND i.removed_at IS NULL)`,
    carries('deployments', 'tenant_id', 'a deployment'),
    carries('pending_requests', 'tenant_id', 'a request for a deployment'),
  ],
}

const NAMED = 5

/**
 * Call it with the record locked. A finished deployment does not use its source and targets, of which it keeps the names;
 * a tenant or an environment is in use as long as any record carries it.
 * @throws Problem CONFLICT that says what uses the record
 */
export async function requireUnused(tx: Prisma.TransactionClient, kind: Kind, id: string): Promise<void> {
  const rows = await tx.$queryRawUnsafe<{ what: string }[]>(USES[kind].join(' UNION ALL '), id)
  if (rows.length === 0) return
  const users = rows.map(({ what }) => what)
  const named = users.slice(0, NAMED).join(', ')
  const more = users.length > NAMED ? ` and ${users.length - NAMED} more` : ''
  throw conflict(`The ${kind} is in use by ${named}${more}`)
}

/**
 * Publishing a version and deleting a source exclude each other, so that no version is published of what is just being
 * deleted: what a version is made of stands in its definition, where no foreign key looks.
 */
export async function lockComposition(tx: Prisma.TransactionClient, mode: 'publish' | 'delete'): Promise<void> {
  const lock = mode === 'publish' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock'
  await tx.$executeRawUnsafe(`SELECT ${lock}(${LOCK_KEYS.composition})`)
}

/** @throws Problem CONFLICT when one of these sources, which were there a moment ago, has been deleted */
export async function requireStillThere(tx: Prisma.TransactionClient, sourceIds: readonly string[]): Promise<void> {
  const ids = [...new Set(sourceIds)]
  const there = await tx.source.count({ where: { id: { in: ids } } })
  if (there < ids.length) throw conflict('A source that the definition is made of has just been deleted')
}
