import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { NamedRecord, Plan, PlannedAction } from '@slipway/domain'
import { ChangeInstance } from '../api/administration.ts'
import { CancelDeployment, CreateDeployment, Preview, RedeployDeployment, UpdatePending } from '../api/deployments.ts'
import { Approve, Reject } from '../api/environment-rules.ts'
import { Nullable, Strict, Timestamp, Uuid } from '../schema.ts'

export type CommandQueue = 'planner.commands' | 'dispatcher.commands' | 'executor.commands'

interface Command {
  queue: CommandQueue
  body: TSchema
  /** The answer over direct reply-to. */
  reply: TSchema
}

const command = <const C extends Command>(c: C): C => c

/** The user of the request. Every command message carries the user for the audit log. */
export const Caller = Strict({
  user_id: Uuid,
  username: Type.String(),
  tenant_id: Nullable(Uuid),
  may_override_freezes: Type.Boolean(),
  /** The API key of the request. It limits what the user may do. */
  key_id: Type.Optional(Uuid),
  /** Its name, for people. */
  key_name: Type.Optional(Type.String()),
  /** Whether the rights of the user depend on what is touched. The planner finds out, and has checked the rights in any case. */
  has_scope: Type.Optional(Type.Boolean()),
  /** The address of the request, for the audit log. */
  ip: Type.String(),
})

/** The selection in the request. `config` of the deployment shows it, and a redeploy repeats it. */
export const Selection = Strict({
  target_ids: Type.Array(Uuid),
  target_tags: Type.Array(Strict({ key: Type.String(), value: Type.String() })),
  target_tags_match_all: Type.Boolean(),
  version_requirement: Nullable(Type.String()),
  /** The targets that `only_changed` left out. */
  unchanged_target_ids: Type.Optional(Type.Array(Uuid)),
})

/** `variables` and `prompted_values` of a request may be secrets, so the gateway seals them for `command_id`. */
const sealedValues = { sealed_values: Nullable(Type.String()) }

const { variables: _v, prompted_values: _p, dry_run: _cd, ...createFields } = CreateDeployment.properties
const { variables: _rv, prompted_values: _rp, dry_run: _d, ...redeployFields } = RedeployDeployment.properties
const redeployBody = Strict({
  command_id: Uuid,
  caller: Caller,
  deployment_id: Uuid,
  request: Strict(redeployFields),
  ...sealedValues,
})

const Warnings = Type.Array(Type.String())

/** Allows unknown fields: a service of a newer release may answer. */
const Reply = Type.Object

export const StartOutcome = Type.Union([
  Reply({ outcome: Type.Literal('started'), deployment_id: Uuid, warnings: Warnings }),
  Reply({
    outcome: Type.Literal('queued'),
    pending_request_id: Uuid,
    message: Type.String(),
    warnings: Warnings,
    /** The targets that `only_changed` left out. */
    unchanged_target_ids: Type.Optional(Type.Array(Uuid)),
  }),
])

/** With `only_changed`, a plan may have no target: then the planner answers, and nothing starts. */
const Unchanged = Reply({
  outcome: Type.Literal('unchanged'),
  message: Type.String(),
  unchanged_target_ids: Type.Array(Uuid),
})
export const PlanOutcome = Type.Union([...StartOutcome.anyOf, Unchanged])

const { plan, ...previewFields } = Preview.properties
const { steps: _steps, ...planFields } = plan.properties

const { sequence_id, sequence_name, sequence_version, sequence_order } = PlannedAction.properties
const { action_id, action_name, action_version, action_order } = PlannedAction.properties
const PlacedAction = Reply({
  sequence_id,
  sequence_name,
  sequence_version,
  sequence_order,
  action_id,
  action_name,
  action_version,
  action_order,
})

/** A preview with targets and actions once each. The gateway multiplies them into steps. */
export const PreviewTable = Reply({
  ...previewFields,
  plan: Reply({
    ...planFields,
    targets: Type.Array(NamedRecord),
    actions: Type.Array(PlacedAction),
  }),
})

/** The message of a 202 answer. A repeated answer must have the same text. */
export const QUEUED_MESSAGE =
  'The deployment is queued and starts by itself; the pending request tells what it waits for'

