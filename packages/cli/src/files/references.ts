import type { FileKind } from './kinds.ts'
import { type CatalogEntry, promotesFrom } from './load.ts'

/** Where a document names another record. */
export interface NamedReference {
  kind: FileKind
  name: string
  /** JSON Pointer. */
  pointer: string
}

/** Lists the records that a document names. The document may not be valid. */
export function listReferences({ kind, tenant, value }: CatalogEntry): NamedReference[] {
  const found: NamedReference[] = []
  const add = (of: FileKind, name: unknown, pointer: string) => {
    if (typeof name === 'string') found.push({ kind: of, name, pointer })
  }
  if (kind !== 'tenant') add('tenant', tenant, '/tenant')
  if (kind === 'target' || kind === 'freeze') add('environment', value['environment'], '/environment')
  if (kind === 'freeze') add('solution', value['solution'], '/solution')
  if (kind === 'environment') add('environment', promotesFrom(value), '/rules/promotion/from_environment')
  const part = kind === 'sequence' ? 'action' : kind === 'solution' ? 'sequence' : null
  const entries = part === null ? null : fieldOf(value['definition'], `${part}s`)
  if (part === null || !Array.isArray(entries)) return found
  for (const [n, entry] of entries.entries()) add(part, fieldOf(entry, part), `/definition/${part}s/${n}/${part}`)
  return found
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
