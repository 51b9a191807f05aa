import { OWN_FAILURE, SCRIPTS, SHAPES } from '../workload/catalog.ts'
import { type Check, Findings, groupBy } from './evidence.ts'
import type { Marker } from './markers.ts'
import type { StepRow } from './tables.ts'

const placeOf = (one: { deployment: string; target: string; step: string }) =>
  `${one.deployment} ${one.target} ${one.step}`
const placeOfStep = ({ deployment_id, target, step }: StepRow) => `${deployment_id} ${target} ${step}`

/** How often a command may have started: not at all unless the start of an attempt is recorded. */
const allowedStarts = ({ started_at, attempt_started_at, retry_count }: StepRow) =>
  started_at === null && attempt_started_at === null ? 0 : 1 + retry_count

const startsAreCounted: Check = ({ tables, markers }) => {
  const findings = new Findings()
  const starts = groupBy(
    markers.filter(({ what }) => what === 'start'),
    placeOf,
  )
  const steps = new Map(tables.steps.map((step) => [placeOfStep(step), step]))
  for (const [place, started] of starts) {
    const step = steps.get(place)
    if (step === undefined) {
      findings.add('I6', 'no command runs without a step', [place], started)
      continue
    }
    const facts = { step, started }
    findings.unless(
      started.length <= allowedStarts(step),
      'I6',
      'a command starts at most 1 + retry_count times, and never without a recorded start',
      [step.deployment_id],
      facts,
    )
    findings.unless(
      new Set(started.map(({ attempt }) => attempt)).size === started.length,
      'I6',
      'no attempt starts twice',
      [step.deployment_id],
      facts,
    )
    const beyond = started.filter(({ attempt }) => attempt > step.retry_count)
    findings.unless(beyond.length === 0, 'I8', 'retry_count is that of the last attempt', [step.deployment_id], facts)
    findings.unless(
      step.retry_count <= step.max_retries,
      'I6',
      'retry_count does not exceed max_retries',
      [step.deployment_id],
      facts,
    )
  }
  return findings.all
}

/** The place of an attempt among all of its step. A rollback follows them and counts its own attempts from 0. */
const turnOf = ({ what, attempt }: Marker) => (what === 'undo' || what === 'undone' ? 1_000 : 0) + attempt

const attemptsNeverOverlap: Check = ({ markers }) => {
  const findings = new Findings()
  for (const marker of markers) {
    findings.unless(marker.what !== 'overlap', 'I7', 'attempts of a step never overlap', [marker.deployment], marker)
  }
  // An earlier attempt writes nothing after a later one has started.
  for (const [place, own] of groupBy(markers, placeOf)) {
    let last = -1
    for (const marker of own) {
      const turn = turnOf(marker)
      findings.unless(turn >= last, 'I7', 'an earlier attempt ends before a later one starts', [place], own)
      last = Math.max(last, turn)
    }
  }
  return findings.all
}

/** Why a command failed of whose end no instance has told. */
const UNTOLD = new Set<string | null>(['instance_lost', 'deployment_timeout', 'deployment_ended'])

const resultsEqualWhatRan: Check = ({ tables, markers }) => {
  const findings = new Findings()
  const byAttempt = groupBy(markers, (marker) => `${placeOf(marker)} ${marker.attempt}`)
  for (const step of tables.steps) {
    const script = SCRIPTS[step.step]
    if (script === undefined) continue
    const own = byAttempt.get(`${placeOfStep(step)} ${step.retry_count}`) ?? []
    const hasEnded = own.some(({ what }) => what === 'end')
    const facts = { step, markers: own }
    if (step.state === 'completed') {
      findings.unless(
        script.timeoutSeconds === undefined &&
          hasEnded &&
          step.exit_code === 0 &&
          step.retry_count >= script.failsBefore,
        'I8',
        'a completed step has run to its end, in the attempt that is stored',
        [step.deployment_id],
        facts,
      )
    }
    if (step.exit_code === OWN_FAILURE) {
      findings.unless(
        hasEnded && step.retry_count < script.failsBefore,
        'I8',
        'a stored exit code is that of the attempt',
        [step.deployment_id],
        facts,
      )
    }
    if (step.state === 'completed' || step.state === 'failed') {
      const isSame = step.result === step.state && (step.result_exit_code ?? null) === step.exit_code
      // The interface makes a result from the step.
      const isUntold = step.result === null && UNTOLD.has(step.failure_reason)
      findings.unless(
        isSame || isUntold,
        'I22',
        'an executed command has one result, which equals its step',
        [step.deployment_id],
        facts,
      )
    }
  }
  return findings.all
}

