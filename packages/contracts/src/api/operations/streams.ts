import { Type } from '@sinclair/typebox'
import { Strict } from '../../schema.ts'
import { SseToken } from '../common.ts'
import { op } from './operation.ts'

export const streamOperations = {
  streamResource: op({
    method: 'GET',
    path: '/sse/{resource_type}',
    summary: 'Open a live stream of changes to deployments, pending requests, targets, instances, freezes or releases',
    description:
      'Sends `created`, `updated` and `deleted` for each record of the kind that the caller may see, with the list item, and `ping` every 15 seconds. `deployments`, `pending` and `releases` need the permission `deployments:read`, the others `targets:read`, `instances:read` or `freezes:read`. `releases` sends only `updated`: a target has drifted, or has not any more. Every call uses its token up, a refused one too. When the stream ends, open it again with a new token and read the list for the changes meanwhile.',
    tag: 'streams',
    access: 'sse',
    query: Strict({ sse_token: Type.Optional(SseToken) }),
    responses: { 200: 'text/event-stream' },
  }),
} as const
