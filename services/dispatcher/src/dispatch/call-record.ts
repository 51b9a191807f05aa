import type { CallRecord } from '@slipway/database/audit'
import type { Start, Wait } from '@slipway/engine'
import type { Superseded } from '../pending/supersede.ts'
import type { StartCommand } from './start-commands.ts'

/** The audit record of a command that started or is queued. */
export function callRecord({
  is,
  received: { command, request_id, api_key },
  overridden,
  passed,
  superseded,
}: Pick<Start | Wait, 'is' | 'overridden' | 'passed'> & {
  received: StartCommand
  superseded: Superseded
}): CallRecord {
  const { command_id, caller, plan, source_deployment_id, freeze_override, rules_override } = command
  return {
    command_id,
    action: source_deployment_id === null ? 'deployment.create' : 'deployment.redeploy',
    caller,
    api_key,
    request_id,
    ...(is === 'wait' ? { resource_type: 'pending_request' } : {}),
    resource_id: command_id,
    tenant_id: plan.tenant?.id ?? null,
    details: {
      outcome: is === 'wait' ? 'queued' : 'started',
      source: plan.source,
      ...(source_deployment_id === null ? {} : { source_deployment_id }),
      environment: plan.environment,
      target_count: plan.targets.length,
      priority: plan.options.priority,
      ...(superseded.ids.length === 0 ? {} : { superseded: superseded.ids }),
      // By name: freezes can be deleted later.
      ...(freeze_override === null
        ? {}
        : {
            freeze_override: {
              reason: freeze_override.reason,
              freezes: overridden.map(({ id, name }) => ({ id, name })),
            },
          }),
      ...(rules_override === null ? {} : { rules_override: { reason: rules_override.reason, environments: passed } }),
    },
  }
}
