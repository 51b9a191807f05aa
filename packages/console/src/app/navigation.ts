/** What stands in the menu and in the command palette, in this order. Who lacks the permission does not see it. */
export const SCREENS = [
  { path: '/', label: 'Now', permission: 'deployments:read' },
  { path: '/deployments', label: 'Deployments', permission: 'deployments:read' },
  { path: '/deploy', label: 'Deploy', permission: 'deployments:create' },
  { path: '/queue', label: 'Queue', permission: 'deployments:read' },
  { path: '/targets', label: 'Targets', permission: 'targets:read' },
  { path: '/sources', label: 'Sources', permission: 'actions:read' },
  { path: '/freezes', label: 'Freezes', permission: 'freezes:read' },
  { path: '/environments', label: 'Environments', permission: 'environments:read' },
  { path: '/tenants', label: 'Tenants', permission: 'tenants:read' },
  { path: '/instances', label: 'Instances', permission: 'instances:read' },
  { path: '/webhooks', label: 'Webhooks', permission: 'webhooks:read' },
  { path: '/audit', label: 'Audit', permission: 'audit:read' },
  { path: '/users', label: 'Users', permission: 'users:read' },
  { path: '/roles', label: 'Roles', permission: 'roles:read' },
  { path: '/account', label: 'Account', permission: null },
] as const

export type ScreenPath = (typeof SCREENS)[number]['path']
