import { mask, type VariableValues } from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import type { Queryable } from '../database.ts'

export type VariableOwner = 'target' | 'tenant' | 'environment'

export interface SealedRecord {
  id: string
  variables_sealed: string | null
}

/** What sealed variables are bound to: the record that has them. */
export const variablesIdentity = (owner: VariableOwner, id: string) => `${owner}:${id}:variables`

export function openVariables(
  keys: KeyRing,
  owner: VariableOwner,
  { id, variables_sealed }: SealedRecord,
): VariableValues {
  return variables_sealed === null
    ? {}
    : (JSON.parse(keys.openText(variables_sealed, variablesIdentity(owner, id))) as VariableValues)
}

/** Whoever looks, and what is needed to show something: connection and keys. */
export interface Looking {
  db: Queryable
  keys: KeyRing
  viewer: { tenant_id: string | null }
}

/** The variables of records as an answer shows them, by record id: with the values of sensitive names masked. */
export async function shownVariables(
  { db, keys, viewer }: Looking,
  owner: VariableOwner,
  records: SealedRecord[],
): Promise<(record: SealedRecord) => VariableValues> {
  const hasAny = records.some(({ variables_sealed }) => variables_sealed !== null)
  const sensitive = hasAny ? await sensitiveNames(db, viewer) : []
  return (record) => mask(openVariables(keys, owner, record), sensitive)
}

/** Every name that some source which the viewer sees declares sensitive. */
export async function sensitiveNames(db: Queryable, viewer: Looking['viewer']): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT DISTINCT variable ->> 'name' AS name
     FROM source_versions v JOIN sources s ON s.id = v.source_id,
       LATERAL jsonb_array_elements(v.definition -> 'variables') variable
     WHERE variable -> 'sensitive' = 'true'
       AND ($1::uuid IS NULL OR s.tenant_id = $1::uuid OR s.tenant_id IS NULL)`,
    [viewer.tenant_id],
  )
  return rows.map(({ name }) => name)
}
