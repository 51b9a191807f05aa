import type { Input } from '@slipway/client'

export type AuditQuery = NonNullable<Input<'listAuditLogs'>['query']>
type Action = NonNullable<AuditQuery['action']>

/** The actions of the audit log: what they are about, and what was done. */
const VERBS = {
  action: ['create', 'update', 'publish', 'delete'],
  api_key: ['create', 'delete'],
  auth: [
    'login',
    'token_exchange',
    'cli_token',
    'verify_2fa',
    'refresh',
    'logout',
    'change_password',
    'setup_2fa',
    'enable_2fa',
    'disable_2fa',
  ],
  content: ['create'],
  deployment: ['create', 'redeploy', 'cancel', 'preview'],
  environment: ['create', 'update', 'delete'],
  freeze: ['create', 'update', 'delete'],
  instance: ['join', 'update', 'delete'],
  instance_grant: ['create', 'delete'],
  pending_request: ['update', 'approve', 'reject', 'cancel', 'supersede'],
  release: ['check'],
  role: ['create', 'update', 'delete'],
  sequence: ['create', 'update', 'publish', 'delete'],
  session: ['delete'],
  solution: ['create', 'update', 'publish', 'delete'],
  target: ['create', 'update', 'delete', 'create_agent_token', 'revoke_agent'],
  tenant: ['create', 'update', 'delete'],
  trust: ['create', 'delete'],
  user: ['create', 'update', 'delete'],
  webhook: ['create', 'update', 'delete', 'redeliver'],
} as const

type Verbs = typeof VERBS
type Listed = { [K in keyof Verbs]: `${K}.${Verbs[K][number]}` }[keyof Verbs]
type Group = { group: string; items: Action[] }

/** For a choice. The compiler refuses this when the API has an action that is not listed, or lacks one that is. */
export const ACTION_GROUPS: Exclude<Action, Listed> extends never ? readonly Group[] : never = Object.entries(
  VERBS,
).map(([group, verbs]) => ({ group, items: verbs.map((verb) => `${group}.${verb}` as Listed) }))

type ResourceType = NonNullable<AuditQuery['resource_type']>

const RESOURCE_LABELS: Record<ResourceType, true> = {
  action: true,
  api_key: true,
  content: true,
  deployment: true,
  environment: true,
  freeze: true,
  instance: true,
  instance_grant: true,
  pending_request: true,
  release: true,
  role: true,
  sequence: true,
  session: true,
  solution: true,
  target: true,
  tenant: true,
  trust: true,
  user: true,
  webhook: true,
}

export const RESOURCE_TYPES = Object.keys(RESOURCE_LABELS) as ResourceType[]
