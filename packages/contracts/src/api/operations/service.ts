import { Type } from '@sinclair/typebox'
import { Strict, Timestamp, Uuid } from '../../schema.ts'
import { op } from './operation.ts'

export const serviceOperations = {
  getHealth: op({
    method: 'GET',
    path: '/health',
    summary: 'Check that the process runs',
    tag: 'service',
    access: 'public',
    responses: { 200: Strict({ status: Type.String() }) },
  }),
  getReadiness: op({
    method: 'GET',
    path: '/health/ready',
    summary: 'Check that the service is ready, with a status per dependency',
    tag: 'service',
    access: 'public',
    responses: {
      200: Strict({ status: Type.String(), dependencies: Type.Record(Type.String(), Type.String()) }),
      503: Strict({ status: Type.String(), dependencies: Type.Record(Type.String(), Type.String()) }),
    },
  }),
  getServerInfo: op({
    method: 'GET',
    path: '/server/info',
    summary: 'Read name and version of the server',
    tag: 'service',
    access: 'authenticated',
    responses: {
      200: Strict({
        name: Type.String(),
        server_version: Type.String(),
        api_version: Type.String(),
        server_time: Timestamp,
        instance_id: Uuid,
      }),
    },
  }),
  getOpenApi: op({
    method: 'GET',
    path: '/openapi.json',
    summary: 'Read this document',
    tag: 'service',
    access: 'public',
    responses: { 200: Type.Record(Type.String(), Type.Unknown()) },
  }),
} as const
