import { isoTime, jsonObject, milliseconds, type Queryable } from '@slipway/database'

/** Steps in one query, and so in memory, at a time. */
const STEPS_AT_ONCE = 5_000

const PLACE: Record<string, string> = {
  id: 'step_id(s.deployment_id, s.target_index, s.action_index)',
  target_id: 't.target_id',
  target_name: 't.target_name',
  sequence_id: 'a.sequence_id',
  sequence_name: 'a.sequence_name',
  sequence_order: 'a.sequence_order',
  action_id: 'a.action_id',
  action_name: 'a.action_name',
  action_order: 'a.action_order',
}

const STEP = jsonObject({
  ...PLACE,
  state: 's.state',
  started_at: isoTime('s.started_at'),
  completed_at: isoTime('s.completed_at'),
  exit_code: 's.exit_code',
  error_message: 's.error_message',
  retry_count: 's.retry_count',
  duration_ms: milliseconds('s.started_at', 's.completed_at'),
})

const STEP_AS_STARTED = jsonObject({
  ...PLACE,
  state: `'pending'`,
  started_at: 'NULL',
  completed_at: 'NULL',
  exit_code: 'NULL',
  error_message: 'NULL',
  retry_count: '0',
  duration_ms: 'NULL',
})

export interface StepsOf {
  id: string
  targetCount: number
  actionCount: number
  asStarted: boolean
}

/** The steps of a deployment in plan order as the inside of a JSON array, some targets at a time. */
export async function* readSteps(db: Queryable, steps: StepsOf): AsyncGenerator<string> {
  const { id, targetCount, actionCount, asStarted } = steps
  const targetsAtOnce = Math.max(1, Math.floor(STEPS_AT_ONCE / Math.max(1, actionCount)))
  for (let first = 0; first < targetCount; first += targetsAtOnce) {
    const { rows } = await db.query<{ steps: string | null }>(
      `SELECT string_agg(${asStarted ? STEP_AS_STARTED : STEP}::text, ',' ORDER BY s.target_index, s.action_index) AS steps
       FROM steps s
       JOIN deployment_targets t ON t.deployment_id = s.deployment_id AND t.target_index = s.target_index
       JOIN deployment_actions a ON a.deployment_id = s.deployment_id AND a.action_index = s.action_index
       WHERE s.deployment_id = $1 AND s.target_index >= $2 AND s.target_index < $3`,
      [id, first, first + targetsAtOnce],
    )
    const [row] = rows
    if (row?.steps) yield (first === 0 ? '' : ',') + row.steps
  }
}
