import type {
  LogStreamMessage,
  ResourceStreamMessage,
  StoredLine,
  StreamLog,
  StreamPartialLine,
} from '@slipway/contracts'
import { type DeploymentState, stepId } from '@slipway/domain'
import type { Transition } from '../deployments/queries.ts'
import type { StepRecord } from './known-state.ts'

/** A message as clients receive it: one `data:` line. */
export const frame = (message: LogStreamMessage | ResourceStreamMessage): string =>
  `data: ${JSON.stringify(message)}\n\n`

export const PING = Buffer.from(frame({ event: 'ping', data: { type: 'ping' } }))

/** Derives the ids of lines and steps from their places in the plan. */
export class PlanIndex {
  readonly deploymentId: string
  readonly #targets: { id: string; name: string }[]
  readonly #actions: { version: string }[]
  readonly #stepIds = new Map<number, string>()

  constructor(deploymentId: string, targets: { id: string; name: string }[], actions: { version: string }[]) {
    this.deploymentId = deploymentId
    this.#targets = targets
    this.#actions = actions
  }

  get actionCount(): number {
    return this.#actions.length
  }

  actionVersion(index: number): string | null {
    return this.#actions[index]?.version ?? null
  }

  target(index: number | null): { id: string; name: string } | undefined {
    return index === null ? undefined : this.#targets[index]
  }

  key({ target, action }: { target: number; action: number }): number {
    return target * this.actionCount + action
  }

  stepId(target: number, action: number): string {
    const key = this.key({ target, action })
    let id = this.#stepIds.get(key)
    if (id === undefined) {
      id = stepId(this.deploymentId, target, action)
      this.#stepIds.set(key, id)
    }
    return id
  }
}

export const logFrame = (places: PlanIndex, line: StoredLine, seq: number): string =>
  lineFrame(places, line, { ...line.x, seq })

export const partialLineFrame = (places: PlanIndex, line: StreamPartialLine): string =>
  lineFrame(places, line, { partial: true })

function lineFrame(places: PlanIndex, line: StoredLine, metadata: NonNullable<StreamLog['metadata']>): string {
  const target = places.target(line.i)
  return frame({
    event: 'log',
    data: {
      type: 'log',
      log: {
        timestamp: new Date(line.t).toISOString(),
        level: line.l,
        step_id: line.i === null || line.a === null ? null : places.stepId(line.i, line.a),
        target_id: target?.id ?? null,
        target_name: target?.name ?? null,
        message: line.m,
        metadata,
      },
    },
  })
}

/** The end of the output of a step's command, by `PlanIndex.key`. */
export type Outputs = ReadonlyMap<number, string>

export function stepFrame(places: PlanIndex, step: StepRecord, outputs: Outputs): string {
  const { state, exit_code, error_message } = step
  const step_id = places.stepId(step.target, step.action)
  return frame({
    event: 'step_update',
    data: {
      type: 'step_update',
      step_id,
      action_version: places.actionVersion(step.action),
      state,
      exit_code,
      error_message,
      output: outputs.get(places.key(step)) ?? null,
    },
  })
}

export function progressFrame(
  { deploymentId }: PlanIndex,
  counts: { progress: number; completed_steps: number; total_steps: number },
): string {
  const { progress, completed_steps, total_steps } = counts
  const message = `${completed_steps} of ${total_steps} steps are complete`
  return frame({
    event: 'progress',
    data: { type: 'progress', deployment_id: deploymentId, progress, completed_steps, total_steps, message },
  })
}

/** Only the final state has `logLines`. */
export function stateFrame(
  { deploymentId }: PlanIndex,
  oldState: DeploymentState | '',
  { to_state, message }: Pick<Transition, 'to_state' | 'message'>,
  logLines?: number,
): string {
  return frame({
    event: 'state_change',
    data: {
      type: 'state_change',
      deployment_id: deploymentId,
      old_state: oldState,
      new_state: to_state,
      message,
      ...(logLines === undefined ? {} : { log_lines: logLines }),
    },
  })
}
