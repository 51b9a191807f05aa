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
 * `targets:local`: make a target local, or change the instance selector of a local target. Its commands then run on the machine of the orchestration instance. The permission has no
 * effect for users of a tenant. `deployments:override`: override freezes and rules of environments, for users with the role admin.
 * `deployments:approve`: approve and reject pending requests.
 */
const SPECIAL = ['deployments:approve', 'deployments:cancel', 'deployments:override', 'targets:local'] as const

export type Permission = `${Resource}:${(typeof READ_CREATE_UPDATE_DELETE)[number]}` | (typeof SPECIAL)[number]

/** All permissions. The scopes of API keys have the same names. */
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

/** The role of administrators. Overriding freezes needs this role, too. */
export const ADMIN_ROLE = 'admin'

/** Roles of every installation. They cannot be changed. */
export const BUILT_IN_ROLES = {
  admin: { description: 'May do everything', permissions: PERMISSIONS },
  operator: {
    description: 'Deploys, and manages targets, sources, content and freezes',
    permissions: [...reading, ...operating].sort() as Permission[],
  },
  user: { description: 'Reads, and changes nothing', permissions: reading },
} as const satisfies Record<string, { description: string; permissions: readonly Permission[] }>
