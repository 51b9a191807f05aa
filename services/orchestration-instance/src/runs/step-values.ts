import type { RunAction, RunSpec, RunTarget } from '@slipway/contracts'
import { environmentName, insertValues, type StepRef, toText, valuesFor } from '@slipway/domain'
import type { Command } from '@slipway/execution'
import { LRUCache } from 'lru-cache'
import { Masker } from '../output/masking.ts'

/** How many maskers of targets are cached. One takes about 20 KB, more for long secrets. */
const MAX_MASKERS = 200

/** The commands of a run, and the maskers that hide their sensitive values. */
export class StepValues {
  readonly #spec: RunSpec
  readonly #common: Masker
  readonly #own = new LRUCache<number, Masker>({ max: MAX_MASKERS })

  constructor(spec: RunSpec) {
    this.#spec = spec
    this.#common = new Masker(sensitiveValues(spec, commonLayers(spec)))
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

  /** The masker of the sensitive values of a target. */
  masker({ target }: StepRef): Masker {
    const own = this.#own.get(target)
    if (own) return own
    const variables = this.#spec.targets[target]?.variables ?? {}
    if (!this.#spec.sensitive.some((name) => Object.hasOwn(variables, name))) return this.#common
    const masker = new Masker(sensitiveValues(this.#spec, [variables]), this.#common)
    this.#own.set(target, masker)
    return masker
  }

  action({ action }: StepRef): RunAction {
    return existing(this.#spec.actions[action])
  }

  target({ target }: StepRef): RunTarget {
    return existing(this.#spec.targets[target])
  }
}

function commonLayers(spec: RunSpec): Record<string, unknown>[] {
  return [...spec.actions.map((action) => action.variables), spec.shared_variables, spec.override_variables]
}

function sensitiveValues(spec: RunSpec, layers: Record<string, unknown>[]): unknown[] {
  return layers.flatMap((layer) =>
    spec.sensitive.filter((name) => Object.hasOwn(layer, name)).map((name) => layer[name]),
  )
}

function existing<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a step is not in the specification of the run')
  return value
}
