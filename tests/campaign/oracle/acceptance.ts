import type { Call } from '../ledger.ts'
import { SHAPES } from '../workload/catalog.ts'
import { type Check, type Evidence, FINAL_STATES, Findings, groupBy } from './evidence.ts'

const CREATES = new Set(['create', 'redeploy'])
/** The gateway answers so after a command that has had no effect and will have none. */
const saysNothingWasDone = ({ message }: Call) => message?.includes('nothing was done') === true
const isAccepted = ({ status }: Call) => status === 201 || status === 202

/** The deployments and requests that each create of the API left: the id of the request that made them. */
function madeBy({ tables }: Evidence): Map<string, string[]> {
  const made = [...tables.pending, ...tables.deployments.filter(({ pending_id }) => pending_id === null)]
  const groups = groupBy(made, ({ request_id }) => request_id ?? 'none')
  return new Map([...groups].map(([requestId, rows]) => [requestId, rows.map(({ id }) => id)]))
}

/** Of each create that is answered with 2xx exactly one deployment or request is left; of others none or one. */
const eachCreateOnce: Check = (evidence) => {
  const findings = new Findings()
  const made = madeBy(evidence)
  const creates = evidence.ledger.calls.filter(({ purpose }) => CREATES.has(purpose))
  // Calls with one key are one create.
  for (const calls of groupBy(creates, ({ key, requestId }) => key ?? requestId).values()) {
    const ids = calls.flatMap(({ requestId }) => made.get(requestId) ?? [])
    const answered = new Set(calls.filter(isAccepted).map(({ id }) => id as string))
    const facts = { calls, left: ids }
    findings.unless(answered.size <= 1, 'I1', 'repeated calls with one key have the same answer', [...answered], facts)
    findings.unless(ids.length <= 1, 'I1', 'a create leaves one deployment or request', ids, facts)
    if (answered.size > 0) {
      findings.unless(
        ids.length === 1 && answered.has(ids[0] as string),
        'I1',
        'a create that was answered with 2xx leaves its deployment or request',
        [...answered],
        facts,
      )
    }
    const isRefused = calls.every(({ status }) => status !== null && status >= 400 && status < 500)
    if (isRefused) findings.unless(ids.length === 0, 'I1', 'a refused create leaves nothing', ids, facts)
    if (calls.every(saysNothingWasDone)) {
      findings.unless(
        ids.length === 0,
        'I1',
        'a create whose answer says that nothing was done leaves nothing',
        ids,
        facts,
      )
    }
  }
  const known = new Set(creates.map(({ requestId }) => requestId))
  for (const [requestId, ids] of made) {
    findings.unless(known.has(requestId), 'I1', 'nothing exists without a call', ids, { requestId })
  }
  return findings.all
}

const everyDeploymentEnds: Check = ({ tables }) => {
  const findings = new Findings()
  for (const { id, state } of tables.deployments) {
    findings.unless(FINAL_STATES.has(state), 'I2', 'at rest every deployment is in a final state', [id], { state })
  }
  return findings.all
}

/** The allowed transitions. They are repeated here on purpose, independently of the product. */
const FOLLOWS: Record<string, readonly string[]> = {
  '': ['pending', 'queued', 'running'],
  pending: ['queued', 'running', 'cancelled'],
  queued: ['running', 'cancelled'],
  running: ['success', 'failed', 'cancelled', 'rolling_back'],
  rolling_back: ['rolled_back', 'failed'],
}

const historiesFollowTheTable: Check = ({ tables }) => {
  const findings = new Findings()
  const histories = groupBy(tables.transitions, ({ deployment_id }) => deployment_id)
  for (const { id, state, started_at, completed_at } of tables.deployments) {
    const history = histories.get(id) ?? []
    let last = ''
    for (const { number, from_state, to_state } of history) {
      findings.unless(
        (from_state ?? '') === last && FOLLOWS[last]?.includes(to_state) === true,
        'I3',
        'the history follows the table of states',
        [id],
        { number, from_state, to_state, last },
      )
      last = to_state
    }
    findings.unless(last === state, 'I3', 'the last entry of the history is the state', [id], { last, state })
    const finals = history.filter(({ to_state }) => FINAL_STATES.has(to_state)).length
    findings.unless(finals === (FINAL_STATES.has(state) ? 1 : 0), 'I3', 'a history has one final entry', [id], history)
    findings.unless(
      (completed_at !== null) === FINAL_STATES.has(state) &&
        (completed_at === null || started_at === null || completed_at >= started_at),
      'I3',
      'completed_at is set in final states only',
      [id],
      { state, started_at, completed_at },
    )
  }
  return findings.all
}

