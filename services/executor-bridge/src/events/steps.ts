import type { StreamBatch } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { isEndedStepState, outputTail, type StepState } from '@slipway/domain'
import { type Failures, placeKey } from '../analysis/failures.ts'
import { IllegalEvent } from '../callers/refusal.ts'
import { storableText } from '../storable.ts'
import type { StepChange } from './fold.ts'

/** Last so many characters of the output are kept beside a result. */
const TAIL_CHARACTERS = 2_000

/** What the clock of the instance says. */
const TIMES = ['started_at', 'attempt_started_at', 'completed_at', 'result_started_at']

/** SQL: LEAST ignores null, so CASE keeps it. */
const notAhead = (time: string) =>
  `CASE WHEN change.${time} IS NOT NULL THEN LEAST(change.${time}, clock_timestamp()) END AS ${time}`

interface MovedStep {
  target: number
  action: number
  before: StepState
  state: StepState
  /** This change made it one that ever failed. */
  newly_failed: boolean
  exit_code: number | null
  error_message: string | null
}

export interface StepEffect {
  /** Steps whose state is another now. */
  changed: StreamBatch['steps']
  ended: number
  completed: number
  failed: number
}

/**
 * Moves the steps of a batch in one statement, each only from a state in which its first event may find it, and keeps the
 * results of those that ended, with why they failed. A time that is later than the transaction (the clock of the instance is
 * ahead) becomes the time of the transaction. So every start that a cancel finds is earlier than the cancel.
 * @throws IllegalEvent when a step is in another state
 */
export async function moveSteps(
  tx: Queryable,
  deploymentId: string,
  changes: readonly StepChange[],
  failures: Failures,
): Promise<StepEffect> {
  if (changes.length === 0) return { changed: [], ended: 0, completed: 0, failed: 0 }
  const { rows } = await tx.query<MovedStep>(
    // Each step is looked up by its key and moved by its place, whatever is known of the table: a join on the key is
    // planned as a scan of all of the deployment's steps where the table is new, or most deployments have few. Nobody
    // moves a step between the two: who applies events of the run waits for its progress, and who ends the deployment or
    // gives it to another instance for the deployment (lockRun). Should one ever be moved, its state is asked once more.
    `WITH change AS (
       SELECT change.target_index, change.action_index, change.state, change.retry_count, change.status,
              change.exit_code, change.error_message, change.stdout_tail, change.stderr_tail, change.analysis,
              ${TIMES.map(notAhead).join(', ')}, found.*
       FROM unnest($2::int[], $3::int[], $4::text[], $5::text[], $6::int[], $7::timestamptz[], $8::timestamptz[],
                   $9::timestamptz[], $10::text[], $11::int[], $12::text[], $13::timestamptz[], $14::text[],
                   $15::text[], $16::jsonb[])
         AS change (target_index, action_index, sources, state, retry_count, started_at, attempt_started_at, completed_at,
                    status, exit_code, error_message, result_started_at, stdout_tail, stderr_tail, analysis)
       CROSS JOIN LATERAL (
         SELECT s.ctid AS place, s.state AS before, s.ever_failed AS failed_before FROM steps s
         WHERE s.deployment_id = $1 AND s.target_index = change.target_index AND s.action_index = change.action_index
           AND s.state::text = ANY (string_to_array(change.sources, ','))
         LIMIT 1
       ) found
     ), moved AS (
       UPDATE steps s SET
         state = c.state::step_state,
         retry_count = GREATEST(s.retry_count, c.retry_count),
         ever_failed = s.ever_failed OR c.status IS NOT DISTINCT FROM 'failed',
         exit_code = CASE WHEN c.status IS NULL THEN s.exit_code ELSE c.exit_code END,
         error_message = CASE WHEN c.status IS NULL THEN s.error_message ELSE c.error_message END,
         started_at = COALESCE(s.started_at, c.started_at),
         attempt_started_at = COALESCE(c.attempt_started_at, s.attempt_started_at),
         completed_at = COALESCE(c.completed_at, s.completed_at)
       FROM change c
       WHERE s.ctid = c.place AND s.state = c.before
       RETURNING s.target_index, s.action_index, c.before, s.state, s.exit_code, s.error_message,
         s.ever_failed AND NOT c.failed_before AS newly_failed, c.status, c.exit_code AS ended_with,
         c.error_message AS ended_for, c.result_started_at, c.completed_at AS ended_at, c.stdout_tail, c.stderr_tail, c.analysis
     ), kept AS (
       INSERT INTO command_results AS r (deployment_id, target_index, action_index, status, exit_code, stdout_tail,
                                         stderr_tail, error_message, analysis, started_at, completed_at)
       SELECT $1, target_index, action_index, status, ended_with, stdout_tail, stderr_tail, ended_for, analysis,
              result_started_at, ended_at
       FROM moved WHERE status IS NOT NULL
       ON CONFLICT (deployment_id, target_index, action_index) DO UPDATE SET
         status = EXCLUDED.status, exit_code = EXCLUDED.exit_code, stdout_tail = EXCLUDED.stdout_tail,
         stderr_tail = EXCLUDED.stderr_tail, error_message = EXCLUDED.error_message, analysis = EXCLUDED.analysis,
         started_at = EXCLUDED.started_at, completed_at = EXCLUDED.completed_at
     )
     SELECT target_index AS target, action_index AS action, before::text, state::text, exit_code, error_message, newly_failed
     FROM moved`,
    [deploymentId, ...columnsOf(changes, failures)],
  )
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

function columnsOf(changes: readonly StepChange[], failures: Failures): unknown[][] {
  const column = <T>(value: (change: StepChange) => T) => changes.map(value)
  return [
    column((c) => c.target),
    column((c) => c.action),
    column((c) => c.sources.join(',')),
    column((c) => c.state),
    column((c) => c.retry_count),
    column((c) => c.started_at),
    column((c) => c.attempt_started_at),
    column((c) => c.completed_at),
    column((c) => c.result?.status ?? null),
    column((c) => c.result?.exit_code ?? null),
    column((c) => textOrNull(c.result?.error_message)),
    column((c) => c.result?.started_at ?? null),
    column((c) => tail(c.result?.stdout_tail)),
    column((c) => tail(c.result?.stderr_tail)),
    column((c) => {
      const found = failures.get(placeKey(c.target, c.action))
      return found ? JSON.stringify(found.finding.analysis) : null
    }),
  ]
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
