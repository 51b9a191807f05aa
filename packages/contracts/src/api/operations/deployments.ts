import { Type } from '@sinclair/typebox'
import { BLOCKER_CODES, DEPLOYMENT_STATES, PENDING_STATES } from '@slipway/domain'
import { describe, Id, literals, Moment, Ref, Strict, Version } from '../../schema.ts'
import { Page, SseToken, sortBy } from '../common.ts'
import * as deployments from '../deployments.ts'
import * as rules from '../environment-rules.ts'
import { LOG_HEADERS, LOG_TEXT_HEADERS, LogQuery, LogTextQuery } from '../log-history.ts'
import { listQueryWith, op } from './operation.ts'

/** How the last attempt of a command ended. */
const COMMAND_ENDS = ['completed', 'failed', 'cancelled'] as const

export const deploymentOperations = {
  listDeployments: op({
    method: 'GET',
    path: '/deployments',
    summary: 'List deployments, newest first',
    description:
      'Lists the deployments that the caller may see, newest first. Filters are combined with "and"; an id that names no record gives an empty list. Requests that wait are not among them: see listPending. Sorted by `completed_at`, a deployment that runs counts as the last to end.',
    tag: 'deployments',
    access: 'deployments:read',
    query: Strict({
      ...listQueryWith(
        'Only deployments with this text in the name of the source or in the state, in upper or lower case',
      ).properties,
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
      ...sortBy('-created_at', ['created_at', 'completed_at', 'source_name']),
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
      'Plans a deployment and starts it: 201. The commands run after the answer; follow them with streamDeploymentLogs or getDeployment. If no slot is free, or a target is held by another deployment, it is queued: 202. It starts by itself, and `deployment_id` of the pending request (listPending) then names the deployment. With `dry_run` nothing is created: 200 with the preview. If `only_changed` leaves no target, nothing is created either: 200 with `deployment_id` null; with `dry_run`, that is 409 `CONFLICT`. An active freeze is 409 `DEPLOYMENT_FROZEN`. 409 `CONFLICT`: a held target whose policy is `reject`, a plan other than that of `expected_plan_hash`, or an `Idempotency-Key` that was used with another body. Send an `Idempotency-Key`, so that a repeated call deploys once.',
    tag: 'deployments',
    access: 'deployments:create',
    body: deployments.CreateDeployment,
    idempotent: true,
    responses: { 200: deployments.Unstarted, 201: deployments.CreateStarted, 202: deployments.CreateQueued },
  }),
  previewDeployment: op({
    method: 'POST',
    path: '/deployments/preview',
    refusals: ['MISSING_FIELD', 'CONFLICT', 'CONFIGURATION_ERROR'],
    summary: 'Preview the plan of a create; creates nothing',
    description:
      'Answers with the plan that a create with the same body would make: version, steps in their order, values, warnings, and what is in force now. Active freezes, held targets and a full queue are warnings here. `plan_hash` stands for the plan; send it as `expected_plan_hash` to deploy exactly that.',
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
      'Lists the queue in the order of starting, without pages: position, all that keeps each request from starting (`blockers`, the first of them in `waiting_for`), and when it probably starts. Positions also count requests that the caller does not see. Without `status`, only requests that wait or are being dispatched. With a final `status`, the newest 1,000, newest first.',
    tag: 'deployments',
    access: 'deployments:read',
    query: Strict({
      tenant_id: Type.Optional(Id('tenant', 'Only requests for this tenant')),
      status: Type.Optional(describe(literals(PENDING_STATES), 'Only requests with this status', 'pending')),
      waiting_for: Type.Optional(
        describe(literals(BLOCKER_CODES), 'Only requests that wait for this first of all', 'target_lock'),
      ),
    }),
    responses: { 200: Type.Array(deployments.PendingRequest) },
  }),
  getPending: op({
    method: 'GET',
    path: '/deployments/pending/{id}',
    summary: 'Read a pending request',
    description:
      'Shows one request: its position, all that keeps it from starting, its plan and what that would replace now, or how it ended. Once it is dispatched, `deployment_id` is its deployment, which has the id of the request.',
    tag: 'deployments',
    access: 'deployments:read',
    responses: { 200: deployments.PendingDetail },
  }),
  cancelPending: op({
    method: 'DELETE',
    path: '/deployments/pending/{id}',
    audit: 'pending_request.cancel',
    summary: 'Cancel a pending request',
    description:
      'Removes a request from the queue; its status becomes `cancelled`. After 200, which has no body, it never runs. 409: it has already ended or become a deployment.',
    tag: 'deployments',
    access: 'deployments:cancel',
    responses: { 200: null },
  }),
  updatePending: op({
    method: 'PATCH',
    path: '/deployments/pending/{id}',
    audit: 'pending_request.update',
    summary: 'Change the priority of a pending request; its age stays',
    description:
      'Changes the priority, and so the position. The request keeps its age. 409: it does not wait any more, or is being dispatched.',
    tag: 'deployments',
    access: 'deployments:create',
    body: deployments.UpdatePending,
    responses: { 200: deployments.PendingRequest },
  }),
  approvePending: op({
    method: 'POST',
    path: '/deployments/pending/{id}/approve',
    audit: 'pending_request.approve',
    summary: 'Approve a pending request',
    description:
      'Gives one approval. It counts for every rule that it fits; with the last one the request goes on by itself. A second approval of the same user changes nothing. 403 `INSUFFICIENT_PERMISSIONS`: no rule of the request asks for a role of the caller. 403 `FORBIDDEN`: the caller is its author. 409: the plan is another one than that of `plan_hash`, the request asks for no approval, has all that it needs, or does not wait any more.',
    tag: 'deployments',
    access: 'deployments:approve',
    body: rules.Approve,
    bodyOptional: true,
    responses: { 200: deployments.PendingRequest },
  }),
  rejectPending: op({
    method: 'POST',
    path: '/deployments/pending/{id}/reject',
    audit: 'pending_request.reject',
    summary: 'Reject a pending request, which ends it',
    description:
      'Ends a request that needs approvals as `cancelled`, with `cancelled_because` `rejected`. It needs the same right as an approval, and is possible as long as the request waits. Its author cancels it instead (403).',
    tag: 'deployments',
    access: 'deployments:approve',
    body: rules.Reject,
    bodyOptional: true,
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
      'Ends a running deployment. The answer shows it as `cancelled`, with `plan` null; nothing new starts. Its running commands then receive TERM, and KILL after 10 seconds; `end_confirmed` of a step tells whether its command has ended. Nothing is rolled back. 409: the deployment has already ended, or it rolls back.',
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
      'Makes a new deployment with the versions, targets, values and strategy of another one, in whatever state that is. Fields of the body replace these; `variables` are added to the earlier ones, and `target_ids` or `target_tags` replace the whole selection. 201: it has started; the answer is the new deployment with `plan` null. Queue (202), `dry_run` and nothing to deploy (200), refusals and `Idempotency-Key` are as in a create. 409 `CONFLICT` also if the source or another record of the earlier deployment is deleted.',
    tag: 'deployments',
    access: 'deployments:create',
    body: deployments.RedeployDeployment,
    bodyOptional: true,
    idempotent: true,
    responses: { 200: deployments.Unstarted, 201: deployments.RedeployStarted, 202: deployments.CreateQueued },
  }),
  streamDeploymentLogs: op({
    method: 'GET',
    path: '/deployments/{id}/logs',
    summary:
      'Open the live log stream (Server-Sent Events); after a cancel, it waits for the last output of the killed commands',
    description:
      'Sends what has happened and then what happens, as Server-Sent Events: `log`, `progress`, `step_update`, `state_change`, and `ping` every 15 seconds. The last event is the `state_change` to a final state, with `log_lines`. To resume, open it again with a new token and `from`, one more than the `seq` of the last line. A `log` with `metadata.partial` true shows a line of a command that is not finished after a second: it has no `seq`, is not stored, and the next `log` of its step and level replaces it. Every call uses its token up, a refused one too. The stream ends early for a slow client and when the credential loses the permission `deployments:read`.',
    tag: 'deployments',
    access: 'sse',
    query: Strict({
      sse_token: Type.Optional(SseToken),
      from: Type.Optional(
        describe(Type.String({ pattern: '^[0-9]{1,15}$' }), 'Number of the first line to send; 0 when omitted', '8'),
      ),
    }),
    responses: { 200: 'text/event-stream' },
  }),
  listDeploymentLogs: op({
    method: 'GET',
    path: '/deployments/{id}/logs/history',
    summary: 'List log lines in the order of their numbers, all or those that match',
    description:
      'Returns stored log lines in the order of their numbers, also while the deployment runs. The headers X-Log-First, X-Log-Lines and X-Log-Next say where the page stands. Lines are kept for 90 days (SLIPWAY_RETENTION_LOG_DAYS).',
    tag: 'deployments',
    access: 'deployments:read',
    query: LogQuery,
    answerHeaders: LOG_HEADERS,
    responses: { 200: Type.Array(deployments.LogEntry) },
  }),
  readDeploymentLogText: op({
    method: 'GET',
    path: '/deployments/{id}/logs/text',
    summary: 'Read the log as text, all lines or those that match',
    description:
      'Returns the lines that are stored when the request arrives, as text with a line feed after each: time, target and text, separated by tabs, or with `raw=true` the output alone. The lines are read while the text is sent, so a log of any length needs little memory. An answer that breaks off closes the connection; the rest begins at `from`.',
    tag: 'deployments',
    access: 'deployments:read',
    query: LogTextQuery,
    answerHeaders: LOG_TEXT_HEADERS,
    responses: { 200: 'text/plain' },
  }),
  listCommandResults: op({
    method: 'GET',
    path: '/deployments/{id}/analysis',
    summary: 'List the results of ended commands by start time',
    description:
      'Lists exit code, times, end of the output and, for failures, the explanation of each command that has ended or was cancelled, by start time and without pages. Of several attempts, the last one counts. Rollback scripts are not among them.',
    tag: 'deployments',
    access: 'deployments:read',
    query: Strict({
      status: Type.Optional(describe(literals(COMMAND_ENDS), 'Only commands that ended so', 'failed')),
      step_id: Type.Optional(Ref('step', 'Only the command of this step')),
    }),
    responses: { 200: Type.Array(deployments.CommandResult) },
  }),
} as const
