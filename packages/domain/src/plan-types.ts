/** The shape of a plan; `@slipway/contracts` holds the schema that checks the same shape where it crosses a process. */
export type SourceType = 'solution' | 'sequence' | 'action'
export type VariableType = 'string' | 'number' | 'boolean' | 'json'
export interface VariableDefinition {
  id?: string
  name: string
  type?: VariableType
  description?: string
  default?: unknown
  required?: boolean
  prompted?: boolean
  sensitive?: boolean
}
/** A value sealed with the key ring; only services that hold the keys can open it. */
export interface SealedValue {
  $sealed: string
}
export type VariableValues = Record<string, unknown> // sensitive names hold SealedValue inside a Plan

export type TargetMode = 'sequential' | 'parallel' | { rolling: { batch_size: number } }
export type FailureStrategy = 'stop_on_first_failure' | 'continue_on_failure' | 'ignore_failures'
export type RollbackStrategy = 'none' | 'failed_target_only' | 'all_executed'

export interface PlanSource {
  type: SourceType
  id: string
  name: string
  version: string
}
/** One column of the plan: an action in its place. Index in the array is the order of execution on a target. */
export interface PlannedAction {
  sequence_id: string
  sequence_name: string
  sequence_version: string
  sequence_order: number
  action_id: string
  action_name: string
  action_version: string
  action_order: number
  timeout_seconds: number
  max_retries: number
  has_rollback: boolean
  variables: VariableValues // layer 1: defaults (action < sequence < solution), then entries (sequence entry < solution entry)
}
/** One row of the plan. */
export interface PlannedTarget {
  id: string
  name: string
  variables: VariableValues /* layer 3 */
}
export interface PlanOptions {
  target_mode: TargetMode
  failure_strategy: FailureStrategy
  rollback_strategy: RollbackStrategy
  priority: number
  timeout_seconds: number
  max_retries: number
  deployment_timeout_seconds: number
  bypass_cache: boolean
}
/** What a command became: immutable, compact (targets x actions, never multiplied into steps). */
export interface Plan {
  source: PlanSource
  tenant: { id: string; name: string } | null
  environment: { id: string; name: string } | null
  actions: PlannedAction[]
  targets: PlannedTarget[]
  shared_variables: VariableValues // layer 2: tenant < environment
  override_variables: VariableValues // layer 4: variables of the request < prompted_values
  sensitive: string[] // names whose values are sealed wherever they stand
  options: PlanOptions
}
// value of `name` for a step = override ?? target ?? shared ?? action layer
