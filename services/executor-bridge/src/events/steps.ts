import type { StreamBatch } from '@slipway/contracts'
import { type MovedStep, type Queryable, type StepMove, type StepResult, writeSteps } from '@slipway/database'
import { outputTail } from '@slipway/domain'
import { type Failures, placeKey } from '../analysis/failures.ts'
import { IllegalEvent } from '../callers/refusal.ts'
import { storableText } from '../storable.ts'
import type { StepChange } from './fold.ts'

/** How many characters of the end of the output a result keeps. */
const TAIL_CHARACTERS = 2_000

interface StepEffect {
  /** Steps with a new state. */
  changed: StreamBatch['steps']
  /** The counts of the run after the batch; null if they have not changed. */
  counts: { completed_steps: number; ended_steps: number } | null
  hasFreedTargets: boolean
}

/**
 * Moves the steps of a batch, each only from a state that its first event allows. Stores the results of commands that ended, with
 * the analyses of failures. No time is earlier than the lease or later than the statement, whatever the clock of the instance
 * says. So every start that a cancel finds is earlier than the cancel.
 * @throws IllegalEvent when a step is in another state
 */
export async function moveSteps(
  tx: Queryable,
  { deploymentId, leaseBegan }: { deploymentId: string; leaseBegan: Date },
  changes: readonly StepChange[],
  failures: Failures,
): Promise<StepEffect> {
  if (changes.length === 0) return { changed: [], counts: null, hasFreedTargets: false }
  const moves = changes.map((change) => moveOf(change, failures))
  const { moved, ...effect } = await writeSteps(tx, { kind: 'moved', deploymentId, leaseBegan, moves })
  if (moved.length < moves.length) throw unfit(changes, moved)
  return { changed: changedSteps(moved, moves), ...effect }
}

function unfit(changes: readonly StepChange[], moved: readonly MovedStep[]): IllegalEvent {
  const fitting = new Set(moved.map(({ target, action }) => placeKey(target, action)))
  const change = changes.find(({ target, action }) => !fitting.has(placeKey(target, action)))
  return new IllegalEvent(
    `Step ${change?.target}/${change?.action} cannot become ${change?.state}: it is not ${change?.sources.join(' or ')}`,
  )
}

function moveOf({ result, ...change }: StepChange, failures: Failures): StepMove {
  return { ...change, result: result && storableResult(result, change, failures) }
}

function storableResult(
  { status, exit_code, error_message, reason, started_at, stdout_tail, stderr_tail }: NonNullable<StepChange['result']>,
  { target, action }: Pick<StepChange, 'target' | 'action'>,
  failures: Failures,
): StepResult {
  return {
    status,
    exit_code,
    reason,
    started_at,
    error_message: error_message === null ? null : storableText(error_message),
    stdout_tail: tail(stdout_tail),
    stderr_tail: tail(stderr_tail),
    analysis: failures.get(placeKey(target, action))?.finding.analysis ?? null,
  }
}

const tail = (text: string) => storableText(text.slice(-TAIL_CHARACTERS))

function changedSteps(moved: readonly MovedStep[], moves: readonly StepMove[]): StreamBatch['steps'] {
  const results = new Map(moves.map(({ target, action, result }) => [placeKey(target, action), result]))
  return moved.flatMap(({ target, action, before, state, exit_code, error_message }) => {
    if (state === before) return []
    const result = results.get(placeKey(target, action))
    const output = result?.status === state ? outputTail(result.stdout_tail, result.stderr_tail) : null
    const summary = { target, action, state, exit_code, error_message }
    return [output === null ? summary : { ...summary, output }]
  })
}
