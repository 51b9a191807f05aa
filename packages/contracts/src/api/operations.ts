import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { DEPLOYMENT_STATES, PENDING_STATES } from '@slipway/domain'
import { Id, literals, Strict, Timestamp, Uuid } from '../schema.ts'
import * as auth from './auth.ts'
import * as catalog from './catalog.ts'
import { IntegerText, Page, PageQuery, SearchText } from './common.ts'
import * as deployments from './deployments.ts'
import type { Permission } from './permissions.ts'

/**
 * Who may call: `public` (no credential), `sse` (an SSE token in the query), `authenticated` (any bearer), or a
 * permission of the bearer.
 */
export type Access = 'public' | 'sse' | 'authenticated' | Permission

export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/api/v1`, with `{name}` for parameters. */
  path: string
  summary: string
  tag: string
  access: Access
  query?: TObject
  body?: TSchema
  /** No bytes at all are as good as `{}`. */
  bodyOptional?: boolean
  /** Schema of the answer by status; null for an empty one, a string for another media type. */
  responses: Record<number, TSchema | string | null>
}

const op = <const O extends Operation>(operation: O): O => operation

const listQuery = Strict({ ...PageQuery, search: Type.Optional(SearchText) })

/** The twelve paginated lists and others with the same envelope answer 200 with `{ data, meta }`. */
const list = <const O extends Pick<Operation, 'path' | 'summary' | 'tag' | 'access'>>(o: O, item: TSchema) =>
  op({ ...o, method: 'GET', query: listQuery, responses: { 200: Page(item) } })

const sources = <const K extends 'action' | 'sequence' | 'solution'>(
  kind: K,
  create: TSchema,
  createVersion: TSchema,
) => {
  const tag = `${kind}s` as const
  const access = <const A extends 'read' | 'create' | 'update'>(a: A) => `${kind}s:${a}` as const
  return {
    list: list({ path: `/${tag}`, summary: `List ${tag}`, tag, access: access('read') }, catalog.SourceListItem),
    create: op({
      method: 'POST',
      path: `/${tag}`,
      summary: `Create ${kind === 'action' ? 'an' : 'a'} ${kind} with its first version`,
      tag,
      access: access('create'),
      body: create,
      responses: { 201: catalog.Source },
    }),
    get: op({
      method: 'GET',
      path: `/${tag}/{id}`,
      summary: `Read ${kind === 'action' ? 'an' : 'a'} ${kind}`,
      tag,
      access: access('read'),
      responses: { 200: catalog.Source },
    }),
    createVersion: op({
      method: 'POST',
      path: `/${tag}/{id}/versions`,
      summary: 'Publish a version; a published version never changes',
      tag,
      access: access('update'),
      body: createVersion,
      responses: { 201: catalog.SourceVersion },
    }),
    listVersions: list(
      { path: `/${tag}/{id}/versions`, summary: 'List versions', tag, access: access('read') },
      catalog.SourceVersionListItem,
    ),
    getVersion: op({
      method: 'GET',
      path: `/${tag}/{id}/versions/{version}`,
      summary: 'Read a version with its definition',
      tag,
      access: access('read'),
      responses: { 200: catalog.SourceVersion },
    }),
  }
}

const actions = sources('action', catalog.CreateAction, catalog.CreateActionVersion)
const sequences = sources('sequence', catalog.CreateSequence, catalog.CreateSequenceVersion)
const solutions = sources('solution', catalog.CreateSolution, catalog.CreateSolutionVersion)

const records = <const R extends 'target' | 'environment' | 'tenant'>(kind: R, record: TSchema, create: TSchema) => {
  const tag = `${kind}s` as const
  const access = <const A extends 'read' | 'create'>(a: A) => `${kind}s:${a}` as const
  return {
    list: list({ path: `/${tag}`, summary: `List ${tag}`, tag, access: access('read') }, record),
    create: op({
      method: 'POST',
      path: `/${tag}`,
      summary: `Create ${kind === 'environment' ? 'an' : 'a'} ${kind}`,
      tag,
      access: access('create'),
      body: create,
      responses: { 201: record },
    }),
    get: op({
      method: 'GET',
      path: `/${tag}/{id}`,
      summary: `Read ${kind === 'environment' ? 'an' : 'a'} ${kind}`,
      tag,
      access: access('read'),
      responses: { 200: record },
    }),
  }
}

const targets = records('target', catalog.Target, catalog.CreateTarget)
const environments = records('environment', catalog.Environment, catalog.CreateEnvironment)
const tenants = records('tenant', catalog.Tenant, catalog.CreateTenant)

/** Every route of the API, by its operation id. The gateway must have a handler for each; OpenAPI is made from it. */
export const OPERATIONS = {
  // Authentication
  login: op({
    method: 'POST',
    path: '/auth/login',
    summary: 'Log in with e-mail and password',
    tag: 'authentication',
    access: 'public',
    body: auth.LoginRequest,
    responses: { 200: auth.LoginResponse },
  }),
  getCurrentUser: op({
    method: 'GET',
    path: '/auth/me',
    summary: 'The calling user',
    tag: 'authentication',
    access: 'authenticated',
    responses: { 200: auth.CurrentUser },
  }),
  createSseToken: op({
    method: 'POST',
    path: '/auth/sse-token',
    summary: 'A single-use token that opens one live stream',
    tag: 'authentication',
    access: 'authenticated',
    body: auth.SseTokenRequest,
    bodyOptional: true,
    responses: { 200: auth.SseTokenResponse },
  }),

  // Deployments
  listDeployments: op({
    method: 'GET',
    path: '/deployments',
    summary: 'List deployments, newest first',
    tag: 'deployments',
    access: 'deployments:read',
    query: Strict({
      ...listQuery.properties,
      tenant_id: Type.Optional(Id('tenant')),
      environment_id: Type.Optional(Id('environment')),
      state: Type.Optional(literals(DEPLOYMENT_STATES)),
      source_type: Type.Optional(deployments.SourceType),
    }),
    responses: { 200: Page(deployments.DeploymentSummary) },
  }),
  createDeployment: op({
    method: 'POST',
    path: '/deployments',
    summary: 'Create and start a deployment',
    tag: 'deployments',
    access: 'deployments:create',
    body: deployments.CreateDeployment,
    responses: { 200: deployments.Preview, 201: deployments.CreateStarted, 202: deployments.CreateQueued },
  }),
  previewDeployment: op({
    method: 'POST',
    path: '/deployments/preview',
    summary: 'The plan that a create would run; creates nothing',
    tag: 'deployments',
    access: 'deployments:create',
    body: deployments.CreateDeployment,
    responses: { 200: deployments.Preview },
  }),
  listPending: op({
    method: 'GET',
    path: '/deployments/pending',
    summary: 'Queued requests in the order they will start',
    tag: 'deployments',
    access: 'deployments:read',
    query: Strict({
      tenant_id: Type.Optional(Id('tenant')),
      status: Type.Optional(literals(PENDING_STATES)),
    }),
    responses: { 200: Type.Array(deployments.PendingRequest) },
  }),
  cancelPending: op({
    method: 'DELETE',
    path: '/deployments/pending/{id}',
    summary: 'Take a request out of the queue',
    tag: 'deployments',
    access: 'deployments:cancel',
    responses: { 200: null },
  }),
  getDeployment: op({
    method: 'GET',
    path: '/deployments/{id}',
    summary: 'Read a deployment with its plan',
    tag: 'deployments',
    access: 'deployments:read',
    responses: { 200: deployments.DeploymentDetail },
  }),
  cancelDeployment: op({
    method: 'POST',
    path: '/deployments/{id}/cancel',
    summary: 'Cancel a deployment and end its commands',
    tag: 'deployments',
    access: 'deployments:cancel',
    body: deployments.CancelDeployment,
    bodyOptional: true,
    responses: { 200: deployments.DeploymentDetail },
  }),
  redeployDeployment: op({
    method: 'POST',
    path: '/deployments/{id}/redeploy',
    summary: 'Run a deployment again, with optional overrides',
    tag: 'deployments',
    access: 'deployments:create',
    body: deployments.RedeployDeployment,
    bodyOptional: true,
    responses: { 201: deployments.DeploymentDetail, 202: deployments.CreateQueued },
  }),
  streamDeploymentLogs: op({
    method: 'GET',
    path: '/deployments/{id}/logs',
    summary: 'Live log stream (Server-Sent Events)',
    tag: 'deployments',
    access: 'sse',
    query: Strict({ sse_token: Type.Optional(Type.String()), from: Type.Optional(IntegerText) }),
    responses: { 200: 'text/event-stream' },
  }),
  listDeploymentLogs: op({
    method: 'GET',
    path: '/deployments/{id}/logs/history',
    summary: 'Log lines in the order they were written',
    tag: 'deployments',
    access: 'deployments:read',
    query: Strict({ offset: Type.Optional(IntegerText), limit: Type.Optional(IntegerText) }),
    responses: { 200: Type.Array(deployments.LogEntry) },
  }),
  listCommandResults: op({
    method: 'GET',
    path: '/deployments/{id}/analysis',
    summary: 'Results of the commands that ended, by start time',
    tag: 'deployments',
    access: 'deployments:read',
    responses: { 200: Type.Array(deployments.CommandResult) },
  }),

  // Sources
  listActions: actions.list,
  createAction: actions.create,
  getAction: actions.get,
  createActionVersion: actions.createVersion,
  listActionVersions: actions.listVersions,
  getActionVersion: actions.getVersion,
  listSequences: sequences.list,
  createSequence: sequences.create,
  getSequence: sequences.get,
  createSequenceVersion: sequences.createVersion,
  listSequenceVersions: sequences.listVersions,
  getSequenceVersion: sequences.getVersion,
  listSolutions: solutions.list,
  createSolution: solutions.create,
  getSolution: solutions.get,
  createSolutionVersion: solutions.createVersion,
  listSolutionVersions: solutions.listVersions,
  getSolutionVersion: solutions.getVersion,

  // Targets and what groups them
  listTargets: targets.list,
  createTarget: targets.create,
  getTarget: targets.get,
  listEnvironments: environments.list,
  createEnvironment: environments.create,
  getEnvironment: environments.get,
  listTenants: tenants.list,
  createTenant: tenants.create,
  getTenant: tenants.get,
  listTags: list(
    { path: '/tags', summary: 'Tags in use on targets', tag: 'targets', access: 'tags:read' },
    catalog.TagRecord,
  ),

  // Freezes
  listFreezes: list(
    { path: '/deployment-freezes', summary: 'List freezes', tag: 'freezes', access: 'freezes:read' },
    catalog.Freeze,
  ),
  createFreeze: op({
    method: 'POST',
    path: '/deployment-freezes',
    summary: 'Forbid deployments for a time; global without tenant, environment and solution',
    tag: 'freezes',
    access: 'freezes:create',
    body: catalog.CreateFreeze,
    responses: { 201: catalog.Freeze },
  }),
  getFreeze: op({
    method: 'GET',
    path: '/deployment-freezes/{id}',
    summary: 'Read a freeze',
    tag: 'freezes',
    access: 'freezes:read',
    responses: { 200: catalog.Freeze },
  }),

  // The service itself
  getHealth: op({
    method: 'GET',
    path: '/health',
    summary: 'Whether the process lives',
    tag: 'service',
    access: 'public',
    responses: { 200: Strict({ status: Type.String() }) },
  }),
  getReadiness: op({
    method: 'GET',
    path: '/health/ready',
    summary: 'Whether the service can do its work, with a status per dependency',
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
    summary: 'Name and version of the server',
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
    summary: 'This document',
    tag: 'service',
    access: 'public',
    responses: { 200: Type.Record(Type.String(), Type.Unknown()) },
  }),
} as const satisfies Record<string, Operation>

export type OperationId = keyof typeof OPERATIONS
