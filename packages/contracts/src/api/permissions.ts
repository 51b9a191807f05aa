const READ_CREATE_UPDATE_DELETE = ['read', 'create', 'update', 'delete'] as const

export const RESOURCES = [
  'deployments',
  'actions',
  'sequences',
  'solutions',
  'targets',
  'environments',
  'tenants',
  'tags',
  'freezes',
  'users',
  'roles',
  'audit',
  'instances',
  'content',
  'webhooks',
] as const

export type Resource = (typeof RESOURCES)[number]
/**
 * `targets:local`: make a target local, so that its commands run on the machine of the orchestration instance. It has
 * no effect for users of a tenant.
 */
const SPECIAL = ['deployments:cancel', 'targets:local'] as const

export type Permission = `${Resource}:${(typeof READ_CREATE_UPDATE_DELETE)[number]}` | (typeof SPECIAL)[number]

/** Every permission there is; scopes of API keys are named alike. */
export const PERMISSIONS: readonly Permission[] = [
  ...RESOURCES.flatMap((resource) => READ_CREATE_UPDATE_DELETE.map((action) => `${resource}:${action}` as const)),
  ...SPECIAL,
].sort() as Permission[]

const reading = PERMISSIONS.filter((p) => p.endsWith(':read') && !/^(users|roles|audit):/.test(p))
const operating = PERMISSIONS.filter(
  (p) =>
    p === 'deployments:create' ||
    p === 'deployments:cancel' ||
    /^(targets|actions|sequences|solutions|content|freezes):(create|update|delete)$/.test(p),
)

/** The role of those who administer; overriding freezes needs it too. */
export const ADMIN_ROLE = 'admin'

/** Roles that every installation has and nobody can change. */
export const BUILT_IN_ROLES = {
  admin: { description: 'May do everything', permissions: PERMISSIONS },
  operator: {
    description: 'Deploys, and keeps targets, sources, content and freezes',
    permissions: [...reading, ...operating].sort() as Permission[],
  },
  user: { description: 'Looks, and changes nothing', permissions: reading },
} as const satisfies Record<string, { description: string; permissions: readonly Permission[] }>
