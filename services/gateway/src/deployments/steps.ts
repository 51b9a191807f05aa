import type { Queryable } from '@slipway/database'
import { stepId } from '@slipway/domain'
import {
  FIRST_TARGETS,
  type FirstSteps,
  findTargets,
  findTargetsAsStarted,
  type Place,
  type Step,
  type StepState,
  type TargetRow,
} from './steps.sql.ts'

/** Steps of one query. */
const STEPS_READ_AT_ONCE = 10_000
/**
 * Steps of one batch of an answer: half a millisecond of work, and all that a slow reader keeps in memory. A batch of 1,000
 * takes the garbage collector so long that an answer of 200,000 steps takes half as long again.
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

export interface StepsOf extends FirstSteps {
  id: string
  targetCount: number
  asStarted: boolean
}

/** The steps of a deployment in plan order; some targets are read at a time. */
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

/** How many targets have about so many steps. */
const targetsOf = (steps: number, actions: readonly Place[]) =>
  Math.max(1, Math.floor(steps / Math.max(1, actions.length)))

/** The steps of these targets, of which the first one has this index in the plan. */
export function* stepBatches(
  id: string,
  actions: readonly Place[],
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
  actions: readonly Place[],
  { target_id, target_name, states }: TargetRow,
  targetIndex: number,
): Step[] {
  // One spread after plain fields: with two, an object takes V8 ten times as long.
  return actions.map((action, actionIndex) => ({
    id: stepId(deploymentId, targetIndex, actionIndex),
    target_id,
    target_name,
    sequence_id: action.sequence_id,
    sequence_name: action.sequence_name,
    sequence_order: action.sequence_order,
    action_id: action.action_id,
    action_name: action.action_name,
    action_order: action.action_order,
    ...(states?.[actionIndex] ?? PENDING),
  }))
}
