import { administrationOperations } from './operations/administration.ts'
import { auditOperations } from './operations/audit.ts'
import { authenticationOperations } from './operations/authentication.ts'
import { contentOperations } from './operations/content.ts'
import { deploymentOperations } from './operations/deployments.ts'
import { freezeOperations } from './operations/freezes.ts'
import { oidcOperations } from './operations/oidc.ts'
import type { Operation } from './operations/operation.ts'
import { overviewOperations } from './operations/overview.ts'
import { releaseOperations } from './operations/releases.ts'
import { serviceOperations } from './operations/service.ts'
import { sourceOperations } from './operations/sources.ts'
import { streamOperations } from './operations/streams.ts'
import { targetOperations } from './operations/targets.ts'
import { tokenOperations } from './operations/tokens.ts'
import { webhookOperations } from './operations/webhooks.ts'

export type { Access, Operation } from './operations/operation.ts'

const operations = {
  ...authenticationOperations,
  ...tokenOperations,
  ...oidcOperations,
  ...overviewOperations,
  ...deploymentOperations,
  ...releaseOperations,
  ...sourceOperations,
  ...contentOperations,
  ...targetOperations,
  ...freezeOperations,
  ...streamOperations,
  ...webhookOperations,
  ...administrationOperations,
  ...serviceOperations,
} as const satisfies Record<string, Operation>

/** All operations of the API by id. The gateway has a handler for each, and the OpenAPI document describes each. */
export const OPERATIONS = { ...operations, ...auditOperations(operations) } as const satisfies Record<string, Operation>

export type OperationId = keyof typeof OPERATIONS
