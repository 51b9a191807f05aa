import type { Command } from '@slipway/commands'
import type { RunAction, RunSpec, RunTarget } from '@slipway/contracts'
import { environmentName, insertValues, type StepRef, toText, valuesFor } from '@slipway/domain'
import { Masker } from '../output/masking.ts'

/** The commands of a run, and the masker that hides the sensitive values of all its targets. */
export class StepValues {
  readonly #spec: RunSpec
  /** A target may print the secret of another one, so one masker serves all. It takes several turns of the event loop. */
  readonly masker: Promise<Masker>

  constructor(spec: RunSpec) {
    this.#spec = spec
    this.masker = Masker.build(sensitiveValues(spec))
  }

  command(step: StepRef, attempt: number, kind: 'action' | 'rollback'): Omit<Command, 'files'> {
    const action = this.action(step)
    const rollback = kind === 'rollback'
    const script = (rollback ? action.rollback_script : action.script) ?? ''
    const template = rollback ? action.rollback_template : action.template
    const target = this.target(step)
    const values = valuesFor(this.#spec, step.action, target)
    const variables = Object.entries(values).map(([name, value]) => [environmentName(name), toText(value)])
    const { deployment_id: deploymentId, epoch } = this.#spec
    return {
      identity: { deploymentId, epoch, target: step.target, action: step.action, attempt, rollback },
      script: template === null ? script : insertValues(script, template, values),
      interpreter: action.interpreter,
      workingDirectory: action.working_directory,
      timeoutSeconds: action.timeout_seconds,
      environment: {
        LANG: 'C.UTF-8',
        ...action.env,
        ...Object.fromEntries(variables),
        SLIPWAY_DEPLOYMENT_ID: deploymentId,
        SLIPWAY_ENVIRONMENT: target.environment ?? '',
        SLIPWAY_SOURCE: this.#spec.source.name,
        SLIPWAY_SOURCE_VERSION: this.#spec.source.version,
        SLIPWAY_STEP: action.name,
        SLIPWAY_TARGET_ID: target.id,
        SLIPWAY_TARGET_NAME: target.name,
        // People count from 1, as the log does.
        SLIPWAY_ATTEMPT: String(attempt + 1),
      },
    }
  }

  action({ action }: StepRef): RunAction {
    return existing(this.#spec.actions[action])
  }

  target({ target }: StepRef): RunTarget {
    return existing(this.#spec.targets[target])
  }
}

function sensitiveValues(spec: RunSpec): Set<unknown> {
  const layers = [
    spec.shared_variables,
    spec.override_variables,
    ...[...spec.actions, ...spec.targets].map(({ variables }) => variables),
  ]
  const values = new Set<unknown>()
  for (const layer of layers) {
    for (const name of spec.sensitive) if (Object.hasOwn(layer, name)) values.add(layer[name])
  }
  return values
}

function existing<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a step is not in the specification of the run')
  return value
}
