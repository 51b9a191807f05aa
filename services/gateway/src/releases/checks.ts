import { array, int8, nullable, statement, text, uuid } from '@slipway/database'
import { isoTime, ownSql } from '@slipway/database/read-models'
import { mayEverywhere, validationProblem } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import { messageCaller } from '../callers/calling-user.ts'
import { requireMayTouch } from '../callers/require-may.ts'
import type { Dependencies } from '../dependencies.ts'
import { sendRecordedCommand } from '../deployments/recorded-command.ts'
import { findTouchedByChecks } from '../deployments/touched.sql.ts'
import type { Call } from '../handler.ts'
import { ofSourceSql, sourceColumns } from '../records/filters.sql.ts'
import { SOURCE_FIELDS, sourceFilter } from '../records/filters.ts'
import { fieldReferences, type Reference, References } from '../records/references.ts'

/** How many releases in force of a source, on these targets, have a check, and how many have none. */
const countCheckable = statement({
  name: 'gateway.releases.count-checkable',
  parameters: { tenant_id: nullable(uuid), ...sourceColumns, target_ids: nullable(array(uuid)) },
  row: { requested_at: text, total: int8, unchecked: int8 },
  sql: `SELECT ${isoTime('now()')} AS requested_at,
           count(*) FILTER (WHERE k.deployment_id IS NOT NULL) AS total,
           count(*) FILTER (WHERE k.deployment_id IS NULL) AS unchecked
      FROM release_heads h
      JOIN releases r ON r.deployment_id = h.current_deployment_id AND r.target_id = h.target_id AND ${ownSql('r')}
      LEFT JOIN release_checks k ON k.target_id = h.target_id AND k.source_id = h.source_id
     WHERE ${ofSourceSql('r')} AND (:target_ids::uuid[] IS NULL OR h.target_id = ANY (:target_ids))`,
})

/** Asks for checks of a source, of targets, or of a source on targets. The checks run as soon as a slot is free. */
export async function checkReleases(dependencies: Dependencies, call: Call<'checkReleases'>): Promise<Answer> {
  const { database } = dependencies
  const { caller, body } = call
  const { target_ids } = body
  const given = sourceFilter(body, '')
  if (given?.of_source_kind === null && target_ids === undefined) {
    const message = 'give a source or targets: without both, everything would be checked'
    throw validationProblem([{ path: '/target_ids', message }])
  }
  const references = await References.resolve(database, caller, [
    ...fieldReferences(body, SOURCE_FIELDS),
    ...(target_ids ?? []).map((id, index): Reference => ({ path: `/target_ids/${index}`, kind: 'target', id })),
  ])
  const source_id =
    Object.keys(SOURCE_FIELDS)
      .map((field) => references.id(`/${field}`))
      .find((id) => id !== null) ?? null
  const ids = target_ids?.flatMap((_, index) => references.id(`/target_ids/${index}`) ?? []) ?? null
  const chosen = {
    tenant_id: caller.tenant_id,
    of_source_kind: given?.of_source_kind ?? null,
    of_source: source_id,
    of_source_number: null,
    target_ids: ids,
  }
  if (!mayEverywhere(caller, 'deployments:create')) {
    for (const { environment_id, source_type, source_id } of await findTouchedByChecks.all(database, chosen)) {
      await requireMayTouch(database, caller, 'deployments:create', {
        kind: 'deployment',
        environment_ids: environment_id === null ? [] : [environment_id],
        source: { type: source_type, id: source_id },
      })
    }
  }
  const counted = await countCheckable.one(database, chosen)
  await sendRecordedCommand(
    dependencies,
    call,
    { resource_id: source_id ?? ids?.[0] ?? null, tenant_id: caller.tenant_id },
    { type: 'release.check', body: { caller: messageCaller(caller), source_id, target_ids: ids }, done: {} },
  )
  return { status: 202, body: counted }
}
