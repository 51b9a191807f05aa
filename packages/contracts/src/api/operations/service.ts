import { Type } from '@sinclair/typebox'
import { describe, Moment, Ref, Strict, Text } from '../../schema.ts'
import { op } from './operation.ts'

const Readiness = (status: string, dependency: string) =>
  Strict({
    status: Text('`ready` or `unavailable`', status),
    dependencies: describe(Type.Record(Type.String(), Type.String()), 'What the service needs, each with its status', {
      postgres: dependency,
    }),
  })

export const serviceOperations = {
  getHealth: op({
    method: 'GET',
    path: '/health',
    summary: 'Check that the process runs',
    description: 'Answers while the process runs, without looking at its servers. For liveness probes.',
    tag: 'service',
    access: 'public',
    responses: { 200: Strict({ status: Text('Always `ok`', 'ok') }) },
  }),
  getReadiness: op({
    method: 'GET',
    path: '/health/ready',
    summary: 'Check that the service is ready, with a status per dependency',
    description:
      'Answers 200 if the gateway can serve requests, else 503, with a status for each server that it needs. For readiness probes.',
    tag: 'service',
    access: 'public',
    responses: {
      200: Readiness('ready', 'up'),
      503: Readiness('unavailable', 'down'),
    },
  }),
  getServerInfo: op({
    method: 'GET',
    path: '/server/info',
    summary: 'Read name and version of the server',
    description: 'Shows the version of the gateway that answers, and its clock.',
    tag: 'service',
    access: 'authenticated',
    responses: {
      200: Strict({
        name: Text('Always `slipway`', 'slipway'),
        server_version: Text('Version of the gateway that answers', '0.1.0'),
        api_version: Text('Version of the API, as in the path', 'v1'),
        server_time: Moment('The clock of the gateway'),
        instance_id: Ref('request', 'The process of the gateway that answers; new after each start'),
      }),
    },
  }),
  getOpenApi: op({
    method: 'GET',
    path: '/openapi.json',
    summary: 'Read this document',
    description: 'Returns this OpenAPI 3.1 document. No credential is needed.',
    tag: 'service',
    access: 'public',
    responses: {
      200: describe(Type.Record(Type.String(), Type.Unknown()), 'An OpenAPI document', { openapi: '3.1.0' }),
    },
  }),
} as const
