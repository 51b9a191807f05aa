import type { Queryable } from '@slipway/database'
import { mask, type VariableValues } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import { type Viewer, visibleSql } from '../tenancy/visibility.ts'

type Owner = 'target' | 'tenant' | 'environment'

const identity = (owner: Owner, id: string) => `${owner}:${id}:variables`

/** Seals the variables of a record as one whole: which of them are secret is known only where they are used. */
export function sealVariables(
  keys: KeyRing,
  owner: Owner,
  id: string,
  values: VariableValues | undefined,
): string | null {
  if (values === undefined || Object.keys(values).length === 0) return null
  return keys.seal(JSON.stringify(values), identity(owner, id))
}

export interface SealedRecord {
  id: string
  variables_sealed: string | null
}

/** The variables of records as an answer shows them, by record id: with the values of sensitive names masked. */
export async function shownVariables(
  { db, keys, viewer }: { db: Queryable; keys: KeyRing; viewer: Viewer },
  owner: Owner,
  records: SealedRecord[],
): Promise<(record: SealedRecord) => VariableValues> {
  const hasAny = records.some(({ variables_sealed }) => variables_sealed !== null)
  const sensitive = hasAny ? await sensitiveNames(db, viewer) : []
  return ({ id, variables_sealed }) => {
    if (variables_sealed === null) return {}
    return mask(JSON.parse(keys.openText(variables_sealed, identity(owner, id))) as VariableValues, sensitive)
  }
}

/** Every name that some source which the viewer sees declares sensitive. */
export async function sensitiveNames(db: Queryable, viewer: Viewer): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT DISTINCT variable ->> 'name' AS name
     FROM source_versions v JOIN sources s ON s.id = v.source_id,
       LATERAL jsonb_array_elements(v.definition -> 'variables') variable
     WHERE variable -> 'sensitive' = 'true' AND ${visibleSql('s', 1)}`,
    [viewer.tenant_id],
  )
  return rows.map(({ name }) => name)
}
