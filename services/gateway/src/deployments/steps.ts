import type { Queryable } from '@slipway/database'
import { stepId } from '@slipway/domain'
import {
  FIRST_TARGETS,
  type FirstSteps,
  findTargets,
  findTargetsAsStarted,
  type PlacedAction,
  type Step,
  type StepState,
  type TargetRow,
} from './steps.sql.ts'

/** Steps of one query. */
const STEPS_READ_AT_ONCE = 10_000
/**
 * Steps of one batch of an answer: 0.5 ms of work. With 1,000, the garbage collector makes an answer of 200,000 steps 1.5 times
 * as slow (`make bench ARGS=plans`).
 */
const BATCH_STEPS = 200

const PENDING: StepState = {
  state: 'pending',
  started_at: null,
  completed_at: null,
  exit_code: null,
  error_message: null,
  retry_count: 0,
  duration_ms: null,
  end_confirmed: null,
}

interface StepsOf extends FirstSteps {
  id: string
  targetCount: number
  asStarted: boolean
}

/** Reads the steps of a deployment in plan order, some targets at a time. */
export async function* readSteps(
  db: Queryable,
  { id, targetCount, asStarted, actions, targets }: StepsOf,
): AsyncGenerator<Step[]> {
  yield* stepBatches(id, actions, targets)
  const targetsAtOnce = targetsOf(STEPS_READ_AT_ONCE, actions)
  for (let first = FIRST_TARGETS; first < targetCount; first += targetsAtOnce) {
    const slice = { id, first, end: first + targetsAtOnce }
    const rows = await (asStarted ? findTargetsAsStarted : findTargets).all(db, slice)
    yield* stepBatches(id, actions, rows, first)
  }
}

/** The number of targets that together have about `steps` steps. */
const targetsOf = (steps: number, actions: readonly PlacedAction[]) =>
  Math.max(1, Math.floor(steps / Math.max(1, actions.length)))

/** Makes the steps of these targets. `first` is the index of the first one in the plan. */
export function* stepBatches(
  id: string,
  actions: readonly PlacedAction[],
  targets: readonly TargetRow[],
  first = 0,
): Generator<Step[]> {
  const atOnce = targetsOf(BATCH_STEPS, actions)
  for (let at = 0; at < targets.length; at += atOnce) {
    yield targets.slice(at, at + atOnce).flatMap((target, index) => stepsOf(id, actions, target, first + at + index))
  }
}

function stepsOf(
  deploymentId: string,
  actions: readonly PlacedAction[],
  { target_id, target_name, states }: TargetRow,
  targetIndex: number,
): Step[] {
  // Only one spread: with two, V8 takes ten times as long for an object.
  return actions.map((action, actionIndex) => ({
    id: stepId(deploymentId, targetIndex, actionIndex),
    target_id,
    target_name,
    sequence_id: action.sequence_id,
    sequence_name: action.sequence_name,
    sequence_version: action.sequence_version,
    sequence_order: action.sequence_order,
    action_id: action.action_id,
    action_name: action.action_name,
    action_version: action.action_version,
    action_order: action.action_order,
    ...(states?.[actionIndex] ?? PENDING),
  }))
}