const stepsRunInOrder: Check = ({ tables, markers, ledger }) => {
  const findings = new Findings()
  const steps = groupBy(tables.steps, ({ deployment_id }) => deployment_id)
  const ofDeployment = groupBy(markers, ({ deployment }) => deployment)
  const batchOf = new Map<string, number>()
  for (const { id, facts } of ledger.calls) {
    const shape = SHAPES.find(({ name }) => name === facts['shape'])
    const mode = shape?.options['target_mode'] as { rolling?: { batch_size: number } } | string | undefined
    if (id === null || shape === undefined || mode === 'parallel') continue
    batchOf.set(id, typeof mode === 'object' ? (mode.rolling?.batch_size ?? 1) : 1)
  }
  const requestOf = new Map(tables.deployments.map(({ id, pending_id }) => [id, pending_id ?? id]))
  for (const [id, own] of steps) {
    const places = new Map(own.map((step) => [`${step.target} ${step.step}`, step]))
    const furthest = new Map<string, number>()
    let batch = 0
    for (const { target, step, what } of ofDeployment.get(id) ?? []) {
      const place = places.get(`${target} ${step}`)
      if (place === undefined || what !== 'start') continue
      const { target_index, action_index } = place
      const reached = furthest.get(target) ?? 0
      findings.unless(action_index >= reached, 'I9', 'the steps of a target run in order', [id], {
        target,
        step,
        reached,
      })
      furthest.set(target, Math.max(reached, action_index))
      const size = batchOf.get(requestOf.get(id) ?? id)
      if (size === undefined) continue
      const itsBatch = Math.floor(target_index / size)
      findings.unless(itsBatch >= batch, 'I9', 'a batch ends before the next one starts', [id], { target, step, batch })
      batch = Math.max(batch, itsBatch)
    }
  }
  return findings.all
}

/** Steps without a recorded start have written nothing: after a failure, a cancel, or the loss of an instance. */
const nothingElseStarts: Check = ({ tables, markers }) => {
  const findings = new Findings()
  const ran = groupBy(markers, placeOf)
  for (const step of tables.steps) {
    if (step.state !== 'skipped' && step.state !== 'pending') continue
    const own = ran.get(placeOfStep(step)) ?? []
    findings.unless(own.length === 0, 'I10', 'a step that is stored as skipped has not run', [step.deployment_id], {
      step,
      markers: own,
    })
  }
  return findings.all
}

const cancelsHold: Check = ({ tables, ledger, markers, patience }) => {
  const findings = new Findings()
  const states = new Map(tables.deployments.map((row) => [row.id, row.state]))
  const answered = new Map<string, number>()
  for (const { purpose, status, facts, answeredAt } of ledger.calls) {
    if (purpose !== 'cancel') continue
    const id = String(facts['id'])
    const state = states.get(id)
    if (status === 200) {
      answered.set(id, Math.min(answeredAt, answered.get(id) ?? answeredAt))
      findings.unless(state === 'cancelled', 'I12', 'after a cancel is answered the state never changes', [id], {
        state,
      })
    }
  }
  // A start that was recorded before the cancel may become a process some moments after the answer.
  const GRACE_MS = 5_000
  for (const { what, deployment, at, ...rest } of markers) {
    const cancelledAt = answered.get(deployment)
    if (what !== 'start' || cancelledAt === undefined) continue
    findings.unless(
      at <= cancelledAt + GRACE_MS * patience,
      'I12',
      'nothing new starts after a cancel is answered',
      [deployment],
      {
        at,
        cancelledAt,
        ...rest,
      },
    )
  }
  return findings.all
}

