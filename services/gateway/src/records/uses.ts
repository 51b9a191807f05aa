import { type Queryable, type Statement, statement, text, uuid } from '@slipway/database'
import { conflict } from '@slipway/domain'

const SHOWN = 5

const USED = { parameters: { id: uuid }, row: { what: text } }
export type FindUses = Statement<(typeof USED)['parameters'], (typeof USED)['row']>

/** SQL: a user of the record, if a row of this table refers to the record. */
export const refers = (table: string, field: string, what: string) =>
  `SELECT '${what}' AS what WHERE EXISTS (SELECT FROM ${table} r WHERE r.${field} = :id::uuid)`

/** SQL: the roles of users and the API keys whose scope names the record. */
export const scopesWith = (list: 'environment_ids' | 'solution_ids') => [
  `SELECT 'a role of a user' AS what WHERE EXISTS (SELECT FROM role_bindings b WHERE :id::uuid = ANY (b.${list}))`,
  `SELECT 'an API key' AS what WHERE EXISTS (SELECT FROM api_keys k WHERE :id::uuid = ANY (k.${list}))`,
]

/** SQL: whether the pending request `p` waits. */
export const WAITS = `p.status IN ('pending', 'processing')`

/** The statement that names what uses a record. Each place is SQL with the column `what`. */
export const findUses = (name: string, places: readonly string[]): FindUses =>
  statement({ name, ...USED, sql: places.join('\n UNION ALL\n ') })

/**
 * Call this with the record locked. A finished deployment does not use its source and targets, because it stores their names. It
 * does use its tenant and environment.
 * @throws Problem CONFLICT that names what uses the record
 */
export async function requireUnused(
  tx: Queryable,
  kind: { name: string; uses: FindUses | null },
  id: string,
): Promise<void> {
  const uses = (await kind.uses?.all(tx, { id }))?.map(({ what }) => what) ?? []
  if (uses.length === 0) return
  const more = uses.length > SHOWN ? ` and ${uses.length - SHOWN} more` : ''
  throw conflict(`The ${kind.name} is in use by ${uses.slice(0, SHOWN).join(', ')}${more}`)
}