export const COMMANDS = {
  /** The planner sends `deployment.start` with the address for the answer, or answers that nothing changes. */
  'plan.create': command({
    queue: 'planner.commands',
    body: Strict({ command_id: Uuid, caller: Caller, request: Strict(createFields), ...sealedValues }),
    reply: PlanOutcome,
  }),
  'plan.preview': command({
    queue: 'planner.commands',
    body: Strict({ command_id: Uuid, caller: Caller, request: Strict(createFields), ...sealedValues }),
    reply: PreviewTable,
  }),
  'plan.redeploy': command({
    queue: 'planner.commands',
    body: redeployBody,
    reply: PlanOutcome,
  }),
  'plan.preview_redeploy': command({
    queue: 'planner.commands',
    body: redeployBody,
    reply: PreviewTable,
  }),
  /** `command_id` becomes the id of the deployment or, without a free slot, of the pending request. */
  'deployment.start': command({
    queue: 'dispatcher.commands',
    body: Strict({
      command_id: Uuid,
      caller: Caller,
      plan: Plan,
      selection: Selection,
      source_deployment_id: Nullable(Uuid),
      freeze_override: Nullable(Strict({ reason: Type.String() })),
      rules_override: Nullable(Strict({ reason: Type.String() })),
      start_at: Nullable(Timestamp),
      expires_at: Nullable(Timestamp),
      /** Stands for the plan, for approvals. */
      plan_hash: Type.String(),
      warnings: Warnings,
    }),
    reply: StartOutcome,
  }),
  'deployment.cancel': command({
    queue: 'dispatcher.commands',
    body: Strict({ deployment_id: Uuid, caller: Caller, ...CancelDeployment.properties }),
    reply: Reply({ deployment_id: Uuid }),
  }),
  'pending.cancel': command({
    queue: 'dispatcher.commands',
    body: Strict({ pending_request_id: Uuid, caller: Caller }),
    reply: Reply({ pending_request_id: Uuid }),
  }),
  'pending.update': command({
    queue: 'dispatcher.commands',
    body: Strict({ pending_request_id: Uuid, caller: Caller, ...UpdatePending.properties }),
    reply: Reply({ pending_request_id: Uuid }),
  }),
  'pending.approve': command({
    queue: 'dispatcher.commands',
    body: Strict({ pending_request_id: Uuid, caller: Caller, ...Approve.properties }),
    reply: Reply({ pending_request_id: Uuid }),
  }),
  'pending.reject': command({
    queue: 'dispatcher.commands',
    body: Strict({ pending_request_id: Uuid, caller: Caller, ...Reject.properties }),
    reply: Reply({ pending_request_id: Uuid }),
  }),
  /** Checks releases in force as soon as a slot is free. Null: any source, any target. */
  'release.check': command({
    queue: 'dispatcher.commands',
    body: Strict({ caller: Caller, source_id: Nullable(Uuid), target_ids: Nullable(Type.Array(Uuid)) }),
    reply: Reply({}),
  }),
  /** Repeats a delivery that succeeded or was given up. */
  'webhook.redeliver': command({
    queue: 'dispatcher.commands',
    body: Strict({ webhook_id: Uuid, delivery_id: Uuid, caller: Caller }),
    reply: Reply({ delivery_id: Uuid }),
  }),
  'instance.update': command({
    queue: 'executor.commands',
    body: Strict({ instance_id: Uuid, caller: Caller, ...ChangeInstance.properties }),
    reply: Reply({ instance_id: Uuid }),
  }),
  /** `force`: even if the instance is online or runs deployments. */
  'instance.delete': command({
    queue: 'executor.commands',
    body: Strict({ instance_id: Uuid, caller: Caller, force: Type.Optional(Type.Boolean()) }),
    reply: Reply({ instance_id: Uuid }),
  }),
} as const satisfies Record<string, Command>

export type CommandType = keyof typeof COMMANDS
export type CommandBody<T extends CommandType> = Static<(typeof COMMANDS)[T]['body']>
export type CommandReply<T extends CommandType> = Static<(typeof COMMANDS)[T]['reply']>

export type CommandsOf<Q extends CommandQueue> = {
  [T in CommandType]: (typeof COMMANDS)[T]['queue'] extends Q ? T : never
}[CommandType]
