import { Type } from '@sinclair/typebox'
import { DEPLOYMENT_STATES, PENDING_STATES } from '@slipway/domain'
import { describe, Id, literals, Moment, Strict, Version } from '../../schema.ts'
import { IntegerText, Page, SseToken } from '../common.ts'
import * as deployments from '../deployments.ts'
import { LOG_HEADERS, LogQuery } from '../log-history.ts'
import { listQuery, op } from './operation.ts'

export const deploymentOperations = {
  listDeployments: op({
    method: 'GET',
    path: '/deployments',
    summary: 'List deployments, newest first',
    description:
      'Lists the deployments that the caller may see, newest first. Filters are combined with "and". `search` looks for the name of the source.',
    tag: 'deployments',
    access: 'deployments:read',
    query: Strict({
      ...listQuery.properties,
      tenant_id: Type.Optional(Id('tenant', 'Only deployments for this tenant')),
      environment_id: Type.Optional(Id('environment', 'Only deployments that name this environment')),
      state: Type.Optional(describe(literals(DEPLOYMENT_STATES), 'Only deployments in this state', 'failed')),
      source_type: Type.Optional(
        describe(deployments.SourceType, 'Only deployments of this kind of source', 'solution'),
      ),
      ...deployments.ofSource,
      version: Type.Optional(describe(Version, 'Only deployments of this version', '1.1.0')),
      target_id: Type.Optional(Id('target', 'Only deployments that include this target')),
      triggered_by: Type.Optional(
        describe(Type.String({ maxLength: 255 }), 'Only deployments of the user with this name', 'pipeline'),
      ),
      created_from: Type.Optional(Moment('Created at this time or later')),
      created_before: Type.Optional(Moment('Created before this time')),
    }),
    responses: { 200: Page(deployments.DeploymentSummary) },
  }),
  createDeployment: op({
    method: 'POST',
    path: '/deployments',
    audit: 'deployment.create',
    refusals: ['MISSING_FIELD', 'DEPLOYMENT_FROZEN', 'CONFIGURATION_ERROR'],
    summary: 'Create and start a deployment',
    description:
      'Plans a deployment and starts it: 201. If no slot is free, or a target is held by another deployment, it is queued: 202 with a pending request. With `dry_run` nothing is created: 200 with the preview. An active freeze refuses it with 409 `DEPLOYMENT_FROZEN`. Send an `Idempotency-Key`, so that a repeated call deploys once.',
    tag: 'deployments',
    access: 'deployments:create',
    body: deployments.CreateDeployment,
    idempotent: true,
    responses: { 200: deployments.Preview, 201: deployments.CreateStarted, 202: deployments.CreateQueued },
  }),
  previewDeployment: op({
    method: 'POST',
    path: '/deployments/preview',
    refusals: ['MISSING_FIELD', 'CONFLICT', 'CONFIGURATION_ERROR'],
    summary: 'Preview the plan of a create; creates nothing',
    description:
      'Answers with the plan that a create with the same body would make: version, steps in their order, values, warnings, and what is in force now. `plan_hash` stands for the plan; send it as `expected_plan_hash` to deploy exactly that.',
    tag: 'deployments',
    access: 'deployments:create',
    body: deployments.CreateDeployment,
    responses: { 200: deployments.Preview },
  }),
  listPending: op({
    method: 'GET',
    path: '/deployments/pending',
    summary: 'List pending requests in the order of their start',
    description:
      'Lists the queue without pages: position, what each request waits for, and when it probably starts. Without `status`, only requests that wait or are being dispatched.',
    tag: 'deployments',
    access: 'deployments:read',
    query: Strict({
      tenant_id: Type.Optional(Id('tenant', 'Only requests for this tenant')),
      status: Type.Optional(describe(literals(PENDING_STATES), 'Only requests with this status', 'pending')),
    }),
    responses: { 200: Type.Array(deployments.PendingRequest) },
  }),
  cancelPending: op({
    method: 'DELETE',
    path: '/deployments/pending/{id}',
    audit: 'pending_request.cancel',
    summary: 'Cancel a pending request',
    description:
      'Removes a request from the queue. After 200 it never runs. 409: it has already ended or become a deployment.',
    tag: 'deployments',
    access: 'deployments:cancel',
    responses: { 200: null },
  }),
  updatePending: op({
    method: 'PATCH',
    path: '/deployments/pending/{id}',
    audit: 'pending_request.update',
    summary: 'Change the priority of a pending request; its age stays',
    description: 'Changes the priority, and so the position. The request keeps its age.',
    tag: 'deployments',
    access: 'deployments:create',
    body: deployments.UpdatePending,
    responses: { 200: deployments.PendingRequest },
  }),
  getDeployment: op({
    method: 'GET',
    path: '/deployments/{id}',
    summary: 'Read a deployment with its plan',
    description:
      'Shows one deployment: state, counts, what was asked for, and the plan with the state of each step. The plan of a large deployment can have many thousand steps.',
    tag: 'deployments',
    access: 'deployments:read',
    responses: { 200: deployments.DeploymentDetail },
  }),
  cancelDeployment: op({
    method: 'POST',
    path: '/deployments/{id}/cancel',
    audit: 'deployment.cancel',
    summary: 'Cancel a deployment and kill its commands',
    description:
      'Ends a deployment. After the answer nothing new starts. Running commands receive TERM, and KILL after 10 seconds. Nothing is rolled back. 409: the deployment has already ended.',
    tag: 'deployments',
    access: 'deployments:cancel',
    body: deployments.CancelDeployment,
    bodyOptional: true,
    responses: { 200: deployments.DeploymentDetail },
  }),
  redeployDeployment: op({
    method: 'POST',
    path: '/deployments/{id}/redeploy',
    audit: 'deployment.redeploy',
    refusals: ['MISSING_FIELD', 'DEPLOYMENT_FROZEN', 'CONFIGURATION_ERROR'],
    summary: 'Run a deployment again, with optional overrides',
    description:
      'Makes a new deployment with the version, targets, values and strategy of an earlier one. Fields of the body override them. Freezes, queue and `Idempotency-Key` are as in a create.',
    tag: 'deployments',
    access: 'deployments:create',
    body: deployments.RedeployDeployment,
    bodyOptional: true,
    idempotent: true,
    responses: { 200: deployments.Preview, 201: deployments.RedeployStarted, 202: deployments.CreateQueued },
  }),
  streamDeploymentLogs: op({
    method: 'GET',
    path: '/deployments/{id}/logs',
    summary:
      'Open the live log stream (Server-Sent Events); after a cancel, it waits for the last output of the killed commands',
    description:
      'Sends what has happened and then what happens, as Server-Sent Events: `log`, `progress`, `step_update`, `state_change`, and `ping` every 15 seconds. The last event is the `state_change` to a final state. To resume, open it again with a new token and `from`, one more than the `seq` of the last line. After a cancel, it waits for the last output of the killed commands.',
    tag: 'deployments',
    access: 'sse',
    query: Strict({
      sse_token: Type.Optional(SseToken),
      from: Type.Optional(describe(IntegerText, 'Number of the first line to send; 0 when omitted', '8')),
    }),
    responses: { 200: 'text/event-stream' },
  }),
  listDeploymentLogs: op({
    method: 'GET',
    path: '/deployments/{id}/logs/history',
    summary: 'List log lines in the order of their numbers, all or those that match',
    description:
      'Returns stored log lines, also while the deployment runs. The headers X-Log-First, X-Log-Lines and X-Log-Next say where the page stands.',
    tag: 'deployments',
    access: 'deployments:read',
    query: LogQuery,
    answerHeaders: LOG_HEADERS,
    responses: { 200: Type.Array(deployments.LogEntry) },
  }),
  listCommandResults: op({
    method: 'GET',
    path: '/deployments/{id}/analysis',
    summary: 'List the results of ended commands by start time',
    description:
      'Lists exit code, times, end of the output and, for failures, the explanation of each command that has ended, by start time.',
    tag: 'deployments',
    access: 'deployments:read',
    responses: { 200: Type.Array(deployments.CommandResult) },
  }),
} as const
