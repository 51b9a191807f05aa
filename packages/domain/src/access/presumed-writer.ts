import { type Binding, type KeyLimits, may, type Subject } from './may.ts'
import type { Permission } from './permissions.ts'

const RESOURCES = ['actions', 'sequences', 'solutions', 'targets', 'environments', 'tenants', 'freezes'] as const
const writesOf = (resource: (typeof RESOURCES)[number]) =>
  [`${resource}:create`, `${resource}:update`, `${resource}:delete`] as const
const CATALOG_WRITES = RESOURCES.flatMap(writesOf)

/** What belongs to the right to change a kind of record. */
const COMPANIONS: Partial<Record<(typeof RESOURCES)[number], readonly Permission[]>> = {
  actions: ['content:read', 'content:create'],
  targets: ['targets:local'],
}

/**
 * A subject that may read the catalog and change nothing of it, as if it might change what it reads. Null for other subjects. Only for
 * changes that are rolled back.
 */
export function presumedWriter(subject: Subject): { bindings: Binding[]; key: KeyLimits | null } | null {
  if (CATALOG_WRITES.some((permission) => may(subject, permission).allowed)) return null
  const { bindings, key } = subject
  return {
    bindings: bindings.map((binding) => ({ ...binding, permissions: withWrites(binding.permissions) })),
    key: key && { ...key, scopes: withWrites(key.scopes) },
  }
}

/** An empty list of a key stays empty: it stands for all permissions. */
const withWrites = (permissions: readonly string[]): string[] => [
  ...new Set([
    ...permissions,
    ...RESOURCES.filter((resource) => permissions.includes(`${resource}:read`)).flatMap((resource) => [
      ...writesOf(resource),
      ...(COMPANIONS[resource] ?? []),
    ]),
  ]),
]