const everyRequestEnds: Check = ({ tables }) => {
  const findings = new Findings()
  const deployments = new Set(tables.deployments.map(({ id }) => id))
  for (const { id, status, deployment_id, error_message } of tables.pending) {
    const isGood =
      (status === 'dispatched' && deployment_id !== null && deployments.has(deployment_id)) ||
      status === 'cancelled' ||
      (status === 'failed' && error_message !== null)
    findings.unless(isGood, 'I4', 'a request ends dispatched, cancelled, or failed with a message', [id], {
      status,
      deployment_id,
      error_message,
    })
  }
  const shared = groupBy(
    tables.pending.filter(({ deployment_id }) => deployment_id !== null),
    ({ deployment_id }) => deployment_id as string,
  )
  for (const [id, requests] of shared) {
    findings.unless(requests.length === 1, 'I4', 'each request has its own deployment', [id], requests)
  }
  return findings.all
}

const cancelledRequestsNeverRun: Check = ({ tables, ledger, markers }) => {
  const findings = new Findings()
  const requests = new Map(tables.pending.map((row) => [row.id, row]))
  const ran = new Set(markers.map(({ deployment }) => deployment))
  for (const { purpose, status, facts } of ledger.calls) {
    if (purpose !== 'cancel pending') continue
    const id = String(facts['id'])
    const request = requests.get(id)
    if (status === 200) {
      const isGone = request?.status === 'cancelled' && request.deployment_id === null && !ran.has(id)
      findings.unless(isGone, 'I5', 'a request whose DELETE was answered with 200 never runs', [id], request)
    } else if (status === 409) {
      const hasEnded = request !== undefined && ['dispatched', 'cancelled', 'failed'].includes(request.status)
      findings.unless(hasEnded, 'I5', 'a request whose DELETE was answered with 409 has ended', [id], request)
    }
  }
  return findings.all
}

/** A client that is told that its cancel did nothing cancels again, or lets the work go on. */
const refusedCancelsHaveNoEffect: Check = ({ tables, ledger }) => {
  const findings = new Findings()
  const cancels = groupBy(
    ledger.calls.filter(({ purpose }) => purpose === 'cancel' || purpose === 'cancel pending'),
    ({ facts }) => String(facts['id']),
  )
  const cancelled = [
    ...tables.deployments.filter(({ state }) => state === 'cancelled'),
    ...tables.pending.filter(({ status }) => status === 'cancelled'),
  ]
  for (const { id } of cancelled) {
    const calls = cancels.get(id) ?? []
    findings.unless(
      !calls.every(saysNothingWasDone),
      'I12',
      'nothing is cancelled without a call, or by one whose answer says that nothing was done',
      [id],
      calls,
    )
  }
  return findings.all
}

const ENDED_BADLY = new Set(['failed', 'rolled_back', 'rollback_failed'])

/** A deployment ends as its shape requires, unless it was cancelled or its attempts are used up. */
const outcomesAreDeserved: Check = ({ tables, ledger }) => {
  const findings = new Findings()
  const shapes = new Map(SHAPES.map((shape) => [shape.name, shape]))
  const shapeOf = new Map(
    ledger.calls.filter(isAccepted).map(({ id, facts }) => [id as string, shapes.get(String(facts['shape']))]),
  )
  const cancels = new Map(
    ledger.calls
      .filter(({ purpose, status }) => purpose === 'cancel' && (status === null || status === 200 || status >= 500))
      .map(({ facts, status }) => [String(facts['id']), status]),
  )
  const steps = groupBy(tables.steps, ({ deployment_id }) => deployment_id)
  for (const { id, pending_id, state, error_message } of tables.deployments) {
    const shape = shapeOf.get(pending_id ?? id)
    if (shape === undefined || (state === 'cancelled' && cancels.has(id))) continue
    const own = steps.get(id) ?? []
    const usedUp = own.some((step) => ENDED_BADLY.has(step.state) && step.retry_count >= step.max_retries)
    const isGood = state === 'success' ? !shape.fails : (state === 'failed' || state === 'rolled_back') && usedUp
    findings.unless(isGood, 'I22', 'a deployment fails only when the attempts of a step are used up', [id], {
      shape: shape.name,
      state,
      error_message,
      steps: own.filter((step) => step.state !== 'completed'),
    })
  }
  return findings.all
}

export const acceptance: Check[] = [
  eachCreateOnce,
  everyDeploymentEnds,
  historiesFollowTheTable,
  everyRequestEnds,
  cancelledRequestsNeverRun,
  refusedCancelsHaveNoEffect,
  outcomesAreDeserved,
]
