import { Type } from '@sinclair/typebox'
import { Strict } from '../../schema.ts'
import { op } from './operation.ts'

export const streamOperations = {
  streamResource: op({
    method: 'GET',
    path: '/sse/{resource_type}',
    summary: 'Open a live stream of changes to deployments, pending requests, targets, instances or freezes',
    tag: 'streams',
    access: 'sse',
    query: Strict({ sse_token: Type.Optional(Type.String()) }),
    responses: { 200: 'text/event-stream' },
  }),
} as const