/** A rollback undoes what was executed, in reverse order. A rollback script that was interrupted is done again. */
const rollbacksAreWhole: Check = ({ tables, markers }) => {
  const findings = new Findings()
  const undone = groupBy(
    markers.filter(({ what }) => what === 'undo' || what === 'undone'),
    ({ deployment, target }) => `${deployment} ${target}`,
  )
  const states = new Map(tables.deployments.map(({ id, state }) => [id, state]))
  const steps = groupBy(tables.steps, ({ deployment_id, target }) => `${deployment_id} ${target}`)
  for (const [place, own] of steps) {
    const [id = ''] = place.split(' ')
    const written = undone.get(place) ?? []
    const facts = { steps: own, written }
    for (const step of own) {
      const isUndone = written.some((marker) => marker.what === 'undone' && marker.step === step.step)
      const mayUndo = SCRIPTS[step.step]?.isUndone === true
      if (step.state === 'rolled_back' && mayUndo) {
        findings.unless(isUndone, 'I11', 'a step that is stored as rolled back was undone', [id], facts)
      }
      if (['skipped', 'cancelled', 'completed'].includes(step.state) && states.get(id) === 'rolled_back') {
        findings.unless(!isUndone, 'I11', 'only executed steps are undone', [id], facts)
      }
    }
    const isWhole = states.get(id) !== 'rolled_back' || !own.some(leftDone)
    findings.unless(isWhole, 'I11', 'a rollback undoes all that was executed', [id], facts)
    const orders = written.map(({ step }) => own.find((one) => one.step === step)?.action_index ?? -1)
    const isReverse = orders.every((order, index) => index === 0 || order <= (orders[index - 1] as number))
    findings.unless(isReverse, 'I11', 'a rollback runs in reverse order', [id], facts)
    const mayRollBack = ['rolled_back', 'failed'].includes(states.get(id) ?? '')
    findings.unless(written.length === 0 || mayRollBack, 'I11', 'only a failure is rolled back', [id], facts)
  }
  return findings.all
}

/** All rollbacks of the campaign are `all_executed`. */
const leftDone = ({ step, state }: StepRow) =>
  SCRIPTS[step]?.isUndone === true && (state === 'completed' || state === 'failed')

/** Longer than SIGTERM, the grace, and the life of a command whose instance stands still. */
const KILL_MS = 40_000

const timeoutsEndCommands: Check = ({ markers, patience }) => {
  const findings = new Findings()
  for (const [place, own] of groupBy(markers, (marker) => `${placeOf(marker)} ${marker.attempt}`)) {
    const [first] = own
    const seconds = SCRIPTS[first?.step ?? '']?.timeoutSeconds
    const last = own.at(-1)
    if (seconds === undefined || first === undefined || last === undefined) continue
    const isEnded = last.at - first.at <= seconds * 1_000 + KILL_MS * patience
    findings.unless(isEnded, 'I13', 'no command outlives its timeout and the grace', [place], { first, last })
  }
  return findings.all
}

const countsAddUp: Check = ({ tables }) => {
  const findings = new Findings()
  const steps = groupBy(tables.steps, ({ deployment_id }) => deployment_id)
  for (const { id, state, completed_steps } of tables.deployments) {
    if (state !== 'success') continue
    const completed = (steps.get(id) ?? []).filter((step) => step.state === 'completed').length
    findings.unless(completed_steps === completed, 'I22', 'completed steps are counted once', [id], {
      completed_steps,
      completed,
    })
  }
  return findings.all
}

/** With `stop_on_first_failure` and sequential targets, the targets after the failed one have not begun. */
const failuresStopTheRest: Check = ({ tables }) => {
  const findings = new Findings()
  const steps = groupBy(tables.steps, ({ deployment_id }) => deployment_id)
  for (const { id, options } of tables.deployments) {
    if (options?.['failure_strategy'] !== 'stop_on_first_failure' || options['target_mode'] !== 'sequential') continue
    const own = steps.get(id) ?? []
    const failed = own.filter(({ state }) => ENDED_BADLY.has(state)).map(({ target_index }) => target_index)
    const later = own.filter(
      ({ target_index, started_at }) => started_at !== null && target_index > Math.min(...failed),
    )
    if (failed.length > 0) findings.unless(later.length === 0, 'I10', 'a failure stops the other targets', [id], later)
  }
  return findings.all
}

const ENDED_BADLY = new Set(['failed', 'rollback_failed'])

export const execution: Check[] = [
  countsAddUp,
  failuresStopTheRest,
  rollbacksAreWhole,
  timeoutsEndCommands,
  startsAreCounted,
  attemptsNeverOverlap,
  resultsEqualWhatRan,
  stepsRunInOrder,
  nothingElseStarts,
  cancelsHold,
]
