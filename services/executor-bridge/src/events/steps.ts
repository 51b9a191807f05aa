import type { StreamBatch } from '@slipway/contracts'
import type { Queryable, RowOf } from '@slipway/database'
import { isEndedStepState, outputTail } from '@slipway/domain'
import { type Failures, placeKey } from '../analysis/failures.ts'
import { IllegalEvent } from '../callers/refusal.ts'
import { storableText } from '../storable.ts'
import type { StepChange } from './fold.ts'
import { updateSteps } from './steps.sql.ts'

/** How many characters of the end of the output a result keeps. */
const TAIL_CHARACTERS = 2_000

type MovedStep = RowOf<typeof updateSteps>

interface StepEffect {
  /** Steps with a new state. */
  changed: StreamBatch['steps']
  ended: number
  completed: number
  failed: number
}

/**
 * Updates the steps of a batch in one statement, each only from a state that its first event allows. Stores the results of
 * commands that ended, with the analyses of failures. No time is earlier than the lease or later than the statement, whatever
 * the clock of the instance says. So every start that a cancel finds is earlier than the cancel.
 * @throws IllegalEvent when a step is in another state
 */
export async function moveSteps(
  tx: Queryable,
  { deploymentId, leaseBegan }: { deploymentId: string; leaseBegan: Date },
  changes: readonly StepChange[],
  failures: Failures,
): Promise<StepEffect> {
  if (changes.length === 0) return { changed: [], ended: 0, completed: 0, failed: 0 }
  const rows = await updateSteps.all(tx, {
    ...{ deployment_id: deploymentId, lease_began: leaseBegan },
    ...columnsOf(changes, failures),
  })
  if (rows.length < changes.length) throw unfit(changes, rows)
  return effectOf(rows, changes)
}

function unfit(changes: readonly StepChange[], moved: readonly MovedStep[]): IllegalEvent {
  const fitting = new Set(moved.map(({ target, action }) => placeKey(target, action)))
  const change = changes.find(({ target, action }) => !fitting.has(placeKey(target, action)))
  return new IllegalEvent(
    `Step ${change?.target}/${change?.action} cannot become ${change?.state}: it is not ${change?.sources.join(' or ')}`,
  )
}

function columnsOf(changes: readonly StepChange[], failures: Failures) {
  const column = <T>(value: (change: StepChange) => T) => changes.map(value)
  return {
    targets: column((c) => c.target),
    actions: column((c) => c.action),
    sources: column((c) => c.sources.join(',')),
    states: column((c) => c.state),
    retry_counts: column((c) => c.retry_count),
    started_at: column((c) => c.started_at),
    attempt_started_at: column((c) => c.attempt_started_at),
    completed_at: column((c) => c.completed_at),
    statuses: column((c) => c.result?.status ?? null),
    exit_codes: column((c) => c.result?.exit_code ?? null),
    error_messages: column((c) => textOrNull(c.result?.error_message)),
    reasons: column((c) => c.result?.reason ?? null),
    result_started_at: column((c) => c.result?.started_at ?? null),
    stdout_tails: column((c) => tail(c.result?.stdout_tail)),
    stderr_tails: column((c) => tail(c.result?.stderr_tail)),
    analyses: column((c) => failures.get(placeKey(c.target, c.action))?.finding.analysis ?? null),
  }
}

const textOrNull = (text: string | null | undefined) => (text == null ? null : storableText(text))
const tail = (text: string | undefined) => storableText((text ?? '').slice(-TAIL_CHARACTERS))

function effectOf(rows: readonly MovedStep[], changes: readonly StepChange[]): StepEffect {
  const results = new Map(changes.map(({ target, action, result }) => [placeKey(target, action), result]))
  const effect: StepEffect = { changed: [], ended: 0, completed: 0, failed: 0 }
  for (const { target, action, before, state, exit_code, error_message, newly_failed } of rows) {
    effect.ended += Number(isEndedStepState(state)) - Number(isEndedStepState(before))
    effect.completed += Number(state === 'completed') - Number(before === 'completed')
    effect.failed += Number(newly_failed)
    if (state === before) continue
    const result = results.get(placeKey(target, action))
    const output = result?.status === state ? outputTail(tail(result.stdout_tail), tail(result.stderr_tail)) : null
    const told = { target, action, state, exit_code, error_message }
    effect.changed.push(output === null ? told : { ...told, output })
  }
  return effect
}
