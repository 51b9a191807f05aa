import { STORY } from '../../story.ts'

interface Parameter {
  description: string
  example: string
}

/** The parameters of paths, besides `id`. */
export const PATH_PARAMETERS: Record<string, Parameter> = {
  resource_type: {
    description: 'One of `deployments`, `pending`, `targets`, `instances`, `freezes`, `releases`',
    example: 'deployments',
  },
  sha256: { description: 'SHA-256 of the content, in hex', example: STORY.content },
  version: { description: 'A full semantic version, for example 1.4.0', example: '1.1.0' },
  trust_id: { description: 'The trust, by UUID', example: STORY.trust },
  key_id: { description: 'The API key, by UUID', example: STORY.apiKey },
  delivery_id: { description: 'The delivery, by UUID', example: STORY.delivery },
}

const RECORDS: Record<string, keyof typeof STORY> = {
  deployments: 'deployment',
  releases: 'deployment',
  actions: 'action',
  sequences: 'sequence',
  solutions: 'solution',
  targets: 'target',
  environments: 'environment',
  tenants: 'tenant',
  freezes: 'freeze',
  webhooks: 'webhook',
  users: 'user',
  roles: 'role',
  instances: 'instance',
}

const LOGIN_PROVIDER: Parameter = { description: 'The id of a provider, from listLoginProviders', example: 'keycloak' }

/** The `id` in the path of an operation. */
export const idOf = ({ tag, path }: { tag: string; path: string }): Parameter =>
  path.startsWith('/auth/oidc/')
    ? LOGIN_PROVIDER
    : { description: 'A UUID, or the SqId of the record if it has one', example: STORY[RECORDS[tag] ?? 'session'] }
