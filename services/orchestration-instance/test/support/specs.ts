import { randomUUID } from 'node:crypto'
import type { RunAction, RunSpec, RunTarget } from '@slipway/contracts'

interface SpecOptions extends Partial<Omit<RunSpec, 'actions' | 'targets' | 'options'>> {
  actions: (Partial<RunAction> & { script: string })[]
  /** Names of local targets, or complete targets. */
  targets?: (string | (Partial<RunTarget> & { name: string }))[]
  options?: Partial<RunSpec['options']>
}

/** Each template is a word of a shell. The gateway reads real scripts with a grammar. */
const templateOf = (script: string) => ({
  places: Array.from(script.matchAll(/\{\{ (\w+) \}\}/g), ({ 0: text, 1: name = '', index: start }) => ({
    name,
    start,
    end: start + text.length,
    encoding: 'shell-word' as const,
    line: 1,
    column: start + 1,
  })),
  refused: [],
  documents: [],
})

/** The specification of a run, as the bridge sends it. */
export function specOf({ actions, targets = ['one'], options, ...rest }: SpecOptions): RunSpec {
  return {
    deployment_id: randomUUID(),
    epoch: 1,
    request_id: null,
    source: { name: 'source', version: '1.0.0' },
    remaining_seconds: null,
    shared_variables: {},
    override_variables: {},
    sensitive: [],
    phase: 'running',
    steps: [],
    first_line: 0,
    ...rest,
    options: {
      target_mode: 'sequential',
      failure_strategy: 'stop_on_first_failure',
      rollback_strategy: 'none',
      priority: 0,
      timeout_seconds: 60,
      max_retries: 0,
      deployment_timeout_seconds: 600,
      bypass_cache: false,
      ...options,
    },
    actions: actions.map((action, index) => ({
      name: `action-${index}`,
      sequence_name: 'sequence',
      template: templateOf(action.script),
      rollback_script: null,
      rollback_template: null,
      interpreter: 'sh' as const,
      working_directory: null,
      env: {},
      timeout_seconds: 60,
      max_retries: 0,
      variables: {},
      ...action,
    })),
    targets: targets.map((target) => ({
      id: randomUUID(),
      connection: { type: 'local' as const },
      environment: null,
      variables: {},
      ...(typeof target === 'string' ? { name: target } : target),
    })),
  }
}
