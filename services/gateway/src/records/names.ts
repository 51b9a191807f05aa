import { nullable, type Queryable, type Statement, statement, text, uuid } from '@slipway/database'
import { nameKey } from '@slipway/domain'

/** The column with the key of a name; empty if the body has no name. */
export const keyOfName = ({ name }: { name?: string | undefined }): { name_key?: string } =>
  name === undefined ? {} : { name_key: nameKey(name) }

export const SAME_NAME = 'names that differ only in case, composition or invisible characters are the same name'

const NAMED = {
  parameters: { name: text, key: text, tenant_id: nullable(uuid), except: nullable(uuid) },
  row: { id: uuid, name: text },
}
export type FindNamed = Statement<(typeof NAMED)['parameters'], (typeof NAMED)['row']>

/** `scope` is the SQL condition for records among which a name is unique. */
export const OF_TENANT = 'tenant_id IS NOT DISTINCT FROM :tenant_id::uuid'
export const OF_INSTALLATION = ':tenant_id::uuid IS NULL'

/** The record whose name is in the way, the one with exactly this name first. Not the record `except` itself. */
export const findNamed = (name: string, table: string, scope: string): FindNamed =>
  statement({
    name,
    ...NAMED,
    sql: `SELECT id, name FROM ${table}
       WHERE (name = :name OR name_key = :key) AND ${scope} AND (:except::uuid IS NULL OR id <> :except)
       ORDER BY name = :name DESC LIMIT 1`,
  })

export interface WantedName {
  name: string
  /** The tenant that the record belongs to; null if the name is unique in the installation. */
  tenant_id: string | null
  /** The record that gets the name. */
  id: string
}

interface Named {
  /** As messages name the kind of record. */
  name: string
  named: FindNamed | null
}

/** Says which record has the name already; null if none has. It is visible to whoever may write the other record. */
export async function findTakenName(
  db: Queryable,
  kind: Named,
  { name, tenant_id, id }: WantedName,
): Promise<string | null> {
  const found = await kind.named?.first(db, { name, key: nameKey(name), tenant_id, except: id })
  if (!found) return null
  return `${alreadyNamed(kind, found.name)} (${found.id})${found.name === name ? '' : `: ${SAME_NAME}`}`
}

/** For a write that failed because the name is taken. The other record may be gone by now. */
export const describeTakenName = async (db: Queryable, kind: Named, wanted: WantedName): Promise<string> =>
  (await findTakenName(db, kind, wanted)) ?? alreadyNamed(kind, wanted.name)

const alreadyNamed = ({ name: kind }: Named, name: string) =>
  `There is already ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind} named "${name}"`
