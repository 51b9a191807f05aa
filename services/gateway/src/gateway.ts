import { forAllTenants } from '@slipway/database'
import type { Express } from 'express'
import { instanceGrantHandlers } from './administration/instance-grants.ts'
import { instanceHandlers } from './administration/instances.ts'
import { roleHandlers } from './administration/roles.ts'
import { serviceAccountHandlers } from './administration/service-accounts.ts'
import { userHandlers } from './administration/users.ts'
import { auditHandlers } from './audit/handlers.ts'
import { createRefusalLog } from './audit-trail.ts'
import { catalogCheckHandlers } from './catalog/check.ts'
import { catalogHandlers } from './catalog/handlers.ts'
import { contentHandlers } from './content/handlers.ts'
import type { Dependencies } from './dependencies.ts'
import { deploymentHandlers } from './deployments/handlers.ts'
import type { Handlers } from './handler.ts'
import { createApp } from './http/app.ts'
import { serviceHandlers } from './http/service-handlers.ts'
import { createStreamProxy } from './http/stream-proxy.ts'
import { createAuthenticate } from './identity/authenticate.ts'
import { identityHandlers } from './identity/handlers.ts'
import { oidcHandlers } from './oidc/handlers.ts'
import { overviewHandlers } from './overview/handlers.ts'
import { releaseHandlers } from './releases/handlers.ts'
import { deliveryHandlers } from './webhooks/deliveries.ts'
import { webhookHandlers } from './webhooks/webhooks.ts'

export interface Gateway {
  app: Express
  /** Ends the open streams, because they do not end by themselves. */
  endStreams(): void
}

export function createGateway(dependencies: Dependencies): Gateway {
  const authenticate = createAuthenticate(dependencies)
  const streams = createStreamProxy(dependencies)
  const handlers: Handlers = {
    ...identityHandlers(dependencies),
    ...oidcHandlers(dependencies),
    ...catalogHandlers(dependencies),
    ...catalogCheckHandlers(dependencies),
    ...userHandlers(dependencies),
    ...serviceAccountHandlers(dependencies),
    ...roleHandlers(dependencies),
    ...instanceHandlers(dependencies),
    ...instanceGrantHandlers(dependencies),
    ...contentHandlers(dependencies),
    ...deploymentHandlers(dependencies),
    ...overviewHandlers(dependencies),
    ...releaseHandlers(dependencies),
    ...auditHandlers(dependencies),
    ...webhookHandlers(dependencies),
    ...deliveryHandlers(dependencies),
    ...streams.handlers,
    ...serviceHandlers(dependencies),
  }
  const app = createApp({
    handlers,
    logger: dependencies.logger,
    refusals: createRefusalLog(dependencies.database, dependencies.logger),
    limits: dependencies.limits,
    answerTimes: dependencies.answerTimes,
    hasDatabase: () => dependencies.hasDatabase(),
    trustedProxies: dependencies.trustedProxies,
    authenticate: (authorization, clientIp) => forAllTenants(() => authenticate(authorization, clientIp)),
  })
  return { app, endStreams: () => streams.close() }
}
