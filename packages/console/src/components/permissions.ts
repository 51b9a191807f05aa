import type { Schema } from '@slipway/client'

export type Permission = Schema<'CreateRole'>['permissions'][number]

const RESOURCES = [
  'deployments',
  'actions',
  'sequences',
  'solutions',
  'content',
  'targets',
  'environments',
  'tenants',
  'tags',
  'freezes',
  'instances',
  'webhooks',
  'users',
  'roles',
  'audit',
] as const
export const ACTIONS = ['read', 'create', 'update', 'delete'] as const
const SPECIAL = ['deployments:cancel', 'deployments:approve', 'deployments:override', 'targets:local'] as const

type Listed = `${(typeof RESOURCES)[number]}:${(typeof ACTIONS)[number]}` | (typeof SPECIAL)[number]

interface Row {
  resource: string
  /** In the order of ACTIONS. */
  permissions: readonly Permission[]
  special: readonly Permission[]
}

/** Every permission of the API by resource. The compiler refuses this when the API has a permission that is not listed. */
export const PERMISSION_ROWS: Exclude<Permission, Listed> extends never ? readonly Row[] : never = RESOURCES.map(
  (resource) => ({
    resource,
    permissions: ACTIONS.map((action) => `${resource}:${action}` as const),
    special: SPECIAL.filter((permission) => permission.startsWith(`${resource}:`)),
  }),
)
