import type { Queryable } from '@slipway/database'
import { nameKey } from '@slipway/domain'
import { NAMES } from './taken-names.sql.ts'

/** The column with the key of a name; empty if the body has no name. */
export const keyOfName = ({ name }: { name?: string | undefined }): { name_key?: string } =>
  name === undefined ? {} : { name_key: nameKey(name) }

export interface WantedName {
  name: string
  /** The tenant that the record belongs to. Without it, the name is unique in the installation. */
  tenant_id?: string | null
  /** The record that gets the name, if it exists. */
  id?: string | undefined
}

type NamedKind = keyof typeof NAMES

/** Says which record has the name already; null if none has. It is visible to whoever may write the other record. */
export async function findTakenName(
  db: Queryable,
  kind: NamedKind,
  { name, tenant_id = null, id }: WantedName,
): Promise<string | null> {
  const found = await NAMES[kind].first(db, { name, key: nameKey(name), tenant_id, except: id ?? null })
  return found && `${alreadyNamed(kind, found.name)} (${found.id})${found.name === name ? '' : `: ${SAME_NAME}`}`
}

/** For a write that failed because the name is taken. The other record may be gone by now. */
export const describeTakenName = async (db: Queryable, kind: NamedKind, wanted: WantedName): Promise<string> =>
  (await findTakenName(db, kind, wanted)) ?? alreadyNamed(kind, wanted.name)

const alreadyNamed = (kind: NamedKind, name: string) =>
  `There is already ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind} named "${name}"`

export const SAME_NAME = 'names that differ only in case, composition or invisible characters are the same name'
