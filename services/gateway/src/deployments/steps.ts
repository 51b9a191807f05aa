import type { CommandReply } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { STEP_ID_BYTES, StepIds } from '@slipway/domain'
import { isoTime, jsonObject, milliseconds, stepError } from '@slipway/views'

/** Targets in one query, and so in memory, at a time; fewer where the states of their steps come along. */
const TARGETS_READ_AT_ONCE = 2_500
const STEPS_READ_AT_ONCE = 5_000
/** One piece of an answer: half a millisecond of work, and all that a slow reader keeps in memory. */
const PIECE_BYTES = 224 * 1024

/** A row of the plan: a target, and what has happened to its steps. */
export interface TargetRow {
  target_id: string
  target_name: string
  /** A line for each action, empty where nothing has happened; none where nothing has to any of them. */
  states?: string | null
}

const PENDING = inside({
  state: 'pending',
  started_at: null,
  completed_at: null,
  exit_code: null,
  error_message: null,
  retry_count: 0,
  duration_ms: null,
  end_confirmed: null,
})

const STATE = jsonObject({
  state: 's.state',
  started_at: isoTime('s.started_at'),
  completed_at: isoTime('s.completed_at'),
  exit_code: 's.exit_code',
  error_message: stepError('s'),
  retry_count: 's.retry_count',
  duration_ms: milliseconds('s.started_at', 's.completed_at'),
  end_confirmed: 's.end_confirmed',
})

// Most of a large plan is pending most of the time, and building that in SQL costs more than reading it.
const STATES = `(SELECT string_agg(CASE WHEN s.state = 'pending' AND s.retry_count = 0 THEN '' ELSE ${STATE}::text END,
                                   E'\\n' ORDER BY s.action_index)
                 FROM steps s WHERE s.deployment_id = t.deployment_id AND s.target_index = t.target_index)`
const statesOf = (asStarted: boolean) => (asStarted ? 'NULL' : STATES)

/** So many of a deployment's targets are read together with what else is told of it. */
const FIRST_TARGETS = 50

type Action = CommandReply<'plan.preview'>['plan']['actions'][number]

/** The actions of a deployment and its first targets: for most plans all there is to read. */
export interface FirstSteps {
  actions: Action[]
  targets: TargetRow[]
}

/** SQL: the FirstSteps of deployment `d`, the variables of its actions with them. */
export const firstSteps = (asStarted: boolean) => `json_build_object(
  'actions', (SELECT coalesce(json_agg(json_build_object('sequence_id', a.sequence_id, 'sequence_name', a.sequence_name,
                 'sequence_order', a.sequence_order, 'action_id', a.action_id, 'action_name', a.action_name,
                 'action_order', a.action_order, 'variables', a.variables) ORDER BY a.action_index), '[]')
                FROM deployment_actions a WHERE a.deployment_id = d.id),
  'targets', (SELECT coalesce(json_agg(json_build_object('target_id', t.target_id, 'target_name', t.target_name,
                 'states', ${statesOf(asStarted)}) ORDER BY t.target_index), '[]')
                FROM deployment_targets t WHERE t.deployment_id = d.id AND t.target_index < ${FIRST_TARGETS}))`

export interface StepsOf extends FirstSteps {
  id: string
  targetCount: number
  asStarted: boolean
}

/** The steps of a deployment in plan order as the inside of a JSON array, in pieces; some targets are read at a time. */
export async function* readSteps(
  db: Queryable,
  { id, targetCount, asStarted, actions, targets }: StepsOf,
): AsyncGenerator<Buffer> {
  const columns = actions.map(columnOf)
  yield* pieces(id, columns, targets, 0)
  const targetsAtOnce = asStarted
    ? TARGETS_READ_AT_ONCE
    : Math.max(1, Math.floor(STEPS_READ_AT_ONCE / Math.max(1, actions.length)))
  for (let first = FIRST_TARGETS; first < targetCount; first += targetsAtOnce) {
    const { rows } = await db.query<TargetRow>(
      `SELECT t.target_id, t.target_name, ${statesOf(asStarted)} AS states
       FROM deployment_targets t
       WHERE t.deployment_id = $1 AND t.target_index >= $2 AND t.target_index < $3
       ORDER BY t.target_index`,
      [id, first, first + targetsAtOnce],
    )
    yield* pieces(id, columns, rows, first)
  }
}

/** The steps of a plan of which nothing has begun, likewise. */
export function plannedSteps(id: string, actions: readonly Action[], targets: Iterable<TargetRow>): Generator<Buffer> {
  return pieces(id, actions.map(columnOf), targets, 0)
}

/** What each step says of its action, up to its state and, as bytes, up to its end where it is pending. */
interface Column {
  text: string
  pending: Buffer
}

function columnOf({
  sequence_id,
  sequence_name,
  sequence_order,
  action_id,
  action_name,
  action_order,
}: Action): Column {
  const text = `,${inside({ sequence_id, sequence_name, sequence_order, action_id, action_name, action_order })},`
  return { text, pending: Buffer.from(`${text}${PENDING}}`) }
}

const OPEN = Buffer.from(',{"id":"')

/** What repeats is put into words once and copied from then on; what is copied goes to its place at once. */
function* pieces(id: string, columns: Column[], rows: Iterable<TargetRow>, first: number): Generator<Buffer> {
  const ids = new StepIds(id)
  let piece = Buffer.allocUnsafe(PIECE_BYTES)
  // Nothing comes before the first step, so there is no comma.
  let start = first === 0 ? 1 : 0
  let end = 0
  let index = first
  for (const { states, ...target } of rows) {
    const row = Buffer.from(`",${inside(target)}`)
    const stateOf = states?.split('\n')
    for (let action = 0; action < columns.length; action += 1) {
      const { text, pending } = columns[action] as Column
      const state = stateOf?.[action]
      const rest = state ? Buffer.from(text + state.slice(1)) : pending
      const bytes = OPEN.length + STEP_ID_BYTES + row.length + rest.length
      if (end + bytes > piece.length) {
        if (end > 0) {
          yield piece.subarray(start, end)
          start = 0
        }
        piece = Buffer.allocUnsafe(Math.max(PIECE_BYTES, bytes))
        end = 0
      }
      piece.set(OPEN, end)
      ids.write(index, action, piece, end + OPEN.length)
      piece.set(row, end + OPEN.length + STEP_ID_BYTES)
      piece.set(rest, end + bytes - rest.length)
      end += bytes
    }
    index += 1
  }
  if (end > 0) yield piece.subarray(start, end)
}

/** The fields of an object as JSON, to be put beside others. */
function inside(fields: object): string {
  return JSON.stringify(fields).slice(1, -1)
}
