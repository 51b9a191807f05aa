import type { ServerResponse } from 'node:http'
import type { Database } from '@slipway/database'

import { type FieldError, isUuid, may, notFound, type Permission, requireMay, validationProblem } from '@slipway/domain'
import type { Route } from '@slipway/http'
import type { KeyRing, Logger } from '@slipway/runtime'
import type { Redis } from '@slipway/runtime/redis'
import { isStreamResource, RESOURCES } from '../changes/change.ts'
import type { ChangeStreams } from '../changes/change-streams.ts'
import { findVisible } from '../deployments/deployments.sql.ts'
import { whenClosed } from '../streams/closed.ts'
import type { Hubs } from '../streams/hubs.ts'
import { countStream } from '../streams/metrics.ts'
import { StreamClient, type StreamClientLimits } from '../streams/stream-client.ts'
import type { StreamGuard } from '../tokens/guard.ts'
import { type RedeemedToken, redeemToken } from '../tokens/redeem.ts'
import type { PresentRights } from '../tokens/rights.ts'

export interface LogStream {
  database: Database
  redis: Redis
  keys: KeyRing
  namespace: string
  logger: Logger
  hubs: Hubs
  changeStreams: ChangeStreams
  guard: StreamGuard
  limits: StreamClientLimits
}

const LOGS = 'deployments:read'

export function createRoutes(stream: LogStream): Route[] {
  const { logger } = stream
  return [
    {
      method: 'GET',
      path: '/api/v1/deployments/{id}/logs',
      isStream: true,
      async handle({ response, search, params }) {
        const query = new URLSearchParams(search)
        const holder = await redeemToken(stream, parameter(query, 'sse_token'))
        requireMay(holder.rights, LOGS)
        const from = fromParameter(query)
        const id = await visibleDeployment(stream, holder.rights, params['id'] ?? '')
        keepWhilePermitted(stream, holder, LOGS, response)
        await stream.hubs.use(id, async (hub, watch) => {
          logger.info('a log stream was opened', { deployment_id: id, user_id: holder.record.user_id, from })
          beginStream(response, 'log')
          await watch(new StreamClient(hub, response, { logger, limits: stream.limits, from }))
        })
        return null
      },
    },
    {
      method: 'GET',
      path: '/api/v1/sse/{resource}',
      isStream: true,
      async handle({ response, search, params }) {
        const query = new URLSearchParams(search)
        const resource = params['resource'] ?? ''
        const redeemed = redeemToken(stream, parameter(query, 'sse_token'))
        if (!isStreamResource(resource)) {
          // The token is used up in any case.
          await redeemed.catch(() => {})
          throw notFound('The stream')
        }
        const holder = await redeemed
        const { permission } = RESOURCES[resource]
        requireMay(holder.rights, permission)
        refuseUnknown(query, [])
        keepWhilePermitted(stream, holder, permission, response)
        await stream.changeStreams.listen(resource, holder.rights.tenant_id, response, () => {
          logger.info('a change stream was opened', { resource_type: resource, user_id: holder.record.user_id })
          beginStream(response, 'changes')
        })
        return null
      },
    },
  ]
}

/** The value of a parameter; undefined if it is absent, a list if it is given several times. */
function parameter(query: URLSearchParams, name: string): string | string[] | undefined {
  const values = query.getAll(name)
  return values.length > 1 ? values : values[0]
}

/** Ends the stream when its user may no longer read it, or sees other records. */
function keepWhilePermitted(
  { guard }: LogStream,
  holder: RedeemedToken,
  permission: Permission,
  response: ServerResponse,
): void {
  const release = guard.keep(
    holder,
    (now) => may(now, permission).allowed && now.tenant_id === holder.rights.tenant_id,
    () => response.destroy(),
  )
  whenClosed(response, release)
}

async function visibleDeployment({ database }: LogStream, rights: PresentRights, id: string): Promise<string> {
  const found = isUuid(id) ? await findVisible.first(database, { id, tenant_id: rights.tenant_id }) : null
  if (!found) throw notFound('The deployment')
  return found.id
}

function fromParameter(query: URLSearchParams): number {
  const from = parameter(query, 'from') ?? '0'
  const isNumber = typeof from === 'string' && /^\d{1,15}$/.test(from)
  refuseUnknown(
    query,
    ['from'],
    isNumber ? [] : [{ path: 'query/from', message: 'must be the number of a line, from 0' }],
  )
  return Number(from)
}

function refuseUnknown(query: URLSearchParams, known: string[], problems: FieldError[] = []): void {
  const unknown = [...new Set(query.keys())]
    .filter((name) => name !== 'sse_token' && !known.includes(name))
    .map((name) => ({ path: `query/${name}`, message: 'is not a known parameter' }))
  if (unknown.length + problems.length > 0) throw validationProblem([...unknown, ...problems])
}

function beginStream(response: ServerResponse, kind: 'log' | 'changes'): void {
  countStream(kind, response)
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-cache, no-store, no-transform',
    // Proxies that buffer would delay live data.
    'X-Accel-Buffering': 'no',
  })
  response.flushHeaders()
}
