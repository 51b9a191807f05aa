/**
 * What stands in the menu and in the command palette, in this order. Who lacks the permission does not see it. `key` is
 * the key that goes there after g.
 */
export const SCREENS = [
  { path: '/', label: 'Now', group: 'Operate', key: 'n', permission: 'deployments:read' },
  { path: '/deployments', label: 'Deployments', group: 'Operate', key: 'd', permission: 'deployments:read' },
  { path: '/deploy', label: 'Deploy', group: 'Operate', key: 'c', permission: 'deployments:create' },
  { path: '/queue', label: 'Queue', group: 'Operate', key: 'q', permission: 'deployments:read' },
  { path: '/targets', label: 'Targets', group: 'Catalog', key: 't', permission: 'targets:read' },
  { path: '/matrix', label: 'Matrix', group: 'Catalog', key: 'x', permission: 'deployments:read' },
  { path: '/sources', label: 'Sources', group: 'Catalog', key: 's', permission: 'actions:read' },
  { path: '/freezes', label: 'Freezes', group: 'Catalog', key: 'f', permission: 'freezes:read' },
  { path: '/environments', label: 'Environments', group: 'Catalog', key: 'e', permission: 'environments:read' },
  { path: '/tenants', label: 'Tenants', group: 'Catalog', key: 'm', permission: 'tenants:read' },
  { path: '/instances', label: 'Instances', group: 'Administration', key: 'i', permission: 'instances:read' },
  { path: '/webhooks', label: 'Webhooks', group: 'Administration', key: 'w', permission: 'webhooks:read' },
  { path: '/audit', label: 'Audit', group: 'Administration', key: 'a', permission: 'audit:read' },
  { path: '/users', label: 'Users', group: 'Administration', key: 'u', permission: 'users:read' },
  { path: '/roles', label: 'Roles', group: 'Administration', key: 'r', permission: 'roles:read' },
  { path: '/account', label: 'Account', group: 'Administration', key: 'p', permission: null },
] as const

export type Screen = (typeof SCREENS)[number]

export const visibleScreens = (can: (permission: string) => boolean): Screen[] =>
  SCREENS.filter(({ permission }) => permission === null || can(permission))
